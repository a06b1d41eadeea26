"""User records: fixed fields, and accounts that are protected."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from plugins.testing import PASSWORD, Client, People, expect, unique
from tests.support.servers import instances

pytestmark = pytest.mark.gen_test(timeout=30)
AT = "/api/v1/system/users"


async def test_a_user_record_has_the_fields_of_the_contract(people: People) -> None:
    assert {
        "id",
        "username",
        "real_name",
        "avatar",
        "email",
        "mobile",
        "department_id",
        "role_ids",
        "status",
        "is_super",
        "must_change_password",
        "wecom_user_id",
        "locked_until",
        "last_login_at",
        "version",
        "created_at",
    } <= set(await people.account())


async def test_a_user_name_is_taken_once(people: People) -> None:
    user = await people.account()
    reply = await people.admin.post(AT, {"username": user["username"], "password": PASSWORD})
    assert expect(reply, 40900) == {"field": "username"}


async def test_a_user_name_is_free_again_after_a_delete(people: People) -> None:
    user = await people.account()
    expect(await people.admin.delete(f"{AT}/{user['id']}"))
    again = expect(await people.admin.post(AT, {"username": user["username"], "password": PASSWORD}))
    assert again["id"] > user["id"]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"role_ids": [999_999]}, "role_ids"),
        ({"department_id": 999_999}, "department_id"),
        ({"locked_until": None}, "locked_until"),
        ({"password_hash": "x"}, "password_hash"),
        ({"wecom_user_id": "x"}, "wecom_user_id"),
        ({"id": 1}, "id"),
        ({"password": [[[[]]]]}, "password"),
    ],
    ids=["role", "department", "lock", "hash", "WeCom binding", "id", "password of another type"],
)
async def test_a_reference_to_nothing_a_field_of_the_service_and_a_list_as_password_are_refused(
    people: People, values: dict[str, Any], field: str
) -> None:
    reply = await people.admin.post(AT, {"username": unique("user"), "password": PASSWORD, **values})
    expect(reply, 40001)
    assert reply.fields == {field}


async def test_a_stale_version_changes_nothing(people: People) -> None:
    user = await people.account()
    expect(await people.admin.patch(f"{AT}/{user['id']}", {"real_name": "first", "version": 1}))
    expect(await people.admin.patch(f"{AT}/{user['id']}", {"real_name": "second", "version": 1}), 40902)
    assert expect(await people.admin.get(f"{AT}/{user['id']}"))["real_name"] == "first"


async def test_a_login_does_not_make_the_version_that_an_administrator_read_stale(people: People) -> None:
    user = await people.account()
    await people.admin.log_in(user["username"])
    expect(await people.admin.patch(f"{AT}/{user['id']}", {"real_name": "x", "version": 1}))


@pytest.mark.parametrize("values", [{"status": "disabled"}, {"is_super": False}], ids=["disabled", "stripped"])
async def test_user_1_is_not_disabled_or_stripped(people: People, values: dict[str, Any]) -> None:
    version = expect(await people.admin.get(f"{AT}/1"))["version"]
    expect(await people.admin.patch(f"{AT}/1", {**values, "version": version}), 40901)
    other = await people.admin.log_in((await people.account(is_super=True))["username"])
    expect(await other.patch(f"{AT}/1", {**values, "version": version}), 40901)


async def test_user_1_is_not_deleted(people: People) -> None:
    other = await people.admin.log_in((await people.account(is_super=True))["username"])
    expect(await other.delete(f"{AT}/1"), 40901)
    expect(await people.admin.delete(f"{AT}/1"), 40901)


async def test_user_1_is_as_untouchable_for_ordinary_administrators(people: People) -> None:
    chief = await people.person(["system:user:update", "system:user:delete"], "all")
    version = expect(await people.admin.get(f"{AT}/1"))["version"]
    expect(await chief.patch(f"{AT}/1", {"status": "disabled", "version": version}), 40901)
    expect(await chief.delete(f"{AT}/1"), 40901)
    expect(await chief.patch(f"{AT}/1", {"real_name": "x", "version": version}), 40302)


async def test_nobody_deletes_or_disables_themselves(people: People) -> None:
    person = await people.admin.log_in((await people.account(is_super=True))["username"])
    own = f"{AT}/{person.user['userId']}"
    expect(await person.delete(own), 40901)
    expect(await person.patch(own, {"status": "disabled", "version": 1}), 40901)


async def test_other_super_administrators_may_be_stripped_disabled_and_deleted(people: People) -> None:
    paths = [f"{AT}/{(await people.account(is_super=True))['id']}" for _ in range(2)]
    assert expect(await people.admin.patch(paths[0], {"is_super": False, "version": 1}))["is_super"] is False
    expect(await people.admin.patch(paths[1], {"status": "disabled", "version": 1}))
    for path in paths:
        expect(await people.admin.delete(path))


async def test_whatever_is_tried_at_once_a_super_administrator_stays(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}) as (server,):
        admin = await Client(server.url).log_in("admin")
        supers = [await People(admin).account(is_super=True) for _ in range(3)]
        clients = [await admin.log_in(user["username"]) for user in supers]
        targets = [1, *(user["id"] for user in supers)]
        await asyncio.gather(*(client.delete(f"{AT}/{id}") for client in clients for id in targets))
        left = expect(await admin.get(f"{AT}?is_super=true&status=enabled"))["items"]
        assert 1 in {user["id"] for user in left}
        expect(await admin.get("/api/v1/auth/profile"))


async def test_a_user_list_shows_the_data_scope_of_the_caller(people: People) -> None:
    department = await people.department()
    below = await people.department(department)
    person = await people.person(["system:user:list"], "department_and_below", department)
    near, far = await people.account(department_id=below), await people.account()
    ids = {user["id"] for user in expect(await person.get(f"{AT}?page_size=200"))["items"]}
    assert ids == {person.user["userId"], near["id"]}
    assert far["id"] not in ids


async def test_a_new_role_is_in_force_with_the_next_request(people: People) -> None:
    user = await people.account()
    person = await people.admin.log_in(user["username"])
    expect(await person.get("/api/v1/system/departments"), 40300)
    role = await people.role(["system:department:list"])
    expect(await people.admin.patch(f"{AT}/{user['id']}", {"role_ids": [role], "version": 1}))
    expect(await person.get("/api/v1/system/departments"))
    expect(await people.admin.patch(f"{AT}/{user['id']}", {"role_ids": [], "version": 2}))
    expect(await person.get("/api/v1/system/departments"), 40300)
