"""A deletion with `?version=` deletes what the client read, and nothing that somebody changed meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from plugins.testing import Client, expect, unique

pytestmark = pytest.mark.gen_test(timeout=30)
CUSTOMERS = "/api/v1/crm/customers"


async def test_of_a_change_and_a_deletion_at_once_only_one_happens(admin: Client) -> None:
    for _ in range(5):
        made = expect(await admin.post(CUSTOMERS, {"name": unique("c")}))
        at, version = f"{CUSTOMERS}/{made['id']}", made["version"]
        changed, deleted = await asyncio.gather(
            admin.patch(at, {"version": version, "remark": "kept"}), admin.delete(f"{at}?version={version}")
        )
        assert (changed.code, deleted.code) in {(0, 40902), (40400, 0)}


async def test_a_version_that_is_none_is_named(admin: Client) -> None:
    at = f"{CUSTOMERS}/{expect(await admin.post(CUSTOMERS, {'name': unique('c')}))['id']}"
    for version in ("0", "x", ""):
        refused = await admin.delete(f"{at}?version={version}")
        assert (refused.code, refused.fields) == (40001, {"version"})


async def test_an_item_of_a_dictionary_is_deleted_at_the_version_that_was_read(admin: Client) -> None:
    at = "/api/v1/system/dictionaries"
    body = {"type": unique("kind").lower().replace("-", "_"), "name": "x", "items": [{"value": "a", "label": "a"}]}
    made = expect(await admin.post(at, body))
    expect(await admin.delete(f"{at}/{made['id']}/items/a?version={made['version'] + 1}"), 40902)
    expect(await admin.delete(f"{at}/{made['id']}/items/a?version={made['version']}"))
