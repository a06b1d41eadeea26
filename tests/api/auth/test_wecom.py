"""WeCom QR-code log-in over HTTP, against the simulator."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from plugins.api import utc_now
from plugins.auth.wecom_states import WECOM_STATES
from plugins.commands.wecom_simulator import OWN_BROWSER
from plugins.testing import Client, expect, serving
from tests.support.wecom_platform import AUTH, OUTSIDER, PLUGINS, Platform, enter, finish, scan, settings

pytestmark = pytest.mark.gen_test(timeout=30)


# -- the QR page


async def test_the_qr_address_is_the_one_that_wecom_documents(platform: Platform) -> None:
    data = expect(await Client(platform.link.url).get(f"{AUTH}/wecom/qr"))
    address = urlsplit(data["url"])
    assert f"{address.scheme}://{address.netloc}{address.path}" == f"{platform.wecom.url}/wwlogin/sso/login"
    assert parse_qs(address.query) == {
        "login_type": ["CorpApp"],
        "appid": [platform.wecom.corp_id],
        "agentid": [platform.wecom.agent_id],
        "redirect_uri": [f"{platform.wecom.url}/callback"],
        "state": [data["state"]],
    }


async def test_two_visitors_get_two_states(platform: Platform) -> None:
    first, second = [expect(await Client(platform.link.url).get(f"{AUTH}/wecom/qr")) for _ in range(2)]
    assert first["state"] != second["state"]


async def test_wecoms_own_browser_logs_in_without_a_qr_code(platform: Platform) -> None:
    user, member = await platform.bound_account()
    inside = {"User-Agent": OWN_BROWSER}
    begun = expect(await Client(platform.link.url).get(f"{AUTH}/wecom/qr", headers=inside))
    assert (begun["inside"], urlsplit(begun["url"]).path) == (True, "/connect/oauth2/authorize")
    entered = await finish(platform.link, await scan(platform.link, member, **inside))
    assert entered["userInfo"]["userId"] == user["id"]


@pytest.mark.parametrize(("method", "path"), [("GET", "qr"), ("POST", "callback"), ("POST", "bind")])
async def test_without_settings_wecom_is_refused_with_the_reason(admin: Client, method: str, path: str) -> None:
    body = {"code": "c", "state": "s"} if method == "POST" else None
    reply = await admin.call(method, f"{AUTH}/wecom/{path}", body, headers={"Accept-Language": "en"})
    expect(reply, 40011)
    assert reply.json["msg"] == "WeCom log-in is not configured on this service"


async def test_qr_pages_are_limited_by_address(platform: Platform) -> None:
    async with platform.server(rate_limits="on", logins_per_minute=2) as server:
        answers = [await Client(server.url).get(f"{AUTH}/wecom/qr") for _ in range(3)]
    assert [reply.code for reply in answers] == [0, 0, 42900]


# -- logging in


async def test_a_bound_scan_returns_what_a_password_log_in_returns(platform: Platform) -> None:
    user, member = await platform.bound_account()
    by_password = (await platform.log_in(user)).session
    by_scan = await enter(platform.link, member)
    assert by_scan.keys() == by_password.keys()
    unchanged = by_password["userInfo"].keys() - {"lastLoginAt"}
    assert [by_scan["userInfo"][name] for name in unchanged] == [by_password["userInfo"][name] for name in unchanged]


async def test_the_tokens_of_a_scan_are_good_for_calls_and_refresh(platform: Platform) -> None:
    user, member = await platform.bound_account()
    session = await enter(platform.link, member)
    client = Client(platform.link.url, session["accessToken"])
    assert expect(await client.get(f"{AUTH}/profile"))["user"]["userId"] == user["id"]
    expect(await client.post(f"{AUTH}/refresh", {"refreshToken": session["refreshToken"]}))


async def test_a_disabled_user_is_refused(platform: Platform) -> None:
    user, member = await platform.bound_account()
    now = await platform.record(user["id"])
    change = {"version": now["version"], "status": "disabled"}
    expect(await platform.people.admin.patch(f"/api/v1/system/users/{user['id']}", change))
    await enter(platform.link, member, 40303)


async def test_a_locked_user_is_refused_with_the_time_that_remains(platform: Platform) -> None:
    user, member = await platform.bound_account()
    for _ in range(5):
        await Client(platform.link.url).post(f"{AUTH}/login", {"username": user["username"], "password": "wrong"})
    reply = await Client(platform.link.url).post(f"{AUTH}/wecom/callback", await scan(platform.link, member))
    expect(reply, 42300)
    assert 0 < int(reply.headers["Retry-After"]) <= 15 * 60


async def test_a_forced_password_change_holds_after_a_scan_too(platform: Platform) -> None:
    user, member = await platform.bound_account()
    expect(await platform.people.admin.post(f"/api/v1/system/users/{user['id']}/reset-password"))
    client = Client(platform.link.url, (await enter(platform.link, member))["accessToken"])
    expect(await client.get(f"{AUTH}/sessions"), 40301)


# -- states and codes


async def test_a_state_works_once(platform: Platform) -> None:
    _, member = await platform.bound_account()
    first = await scan(platform.link, member)
    await finish(platform.link, first)
    again = {"code": platform.wecom.code_for(member), "state": first["state"]}
    await finish(platform.link, again, 40011)


async def test_of_two_uses_of_a_state_at_once_one_succeeds(platform: Platform) -> None:
    _, member = await platform.bound_account()
    state = (await scan(platform.link, member))["state"]
    tries = [
        Client(server.url).post(f"{AUTH}/wecom/callback", {"code": platform.wecom.code_for(member), "state": state})
        for server in (platform.link, platform.create) * 4
    ]
    assert sorted(reply.code for reply in await asyncio.gather(*tries)) == [0, *[40011] * 7]


async def test_a_made_up_state_is_refused_and_its_code_not_spent(platform: Platform) -> None:
    _, member = await platform.bound_account()
    given = await scan(platform.link, member)
    await finish(platform.link, {**given, "state": "made-up"}, 40011)
    assert given["code"] in platform.wecom.codes


async def test_the_state_of_another_deployment_is_refused(platform: Platform, tmp_path: Path) -> None:
    _, member = await platform.bound_account()
    async with serving(platform.uri, tmp_path, PLUGINS, **settings(platform.wecom)) as other:
        foreign = await scan(other, member)
    await finish(platform.link, foreign, 40011)


async def test_a_state_lives_five_minutes(platform: Platform) -> None:
    before = utc_now()
    await Client(platform.link.url).get(f"{AUTH}/wecom/qr")
    latest = max(state["expires_at"] for state in await platform.link.service.database.store(WECOM_STATES).find())
    assert timedelta(minutes=5) <= latest - before <= utc_now() - before + timedelta(minutes=5)


async def test_an_expired_state_is_refused(platform: Platform) -> None:
    _, member = await platform.bound_account()
    given = await scan(platform.link, member)
    await platform.link.service.database.store(WECOM_STATES).update_many({}, {"$set": {"expires_at": utc_now()}})
    await finish(platform.link, given, 40011)


async def test_the_database_does_not_hold_the_state_itself(platform: Platform) -> None:
    state = expect(await Client(platform.link.url).get(f"{AUTH}/wecom/qr"))["state"]
    kept = await platform.link.service.database.store(WECOM_STATES).find()
    assert state not in str(kept)


async def test_a_code_works_once(platform: Platform) -> None:
    _, member = await platform.bound_account()
    first = await scan(platform.link, member)
    await finish(platform.link, first)
    fresh = await scan(platform.link, member)
    await finish(platform.link, {**fresh, "code": first["code"]}, 40011)


async def test_a_code_that_wecom_does_not_know_is_refused_with_the_reason(platform: Platform) -> None:
    given = {**await scan(platform.link, "staff"), "code": "made-up"}
    reply = await Client(platform.link.url).post(f"{AUTH}/wecom/callback", given, headers={"Accept-Language": "en"})
    expect(reply, 40011)
    assert "code" in reply.json["msg"]


async def test_an_outsider_is_refused_whatever_a_first_scan_does(platform: Platform) -> None:
    for server in (platform.link, platform.create, platform.refuse):
        await enter(server, OUTSIDER, 40011)


@pytest.mark.parametrize("missing", ["code", "state"])
async def test_a_body_without_code_or_state_names_the_field(platform: Platform, missing: str) -> None:
    body = {"code": "c", "state": "s"}
    del body[missing]
    reply = await Client(platform.link.url).post(f"{AUTH}/wecom/callback", body)
    expect(reply, 40001)
    assert reply.fields == {missing}
