"""Log-ins: refusals, lockout over all instances, and the limit by address."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from handlers.http.addresses import network_of
from plugins.api import utc_now
from plugins.boot.runtime import Running
from plugins.rbac.api import USERS, Passwords, credentials
from plugins.testing import PASSWORD, Client, People, eventually, expect, unique
from tests.api.auth.processor_time import difference
from tests.support.servers import LOGIN, PASSWORD_PATH, PROFILE, WRONG, instances, logged, try_login

pytestmark = pytest.mark.gen_test(timeout=60)
USERS_PATH = "/api/v1/system/users"


# -- the response


async def test_a_login_returns_tokens_user_and_permissions(people: People) -> None:
    role = await people.role(["system:department:list"])
    session = (await people.admin.log_in((await people.account([role]))["username"])).session
    assert set(session) == {
        "accessToken",
        "refreshToken",
        "tokenType",
        "expiresIn",
        "refreshExpiresIn",
        "userInfo",
        "permissions",
    }
    assert session["permissions"] == ["system:department:list"]


async def test_unknown_user_and_wrong_password_give_the_same_40010(tradewind: Running, people: People) -> None:
    user = await people.account()
    wrong, unknown = await try_login(tradewind.url, user["username"]), await try_login(tradewind.url, unique("nobody"))
    assert (wrong.status, wrong.code) == (400, 40010)
    assert (wrong.status, wrong.json) == (unknown.status, unknown.json)


async def test_a_disabled_account_is_40303_to_somebody_who_has_the_password_alone(
    tradewind: Running, people: People
) -> None:
    user = await people.account(status="disabled")
    expect(await try_login(tradewind.url, user["username"], PASSWORD), 40303)
    expect(await try_login(tradewind.url, user["username"]), 40010)


async def test_a_deleted_account_is_like_one_that_never_was(tradewind: Running, people: People) -> None:
    user = await people.account()
    expect(await people.admin.delete(f"{USERS_PATH}/{user['id']}"))
    expect(await try_login(tradewind.url, user["username"], PASSWORD), 40010)


async def test_a_public_route_does_not_look_at_a_bad_token(tradewind: Running, people: People) -> None:
    user = await people.account()
    stale = Client(tradewind.url, "no.valid.token")
    expect(await stale.post(LOGIN, {"username": user["username"], "password": PASSWORD}))


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"username", "password"}),
        ({"username": {"$ne": ""}, "password": {"$ne": ""}}, {"username", "password"}),
        ({"username": "admin", "password": "x", "isSuper": True}, {"isSuper"}),
        ({"username": "admin", "password": "x" * 10_001}, {"password"}),
        ({"username": "admin\x00", "password": "x"}, {"username"}),
    ],
    ids=["nothing", "operators", "unknown field", "endless password", "NUL"],
)
async def test_a_login_of_the_wrong_shape_names_the_fields(
    tradewind: Running, body: dict[str, Any], fields: set[str]
) -> None:
    reply = await Client(tradewind.url).post(LOGIN, body)
    expect(reply, 40001)
    assert reply.fields == fields


async def test_every_attempt_is_logged_with_its_outcome(tradewind: Running, people: People) -> None:
    user = await people.account()
    await try_login(tradewind.url, user["username"])
    await people.admin.log_in(user["username"])
    entries = await logged(tradewind, user_id=user["id"])
    assert [(entry["event"], entry["code"], entry["address"]) for entry in entries] == [
        ("login", 40010, "127.0.0.1"),
        ("login", 0, "127.0.0.1"),
    ]


async def test_a_locked_and_a_disabled_account_leave_their_refusals_in_the_log(
    tradewind: Running, people: People
) -> None:
    user = await people.account()
    await lock(tradewind.url, user["username"])
    await try_login(tradewind.url, user["username"], PASSWORD)
    expect(await people.admin.post(f"{USERS_PATH}/{user['id']}/unlock"))
    version = expect(await people.admin.get(f"{USERS_PATH}/{user['id']}"))["version"]
    expect(await people.admin.patch(f"{USERS_PATH}/{user['id']}", {"status": "disabled", "version": version}))
    await try_login(tradewind.url, user["username"], PASSWORD)
    codes = [entry["code"] for entry in await logged(tradewind, user_id=user["id"], event="login")]
    assert codes == [*[40010] * 5, 42300, 40303]


async def test_changes_of_ones_own_password_are_logged_with_their_outcome(tradewind: Running, people: People) -> None:
    person = await people.person()
    for old in (WRONG, PASSWORD):
        await person.put(PASSWORD_PATH, {"old_password": old, "new_password": f"{PASSWORD}-2"})
    entries = await logged(tradewind, user_id=person.user["userId"], event="password_change")
    assert [entry["code"] for entry in entries] == [40010, 0]


# -- lockout


async def lock(url: str, username: str, attempts: int = 5) -> None:
    for _ in range(attempts):
        expect(await try_login(url, username), 40010)


async def test_five_failures_lock_the_account_and_say_when_to_come_again(tradewind: Running, people: People) -> None:
    user = await people.account()
    await lock(tradewind.url, user["username"])
    reply = await try_login(tradewind.url, user["username"], PASSWORD)
    assert (reply.status, reply.code) == (423, 42300)
    assert 14 * 60 < int(reply.headers["Retry-After"]) <= 15 * 60


async def test_sessions_that_run_go_on_while_the_account_is_locked(tradewind: Running, people: People) -> None:
    person = await people.person()
    await lock(tradewind.url, person.user["username"])
    expect(await person.get(PROFILE))
    expect(await person.post("/api/v1/auth/refresh", {"refreshToken": person.session["refreshToken"]}))


async def test_four_failures_and_a_success_begin_the_count_again(tradewind: Running, people: People) -> None:
    user = await people.account()
    for _ in range(2):
        await lock(tradewind.url, user["username"], 4)
        expect(await try_login(tradewind.url, user["username"], PASSWORD))


async def test_an_administrator_unlocks(tradewind: Running, people: People) -> None:
    user = await people.account()
    await lock(tradewind.url, user["username"])
    assert expect(await people.admin.get(f"{USERS_PATH}/{user['id']}"))["locked_until"] is not None
    expect(await people.admin.post(f"{USERS_PATH}/{user['id']}/unlock"))
    expect(await try_login(tradewind.url, user["username"], PASSWORD))
    assert expect(await people.admin.get(f"{USERS_PATH}/{user['id']}"))["locked_until"] is None


async def test_a_wrong_old_password_counts_like_a_failed_login(tradewind: Running, people: People) -> None:
    person = await people.person()
    for _ in range(5):
        expect(await person.put(PASSWORD_PATH, {"old_password": WRONG, "new_password": f"{PASSWORD}-2"}), 40010)
    reply = await person.put(PASSWORD_PATH, {"old_password": PASSWORD, "new_password": f"{PASSWORD}-2"})
    expect(reply, 42300)
    assert int(reply.headers["Retry-After"]) > 0
    expect(await try_login(tradewind.url, person.user["username"], PASSWORD), 42300)


async def test_a_lock_is_over_after_its_time(tradewind: Running, people: People) -> None:
    user = await people.account()
    await lock(tradewind.url, user["username"])
    expect(await try_login(tradewind.url, user["username"], PASSWORD), 42300)
    users = tradewind.service.database.store(USERS)
    until = (await users.get(user["id"]))["locked_until"]
    await users.update(user["id"], {"locked_until": until - timedelta(minutes=15)})
    expect(await try_login(tradewind.url, user["username"], PASSWORD))


async def from_address(server: Running, address: str, password: str = WRONG) -> int:
    """The code of a log-in as admin from this address, behind a trusted proxy."""
    body = {"username": "admin", "password": password}
    return (await Client(server.url).post(LOGIN, body, headers={"X-Forwarded-For": address})).code


async def test_strangers_lock_an_account_for_themselves_and_not_where_its_owner_has_logged_in(
    mongodb_uri: str, tmp_path: Path
) -> None:
    owner, stranger = "198.51.100.1", "203.0.113.9"
    async with instances(mongodb_uri, tmp_path, {}, trusted_proxies=("127.0.0.1",)) as (server,):
        assert await from_address(server, owner, PASSWORD) == 0
        assert [await from_address(server, stranger) for _ in range(5)] == [40010] * 5
        for address, code in ((stranger, 42300), (owner, 0), (owner, 0), (stranger, 42300)):
            assert await from_address(server, address, PASSWORD) == code


async def test_a_known_network_is_locked_by_its_own_failures_until_an_administrator_unlocks(
    mongodb_uri: str, tmp_path: Path
) -> None:
    owner, elsewhere = "198.51.100.1", "198.51.100.2"
    async with instances(mongodb_uri, tmp_path, {}, trusted_proxies=("127.0.0.1",)) as (server,):
        admin = await Client(server.url).log_in("admin")
        assert [await from_address(server, address, PASSWORD) for address in (owner, elsewhere)] == [0, 0]
        codes = await asyncio.gather(*(from_address(server, owner) for _ in range(12)))
        assert sorted(codes) == [40010] * 5 + [42300] * 7
        assert [await from_address(server, address, PASSWORD) for address in (owner, elsewhere)] == [42300, 0]
        assert len(await logged(server, event="lockout")) == 1
        expect(await admin.post(f"{USERS_PATH}/1/unlock"))
        assert await from_address(server, owner, PASSWORD) == 0


async def test_failures_count_together_over_two_instances_and_none_is_lost(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}, {}, lockout_failures=20) as servers:
        urls = [server.url for server in servers]
        await asyncio.gather(*(try_login(urls[number % 2], "admin") for number in range(19)))
        expect(await try_login(urls[0], "admin", PASSWORD))
        await asyncio.gather(*(try_login(urls[number % 2], "admin") for number in range(20)))
        for url in urls:
            expect(await try_login(url, "admin", PASSWORD), 42300)
        assert len(await logged(servers[0], event="lockout")) == 1


async def test_a_right_password_does_not_open_an_account_that_was_locked_while_it_was_checked(
    tradewind: Running, people: People
) -> None:
    user = await people.account()
    during_the_check(tradewind, lambda: lock(tradewind.url, user["username"]))
    expect(await try_login(tradewind.url, user["username"], PASSWORD), 42300)


async def test_a_wrong_password_gets_the_response_of_the_right_one_once_others_have_locked_the_account(
    tradewind: Running, people: People
) -> None:
    user = await people.account()
    during_the_check(tradewind, lambda: lock(tradewind.url, user["username"]))
    reply = await try_login(tradewind.url, user["username"])
    assert (reply.status, reply.code) == (423, 42300)
    assert int(reply.headers["Retry-After"]) > 0


async def test_of_many_guesses_at_once_as_many_count_as_lock(tradewind: Running, people: People) -> None:
    user = await people.account()
    replies = await asyncio.gather(*(try_login(tradewind.url, user["username"]) for _ in range(20)))
    assert sorted(reply.code for reply in replies) == [40010] * 5 + [42300] * 15


async def test_an_old_password_is_not_found_by_guessing_many_at_once(tradewind: Running, people: People) -> None:
    person = await people.person()
    during_the_check(tradewind, lambda: lock(tradewind.url, person.user["username"]))
    expect(await person.put(PASSWORD_PATH, {"old_password": PASSWORD, "new_password": f"{PASSWORD}-2"}), 42300)


async def test_an_old_password_does_not_open_a_session_when_it_is_changed_while_it_was_checked(
    tradewind: Running, people: People
) -> None:
    user, passwords = await people.account(), tradewind.service.part(Passwords)
    fresh = credentials(passwords, await passwords.hash(f"{PASSWORD}-2"))
    during_the_check(tradewind, lambda: tradewind.service.database.store(USERS).update(user["id"], fresh))
    expect(await try_login(tradewind.url, user["username"], PASSWORD), 40010)


def during_the_check(server: Running, happens: Callable[[], Awaitable[Any]]) -> None:
    """Run something once, after the next check of a password and before what follows."""
    passwords: Any = server.service.part(Passwords)
    check = passwords.matches

    async def checked(password: str, hashed: str | None) -> bool:
        passwords.matches = check
        same: bool = await check(password, hashed)
        await happens()
        return same

    passwords.matches = checked


# -- the limit by address


async def test_attempts_over_many_users_from_one_address_are_limited(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}, rate_limits="on", logins_per_minute=3) as (server,):
        for _ in range(3):
            expect(await try_login(server.url, unique("nobody")), 40010)
        for _ in range(2):
            reply = await try_login(server.url, "admin", PASSWORD)
            assert (reply.status, reply.code) == (429, 42900)
        # one entry a minute, so that an attacker cannot fill the log
        assert [entry["username"] for entry in await logged(server, code=42900)] == ["admin"]
        assert 1 <= int(reply.headers["Retry-After"]) <= 60


@pytest.mark.parametrize("path", [LOGIN, "/api/v1/auth/wecom/callback"])
async def test_an_attempt_counts_whatever_its_body_is(path: str, mongodb_uri: str, tmp_path: Path) -> None:
    bodies = (b"{", b"[]", b'{"username": 1}', b'{"username": "' + b"a" * 70_000 + b'"}', b"")
    limits = {"rate_limits": "on", "logins_per_minute": 2, "trusted_proxies": ("127.0.0.1",)}
    async with instances(mongodb_uri, tmp_path, {}, **limits) as (server,):
        for number, body in enumerate(bodies):
            headers = {"X-Forwarded-For": f"198.51.100.{number}"}
            codes = [(await Client(server.url).post(path, raw=body, headers=headers)).code for _ in range(3)]
            assert 42900 not in codes[:2], body
            assert codes[2] == 42900, body
        assert [entry["username"] for entry in await logged(server, code=42900)] == [""] * len(bodies)


async def test_attempts_count_together_over_two_instances(mongodb_uri: str, tmp_path: Path) -> None:
    limits = {"rate_limits": "on", "logins_per_minute": 2, "trusted_proxies": ("127.0.0.1",)}
    async with instances(mongodb_uri, tmp_path, {}, {}, **limits) as servers:

        async def codes_of_a_minute(address: str) -> list[int] | None:
            body, minute = {"username": "admin", "password": PASSWORD}, utc_now().minute
            attempts = [
                Client(server.url).post(LOGIN, body, headers={"X-Forwarded-For": address}) for server in servers * 2
            ]
            codes = sorted(reply.code for reply in await asyncio.gather(*attempts))
            return codes if utc_now().minute == minute else None

        addresses = iter(("198.51.100.1", "198.51.100.2"))
        codes = await eventually(lambda: codes_of_a_minute(next(addresses)))
        assert codes == [0, 0, 42900, 42900]


async def test_addresses_behind_a_trusted_proxy_are_limited_each_by_itself(mongodb_uri: str, tmp_path: Path) -> None:
    limits = {"rate_limits": "on", "logins_per_minute": 1, "trusted_proxies": ("127.0.0.1",)}
    async with instances(mongodb_uri, tmp_path, {}, **limits) as (server,):
        client = Client(server.url)
        body = {"username": "admin", "password": PASSWORD}
        codes = [
            (await client.post(LOGIN, body, headers={"X-Forwarded-For": address})).code
            for address in ("198.51.100.1", "198.51.100.2", "198.51.100.1")
        ]
        assert codes == [0, 0, 42900]


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_an_ipv6_network_counts_as_one_address(address: str, counted: str) -> None:
    assert network_of(address) == counted


# -- time


@pytest.mark.parametrize("discreet", [False, True])
async def test_an_unknown_user_costs_as_much_work_as_a_wrong_password(
    mongodb_uri: str, tmp_path: Path, discreet: bool
) -> None:
    settings = {"bcrypt_cost": 8, "lockout_failures": 1000, "lock_unknown_names": discreet}
    async with instances(mongodb_uri, tmp_path, {}, **settings) as (server,):

        async def log_in(username: str) -> None:
            expect(await try_login(server.url, username), 40010)

        # a hash takes 15 ms of processor time here, what the two do besides a few per cent of that
        assert await difference(lambda: log_in("admin"), lambda: log_in("nobody"), 0.2) < 0.2
