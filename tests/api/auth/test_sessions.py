"""Sessions: rotation, reuse, and an end that takes effect on every instance within 2 s."""

import asyncio
import json
from contextvars import Context
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from plugins.auth.records import SESSIONS
from plugins.auth.sessions import Sessions
from plugins.boot.runtime import Running
from plugins.rbac.api import USERS
from plugins.testing import PASSWORD, Client, People, eventually, expect
from tests.support.denials import ClientWithoutHooks
from tests.support.servers import (
    PASSWORD_PATH,
    claims_of,
    instances,
    logged,
    refresh,
    state,
    try_login,
)

pytestmark = pytest.mark.gen_test(timeout=60)
NOTES_PATH = "/api/v1/notes/notes"
OWN = "/api/v1/auth/sessions"
IN_FORCE_SECONDS = 2


async def ended(client: Client) -> bool:
    return await state(client.url, client.token) == 40100


async def after_the_grace(running: Running, session_id: str) -> None:
    """Move the last rotation of a session an hour back."""
    store = running.service.database.store(SESSIONS)
    session = await store.get(session_id)
    await store.update_where({"_id": session_id}, {"rotated_at": session["rotated_at"] - timedelta(hours=1)})


# -- rotation


async def test_a_refresh_returns_a_new_pair_for_the_same_session(tradewind: Running, people: People) -> None:
    person = await people.person()
    pair = expect(await refresh(tradewind.url, person.session["refreshToken"]))
    assert pair["refreshToken"] != person.session["refreshToken"]
    assert claims_of(pair["accessToken"])["sid"] == claims_of(person.token)["sid"]
    assert await state(tradewind.url, pair["accessToken"]) == 0


async def test_a_refresh_takes_the_token_under_both_names(tradewind: Running, people: People) -> None:
    person = await people.person()
    pair = expect(
        await Client(tradewind.url).post("/api/v1/auth/refresh", {"refresh_token": person.session["refreshToken"]})
    )
    expect(await refresh(tradewind.url, pair["refreshToken"]))


async def test_a_refresh_without_a_token_names_the_field(tradewind: Running) -> None:
    reply = await Client(tradewind.url).post("/api/v1/auth/refresh", {})
    expect(reply, 40001)
    assert reply.fields == {"refreshToken"}


async def test_two_tabs_that_refresh_at_once_both_live(tradewind: Running, people: People) -> None:
    token = (await people.person()).session["refreshToken"]
    replies = await asyncio.gather(refresh(tradewind.url, token), refresh(tradewind.url, token))
    first, second = (expect(reply) for reply in replies)
    assert first["refreshToken"] == second["refreshToken"]
    assert [await state(tradewind.url, pair["accessToken"]) for pair in (first, second)] == [0, 0]


async def test_many_refreshes_of_one_token_make_one_successor_and_a_reuse_later_ends_the_family(
    mongodb_uri: str, tmp_path: Path
) -> None:
    await check_refreshes_at_once(mongodb_uri, tmp_path, 40)


async def check_refreshes_at_once(mongodb_uri: str, tmp_path: Path, many: int) -> None:
    """Fail unless so many refreshes on two instances make one successor, and a reuse later ends the family."""
    async with instances(mongodb_uri, tmp_path, {}, {}, refresh_grace_seconds=60) as servers:
        admin = await Client(servers[0].url).log_in("admin")
        token = admin.session["refreshToken"]
        pairs = [
            expect(reply)
            for reply in await asyncio.gather(*(refresh(servers[number % 2].url, token) for number in range(many)))
        ]
        assert len({pair["refreshToken"] for pair in pairs}) == 1
        accesses = [admin.token, *(pair["accessToken"] for pair in pairs[:3])]
        assert [await state(servers[1].url, access) for access in accesses] == [0, 0, 0, 0]

        await after_the_grace(servers[0], claims_of(token)["sid"])
        expect(await refresh(servers[0].url, token), 40102)
        expect(await refresh(servers[1].url, pairs[0]["refreshToken"]), 40102)
        for access in accesses:
            assert await state(servers[0].url, access) == 40100
        (entry,) = await logged(servers[0], event="token_reuse")
        assert (entry["user_id"], entry["code"]) == (1, 40102)
        assert entry["session_id"] == claims_of(token)["sid"]


async def test_a_token_whose_successor_was_used_ends_the_family_even_within_the_grace(
    tradewind: Running, people: People
) -> None:
    person = await people.person()
    first = person.session["refreshToken"]
    second = expect(await refresh(tradewind.url, first))
    third = expect(await refresh(tradewind.url, second["refreshToken"]))
    expect(await refresh(tradewind.url, first), 40102)
    expect(await refresh(tradewind.url, third["refreshToken"]), 40102)
    assert await state(tradewind.url, third["accessToken"]) == 40100


async def test_the_end_of_one_family_leaves_the_others(tradewind: Running, people: People) -> None:
    thief = await people.person()
    laptop = await people.admin.log_in(thief.user["username"])
    token = thief.session["refreshToken"]
    for _ in range(2):
        token, used = expect(await refresh(tradewind.url, token))["refreshToken"], token
    expect(await refresh(tradewind.url, thief.session["refreshToken"]), 40102)
    assert used != token
    assert await state(tradewind.url, laptop.token) == 0
    expect(await refresh(tradewind.url, laptop.session["refreshToken"]))


async def test_the_database_holds_no_refresh_token(tradewind: Running, people: People) -> None:
    person = await people.person()
    claims = claims_of(person.session["refreshToken"])
    stored = await tradewind.service.database.driver.find_one(SESSIONS.name, {"_id": claims["sid"]})
    assert stored is not None
    text = json.dumps(stored, default=str)
    assert claims["jti"] not in text
    assert person.session["refreshToken"].rpartition(".")[2] not in text


# -- the longest life of a session, by setting

DAY = timedelta(days=1)


async def begun_earlier(running: Running, session_id: str, by: timedelta) -> None:
    """Move the beginning of a session back."""
    store = running.service.database.store(SESSIONS)
    session = await store.get(session_id)
    await store.update_where({"_id": session_id}, {"created_at": session["created_at"] - by})


async def test_a_session_ends_after_its_longest_life_however_it_is_used(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}, session_days=30) as (server,):
        person = await Client(server.url).log_in("admin")
        sid, token = claims_of(person.token)["sid"], person.session["refreshToken"]
        await begun_earlier(server, sid, 29.5 * DAY)
        pair = expect(await refresh(server.url, token))
        # new tokens expire with the session
        half_a_day = DAY.total_seconds() / 2
        assert half_a_day - 60 < pair["refreshExpiresIn"] <= half_a_day
        assert claims_of(pair["refreshToken"])["exp"] - claims_of(pair["accessToken"])["iat"] <= half_a_day
        assert pair["expiresIn"] == 30 * 60
        await begun_earlier(server, sid, DAY / 2 - timedelta(minutes=10))
        pair = expect(await refresh(server.url, pair["refreshToken"]))
        life = claims_of(pair["accessToken"])["exp"] - claims_of(pair["accessToken"])["iat"]
        assert 500 < life <= 600
        assert abs(life - pair["expiresIn"]) <= 1
        await begun_earlier(server, sid, timedelta(minutes=10))
        expect(await refresh(server.url, pair["refreshToken"]), 40102)
        # it expired and was not reused
        assert await logged(server, event="token_reuse") == []


async def test_two_tabs_are_given_the_same_last_token_of_a_session(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}, session_days=1) as (server,):
        person = await Client(server.url).log_in("admin")
        await begun_earlier(server, claims_of(person.token)["sid"], DAY / 2)
        token = person.session["refreshToken"]
        pairs = [expect(reply) for reply in [await refresh(server.url, token) for _ in range(2)]]
        assert pairs[0]["refreshToken"] == pairs[1]["refreshToken"]


async def test_without_a_longest_life_a_session_lives_as_long_as_it_is_used(tradewind: Running, people: People) -> None:
    person = await people.person()
    await begun_earlier(tradewind, claims_of(person.token)["sid"], 1000 * DAY)
    pair = expect(await refresh(tradewind.url, person.session["refreshToken"]))
    assert (pair["expiresIn"], pair["refreshExpiresIn"]) == (30 * 60, 7 * 86_400)


async def test_sessions_are_removed_by_the_database_after_their_time(tradewind: Running) -> None:
    indexes = await tradewind.service.database.driver.list_indexes(SESSIONS.name)
    assert any("expires_at" in index["name"] and "expire" in index["name"] for index in indexes)


# -- the end


async def test_a_logout_ends_this_session_and_no_other(tradewind: Running, people: People) -> None:
    phone = await people.person()
    laptop = await people.admin.log_in(phone.user["username"])
    expect(await phone.post("/api/v1/auth/logout"))
    assert await state(tradewind.url, phone.token) == 40100
    expect(await refresh(tradewind.url, phone.session["refreshToken"]), 40102)
    assert await state(tradewind.url, laptop.token) == 0


async def test_own_devices_are_listed_and_logged_out(tradewind: Running, people: People) -> None:
    phone = await people.person()
    laptop = await people.admin.log_in(phone.user["username"])
    devices = {row["id"]: row["current"] for row in expect(await laptop.get(OWN))["items"]}
    sid = claims_of(phone.token)["sid"]
    assert devices == {sid: False, claims_of(laptop.token)["sid"]: True}
    expect(await laptop.delete(f"{OWN}/{sid}"))
    assert await state(tradewind.url, phone.token) == 40100
    expect(await laptop.delete(f"{OWN}/{sid}"), 40400)


async def test_the_device_of_somebody_else_is_not_found(people: People) -> None:
    one, other = await people.person(), await people.person()
    sid = claims_of(other.token)["sid"]
    expect(await one.delete(f"{OWN}/{sid}"), 40400)
    assert expect(await one.get(f"{OWN}?user_id={other.user['userId']}"))["items"] == []
    assert await state(other.url, other.token) == 0


ENDS: dict[str, Any] = {
    "disabled": lambda admin, user: admin.patch(
        f"/api/v1/system/users/{user['id']}", {"status": "disabled", "version": 1}
    ),
    "deleted": lambda admin, user: admin.delete(f"/api/v1/system/users/{user['id']}"),
    "password reset": lambda admin, user: admin.post(f"/api/v1/system/users/{user['id']}/reset-password"),
    "password set": lambda admin, user: admin.patch(
        f"/api/v1/system/users/{user['id']}", {"password": f"{PASSWORD}-2", "version": 1}
    ),
    "kicked out": lambda admin, user: admin.delete(f"/api/v1/system/users/{user['id']}/sessions"),
}


@pytest.fixture(scope="module")
def two_instances(io_loop: Any, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two servers on one database."""
    block = instances(mongodb_uri, tmp_path_factory.mktemp("two"), {}, {})
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.mark.parametrize("end", ENDS)
async def test_access_and_refresh_tokens_end_on_another_instance_within_2_s(
    two_instances: list[Running], end: str
) -> None:
    here, there = two_instances
    admin = await Client(here.url).log_in("admin")
    user = await People(admin).account()
    person = await Client(there.url).log_in(user["username"])
    assert await state(there.url, person.token) == 0
    expect(await ENDS[end](admin, user))
    await eventually(lambda: ended(person), IN_FORCE_SECONDS)
    expect(await refresh(there.url, person.session["refreshToken"]), 40102)


async def test_a_password_change_ends_every_session_on_another_instance_within_2_s(
    two_instances: list[Running],
) -> None:
    here, there = two_instances
    user = await People(await Client(here.url).log_in("admin")).account()
    phone, laptop = [await Client(running.url).log_in(user["username"]) for running in (here, there)]
    assert await state(there.url, laptop.token) == 0
    expect(await phone.put(PASSWORD_PATH, {"old_password": PASSWORD, "new_password": f"{PASSWORD}-2"}))
    assert await state(here.url, phone.token) == 40100
    await eventually(lambda: ended(laptop), IN_FORCE_SECONDS)


async def test_a_role_change_is_in_force_on_another_instance_within_2_s(two_instances: list[Running]) -> None:
    here, there = two_instances
    people = People(await Client(here.url).log_in("admin"))
    role = await people.role(["notes:note:list"])
    user = await people.account()
    person = await Client(there.url).log_in(user["username"])
    asking = ClientWithoutHooks(person.url, person.token)

    async def answers(code: int) -> bool:
        return (await asking.get(NOTES_PATH)).code == code

    assert await answers(40300)
    changed = expect(await people.admin.patch(f"/api/v1/system/users/{user['id']}", {"role_ids": [role], "version": 1}))
    await eventually(lambda: answers(0), IN_FORCE_SECONDS)
    expect(await people.admin.put(f"/api/v1/system/roles/{role}/menus", {"menu_ids": []}))
    await eventually(lambda: answers(40300), IN_FORCE_SECONDS)
    assert changed["role_ids"] == [role]


async def test_a_disabled_account_is_out_even_where_nobody_ended_its_sessions(two_instances: list[Running]) -> None:
    here, there = two_instances
    user = await People(await Client(here.url).log_in("admin")).account()
    person = await Client(there.url).log_in(user["username"])
    await here.service.database.store(USERS).update(user["id"], {"status": "disabled"})
    await eventually(lambda: ended(person), IN_FORCE_SECONDS)
    expect(await refresh(there.url, person.session["refreshToken"]), 40102)


async def test_a_login_under_way_does_not_survive_a_password_reset(tradewind: Running, people: People) -> None:
    user = await people.account()
    sessions: Any = tradewind.service.part(Sessions)
    begin, resets = sessions.begin, []

    async def begin_during_a_reset(*arguments: Any) -> Any:
        sessions.begin = begin
        reset = people.admin.post(f"/api/v1/system/users/{user['id']}/reset-password")
        resets.append(asyncio.create_task(reset, context=Context()))
        # the reset either waits for the log-in, or is over before the session begins
        await asyncio.wait(resets, timeout=0.5)
        return await begin(*arguments)

    sessions.begin = begin_during_a_reset
    reply = await try_login(tradewind.url, user["username"], PASSWORD)
    expect(await resets[0])
    assert reply.code in (0, 40010)
    assert reply.code == 40010 or await state(tradewind.url, reply.data["accessToken"]) == 40100
