"""Fixtures of all tests of approval."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, expect
from tests.api.approval.flows import AT, types_path


@pytest.fixture(autouse=True, scope="module")
def business_types_are_removed(io_loop: IOLoop, admin: Client) -> Iterator[None]:
    """Remove the business types that the tests of a module added to the dictionary, and their forms."""
    yield

    async def remove() -> None:
        for form in expect(await admin.get(f"{AT}/forms?page_size=200"))["items"]:
            expect(await admin.delete(f"{AT}/forms/{form['id']}"))
        path = await types_path(admin)
        for item in expect(await admin.get(f"{path}/items?page_size=200"))["items"]:
            if item["value"].startswith("KIND"):
                expect(await admin.delete(f"{path}/items/{item['value']}"))

    io_loop.run_sync(remove, timeout=60)


@pytest.fixture(autouse=True)
def administrator_delegates_nothing(io_loop: IOLoop, admin: Client) -> None:
    """Remove delegations that tests of all routes created for user 1 on the same server."""
    delegations = f"{AT}/delegations"

    async def delete_own() -> None:
        for delegation in expect(await admin.get(f"{delegations}?page_size=200"))["items"]:
            if delegation["user_id"] == 1:
                expect(await admin.delete(f"{delegations}/{delegation['id']}"))

    io_loop.run_sync(delete_own)
