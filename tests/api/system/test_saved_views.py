"""Saved views of lists: one's own and those shared with one, checked against the list that they are of."""

from dataclasses import dataclass
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.system import saved_views
from plugins.testing import Client, People, expect, unique

pytestmark = pytest.mark.gen_test(timeout=20)
AT = "/api/v1/meta/views"
CUSTOMERS = "/api/v1/crm/customers"


def body(**values: Any) -> dict[str, Any]:
    """A view of customers."""
    filters = {"level": "A,B", "created_at_from": "2026-01-01T00:00:00Z", "q": "晨光"}
    given = {"filters": filters, "sort": "-created_at,name", "columns": ["name", "level"]}
    return {"list": CUSTOMERS, "name": unique("view"), **given, **values}


async def save(client: Client, **values: Any) -> dict[str, Any]:
    """A saved view."""
    made: dict[str, Any] = expect(await client.post(AT, body(**values)))
    return made


async def seen(client: Client) -> set[str]:
    """The ids of the views of customers that somebody sees."""
    return {one["id"] for one in expect(await client.get(f"{AT}?list={CUSTOMERS}&page_size=200"))["items"]}


@dataclass
class Colleague:
    """Somebody with a role, in a department below another one."""

    client: Client
    id: int
    role: int
    above: int

    def audience(self, kind: str) -> dict[str, Any]:
        """An audience that includes them."""
        return {"all": True} if kind == "all" else {kind: [getattr(self, {"users": "id", "roles": "role"}[kind])]}


@pytest.fixture(scope="module")
def colleague(io_loop: IOLoop, people: People) -> Colleague:
    async def make() -> Colleague:
        above = await people.department()
        role, department = await people.role(), await people.department(above)
        account = await people.account([role], department)
        return Colleague(await people.admin.log_in(account["username"]), account["id"], role, above)

    made: Colleague = io_loop.run_sync(make)
    return made


async def test_a_view_is_seen_changed_and_deleted_by_whoever_saved_it_and_by_nobody_else(people: People) -> None:
    me, other = await people.person(), await people.person()
    made = await save(me)
    assert made["id"] in await seen(me)
    assert made["id"] not in await seen(other)
    expect(await other.get(f"{AT}/{made['id']}"), 40400)
    changed = expect(await me.patch(f"{AT}/{made['id']}", {"version": 1, "columns": ["level"]}))
    assert (changed["columns"], changed["filters"]) == (["level"], made["filters"])
    expect(await me.patch(f"{AT}/{made['id']}", {"version": 1, "name": "x"}), 40902)
    changes = expect(await me.get(f"{AT}/{made['id']}/history"))["items"]
    assert [one["action"] for one in changes] == ["update", "create"]
    expect(await me.delete(f"{AT}/{made['id']}"))
    assert made["id"] not in await seen(me)


@pytest.mark.parametrize("kind", ["users", "roles", "departments", "all"])
async def test_a_shared_view_is_read_by_its_audience_and_not_changed(
    kind: str, admin: Client, colleague: Colleague, nobody: Client
) -> None:
    to = {"departments": [colleague.above]} if kind == "departments" else colleague.audience(kind)
    made = await save(admin, shared_with=to)
    assert made["id"] in await seen(colleague.client)
    assert (made["id"] in await seen(nobody)) == (kind == "all")
    expect(await colleague.client.patch(f"{AT}/{made['id']}", {"version": 1, "name": "x"}), 40300)
    expect(await colleague.client.delete(f"{AT}/{made['id']}"), 40300)
    expect(await admin.delete(f"{AT}/{made['id']}"))


async def test_a_shared_view_gives_no_right_to_the_records_of_its_list(admin: Client, colleague: Colleague) -> None:
    made = await save(admin, shared_with=colleague.audience("users"))
    assert expect(await colleague.client.get(f"{AT}/{made['id']}"))["filters"] == made["filters"]
    expect(await colleague.client.get(CUSTOMERS), 40300)


@pytest.mark.parametrize(
    ("wrong", "field", "rule"),
    [
        ({"list": "/api/v1/crm/nothing"}, "list", "enum"),
        ({"list": f"{CUSTOMERS}/{{id}}"}, "list", "enum"),
        ({"filters": {"colour": "red"}}, "filters.colour", "unknown"),
        ({"filters": {"page_size": 5}}, "filters.page_size", "unknown"),
        ({"filters": {"created_at_from": "soon"}}, "filters.created_at_from", "format"),
        ({"filters": {"level": {"is": "A"}}}, "filters.level", "type"),
        ({"filters": ["level"]}, "filters", "type"),
        ({"sort": "-colour"}, "sort", "sort"),
        ({"sort": "name,-name"}, "sort", "sort"),
        ({"columns": ["name", "colour"]}, "columns[1]", "unknown"),
    ],
)
async def test_what_the_list_does_not_have_is_named(
    wrong: dict[str, Any], field: str, rule: str, nobody: Client, people: People
) -> None:
    reply = await nobody.post(AT, body(**wrong))
    assert expect(reply, 40001)["errors"][0]["field"] == field
    assert expect(reply, 40001)["errors"][0]["rule"] == rule
    if "list" not in wrong:
        me = await people.person()
        made = await save(me)
        assert (await me.patch(f"{AT}/{made['id']}", {"version": 1, **wrong})).fields == {field}


async def test_a_view_of_another_list_is_checked_against_that_list(people: People) -> None:
    me = await people.person()
    made = await save(me)
    reply = await me.patch(f"{AT}/{made['id']}", {"version": 1, "list": "/api/v1/crm/follow-ups"})
    assert "columns[0]" in reply.fields


async def test_people_share_only_with_those_whom_they_see(people: People, colleague: Colleague) -> None:
    mine = await people.department()
    mate = await people.account(department_id=mine)
    me = await people.person(scope="department", department_id=mine)
    made = await save(me, shared_with={"departments": [mine], "users": [mate["id"]]})
    assert made["shared_with"]["user_names"] == [mate["username"]]
    for kind, id in (("users", colleague.id), ("roles", colleague.role), ("departments", colleague.above)):
        reply = await me.post(AT, body(shared_with={kind: [id]}))
        expect(reply, 40001)
        assert reply.fields == {f"shared_with.{kind}"}
    refused = await me.post(AT, body(shared_with={"all": True}))
    assert expect(refused, 40300)["permission"] == "system:config:update"


async def test_what_a_view_is_shared_with_may_stay_when_it_is_gone(people: People, admin: Client) -> None:
    role, person = await people.role(), await people.account()
    made = await save(admin, shared_with={"roles": [role], "users": [person["id"]]})
    expect(await admin.delete(f"/api/v1/system/roles/{role}"))
    expect(await admin.delete(f"/api/v1/system/users/{person['id']}"))
    assert made["id"] in await seen(admin)
    same = {"roles": [role], "users": [person["id"]]}
    changed = expect(await admin.patch(f"{AT}/{made['id']}", {"version": 1, "name": unique("x"), "shared_with": same}))
    assert changed["shared_with"]["roles"] == [role]


async def test_one_person_names_each_view_of_a_list_differently_and_saves_a_limited_number(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = await people.person()
    made = await save(me)
    expect(await me.post(AT, body(name=made["name"])), 40900)
    monkeypatch.setattr(saved_views, "MOST_OWN", 1)
    expect(await me.post(AT, body()), 40901)
    await save(await people.person(), name=made["name"])
