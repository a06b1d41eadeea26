"""Role records: their menus, changes and deletion, and how fast they take effect."""

from __future__ import annotations

import pytest

from plugins.testing import People, expect, unique

pytestmark = pytest.mark.gen_test(timeout=30)
AT = "/api/v1/system/roles"
LIST = "/api/v1/system/departments"


async def menu_ids(people: People, *permissions: str) -> list[int]:
    return sorted(menu["id"] for menu in await people.menus() if menu["permission"] in permissions)


async def test_a_role_names_its_menus_in_every_response(people: People) -> None:
    role = await people.role()
    wanted = await menu_ids(people, "system:department:list", "system:department:read")
    granted = expect(await people.admin.put(f"{AT}/{role}/menus", {"menu_ids": [*wanted, wanted[0]]}))
    read = expect(await people.admin.get(f"{AT}/{role}"))
    listed = [
        row
        for row in expect(await people.admin.get(f"{AT}?page_size=200&sort=-created_at"))["items"]
        if row["id"] == role
    ]
    changed = expect(await people.admin.patch(f"{AT}/{role}", {"remark": "x", "version": read["version"]}))
    assert [row["menu_ids"] for row in (granted, read, *listed, changed)] == [wanted] * 4


async def test_the_menus_of_a_role_are_kept_in_the_menu_records(people: People) -> None:
    role = await people.role(["system:department:list"])
    holders = [menu["permission"] for menu in await people.menus() if role in menu["role_ids"]]
    assert holders == ["system:department:list"]


async def test_granting_replaces_what_was_granted_and_raises_the_version(people: People) -> None:
    role = await people.role(["system:department:list", "system:department:delete"])
    before = expect(await people.admin.get(f"{AT}/{role}"))
    wanted = await menu_ids(people, "system:department:read")
    after = expect(await people.admin.put(f"{AT}/{role}/menus", {"menu_ids": wanted, "version": before["version"]}))
    assert (after["menu_ids"], after["version"]) == (wanted, before["version"] + 1)
    expect(await people.admin.put(f"{AT}/{role}/menus", {"menu_ids": [], "version": before["version"]}), 40902)
    assert expect(await people.admin.get(f"{AT}/{role}"))["menu_ids"] == wanted


async def test_a_menu_that_does_not_exist_is_not_granted(people: People) -> None:
    role = await people.role(["system:department:list"])
    reply = await people.admin.put(f"{AT}/{role}/menus", {"menu_ids": [999_999]})
    expect(reply, 40001)
    assert reply.fields == {"menu_ids"}
    assert len(expect(await people.admin.get(f"{AT}/{role}"))["menu_ids"]) == 1


async def test_menus_may_come_with_the_role_itself(people: People) -> None:
    first = await menu_ids(people, "system:department:list")
    role = expect(await people.admin.post(AT, {"code": unique("role"), "name": "x", "menu_ids": first}))
    second = await menu_ids(people, "system:department:read", "system:department:delete")
    changed = expect(await people.admin.patch(f"{AT}/{role['id']}", {"menu_ids": second, "version": role["version"]}))
    assert (role["menu_ids"], changed["menu_ids"], changed["version"]) == (first, second, role["version"] + 1)
    assert expect(await people.admin.get(f"{AT}/{role['id']}"))["menu_ids"] == second


async def test_a_role_is_not_made_with_a_menu_that_does_not_exist(people: People) -> None:
    code = unique("role")
    reply = await people.admin.post(AT, {"code": code, "name": "x", "menu_ids": [999_999]})
    expect(reply, 40001)
    assert reply.fields == {"menu_ids"}
    assert expect(await people.admin.get(f"{AT}?q={code}"))["items"] == []


async def test_a_role_code_is_taken_once_and_free_again_after_a_delete(people: People) -> None:
    code = unique("role")
    role = expect(await people.admin.post(AT, {"code": code, "name": "x"}))
    assert expect(await people.admin.post(AT, {"code": code, "name": "y"}), 40900) == {"field": "code"}
    expect(await people.admin.delete(f"{AT}/{role['id']}"))
    expect(await people.admin.post(AT, {"code": code, "name": "y"}))


async def test_a_role_that_somebody_holds_is_not_deleted(people: People) -> None:
    role = await people.role(["system:department:list"])
    user = await people.account([role])
    expect(await people.admin.delete(f"{AT}/{role}"), 40901)
    expect(await people.admin.delete(f"/api/v1/system/users/{user['id']}"))
    expect(await people.admin.delete(f"{AT}/{role}"))


async def test_a_deleted_role_is_in_no_menu_record(people: People) -> None:
    role = await people.role(["system:department:list"])
    expect(await people.admin.delete(f"{AT}/{role}"))
    assert not [menu for menu in await people.menus() if role in menu["role_ids"]]


async def test_a_grant_and_its_withdrawal_are_in_force_with_the_next_request(people: People) -> None:
    person = await people.person()
    role = expect(await people.admin.get(f"/api/v1/system/users/{person.user['userId']}"))["role_ids"][0]
    expect(await person.get(LIST), 40300)
    wanted = await menu_ids(people, "system:department:list")
    expect(await people.admin.put(f"{AT}/{role}/menus", {"menu_ids": wanted}))
    expect(await person.get(LIST))
    expect(await people.admin.put(f"{AT}/{role}/menus", {"menu_ids": []}))
    expect(await person.get(LIST), 40300)


async def test_a_disabled_role_grants_nothing_from_the_next_request_on(people: People) -> None:
    role = await people.role(["system:department:list"])
    person = await people.admin.log_in((await people.account([role]))["username"])
    expect(await person.get(LIST))
    for status, code in (("disabled", 40300), ("enabled", 0)):
        version = expect(await people.admin.get(f"{AT}/{role}"))["version"]
        expect(await people.admin.patch(f"{AT}/{role}", {"status": status, "version": version}))
        expect(await person.get(LIST), code)


async def test_a_changed_data_scope_is_in_force_with_the_next_request(people: People) -> None:
    role = await people.role(["system:user:list"], "self")
    person = await people.admin.log_in((await people.account([role]))["username"])
    assert expect(await person.get("/api/v1/system/users"))["total"] == 1
    version = expect(await people.admin.get(f"{AT}/{role}"))["version"]
    expect(await people.admin.patch(f"{AT}/{role}", {"data_scope": "all", "version": version}))
    assert expect(await person.get("/api/v1/system/users"))["total"] > 1


@pytest.mark.parametrize("scope", ["ALL", "1", "本部门", "", None])
async def test_a_data_scope_has_one_of_five_values(people: People, scope: str | None) -> None:
    reply = await people.admin.post(AT, {"code": unique("role"), "name": "x", "data_scope": scope})
    expect(reply, 40001)
    assert reply.fields == {"data_scope"}


async def test_a_custom_scope_names_departments_that_exist(people: People) -> None:
    body = {"code": unique("role"), "name": "x", "data_scope": "custom", "data_scope_department_ids": [999_999]}
    reply = await people.admin.post(AT, body)
    expect(reply, 40001)
    assert reply.fields == {"data_scope_department_ids"}
