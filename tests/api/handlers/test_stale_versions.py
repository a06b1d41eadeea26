"""What 40902 says: the current version, and the fields that changed since the one that was sent."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, Reply, eventually, expect, unique
from tests.api.cms.content import ARTICLES

pytestmark = pytest.mark.gen_test(timeout=30)
CUSTOMERS = "/api/v1/crm/customers"
EDIT = ("crm:customer:create", "crm:customer:update")


async def changed_twice(client: Client) -> tuple[str, int]:
    """The path of a customer whose name and remark were changed by two requests, and the version before them."""
    made = expect(await client.post(CUSTOMERS, {"name": unique("customer")}))
    path, version = f"{CUSTOMERS}/{made['id']}", made["version"]
    for n, values in enumerate(({"name": unique("customer")}, {"remark": "second", "name": unique("customer")})):
        expect(await client.patch(path, {"version": version + n, **values}))
    return path, version


def told(reply: Reply) -> Any:
    expect(reply, 40902)
    return reply.data


async def test_a_stale_change_gets_the_version_and_the_changed_fields(admin: Client) -> None:
    path, version = await changed_twice(admin)
    for sent, changed in ((version, ["name", "remark"]), (version + 1, ["name", "remark"]), (version + 7, None)):
        reply = await admin.patch(path, {"version": sent, "address": "elsewhere"})
        assert told(reply) == {"version": version + 2, "changed": changed}


async def test_a_stale_deletion_gets_the_version_and_the_changed_fields(admin: Client) -> None:
    path, version = await changed_twice(admin)
    reply = await admin.delete(f"{path}?version={version}")
    assert told(reply) == {"version": version + 2, "changed": ["name", "remark"]}


async def test_a_stale_action_gets_the_version_and_the_changed_fields(admin: Client) -> None:
    made = expect(await admin.post(ARTICLES, {"title": unique("article"), "content": "<p>x</p>"}))
    path = f"{ARTICLES}/{made['id']}"
    expect(await admin.patch(path, {"version": made["version"], "title": unique("article")}))
    data = told(await admin.post(f"{path}/publish", {"version": made["version"]}))
    assert (data["version"], "title" in data["changed"]) == (made["version"] + 1, True)


async def test_a_conflict_names_no_fields_without_the_permission_to_read(people: People) -> None:
    reader, writer = await people.person([*EDIT, "crm:customer:read"]), await people.person(EDIT)
    for person, changed in ((reader, ["name", "remark"]), (writer, None)):
        path, version = await changed_twice(person)
        assert told(await person.patch(path, {"version": version})) == {"version": version + 2, "changed": changed}


async def test_changes_that_the_record_no_longer_notes_are_not_known(admin: Client) -> None:
    path, version = await changed_twice(admin)
    for n in range(2, 22):
        expect(await admin.patch(path, {"version": version + n, "remark": f"change {n}"}))

    async def unknown() -> bool:
        data = told(await admin.patch(path, {"version": version, "remark": "late"}))
        assert data["version"] == version + 22
        return data["changed"] is None

    await eventually(unknown)
