"""A change requires the rights that it takes away: users cannot gain power by weakening others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.rbac.api import MENUS as MENU_RECORDS
from plugins.rbac.declared_menus import synchronise
from plugins.testing import PASSWORD, Client, People, Reply, expect, unique
from tests.api.rbac.branch import (
    DEPARTMENTS,
    HELD,
    MANAGING,
    MENUS,
    NOT_HELD,
    ROLES,
    SESSIONS,
    USERS,
    Branch,
    account,
    change,
    menu_of,
)

pytestmark = pytest.mark.gen_test(timeout=60)
LOGIN = "/api/v1/auth/login"
Record = dict[str, Any]

# roles whose holders have more rights than the manager of the branch
STRONGER: dict[str, Callable[[People], Awaitable[int]]] = {
    "menus": lambda people: people.role([NOT_HELD], "self"),
    "rows": lambda people: people.role(HELD, "all"),
    "menus of a disabled role": lambda people: people.role([NOT_HELD], "self", status="disabled"),
}


# -- accounts


def patch(**values: Any) -> Callable[[Branch, Record], Awaitable[Reply]]:
    async def send(branch: Branch, user: Record) -> Reply:
        given = {name: value(branch) if callable(value) else value for name, value in values.items()}
        reply: Reply = await change(branch.manager, f"{USERS}/{user['id']}", **given)
        return reply

    return send


async def end_one_session(branch: Branch, user: Record) -> Reply:
    person = await branch.people.admin.log_in(user["username"])
    online = expect(await branch.people.admin.get(f"{SESSIONS}?user_id={user['id']}"))["items"]
    reply = await branch.manager.delete(f"{SESSIONS}/{online[0]['id']}")
    expect(await person.get("/api/v1/auth/profile"), 0 if reply.code else 40100)
    return reply


CONTROL: dict[str, Callable[[Branch, Record], Awaitable[Reply]]] = {
    "taking the roles": patch(role_ids=[]),
    "giving a role": patch(role_ids=lambda branch: [branch.own_role]),
    "moving": patch(department_id=lambda branch: branch.below),
    "disabling": patch(status="disabled"),
    "renaming": patch(username=lambda _: unique("name")),
    "forcing a new password": patch(must_change_password=True),
    "setting the password": patch(password=f"{PASSWORD}-2"),
    "resetting the password": lambda branch, user: branch.manager.post(f"{USERS}/{user['id']}/reset-password"),
    "unlocking": lambda branch, user: branch.manager.post(f"{USERS}/{user['id']}/unlock"),
    "deleting": lambda branch, user: branch.manager.delete(f"{USERS}/{user['id']}"),
    "kicking out": lambda branch, user: branch.manager.delete(f"{USERS}/{user['id']}/sessions"),
    "ending a session": end_one_session,
}


@dataclass(frozen=True)
class Staff:
    """Accounts that hold more than the manager of the branch, by why; a role of equals; and a chief of everybody."""

    stronger: Mapping[str, Record]
    equal: int
    chief: Branch


@pytest.fixture(scope="module")
def staff(io_loop: IOLoop, branch: Branch) -> Staff:
    """People for the whole file: nothing that is refused changes them."""

    async def hire() -> Staff:
        people = branch.people
        stronger = {why: await branch.account([await role(people)]) for why, role in STRONGER.items()}
        equal, chief = await people.role(HELD, "department_and_below"), await people.person(MANAGING, "all")
        return Staff(stronger, equal, replace(branch, manager=chief))

    hired: Staff = io_loop.run_sync(hire)
    return hired


@pytest.mark.parametrize("stronger", STRONGER)
@pytest.mark.parametrize("control", CONTROL)
async def test_nobody_controls_an_account_that_holds_more(
    branch: Branch, staff: Staff, control: str, stronger: str
) -> None:
    user = staff.stronger[stronger]
    expect(await CONTROL[control](branch, user), 40300)
    now = expect(await branch.people.admin.get(f"{USERS}/{user['id']}"))
    kept = ("role_ids", "department_id", "status", "username", "must_change_password")
    assert {name: now[name] for name in kept} == {name: user[name] for name in kept}
    expect(await Client(branch.manager.url).post(LOGIN, {"username": user["username"], "password": PASSWORD}))


@pytest.mark.parametrize("control", CONTROL)
async def test_an_account_that_holds_no_more_is_the_managers_to_administer(
    branch: Branch, staff: Staff, control: str
) -> None:
    expect(await CONTROL[control](branch, await branch.account([staff.equal])))


@pytest.mark.parametrize("control", CONTROL)
async def test_another_who_sees_everything_is_controlled_by_who_holds_the_menus_too(staff: Staff, control: str) -> None:
    expect(await CONTROL[control](staff.chief, staff.stronger["menus"]), 40300)


async def test_the_take_over_by_taking_the_roles_first_is_refused_at_its_first_step(branch: Branch) -> None:
    boss = await branch.account([await branch.people.role([*HELD, NOT_HELD], "all")])
    path = f"{USERS}/{boss['id']}"
    expect(await branch.manager.post(f"{path}/reset-password"), 40300)
    reply = await branch.manager.patch(path, {"version": 1, "role_ids": []}, headers={"Accept-Language": "en"})
    expect(reply, 40300)
    assert reply.json["msg"] == "The user has permissions or a data scope that you do not have"


async def test_somebody_who_moves_themselves_leaves_no_department_outside_their_data_scope(people: People) -> None:
    home, named = [await people.department() for _ in range(2)]
    person = await people.person(MANAGING, "custom", home, [named])
    role = await people.role(MANAGING, "self")
    own = f"{USERS}/{person.user['userId']}"
    held = expect(await people.admin.get(own))["role_ids"]
    expect(await change(people.admin, own, role_ids=[*held, role]))
    expect(await change(person, own, department_id=named), 40300)


# -- roles


async def role_change(branch: Branch, role: int, what: str) -> Reply:
    path = f"{ROLES}/{role}"
    if what == "granting nothing":
        return await branch.manager.put(f"{path}/menus", {"menu_ids": []})
    values: dict[str, Any] = {
        "taking menus": {"menu_ids": []},
        "disabling": {"status": "disabled"},
        "narrowing": {"data_scope": "self"},
        "another code": {"code": unique("role")},
    }[what]
    reply: Reply = await change(branch.manager, path, **values)
    return reply


ROLE_CHANGES = ("taking menus", "granting nothing", "disabling", "narrowing", "another code")


async def changed(branch: Branch, role: int) -> dict[str, int]:
    """The code of the response to each change of the role."""
    return {what: (await role_change(branch, role, what)).code for what in ROLE_CHANGES}


async def test_a_role_that_somebody_in_a_foreign_department_holds_is_not_changed(branch: Branch) -> None:
    role = await branch.people.role(HELD, "department")
    await branch.account([role], branch.foreign)
    assert await changed(branch, role) == dict.fromkeys(ROLE_CHANGES, 40300)


async def test_a_role_that_somebody_who_holds_more_holds_too_is_not_changed(branch: Branch) -> None:
    role = await branch.people.role(HELD, "department")
    await branch.account([role, await branch.people.role([NOT_HELD], "self")])
    assert await changed(branch, role) == dict.fromkeys(ROLE_CHANGES, 40300)


async def test_a_role_of_the_branch_is_the_managers_to_change(branch: Branch) -> None:
    role = await branch.people.role(HELD, "department")
    await branch.account([role])
    await branch.account([role], is_super=True)
    assert await changed(branch, role) == dict.fromkeys(ROLE_CHANGES, 0)


async def test_a_role_is_the_managers_to_give_although_a_menu_of_it_is_out_of_force(
    branch: Branch, tradewind: Running
) -> None:
    withdrawn = expect(await branch.people.admin.post(MENUS, menu()))
    role = await branch.people.role(HELD, "self")
    await grant(branch, role, withdrawn["id"])
    await tradewind.service.database.store(MENU_RECORDS).update(withdrawn["id"], {"withdrawn": True})
    # it takes effect again with its plugin, and no user in the branch holds it
    expect(await branch.manager.post(USERS, account(department_id=branch.department, role_ids=[role])), 40300)
    user = await branch.account([role])
    expect(await change(branch.manager, f"{USERS}/{user['id']}", role_ids=[]), 40300)
    expect(await branch.manager.put(f"{ROLES}/{role}/menus", {"menu_ids": []}), 40300)
    expect(await branch.manager.delete(f"{MENUS}/{withdrawn['id']}"), 40300)


# -- menus

READ_API = {"method": "GET", "path": "/api/v1/crm/customers/{id}"}
DELETE_API = {"method": "DELETE", "path": "/api/v1/crm/customers/{id}"}


OWN_MENU = "taken"


def menu(**fields: Any) -> Record:
    return {"type": "button", "code": unique(OWN_MENU), "title": "x", "apis": [READ_API], **fields}


@pytest.fixture(scope="module", autouse=True)
def no_menu_stays(io_loop: IOLoop, people: People) -> Iterator[None]:
    """Remove the menus afterwards, as other tests read all menus that bind an API."""

    async def remove() -> None:
        for one in await people.menus():
            if one["code"].startswith(OWN_MENU):
                expect(await people.admin.delete(f"{MENUS}/{one['id']}"))

    yield
    io_loop.run_sync(remove)


async def grant(branch: Branch, role: int, *menus: int) -> None:
    """Grant these menus to the role, in addition to its own."""
    held = expect(await branch.people.admin.get(f"{ROLES}/{role}"))["menu_ids"]
    expect(await branch.people.admin.put(f"{ROLES}/{role}/menus", {"menu_ids": [*held, *menus]}))


async def change_menu(branch: Branch, id: int, **values: Any) -> Reply:
    version = next(one["version"] for one in await branch.people.menus() if one["id"] == id)
    return await branch.manager.patch(f"{MENUS}/{id}", {**values, "version": version})


@pytest.mark.parametrize("values", [{"apis": []}, {"permission": None}, {"apis": [], "permission": None}])
async def test_nobody_empties_a_declared_menu_that_they_do_not_hold(branch: Branch, values: Record) -> None:
    before = await menu_of(branch.people, NOT_HELD)
    expect(await change_menu(branch, before["id"], **values), 40300)
    assert await menu_of(branch.people, NOT_HELD) == before


async def test_nobody_takes_an_api_that_they_do_not_hold_from_a_menu_that_they_do(branch: Branch) -> None:
    made = expect(await branch.people.admin.post(MENUS, menu(apis=[READ_API, DELETE_API])))
    role = await branch.people.role([], "self")
    await branch.account([role])
    await grant(branch, role, made["id"])
    expect(await change_menu(branch, made["id"], apis=[READ_API]), 40300)


async def test_nobody_takes_an_api_from_a_menu_that_people_outside_the_branch_have(branch: Branch) -> None:
    made = expect(await branch.people.admin.post(MENUS, menu()))
    outside = await branch.people.role([], "self")
    await branch.account([outside], branch.foreign)
    for role in (outside, branch.own_role):
        await grant(branch, role, made["id"])
    expect(await change_menu(branch, made["id"], apis=[]), 40300)
    expect(await branch.manager.delete(f"{MENUS}/{made['id']}"), 40300)


async def test_a_menu_of_the_branch_is_the_managers_to_change(branch: Branch) -> None:
    made = expect(await branch.people.admin.post(MENUS, menu()))
    await grant(branch, branch.own_role, made["id"])
    expect(await change_menu(branch, made["id"], apis=[]))
    expect(await change_menu(branch, made["id"], apis=[READ_API], permission=HELD[1]))
    expect(await branch.manager.delete(f"{MENUS}/{made['id']}"))


async def test_a_menu_that_nobody_was_granted_is_its_makers_to_change(branch: Branch) -> None:
    made = expect(await branch.manager.post(MENUS, menu()))
    expect(await change_menu(branch, made["id"], apis=[]))
    expect(await branch.manager.delete(f"{MENUS}/{made['id']}"))


async def test_nobody_puts_a_menu_that_they_hold_in_the_place_of_a_declared_one(
    branch: Branch, tradewind: Running
) -> None:
    """The next start binds the declared APIs to the menu with the declared code."""
    declared, held = await menu_of(branch.people, NOT_HELD), await menu_of(branch.people, HELD[0])
    reply = await change_menu(branch, declared["id"], code=unique("away"))
    if reply.code == 0:
        await change_menu(branch, held["id"], code=declared["code"])
    await synchronise(tradewind.service.database, tradewind.catalogue)
    expect(await branch.manager.delete("/api/v1/crm/customers/65f0c0ffee65f0c0ffee65f0"), 40300)
    expect(reply, 40302)
    expect(await change_menu(branch, held["id"], code=unique("free")), 40302)


# -- departments


async def change_department(branch: Branch, id: int, what: str) -> Reply:
    path = f"{DEPARTMENTS}/{id}"
    if what == "deleting":
        return await branch.manager.delete(path)
    values: dict[str, Any] = {
        "renaming": {"name": "x"},
        "disabling": {"status": "disabled"},
        "sorting": {"sort": 7},
        "coding": {"code": unique("D")},
        "removing the leader": {"leader_user_id": None},
    }[what]
    reply: Reply = await change(branch.manager, path, **values)
    return reply


DEPARTMENT_CHANGES = ("renaming", "disabling", "sorting", "coding", "removing the leader", "deleting")


async def test_a_department_outside_the_data_scope_is_not_changed(branch: Branch) -> None:
    foreign = await branch.people.department()
    leader = (await branch.account([]))["id"]
    expect(await change(branch.people.admin, f"{DEPARTMENTS}/{foreign}", leader_user_id=leader))
    before = expect(await branch.people.admin.get(f"{DEPARTMENTS}/{foreign}"))
    codes = {what: (await change_department(branch, foreign, what)).code for what in DEPARTMENT_CHANGES}
    assert codes == dict.fromkeys(DEPARTMENT_CHANGES, 40300)
    assert expect(await branch.people.admin.get(f"{DEPARTMENTS}/{foreign}")) == before


async def test_a_department_of_the_branch_is_the_managers_to_change(branch: Branch) -> None:
    own = await branch.people.department(branch.below)
    codes = {what: (await change_department(branch, own, what)).code for what in DEPARTMENT_CHANGES}
    assert codes == dict.fromkeys(DEPARTMENT_CHANGES, 0)


async def test_departments_are_made_within_the_data_scope(branch: Branch) -> None:
    expect(await branch.manager.post(DEPARTMENTS, {"name": "x", "parent_id": branch.below}))
    for parent in (branch.foreign, None):
        expect(await branch.manager.post(DEPARTMENTS, {"name": "x", "parent_id": parent}), 40300)


async def test_nobody_moves_a_department_out_of_the_sight_of_those_above(branch: Branch) -> None:
    beside = await branch.people.department(branch.foreign)
    for parent in (branch.foreign, beside, None):
        expect(await change(branch.manager, f"{DEPARTMENTS}/{branch.below}", parent_id=parent), 40300)
        expect(await change(branch.manager, f"{DEPARTMENTS}/{branch.department}", parent_id=parent), 40300)


async def test_nobody_takes_a_named_department_away_from_those_above_it(people: People) -> None:
    above, place = [await people.department() for _ in range(2)]
    named = await people.department(above)
    mover = await people.person(MANAGING, "custom", departments=[named, place])
    expect(await change(mover, f"{DEPARTMENTS}/{named}", parent_id=place), 40300)


async def test_nobody_leads_in_the_place_of_somebody_who_holds_more(branch: Branch) -> None:
    boss = await branch.account([await branch.people.role([NOT_HELD], "self")])
    led = await branch.people.department(branch.department)
    expect(await change(branch.people.admin, f"{DEPARTMENTS}/{led}", leader_user_id=boss["id"]))
    for leader in (branch.manager.user["userId"], None):
        expect(await change(branch.manager, f"{DEPARTMENTS}/{led}", leader_user_id=leader), 40300)


# -- settings


async def test_settings_that_widen_powers_are_set_by_super_administrators_alone(people: People) -> None:
    configs = "/api/v1/system/configs"
    clerk = await people.person(["system:config:list", "system:config:update"], "all")
    rows = {row["key"]: row for row in expect(await clerk.get(f"{configs}?page_size=200"))["items"]}
    guarded = {key for key, row in rows.items() if row["super_only"]}
    assert {"approval_without_definition", "approval_own_requests"} <= guarded
    for key, value in (("approval_without_definition", "approve"), ("approval_own_requests", "ask")):
        other = "leave_out" if rows[key]["value"] == value else value
        reply = await clerk.patch(configs, {"values": {"site_description": "both or none", key: other}})
        expect(reply, 40302)
    now = {row["key"]: row["value"] for row in expect(await clerk.get(f"{configs}?page_size=200"))["items"]}
    assert now == {key: row["value"] for key, row in rows.items()}
    # a form sends all its fields
    sent = {"site_description": "x", **{key: rows[key]["value"] for key in guarded}}
    expect(await clerk.patch(configs, {"values": sent}))
    expect(await people.admin.patch(configs, {"values": {"approval_without_definition": "refuse"}}))
    expect(
        await people.admin.patch(
            configs, {"values": {"approval_without_definition": "leave", "site_description": None}}
        )
    )
