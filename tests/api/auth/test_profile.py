"""The caller's own profile, in the shape that vben-admin expects."""

from typing import Any

import pytest

from plugins.testing import Client, People, expect
from tests.support.servers import PROFILE

pytestmark = pytest.mark.gen_test(timeout=30)
CODES = "/api/v1/auth/codes"


async def test_the_profile_and_the_login_tell_the_same_of_a_person(people: People) -> None:
    person = await people.person(["system:department:list", "system:department:create"])
    profile = expect(await person.get(PROFILE))
    assert profile == {"user": person.user, "permissions": person.session["permissions"]}


async def test_a_person_is_described_with_the_names_that_vben_admin_reads(people: People) -> None:
    department = await people.department()
    person = await people.person(scope="department", department_id=department)
    user = expect(await person.get(PROFILE))["user"]
    assert set(user) == {
        "userId",
        "username",
        "realName",
        "avatar",
        "email",
        "mobile",
        "department",
        "roles",
        "dataScope",
        "isSuper",
        "mustChangePassword",
        "homePath",
        "lastLoginAt",
    }
    assert user["department"]["id"] == department
    assert user["dataScope"] == "department"
    assert user["isSuper"] is False


async def test_a_super_administrator_holds_every_permission_and_sees_all(admin: Client) -> None:
    profile = expect(await admin.get(PROFILE))
    assert profile["permissions"] == ["*:*:*"]
    assert (profile["user"]["isSuper"], profile["user"]["dataScope"]) == (True, "all")


async def test_permission_codes_are_the_union_over_the_enabled_roles(people: People) -> None:
    roles = [
        await people.role(["system:department:list"]),
        await people.role(["system:department:create", "system:department:list"]),
    ]
    off = await people.role(["system:department:delete"], status="disabled")
    person = await people.admin.log_in((await people.account([*roles, off]))["username"])
    assert expect(await person.get(CODES)) == ["system:department:create", "system:department:list"]


async def test_a_person_without_roles_holds_nothing(people: People) -> None:
    person = await people.admin.log_in((await people.account())["username"])
    profile = expect(await person.get(PROFILE))
    assert (profile["permissions"], profile["user"]["roles"], profile["user"]["dataScope"]) == ([], [], None)


async def test_name_addresses_and_avatar_are_ones_own_to_change(people: People) -> None:
    person = await people.person()
    values = {"real_name": "王小明", "email": "wang@example.com", "mobile": "13800000000", "avatar": "/avatars/1.png"}
    user = expect(await person.patch(PROFILE, values))["user"]
    assert [user[name] for name in ("realName", "email", "mobile", "avatar")] == list(values.values())
    assert expect(await person.get(PROFILE))["user"] == user


@pytest.mark.parametrize(
    "values",
    [
        {"is_super": True},
        {"role_ids": [1]},
        {"department_id": 1},
        {"username": "root"},
        {"must_change_password": False},
        {"password": "Correct-horse-8"},
        {"status": "enabled"},
        {"version": 1},
    ],
    ids=lambda values: next(iter(values)),
)
async def test_nothing_else_is_ones_own_to_change(people: People, values: dict[str, Any]) -> None:
    person = await people.person()
    reply = await person.patch(PROFILE, values)
    expect(reply, 40001)
    assert reply.data["errors"][0]["rule"] == "unknown"
    assert expect(await person.get(PROFILE))["user"] == person.user


@pytest.mark.parametrize("values", [{"email": "no address"}, {"mobile": "call me"}, {"real_name": "x" * 101}])
async def test_a_wrong_value_is_named(people: People, values: dict[str, str]) -> None:
    reply = await (await people.person()).patch(PROFILE, values)
    expect(reply, 40001)
    assert reply.fields == set(values)


async def test_without_a_token_there_is_no_profile(anonymous: Client) -> None:
    expect(await anonymous.get(PROFILE), 40100)
    expect(await anonymous.patch(PROFILE, {"real_name": "x"}), 40100)
