"""What a 40300 says: the permission code that is missing, and what it permits in the words of menus and buttons."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique

pytestmark = pytest.mark.gen_test(timeout=30)
CUSTOMERS = "/api/v1/crm/customers"
ROLES = "/api/v1/system/roles"
ENGLISH = {"Accept-Language": "en"}


def refused(reply: Any, code: int = 40300) -> tuple[str | None, str]:
    """The permission and the reason of a refusal."""
    expect(reply, code)
    return reply.data["permission"], reply.data["reason"]


async def test_it_says_what_to_ask_for_in_the_language_of_the_reader(people: People) -> None:
    person = await people.person()
    export = f"{CUSTOMERS}/export"
    assert refused(await person.get(export)) == ("crm:customer:export", "缺少权限：导出客户")
    said = refused(await person.get(export, headers=ENGLISH))
    assert said == ("crm:customer:export", "Missing permission: export customers")


async def test_a_button_with_a_title_of_its_own_is_named_with_its_page(people: People) -> None:
    person = await people.person()
    path = "/api/v1/system/users/1/reset-password"
    assert refused(await person.post(path)) == ("system:user:reset-password", "缺少权限：用户：重置密码")
    said = refused(await person.post(path, headers=ENGLISH))
    assert said == ("system:user:reset-password", "Missing permission: reset password (users)")


async def test_super_administrators_only_is_no_permission_to_ask_for(people: People, admin: Client) -> None:
    person = await people.person(["system:user:update"])
    user = person.user["userId"]
    version = expect(await admin.get(f"/api/v1/system/users/{user}"))["version"]
    change = {"is_super": True, "version": version}
    reply = await person.patch(f"/api/v1/system/users/{user}", change, headers=ENGLISH)
    assert refused(reply, 40302) == (None, "Only a super administrator may appoint super administrators")


async def test_a_rule_that_wants_a_further_permission_names_it_and_keeps_its_message(
    people: People, admin: Client
) -> None:
    person = await people.person(["crm:customer:create", "crm:customer:read", "crm:customer:update"])
    made = expect(await person.post(CUSTOMERS, {"name": unique("Customer")}))
    change = {"owner_id": admin.user["userId"], "version": made["version"]}
    reply = await person.patch(f"{CUSTOMERS}/{made['id']}", change)
    assert refused(reply) == ("crm:customer:transfer", "缺少权限：客户：转移")
    assert reply.json["msg"] != "没有权限"
    assert refused(await person.get(f"{ROLES}?deleted=true"))[0] == "system:role:list"


async def test_deleted_records_take_the_permission_to_restore_them(people: People) -> None:
    person = await people.person(["crm:customer:list"])
    reply = await person.get(f"{CUSTOMERS}?deleted=true")
    assert refused(reply) == ("crm:customer:restore", "缺少权限：恢复客户")


async def test_a_rule_about_records_names_no_permission(people: People) -> None:
    person = await people.person(["system:role:create", "system:role:grant"])
    menus = [1]
    reply = await person.post(ROLES, {"code": unique("wide"), "name": "Wide", "menu_ids": menus}, headers=ENGLISH)
    assert refused(reply) == (None, "You cannot grant menus that you do not have yourself")


async def test_menus_with_a_role_take_the_permission_to_grant_them(people: People) -> None:
    person = await people.person(["system:role:create"])
    reply = await person.post(ROLES, {"code": unique("wide"), "name": "Wide", "menu_ids": [1]})
    assert refused(reply) == ("system:role:grant", "缺少权限：角色：授权")


async def test_a_row_out_of_sight_stays_missing(people: People, admin: Client) -> None:
    hidden = expect(await admin.post(CUSTOMERS, {"name": unique("Customer")}))["id"]
    person = await people.person(["crm:customer:read"])
    reply = await person.get(f"{CUSTOMERS}/{hidden}")
    expect(reply, 40400)
    assert reply.data is None
