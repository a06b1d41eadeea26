"""Rehearsals of changes: who would gain or lose what; and nothing is changed by it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plugins.testing import Client, People, Reply, expect, unique

pytestmark = pytest.mark.gen_test(timeout=30)
SYSTEM = "/api/v1/system"
CUSTOMERS = "/api/v1/crm/customers"
LIST, READ = "crm:customer:list", "crm:customer:read"


async def asked(
    admin: Client, kind: str, id: int, values: dict[str, Any], headers: dict[str, str] | None = None
) -> Reply:
    """The rehearsal of a change, with the version that the record has."""
    return await admin.post(f"{SYSTEM}/{kind}/{id}/rehearse", await body(admin, kind, id, values), headers=headers)


async def body(admin: Client, kind: str, id: int, values: dict[str, Any]) -> dict[str, Any]:
    return {"version": (await stored(admin, kind, id))["version"], **values}


async def stored(admin: Client, kind: str, id: int) -> dict[str, Any]:
    if kind != "menus":
        record: dict[str, Any] = expect(await admin.get(f"{SYSTEM}/{kind}/{id}"))
        return record
    return next(menu for menu in await People(admin).menus() if menu["id"] == id)


def told(reply: Reply, side: str) -> dict[int, tuple[list[str], dict[str, int]]]:
    """The permissions and rows of each person on one side of a rehearsal."""
    return {one["user_id"]: (one["permissions"], one["rows"]) for one in expect(reply)[side]}


async def test_menus_that_a_role_gets_are_gained_by_its_holders(admin: Client, people: People) -> None:
    role = await people.role([LIST])
    holder = await people.account([role], real_name="Holder")
    read = next(menu["id"] for menu in await people.menus() if menu["code"] == READ)
    held = (await stored(admin, "roles", role))["menu_ids"]
    before = await stored(admin, "roles", role)
    reply = await asked(admin, "roles", role, {"menu_ids": [*held, read]})
    (gain,) = expect(reply)["gains"]
    assert gain == {
        "user_id": holder["id"],
        "user_name": "Holder",
        "permissions": [READ],
        "permission_names": ["查看客户"],
        "rows": {},
        "row_names": {},
    }
    assert (reply.data["losses"], reply.data["people"], reply.data["rows_counted"]) == ([], 1, True)
    assert await stored(admin, "roles", role) == before


async def test_one_person_rehearses_two_changes_at_once_and_no_more(admin: Client, people: People) -> None:
    role = await people.role([LIST])
    change = await body(admin, "roles", role, {"name": unique("other")})
    replies = await asyncio.gather(*(admin.post(f"{SYSTEM}/roles/{role}/rehearse", change) for _ in range(12)))
    assert {reply.code for reply in replies} == {0, 42900}
    assert all(int(reply.headers["Retry-After"]) > 0 for reply in replies if reply.code)
    expect(await admin.post(f"{SYSTEM}/roles/{role}/rehearse", change))


async def test_a_wider_scope_gains_the_rows_that_the_list_then_has(admin: Client, people: People) -> None:
    role = await people.role([LIST])
    user = await people.account([role])
    person = await admin.log_in(user["username"])
    expect(await admin.post(CUSTOMERS, {"name": unique("Customer")}))
    before = expect(await person.get(CUSTOMERS))["total"]
    gained = told(await asked(admin, "roles", role, {"data_scope": "all"}), "gains")
    assert expect(await person.get(CUSTOMERS))["total"] == before
    expect(await admin.patch(f"{SYSTEM}/roles/{role}", await body(admin, "roles", role, {"data_scope": "all"})))
    after = expect(await person.get(CUSTOMERS))["total"]
    permissions, rows = gained[user["id"]]
    assert (permissions, rows["crm_customers"]) == ([], after - before)
    assert after > before


async def test_who_is_disabled_loses_everything_and_stays_logged_in(admin: Client, people: People) -> None:
    person = await people.person([LIST, READ], "all")
    id = person.user["userId"]
    reply = await asked(admin, "users", id, {"status": "disabled"})
    permissions, rows = told(reply, "losses")[id]
    assert permissions == [LIST, READ]
    lists = [expect(await admin.get(f"{SYSTEM}/{name}"))["total"] for name in ("users", "service-accounts")]
    assert rows["rbac_users"] == sum(lists)
    assert id not in told(reply, "gains")
    expect(await person.get(CUSTOMERS))


async def test_who_moves_comes_into_the_sight_of_a_department_and_leaves_that_of_another(
    admin: Client, people: People
) -> None:
    here, there = await people.department(), await people.department()
    role = await people.role([LIST], "department")
    left, joined, moving = [await people.account([role], place) for place in (here, there, here)]
    reply = await asked(admin, "users", moving["id"], {"department_id": there})
    assert told(reply, "losses")[left["id"]] == ([], {"rbac_users": 1})
    assert told(reply, "gains")[joined["id"]] == ([], {"rbac_users": 1})
    assert left["id"] not in told(reply, "gains")


async def test_the_records_of_who_moves_come_into_sight_with_them(admin: Client, people: People) -> None:
    here, there = await people.department(), await people.department()
    role = await people.role([LIST], "department")
    left, joined, moving = [await people.account([role], place) for place in (here, there, here)]
    made = expect(await admin.post(CUSTOMERS, {"name": unique("Customer"), "owner_id": moving["id"]}))
    reply = await asked(admin, "users", moving["id"], {"department_id": there})
    both = {"rbac_users": 1, "crm_customers": 1}
    assert (told(reply, "losses")[left["id"]], told(reply, "gains")[joined["id"]]) == (([], both), ([], both))
    assert expect(await admin.get(f"{CUSTOMERS}/{made['id']}"))["owner_department_id"] == here


async def test_a_department_that_moves_comes_into_the_sight_of_those_above_its_new_place(
    admin: Client, people: People
) -> None:
    old, new = await people.department(), await people.department()
    moving = await people.department(old)
    role = await people.role([LIST], "department_and_below")
    above = {place: (await people.account([role], place))["id"] for place in (old, new)}
    await people.account([], moving)
    reply = await asked(admin, "departments", moving, {"parent_id": new})
    assert told(reply, "losses")[above[old]] == ([], {"rbac_users": 1})
    assert told(reply, "gains")[above[new]] == ([], {"rbac_users": 1})
    assert (await stored(admin, "departments", moving))["parent_id"] == old


async def test_a_menu_without_its_apis_takes_them_from_who_holds_it(admin: Client, people: People) -> None:
    apis = [{"method": "GET", "path": f"{CUSTOMERS}/{{id}}"}]
    button = {"type": "button", "code": unique("own"), "title": "x", "apis": apis}
    menu = expect(await admin.post(f"{SYSTEM}/menus", button))["id"]
    role = await people.role()
    expect(await admin.put(f"{SYSTEM}/roles/{role}/menus", {"menu_ids": [menu]}))
    person = await people.account([role])
    reply = await asked(admin, "menus", menu, {"apis": []})
    assert told(reply, "losses") == {person["id"]: ([READ], {})}
    assert (await stored(admin, "menus", menu))["apis"] == apis
    # other tests take it that one button has this API
    expect(await admin.delete(f"{SYSTEM}/menus/{menu}"))


async def test_a_change_that_nobody_notices_changes_nothing(admin: Client, people: People) -> None:
    role = await people.role([LIST])
    await people.account([role])
    assert expect(await asked(admin, "roles", role, {"name": "Another"})) == {
        "gains": [],
        "losses": [],
        "people": 0,
        "rows_counted": True,
    }


async def test_it_is_refused_as_the_change_would_be(admin: Client, people: People) -> None:
    role = await people.role([LIST], "all")
    path = f"{SYSTEM}/roles/{role}"
    for values, code in (({"version": 99}, 40902), ({"version": 1, "data_scope": "none"}, 40001), ({}, 40001)):
        expect(await admin.patch(path, values), code)
        expect(await admin.post(f"{path}/rehearse", values), code)
    chief = await people.person(["system:role:update"], "department", await people.department())
    wider = await body(admin, "roles", role, {"data_scope": "self"})
    refused = await chief.patch(path, wider)
    expect(refused, 40300)
    assert (await chief.post(f"{path}/rehearse", wider)).json == refused.json
    expect(await admin.post(f"{SYSTEM}/roles/999999/rehearse", {"version": 1}), 40400)
    under = await people.department()
    expect(await asked(admin, "departments", under, {"parent_id": under}), 40901)


async def test_it_is_no_more_written_with_an_idempotency_key(admin: Client, people: People) -> None:
    role = await people.role([LIST])
    before = await stored(admin, "roles", role)
    key = {"Idempotency-Key": unique("rehearsal")}
    first = await asked(admin, "roles", role, {"data_scope": "all"}, key)
    again = await asked(admin, "roles", role, {"data_scope": "all"}, key)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert expect(first) == expect(again)
    assert await stored(admin, "roles", role) == before


async def test_people_out_of_the_callers_sight_are_left_out(admin: Client, people: People) -> None:
    place = await people.department()
    inside = await people.department(place)
    watching = await people.role([LIST], "custom", [inside])
    watcher = (await people.account([watching], await people.department()))["id"]
    member = (await people.account([], inside))["id"]
    chief = await people.person(["system:user:update"], "department_and_below", place)
    change = await body(admin, "users", member, {"department_id": place})
    path = f"{SYSTEM}/users/{member}/rehearse"
    assert told(await admin.post(path, change), "losses")[watcher] == ([], {"rbac_users": 1})
    seen = await chief.post(path, change)
    assert (told(seen, "gains"), told(seen, "losses")) == ({}, {})


async def test_a_rehearsal_says_what_operations_and_rows_are_called(admin: Client, people: People) -> None:
    role = await people.role([LIST])
    await people.account([role])
    expect(await admin.post(CUSTOMERS, {"name": unique("Customer")}))
    read = next(menu["id"] for menu in await people.menus() if menu["code"] == READ)
    held = (await stored(admin, "roles", role))["menu_ids"]
    change = {"menu_ids": [*held, read], "data_scope": "all"}
    (gain,) = expect(await asked(admin, "roles", role, change, {"Accept-Language": "en"}))["gains"]
    assert gain["permission_names"] == ["read customers"]
    assert gain["row_names"]["customer"] == gain["rows"]["crm_customers"] > 0
