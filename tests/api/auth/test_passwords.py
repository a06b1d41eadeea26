"""Passwords: policy, history, forced change, hashing that does not slow other requests."""

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.rbac.api import USERS, Passwords
from plugins.rbac.passwords import RbacSettings, against_policy
from plugins.testing import PASSWORD, Client, People, expect, unique
from tests.api.auth.processor_time import difference
from tests.support.servers import PASSWORD_PATH, PROFILE, REFRESH, instances, try_login

pytestmark = pytest.mark.gen_test(timeout=120)
USERS_PATH = "/api/v1/system/users"


async def change(person: Client, old: str, new: str) -> int:
    return (await person.put(PASSWORD_PATH, {"old_password": old, "new_password": new})).code


async def stored(running: Running, user_id: int) -> dict[str, Any]:
    return await running.service.database.store(USERS).get(user_id)


# -- policy


@pytest.mark.parametrize(
    ("password", "meets"),
    [
        ("Aa1!aaaaaa", True),
        ("Aa1!aaaaa", False),
        ("aa1!aaaaaa", False),
        ("AA1!AAAAAA", False),
        ("Aaa!aaaaaa", False),
        ("Aa1aaaaaaa", False),
        ("Aa1 aaaaaa", False),
        ("密码Aa1!aaaa", True),
    ],
    ids=[
        "all kinds",
        "nine characters",
        "no upper case",
        "no lower case",
        "no digit",
        "no symbol",
        "a blank is none",
        "Chinese",
    ],
)
async def test_a_password_has_ten_characters_of_four_kinds(people: People, password: str, meets: bool) -> None:
    body = {"username": unique("user"), "password": password}
    reply = await people.admin.post(USERS_PATH, body)
    expect(reply, 0 if meets else 40001)
    if not meets:
        assert reply.data["errors"][0]["field"] == "password"
        assert reply.data["errors"][0]["rule"] == "policy"
        assert "大写字母" in reply.data["errors"][0]["message"]


async def test_the_policy_holds_for_those_who_change_and_those_who_set_a_password(people: People) -> None:
    person = await people.person()
    assert await change(person, PASSWORD, "short") == 40001
    user = f"{USERS_PATH}/{person.user['userId']}"
    expect(await people.admin.patch(user, {"password": "short", "version": 1}), 40001)


async def test_a_password_against_the_policy_is_reported_with_everything_else_that_is_wrong(people: People) -> None:
    made = await people.admin.post(USERS_PATH, {"username": "x", "password": "short", "email": "none", "colour": 1})
    assert made.fields == {"username", "password", "email", "colour"}
    user = await people.account()
    changed = await people.admin.patch(f"{USERS_PATH}/{user['id']}", {"password": "short", "email": "none"})
    assert changed.fields == {"version", "password", "email"}
    person = await people.admin.log_in(user["username"])
    assert (await person.put(PASSWORD_PATH, {"new_password": "short"})).fields == {"old_password", "new_password"}


async def test_what_is_no_text_or_too_long_is_reported_once(people: People) -> None:
    for password in (12345, None, "a" * 10_001):
        reply = await people.admin.post(USERS_PATH, {"username": unique("user"), "password": password})
        assert [error["field"] for error in reply.data["errors"]] == ["password"]


def test_a_made_up_password_meets_the_policy(tradewind: Running) -> None:
    passwords = tradewind.service.part(Passwords)
    assert {against_policy(tradewind.service, passwords.make()) for _ in range(200)} == {None}


# -- any length


async def test_a_password_of_1000_characters_works_to_its_last_one(tradewind: Running, people: People) -> None:
    long = PASSWORD + "x" * 985
    user = await people.account(password=long)
    expect(await try_login(tradewind.url, user["username"], long))
    expect(await try_login(tradewind.url, user["username"], f"{long[:-1]}y"), 40010)


async def test_a_password_longer_than_any_that_can_be_set_is_a_wrong_one(tradewind: Running) -> None:
    expect(await try_login(tradewind.url, "admin", "x" * 10_000), 40010)


async def test_passwords_that_differ_behind_72_bytes_differ(tradewind: Running, people: People) -> None:
    user = await people.account(password=f"{PASSWORD}{'é' * 40}A")
    expect(await try_login(tradewind.url, user["username"], f"{PASSWORD}{'é' * 40}B"), 40010)


async def test_a_nul_in_a_password_is_refused(people: People) -> None:
    reply = await people.admin.post(USERS_PATH, {"username": unique("user"), "password": f"{PASSWORD}\x00x"})
    expect(reply, 40001)
    assert reply.fields == {"password"}


async def test_passwords_are_stored_as_salted_hashes_alone(tradewind: Running, people: People) -> None:
    first, second = [await stored(tradewind, (await people.account())["id"]) for _ in range(2)]
    assert first["password_hash"].startswith("$2b$04$")
    assert first["password_hash"] != second["password_hash"]
    assert PASSWORD not in str(first)
    assert "password" not in first


async def test_no_response_carries_a_hash(people: People) -> None:
    user = await people.account()
    reply = await people.admin.get(f"{USERS_PATH}/{user['id']}")
    assert not {"password", "password_hash", "password_history", "failures"} & set(expect(reply))
    assert b"$2b$" not in reply.body


# -- change and history


async def test_the_old_password_is_asked_for(tradewind: Running, people: People) -> None:
    person = await people.person()
    assert await change(person, f"{PASSWORD}-wrong", f"{PASSWORD}-2") == 40010
    expect(await try_login(tradewind.url, person.user["username"], PASSWORD))


async def test_after_a_change_the_new_password_alone_logs_in(tradewind: Running, people: People) -> None:
    person = await people.person()
    assert await change(person, PASSWORD, f"{PASSWORD}-2") == 0
    expect(await try_login(tradewind.url, person.user["username"], PASSWORD), 40010)
    expect(await try_login(tradewind.url, person.user["username"], f"{PASSWORD}-2"))


async def test_neither_the_current_nor_the_five_passwords_before_it_come_back(people: People) -> None:
    username = (await people.account())["username"]
    used = [PASSWORD, *(f"{PASSWORD}-{number}" for number in range(1, 7))]
    for old, new in itertools.pairwise(used):
        assert await change(await people.admin.log_in(username, old), old, new) == 0
    person = await people.admin.log_in(username, used[-1])
    assert [await change(person, used[-1], password) for password in used[1:]] == [40001] * 6
    assert await change(person, used[-1], used[0]) == 0


async def test_an_administrator_sets_no_recent_password_either(people: People) -> None:
    user = await people.account()
    reply = await people.admin.patch(f"{USERS_PATH}/{user['id']}", {"password": PASSWORD, "version": 1})
    expect(reply, 40001)
    assert reply.data["errors"][0]["rule"] == "reused"


async def test_without_a_history_the_current_password_is_still_no_new_one(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}, password_history=0) as (server,):
        admin = await Client(server.url).log_in("admin")
        assert await change(admin, PASSWORD, PASSWORD) == 40001
        assert await change(admin, PASSWORD, f"{PASSWORD}-2") == 0
        assert await change(await admin.log_in("admin", f"{PASSWORD}-2"), f"{PASSWORD}-2", PASSWORD) == 0


async def test_of_two_changes_at_once_one_wins(people: People) -> None:
    username = (await people.account())["username"]
    phone, laptop = [await people.admin.log_in(username) for _ in range(2)]
    codes = await asyncio.gather(change(phone, PASSWORD, f"{PASSWORD}-2"), change(laptop, PASSWORD, f"{PASSWORD}-3"))
    assert sorted(codes)[0] == 0
    assert sorted(codes)[1] in (40010, 40100, 40901)


# -- reset by an administrator


async def test_a_reset_tells_a_password_once_that_must_be_changed(tradewind: Running, people: People) -> None:
    person = await people.person()
    told = expect(await people.admin.post(f"{USERS_PATH}/{person.user['userId']}/reset-password"))
    assert set(told) == {"password"}
    expect(await person.get(PROFILE), 40100)
    expect(await try_login(tradewind.url, person.user["username"], PASSWORD), 40010)
    again = await people.admin.log_in(person.user["username"], told["password"])
    assert again.user["mustChangePassword"] is True
    expect(await again.get("/api/v1/system/menus"), 40301)


async def test_a_password_set_by_an_administrator_must_be_changed(people: People) -> None:
    user = await people.account()
    changed = expect(
        await people.admin.patch(f"{USERS_PATH}/{user['id']}", {"password": f"{PASSWORD}-2", "version": 1})
    )
    assert changed["must_change_password"] is True


async def test_a_reset_unlocks(tradewind: Running, people: People) -> None:
    user = await people.account()
    for _ in range(5):
        await try_login(tradewind.url, user["username"])
    told = expect(await people.admin.post(f"{USERS_PATH}/{user['id']}/reset-password"))
    expect(await try_login(tradewind.url, user["username"], told["password"]))


async def test_ones_own_password_is_not_reset_without_the_old_one(people: People) -> None:
    person = await people.admin.log_in((await people.account(is_super=True))["username"])
    own = f"{USERS_PATH}/{person.user['userId']}"
    expect(await person.post(f"{own}/reset-password"), 40901)
    expect(await person.patch(own, {"password": f"{PASSWORD}-2", "version": 1}), 40901)
    await people.admin.log_in(person.user["username"])


# -- forced change

OPEN = {
    "GET /api/v1/auth/profile": 0,
    "PATCH /api/v1/auth/profile": 0,
    "GET /api/v1/auth/codes": 0,
    "POST /api/v1/auth/refresh": 0,
    "PUT /api/v1/auth/password": 0,
    "POST /api/v1/auth/logout": 0,
}
SHUT = (
    "GET /api/v1/auth/sessions",
    "GET /api/v1/system/menus",
    "GET /api/v1/system/departments",
    "POST /api/v1/system/departments",
    "GET /api/v1/system/users",
)


@pytest.mark.parametrize("endpoint", [*OPEN, *SHUT])
@pytest.mark.parametrize("is_super", [False, True], ids=["person", "super"])
async def test_a_forced_change_leaves_the_way_out_and_nothing_else(
    people: People, endpoint: str, is_super: bool
) -> None:
    roles = (
        []
        if is_super
        else [await people.role(["system:department:list", "system:department:create", "system:user:list"])]
    )
    user = await people.account(roles, must_change_password=True, is_super=is_super)
    person = await people.admin.log_in(user["username"])
    bodies: dict[str, Any] = {
        PASSWORD_PATH: {"old_password": PASSWORD, "new_password": f"{PASSWORD}-2"},
        "/api/v1/auth/profile": {"real_name": "张三"} if endpoint.startswith("PATCH") else None,
        REFRESH: {"refreshToken": person.session["refreshToken"]},
    }
    method, path = endpoint.split(" ")
    expect(await person.call(method, path, bodies.get(path)), OPEN.get(endpoint, 40301))


async def test_a_forced_change_is_over_once_the_password_is_changed(people: People) -> None:
    username = (await people.account(must_change_password=True))["username"]
    assert await change(await people.admin.log_in(username), PASSWORD, f"{PASSWORD}-2") == 0
    person = await people.admin.log_in(username, f"{PASSWORD}-2")
    assert person.user["mustChangePassword"] is False
    expect(await person.get("/api/v1/system/menus"))


async def test_a_forced_change_does_not_take_the_same_password_again(people: People) -> None:
    person = await people.admin.log_in((await people.account(must_change_password=True))["username"])
    assert await change(person, PASSWORD, PASSWORD) == 40001


async def test_an_account_must_change_its_first_password_unless_said_otherwise(people: People) -> None:
    made = expect(await people.admin.post(USERS_PATH, {"username": unique("user"), "password": PASSWORD}))
    assert made["must_change_password"] is True


# -- hashing


async def test_a_hash_of_another_cost_is_upgraded_at_login(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {"bcrypt_cost": 4}, {"bcrypt_cost": 5}) as (_, dearer):
        expect(await try_login(dearer.url, "admin", PASSWORD))
        assert (await stored(dearer, 1))["password_hash"].startswith("$2b$05$")
        expect(await try_login(dearer.url, "admin", PASSWORD))


async def test_a_cheaper_old_hash_costs_as_much_work_as_a_current_one() -> None:
    passwords, earlier = Passwords(RbacSettings(bcrypt_cost=8)), Passwords(RbacSettings(bcrypt_cost=5))
    current, old = await passwords.hash(PASSWORD), await earlier.hash(PASSWORD)
    found = await difference(
        lambda: passwords.matches("another", old), lambda: passwords.matches("another", current), 0.2
    )
    passwords.close()
    earlier.close()
    assert found < 0.2


async def test_a_login_beyond_the_queue_gets_retry_after(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}, bcrypt_cost=8, bcrypt_queue=2) as (server,):
        replies = await asyncio.gather(*(try_login(server.url, "admin", PASSWORD) for _ in range(12)))
        refused = [reply for reply in replies if reply.code != 0]
        assert {(reply.status, reply.code) for reply in refused} == {(503, 50300)}
        assert all(int(reply.headers["Retry-After"]) > 0 for reply in refused)
        assert len(replies) - len(refused) >= 2
        expect(await try_login(server.url, "admin", PASSWORD))


async def test_other_requests_are_answered_while_passwords_are_compared(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}, bcrypt_cost=12) as (server,):
        admin = await Client(server.url).log_in("admin")
        comparing, answered = asyncio.create_task(try_login(server.url, "admin", PASSWORD)), 0
        while not comparing.done():
            expect(await admin.get("/api/v1/system/roles?page_size=1"))
            answered += 1
        expect(await comparing)
        # a comparison takes a hundred times as long as a request, and few requests come before it begins
        assert answered > 10
