"""Users grant only rights that they hold: each test is an attempt to get more, and its refusal."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import PASSWORD, People, expect, unique
from tests.api.rbac.branch import (
    DEPARTMENTS,
    HELD,
    MANAGING,
    MENUS,
    NOT_HELD,
    ROLES,
    USERS,
    Branch,
    account,
    change,
    menu_of,
)

pytestmark = pytest.mark.gen_test(timeout=30)


# -- what a manager may do, which shows that the refusals below have their reason


async def test_a_manager_hires_into_the_branch_with_what_they_hold(branch: Branch) -> None:
    role = await branch.people.role(HELD, "self")
    made = expect(await branch.manager.post(USERS, account(department_id=branch.below, role_ids=[role])))
    expect(await branch.manager.get(f"{USERS}/{made['id']}"))


async def test_a_manager_makes_a_role_of_what_they_hold(branch: Branch) -> None:
    body = {"code": unique("role"), "name": "branch", "data_scope": "department_and_below"}
    role = expect(await branch.manager.post(ROLES, body))
    menus = [(await menu_of(branch.people, permission))["id"] for permission in HELD]
    granted = expect(await branch.manager.put(f"{ROLES}/{role['id']}/menus", {"menu_ids": menus}))
    assert granted["menu_ids"] == sorted(menus)
    expect(await change(branch.manager, f"{ROLES}/{role['id']}", data_scope="department"))
    expect(await branch.manager.delete(f"{ROLES}/{role['id']}"))


async def test_a_manager_resets_the_password_of_somebody_who_holds_no_more(branch: Branch) -> None:
    user = await branch.account([await branch.people.role(HELD, "department")])
    expect(await branch.manager.post(f"{USERS}/{user['id']}/reset-password"))


async def test_a_manager_edits_the_name_of_somebody_who_holds_more(branch: Branch) -> None:
    user = await branch.account([await branch.people.role([NOT_HELD], "all")])
    assert expect(await change(branch.manager, f"{USERS}/{user['id']}", real_name="新名"))["real_name"] == "新名"


async def test_somebody_who_sees_everything_defines_every_scope(people: People) -> None:
    person = await people.person(MANAGING, "all")
    for scope in ("all", "department", "department_and_below", "custom", "self"):
        expect(await person.post(ROLES, {"code": unique("role"), "name": "x", "data_scope": scope}))


# -- accounts


WIDER: dict[str, Any] = {
    "menus": lambda people: people.role([NOT_HELD], "self"),
    "all rows": lambda people: people.role(HELD, "all"),
    "a disabled role of all rows": lambda people: people.role(HELD, "all", status="disabled"),
    "disabled menus": lambda people: people.role([NOT_HELD], "self", status="disabled"),
}


@pytest.mark.parametrize("wider", WIDER)
async def test_nobody_hires_with_a_role_that_is_wider(branch: Branch, wider: str) -> None:
    role = await WIDER[wider](branch.people)
    expect(await branch.manager.post(USERS, account(department_id=branch.department, role_ids=[role])), 40300)


@pytest.mark.parametrize("wider", WIDER)
async def test_nobody_gives_a_wider_role_later(branch: Branch, wider: str) -> None:
    user = await branch.account([])
    role = await WIDER[wider](branch.people)
    expect(await change(branch.manager, f"{USERS}/{user['id']}", role_ids=[role]), 40300)


@pytest.mark.parametrize("wider", WIDER)
async def test_nobody_gives_themselves_a_wider_role(branch: Branch, wider: str) -> None:
    role = await WIDER[wider](branch.people)
    own = f"{USERS}/{branch.manager.user['userId']}"
    expect(await change(branch.manager, own, role_ids=[branch.own_role, role]), 40300)


async def test_a_custom_role_of_foreign_departments_is_not_given(branch: Branch) -> None:
    role = await branch.people.role(HELD, "custom", [branch.foreign])
    expect(await branch.manager.post(USERS, account(department_id=branch.department, role_ids=[role])), 40300)


async def test_nobody_gives_a_wider_role_to_a_disabled_account_and_enables_it_then(branch: Branch) -> None:
    user = await branch.account([])
    role = await branch.people.role([NOT_HELD], "all")
    reply = await change(branch.manager, f"{USERS}/{user['id']}", role_ids=[role], status="disabled")
    expect(reply, 40300)


async def test_nobody_enables_an_account_that_holds_more(branch: Branch) -> None:
    user = await branch.account([await branch.people.role([NOT_HELD], "self")], status="disabled")
    expect(await change(branch.manager, f"{USERS}/{user['id']}", status="enabled"), 40300)


async def test_nobody_hires_into_a_foreign_department_or_none(branch: Branch) -> None:
    for department in (branch.foreign, None):
        expect(await branch.manager.post(USERS, account(department_id=department)), 40300)


async def test_nobody_moves_a_user_into_a_foreign_department_or_none(branch: Branch) -> None:
    user = await branch.account([])
    for department in (branch.foreign, None):
        expect(await change(branch.manager, f"{USERS}/{user['id']}", department_id=department), 40300)


async def test_nobody_moves_themselves_into_a_foreign_department(branch: Branch) -> None:
    own = f"{USERS}/{branch.manager.user['userId']}"
    expect(await change(branch.manager, own, department_id=branch.foreign), 40300)


async def test_a_role_that_shows_its_holder_more_than_the_giver_sees_is_not_given(people: People) -> None:
    department = await people.department()
    await people.department(department)
    giver = await people.person(MANAGING, "custom", departments=[department])
    user = await people.account([], department)
    role = await people.role([], "department_and_below")
    expect(await change(giver, f"{USERS}/{user['id']}", role_ids=[role]), 40300)


async def test_a_move_that_shows_the_person_more_than_the_mover_sees_is_refused(people: People) -> None:
    flat, deep = [await people.department() for _ in range(2)]
    await people.department(deep)
    mover = await people.person(MANAGING, "custom", departments=[flat, deep])
    user = await people.account([await people.role([], "department_and_below")], flat)
    expect(await change(mover, f"{USERS}/{user['id']}", department_id=deep), 40300)


async def test_a_user_outside_the_data_scope_is_not_found(branch: Branch) -> None:
    path = f"{USERS}/{(await branch.account([], branch.foreign))['id']}"
    expect(await branch.manager.get(path), 40400)
    expect(await branch.manager.patch(path, {"real_name": "x", "version": 1}), 40400)
    expect(await branch.manager.delete(path), 40400)
    expect(await branch.manager.post(f"{path}/reset-password"), 40400)
    expect(await branch.manager.post(f"{path}/unlock"), 40400)


TAKE_OVER: dict[str, Any] = {
    "reset": lambda client, id: client.post(f"{USERS}/{id}/reset-password"),
    "set": lambda client, id: client.patch(f"{USERS}/{id}", {"password": f"{PASSWORD}-2", "version": 1}),
}


@pytest.mark.parametrize("how", TAKE_OVER)
@pytest.mark.parametrize("wider", WIDER)
async def test_nobody_takes_over_an_account_that_holds_more_by_its_password(
    branch: Branch, how: str, wider: str
) -> None:
    user = await branch.account([await WIDER[wider](branch.people)])
    expect(await TAKE_OVER[how](branch.manager, user["id"]), 40300)
    expect(await branch.people.admin.post("/api/v1/auth/login", {"username": user["username"], "password": PASSWORD}))


async def test_nobody_gives_an_account_that_holds_more_the_name_of_their_own_wecom_member(branch: Branch) -> None:
    user = await branch.account([await branch.people.role([NOT_HELD], "self")])
    expect(await change(branch.manager, f"{USERS}/{user['id']}", username=unique("member")), 40300)


@pytest.mark.parametrize("how", TAKE_OVER)
async def test_nobody_takes_over_a_super_administrator_by_the_password(branch: Branch, how: str) -> None:
    user = await branch.account([], is_super=True)
    expect(await TAKE_OVER[how](branch.manager, user["id"]), 40302)


async def test_a_super_administrator_is_edited_deleted_and_unlocked_by_supers_alone(branch: Branch) -> None:
    path = f"{USERS}/{(await branch.account([], is_super=True))['id']}"
    expect(await branch.manager.patch(path, {"status": "disabled", "version": 1}), 40302)
    expect(await branch.manager.patch(path, {"username": unique("user"), "version": 1}), 40302)
    expect(await branch.manager.delete(path), 40302)
    expect(await branch.manager.post(f"{path}/unlock"), 40302)


async def test_is_super_is_written_by_super_administrators_alone(branch: Branch) -> None:
    expect(await branch.manager.post(USERS, account(department_id=branch.department, is_super=True)), 40302)
    user = await branch.account([])
    expect(await change(branch.manager, f"{USERS}/{user['id']}", is_super=True), 40302)
    expect(await change(branch.manager, f"{USERS}/{branch.manager.user['userId']}", is_super=True), 40302)
    assert expect(await change(branch.people.admin, f"{USERS}/{user['id']}", is_super=True))["is_super"] is True


# -- roles


@pytest.mark.parametrize("scope", ["all", "custom"])
async def test_nobody_makes_a_role_with_a_wider_scope(branch: Branch, scope: str) -> None:
    body = {"code": unique("role"), "name": "x", "data_scope": scope, "data_scope_department_ids": [branch.foreign]}
    expect(await branch.manager.post(ROLES, body), 40300)


@pytest.mark.parametrize("scope", ["department", "department_and_below"])
async def test_somebody_who_sees_named_departments_alone_makes_no_role_that_goes_by_the_holders_own(
    people: People, scope: str
) -> None:
    person = await people.person(MANAGING, "custom", departments=[await people.department()])
    expect(await person.post(ROLES, {"code": unique("role"), "name": "x", "data_scope": scope}), 40300)


@pytest.mark.parametrize("scope", ["all", "custom"])
async def test_a_department_administrator_does_not_widen_the_scope_of_their_own_role(
    branch: Branch, scope: str
) -> None:
    values = {"data_scope": scope, "data_scope_department_ids": [branch.foreign, branch.department]}
    expect(await change(branch.manager, f"{ROLES}/{branch.own_role}", **values), 40300)
    assert expect(await branch.manager.get("/api/v1/auth/profile"))["user"]["dataScope"] == "department_and_below"


async def test_nobody_adds_foreign_departments_to_a_custom_role(branch: Branch) -> None:
    role = await branch.people.role(HELD, "custom", [branch.department])
    values = {"data_scope_department_ids": [branch.department, branch.foreign]}
    expect(await change(branch.manager, f"{ROLES}/{role}", **values), 40300)


async def test_foreign_departments_stored_beforehand_do_not_come_into_force(branch: Branch) -> None:
    role = await branch.people.role(HELD, "self")
    expect(await change(branch.manager, f"{ROLES}/{role}", data_scope_department_ids=[branch.foreign]))
    expect(await change(branch.manager, f"{ROLES}/{role}", data_scope="custom"), 40300)


async def test_a_role_held_in_a_foreign_department_is_not_widened_there(branch: Branch) -> None:
    role = await branch.people.role(HELD, "self")
    await branch.account([role], branch.foreign)
    expect(await change(branch.manager, f"{ROLES}/{role}", data_scope="department"), 40300)


@pytest.mark.parametrize("wider", ["a disabled role of all rows", "disabled menus"])
async def test_nobody_enables_a_role_that_is_wider(branch: Branch, wider: str) -> None:
    role = await WIDER[wider](branch.people)
    expect(await change(branch.manager, f"{ROLES}/{role}", status="enabled"), 40300)


async def test_nobody_disables_or_deletes_a_role_that_is_wider(branch: Branch) -> None:
    role = await branch.people.role([NOT_HELD], "all")
    expect(await change(branch.manager, f"{ROLES}/{role}", status="disabled"), 40300)
    expect(await branch.manager.delete(f"{ROLES}/{role}"), 40300)


async def test_nobody_grants_menus_that_they_do_not_hold(branch: Branch) -> None:
    wanted = (await menu_of(branch.people, NOT_HELD))["id"]
    for role in (await branch.people.role(HELD, "self"), branch.own_role):
        held = expect(await branch.manager.get(f"{ROLES}/{role}"))["menu_ids"]
        expect(await branch.manager.put(f"{ROLES}/{role}/menus", {"menu_ids": [*held, wanted]}), 40300)
        assert expect(await branch.manager.get(f"{ROLES}/{role}"))["menu_ids"] == held


async def test_the_menus_of_a_wider_role_are_not_changed(branch: Branch) -> None:
    for wider in (await branch.people.role([NOT_HELD], "self"), await branch.people.role(HELD, "all")):
        expect(await branch.manager.put(f"{ROLES}/{wider}/menus", {"menu_ids": []}), 40300)
        expect(await change(branch.manager, f"{ROLES}/{wider}", menu_ids=[]), 40300)


async def test_nobody_makes_or_changes_a_role_with_menus_that_they_do_not_hold(branch: Branch) -> None:
    wanted = [(await menu_of(branch.people, NOT_HELD))["id"]]
    expect(await branch.manager.post(ROLES, {"code": unique("role"), "name": "x", "menu_ids": wanted}), 40300)
    for role in (await branch.people.role(HELD, "self"), branch.own_role):
        expect(await change(branch.manager, f"{ROLES}/{role}", menu_ids=wanted), 40300)


async def test_menus_in_the_form_of_a_role_take_the_permission_to_grant(people: People) -> None:
    clerk = await people.person(["system:role:read", "system:role:create", "system:role:update", *HELD])
    role, held = await people.role(HELD[:1]), (await menu_of(people, HELD[0]))["id"]
    expect(await clerk.post(ROLES, {"code": unique("role"), "name": "x", "menu_ids": [held]}), 40300)
    expect(await change(clerk, f"{ROLES}/{role}", menu_ids=[]), 40300)
    # a form sends all its fields
    assert expect(await change(clerk, f"{ROLES}/{role}", menu_ids=[held], name="新名"))["menu_ids"] == [held]


async def test_nobody_gives_a_wider_role_the_code_that_new_wecom_users_get(branch: Branch) -> None:
    wider = await branch.people.role(HELD, "all")
    expect(await change(branch.manager, f"{ROLES}/{wider}", code=unique("staff")), 40300)


async def test_the_name_of_a_wider_role_may_be_changed(branch: Branch) -> None:
    role = await branch.people.role([NOT_HELD], "all")
    assert expect(await change(branch.manager, f"{ROLES}/{role}", name="新名"))["name"] == "新名"


# -- menus: editing must not bind more to the caller's own

DELETE_API = {"method": "DELETE", "path": "/api/v1/crm/customers/{id}"}
LIST_API = {"method": "GET", "path": "/api/v1/crm/customers"}


@pytest.mark.parametrize("gained", [{"apis": [LIST_API, DELETE_API]}, {"permission": NOT_HELD}], ids=["api", "code"])
async def test_nobody_binds_more_to_a_menu_that_they_hold(branch: Branch, gained: dict[str, Any]) -> None:
    own = f"{MENUS}/{(await menu_of(branch.people, HELD[0]))['id']}"
    version = (await menu_of(branch.people, HELD[0]))["version"]
    expect(await branch.manager.patch(own, {**gained, "version": version}), 40300)
    expect(await branch.manager.delete("/api/v1/crm/customers/65f0c0ffee65f0c0ffee65f0"), 40300)


@pytest.mark.parametrize("gained", [{"apis": [DELETE_API]}, {"permission": NOT_HELD}], ids=["api", "code"])
async def test_nobody_makes_a_menu_that_binds_more(branch: Branch, gained: dict[str, Any]) -> None:
    body = {"type": "button", "code": unique("menu"), "title": "x", **gained}
    expect(await branch.manager.post(MENUS, body), 40300)


async def test_a_new_menu_is_granted_to_nobody_by_its_maker(branch: Branch) -> None:
    body = {"type": "button", "code": unique("menu"), "title": "x", "apis": [LIST_API], "permission": HELD[0]}
    reply = await branch.manager.post(MENUS, {**body, "role_ids": [branch.own_role]})
    expect(reply, 40001)
    assert reply.fields == {"role_ids"}
    assert expect(await branch.manager.post(MENUS, body))["role_ids"] == []


async def test_titles_and_order_of_any_menu_may_be_edited(branch: Branch) -> None:
    made = expect(
        await branch.people.admin.post(
            MENUS, {"type": "button", "code": unique("menu"), "title": "x", "apis": [DELETE_API]}
        )
    )
    path = f"{MENUS}/{made['id']}"
    changed = expect(await branch.manager.patch(path, {"title": "新", "order": 7, "apis": [DELETE_API], "version": 1}))
    assert (changed["title"], changed["order"]) == ("新", 7)


# -- departments: moving must not bring foreign ones under the caller's own


async def test_nobody_moves_a_foreign_department_under_their_own(branch: Branch) -> None:
    path = f"{DEPARTMENTS}/{branch.foreign}"
    expect(await change(branch.manager, path, parent_id=branch.department), 40300)


async def test_a_department_is_not_moved_together_with_one_below_it_that_is_foreign(people: People) -> None:
    moved, place = [await people.department() for _ in range(2)]
    mover = await people.person(MANAGING, "custom", departments=[moved, place])
    expect(await change(mover, f"{DEPARTMENTS}/{moved}", parent_id=place))
    await people.department(moved)
    expect(await change(mover, f"{DEPARTMENTS}/{moved}", parent_id=None), 40300)


async def test_nobody_moves_the_department_above_their_own(branch: Branch) -> None:
    top = expect(await branch.people.admin.get(f"{DEPARTMENTS}/{branch.department}"))["parent_id"]
    expect(await change(branch.manager, f"{DEPARTMENTS}/{top}", parent_id=await branch.people.department()), 40300)


async def test_nobody_becomes_the_leader_of_a_foreign_department(branch: Branch) -> None:
    # leaders decide on approvals
    me = branch.manager.user["userId"]
    expect(await change(branch.manager, f"{DEPARTMENTS}/{branch.foreign}", leader_user_id=me), 40300)
    other = (await branch.account([]))["id"]
    for leader, code in ((me, 40300), (other, 0)):
        expect(await change(branch.manager, f"{DEPARTMENTS}/{branch.below}", leader_user_id=leader), code)


async def test_a_department_of_ones_own_branch_may_be_moved_within_it(branch: Branch) -> None:
    first, second = [await branch.people.department(branch.department) for _ in range(2)]
    moved = expect(await change(branch.manager, f"{DEPARTMENTS}/{first}", parent_id=second))
    assert moved["ancestors"][-2:] == [branch.department, second]
