"""Live sessions and forced log-out, for administrators."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from plugins.boot.runtime import Running
from plugins.testing import PASSWORD, Client, People, eventually, expect, unique
from tests.support.servers import KEYS, LOGIN, instances, logged

pytestmark = pytest.mark.gen_test(timeout=30)
SESSIONS = "/api/v1/system/sessions"
LOGINS = "/api/v1/system/login-logs"
PROFILE = "/api/v1/auth/profile"
KICK = ["system:session:list", "system:session:delete", "system:user:kick-out"]


def session_of(person: Client) -> str:
    """The `sid` claim of the person's access token."""
    claims = str(person.token).split(".")[1]
    return str(json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["sid"])


def kick_path(person: Client) -> str:
    return f"/api/v1/system/users/{person.user['userId']}/sessions"


async def online(client: Client, person: Client) -> list[dict[str, Any]]:
    """The sessions of the person, as the client sees them."""
    rows: list[dict[str, Any]] = expect(await client.get(f"{SESSIONS}?user_id={person.user['userId']}"))["items"]
    return rows


async def refused(client: Client) -> bool:
    return (await client.get(PROFILE)).code == 40100


async def test_a_session_says_who_is_online_from_where_since_when(admin: Client, people: People) -> None:
    person = await people.person()
    (session,) = await online(admin, person)
    assert session["username"] == person.user["username"]
    assert session["address"] == "127.0.0.1"
    assert session["created_at"] <= session["last_seen_at"] < session["expires_at"]
    assert not {"current_hash", "previous_hash"} & set(session)


async def test_a_session_tells_when_it_was_last_used_on_any_instance(mongodb_uri: str, tmp_path: Path) -> None:
    each: list[dict[str, Any]] = [{"session_seen_seconds": 0.1}] * 2
    async with instances(mongodb_uri, tmp_path, *each) as (here, there):
        person = await Client(here.url).log_in("admin")
        elsewhere = Client(there.url, person.token)
        (before,) = await online(person, person)

        async def later() -> bool:
            expect(await elsewhere.get(PROFILE))
            return (await online(person, person))[0]["last_seen_at"] > before["last_seen_at"]

        await eventually(later)


async def test_one_device_is_logged_out_and_the_other_stays(admin: Client, people: People) -> None:
    phone = await people.person()
    laptop = await admin.log_in(phone.user["username"])
    newest, _ = await online(admin, phone)
    expect(await admin.delete(f"{SESSIONS}/{newest['id']}"))
    assert await refused(laptop)
    expect(await phone.get(PROFILE))


async def test_a_kicked_out_persons_refresh_token_is_dead_too(admin: Client, people: People) -> None:
    person = await people.person()
    expect(await admin.delete(kick_path(person)))
    assert await refused(person)
    expect(await person.post("/api/v1/auth/refresh", {"refreshToken": person.session["refreshToken"]}), 40102)
    assert await online(admin, person) == []


async def test_somebody_who_was_kicked_out_may_log_in_again(admin: Client, people: People) -> None:
    person = await people.person()
    expect(await admin.delete(kick_path(person)))
    expect(await (await admin.log_in(person.user["username"])).get(PROFILE))


async def test_a_forced_log_out_is_in_the_log_in_log(admin: Client, people: People) -> None:
    person = await people.person()
    (session,) = await online(admin, person)
    expect(await admin.delete(f"{SESSIONS}/{session['id']}"))
    (entry,) = expect(await admin.get(f"{LOGINS}?user_id={person.user['userId']}&event=kicked_out"))["items"]
    assert (entry["session_id"], entry["code"]) == (session["id"], 0)


async def test_people_outside_the_data_scope_are_neither_seen_nor_logged_out(people: People) -> None:
    department = await people.department()
    chief = await people.person(KICK, "department", department)
    stranger = await people.person([], "self", await people.department())
    member = await people.person([], "self", department)
    assert len(await online(chief, member)) == 1
    assert await online(chief, stranger) == []
    expect(await chief.delete(kick_path(stranger)), 40400)
    expect(await chief.delete(f"{SESSIONS}/{session_of(stranger)}"), 40400)
    expect(await stranger.get(PROFILE))
    expect(await chief.delete(kick_path(member)))


async def test_log_ins_of_people_outside_the_data_scope_are_not_seen(people: People) -> None:
    department = await people.department()
    chief = await people.person(["system:login-log:list"], "department", department)
    for member, entries in ((await people.person([], "self", department), 1), (await people.person(), 0)):
        assert expect(await chief.get(f"{LOGINS}?user_id={member.user['userId']}&event=login"))["total"] == entries


async def test_a_super_administrator_is_kicked_out_by_super_administrators_only(people: People, admin: Client) -> None:
    chief = await people.person(KICK, "all")
    above = await admin.log_in((await people.account(is_super=True))["username"])
    (session,) = await online(chief, above)
    expect(await chief.delete(f"{SESSIONS}/{session['id']}"), 40302)
    expect(await chief.delete(kick_path(above)), 40302)
    expect(await above.get(PROFILE))
    expect(await admin.delete(kick_path(above)))
    assert await refused(above)


async def test_a_session_that_is_no_more_is_40400(admin: Client, people: People) -> None:
    person = await people.person()
    (session,) = await online(admin, person)
    expect(await admin.delete(f"{SESSIONS}/{session['id']}"))
    expect(await admin.delete(f"{SESSIONS}/{session['id']}"), 40400)


async def test_nobody_does_any_of_this_without_the_permission(people: People) -> None:
    person = await people.person()
    for reply in (
        await person.get(SESSIONS),
        await person.get(LOGINS),
        await person.delete(f"{SESSIONS}/x"),
        await person.delete(kick_path(person)),
    ):
        expect(reply, 40300)


async def test_log_ins_are_found_by_user_time_event_and_outcome(admin: Client, people: People) -> None:
    person = await people.person()
    name = person.user["username"]
    expect(await Client(admin.url).post("/api/v1/auth/login", {"username": name, "password": "Wrong-horse-7"}), 40010)
    failed, succeeded = expect(await admin.get(f"{LOGINS}?username={name}"))["items"]
    assert (failed["code"], succeeded["code"]) == (40010, 0)
    for query, entry in (
        ("code=40010", failed),
        ("code=0&event=login", succeeded),
        ("outcome=failure", failed),
        ("outcome=success", succeeded),
        (f"at_to={succeeded['at']}", succeeded),
    ):
        found = expect(await admin.get(f"{LOGINS}?username={name}&{query}"))["items"]
        assert [row["id"] for row in found] == [entry["id"]]


async def test_a_failed_log_in_of_nobody_is_logged(admin: Client) -> None:
    name = unique("nobody")
    await Client(admin.url).post("/api/v1/auth/login", {"username": name, "password": PASSWORD})
    (entry,) = expect(await admin.get(f"{LOGINS}?username={name}"))["items"]
    assert (entry["user_id"], entry["code"]) == (None, 40010)


async def test_a_password_that_was_typed_as_a_name_is_written_down_nowhere(admin: Client, tradewind: Running) -> None:
    typed = [unique("Correct-horse"), unique("Battery-staple")]
    for name in (*typed, typed[0]):
        expect(await Client(admin.url).post(LOGIN, {"username": name, "password": "x"}), 40010)
    kept = [entry["username"] for entry in await logged(tradewind, user_id=None)]
    assert not [name for name in typed if name in str(kept)]
    masked = [expect(await admin.get(f"{LOGINS}?username={name}"))["items"] for name in typed]
    # a filter by the name finds its attempts, and they share a hash
    assert [len(entries) for entries in masked] == [2, 1]
    assert len({entry["username"] for entries in masked for entry in entries}) == 2
    shown = masked[0][0]["username"]
    assert len(expect(await admin.get(f"{LOGINS}?username={quote(shown)}"))["items"]) == 2


async def test_a_name_that_somebody_has_is_logged_as_it_is(admin: Client, people: People, tradewind: Running) -> None:
    name = (await people.account())["username"]
    expect(await Client(admin.url).post(LOGIN, {"username": name, "password": "x"}), 40010)
    assert [entry["username"] for entry in await logged(tradewind, username=name)] == [name]


async def test_names_are_masked_in_refusals_by_rate_too(mongodb_uri: str, tmp_path: Path) -> None:
    async with instances(mongodb_uri, tmp_path, {}, rate_limits="on", logins_per_minute=1) as (server,):
        typed = unique("Correct-horse")
        for code in (40010, 42900):
            expect(await Client(server.url).post(LOGIN, {"username": typed, "password": "x"}), code)
        names = [entry["username"] for entry in await logged(server)]
        assert len(names) == 2
        assert len(set(names)) == 1
        assert typed not in names


async def test_a_masked_name_is_found_after_the_signing_key_has_changed(mongodb_uri: str, tmp_path: Path) -> None:
    changed = {"jwt_secret": KEYS[1], "jwt_old_secrets": (KEYS[0],)}
    async with instances(mongodb_uri, tmp_path, {}, changed) as (before, after):
        typed = unique("Correct-horse")
        for server in (before, after):
            expect(await Client(server.url).post(LOGIN, {"username": typed, "password": "x"}), 40010)
        admin = await Client(after.url).log_in("admin")
        assert expect(await admin.get(f"{LOGINS}?username={typed}"))["total"] == 2
