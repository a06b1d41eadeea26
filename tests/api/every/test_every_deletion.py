"""Every deletion is final and says so, or its records are listed with `?deleted=true` and can be restored."""

from __future__ import annotations

import pytest

from plugins.testing import Client, expect, unique
from tests.support.catalogue import CATALOGUE

pytestmark = pytest.mark.gen_test(timeout=60)
ROUTES = {route.name: route for route in CATALOGUE.routes}
# logging out and unlinking delete no record
NO_RECORDS = {
    "DELETE /api/v1/auth/sessions/{id}",
    "DELETE /api/v1/auth/wecom/bind",
    "DELETE /api/v1/system/sessions/{id}",
    "DELETE /api/v1/system/users/{id}/sessions",
}
LISTED = {
    "/api/v1/system/dictionaries": {"type": "{tag}", "name": "{tag}", "items": []},
    "/api/v1/cms/manage/articles": {"title": "{tag}", "content": "<p>Deleted</p>"},
}


def test_every_deletion_can_be_restored_or_says_that_it_is_final() -> None:
    deletions = {name: one for name, one in ROUTES.items() if name.startswith("DELETE") and name not in NO_RECORDS}
    unsaid = {
        name
        for name, one in deletions.items()
        if f"POST {one.path}/restore" not in ROUTES and "final" not in one.description
    }
    assert unsaid == set()


def test_every_list_of_records_that_can_be_restored_shows_the_deleted_ones() -> None:
    lists = {
        name.removeprefix("POST ").removesuffix("/{id}/restore") for name in ROUTES if name.endswith("/{id}/restore")
    }
    assert {path for path in lists if "deleted" not in ROUTES[f"GET {path}"].query} == set()


@pytest.mark.parametrize("path", LISTED)
async def test_a_deleted_record_is_listed_as_such_and_has_a_history(path: str, admin: Client) -> None:
    tag = unique("deleted").replace("-", "_").lower()
    body = {name: value.format(tag=tag) if isinstance(value, str) else value for name, value in LISTED[path].items()}
    made = expect(await admin.post(path, body))
    expect(await admin.delete(f"{path}/{made['id']}"))
    assert [one["id"] for one in expect(await admin.get(f"{path}?deleted=true&q={tag}"))["items"]] == [made["id"]]
    history = expect(await admin.get(f"{path}/{made['id']}/history"))["items"]
    assert [change["action"] for change in history] == ["delete", "create"]
