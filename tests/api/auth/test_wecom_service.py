"""The service and WeCom's API: one token for all instances, outages of WeCom, and no secret in logs or database."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from datetime import timedelta

import pytest

from plugins.api import utc_now
from plugins.api.ports import OPERATION_LOGS
from plugins.auth.wecom_states import WECOM_TOKENS
from plugins.commands.wecom_simulator import Simulator, simulating
from plugins.testing import Client, eventually, expect, unique
from tests.support.wecom_platform import AUTH, OUTSIDER, Platform, enter, finish, scan

pytestmark = pytest.mark.gen_test(timeout=30)


# -- the corporation's token


async def forget_stored_token(platform: Platform) -> None:
    await platform.link.service.database.store(WECOM_TOKENS).remove({})


async def test_instances_share_one_token(platform: Platform) -> None:
    _, member = await platform.bound_account()
    await forget_stored_token(platform)
    platform.wecom.calls.clear()
    await asyncio.gather(*(enter(server, member) for server in (platform.link, platform.create, platform.refuse) * 4))
    assert platform.wecom.calls == {"gettoken": 1, "auth/getuserinfo": 12}


async def test_a_token_is_renewed_before_it_expires(platform: Platform) -> None:
    _, member = await platform.bound_account()
    await enter(platform.link, member)
    tokens = platform.link.service.database.store(WECOM_TOKENS)
    [kept] = await tokens.find()
    assert timedelta(seconds=6800) < kept["expires_at"] - utc_now() <= timedelta(seconds=6900)
    await tokens.update_where({"_id": kept["id"]}, {"expires_at": utc_now()})
    platform.wecom.calls.clear()
    await enter(platform.link, member)
    assert platform.wecom.calls == {"gettoken": 1, "auth/getuserinfo": 1}


@pytest.mark.parametrize("fault", ["expire_tokens", "forget_tokens"])
async def test_a_token_that_wecom_gave_up_is_renewed_once_for_everybody(platform: Platform, fault: str) -> None:
    _, member = await platform.bound_account()
    getattr(platform.wecom, fault)()
    platform.wecom.calls.clear()
    await asyncio.gather(*(enter(server, member) for server in (platform.link, platform.refuse) * 4))
    assert platform.wecom.calls["gettoken"] == 1


@pytest.mark.parametrize("errcode", [40001, 40014, 42001])
async def test_when_a_new_token_is_rejected_too_wecom_is_away(platform: Platform, errcode: int) -> None:
    _, member = await platform.bound_account()
    platform.wecom.reject_tokens = errcode
    platform.wecom.calls.clear()
    await enter(platform.link, member, 50300)
    assert platform.wecom.calls == {"gettoken": 1, "auth/getuserinfo": 2}


async def test_a_new_token_is_kept_although_the_request_that_fetched_it_fails(platform: Platform) -> None:
    _, member = await platform.bound_account()
    client = await platform.log_in(await platform.people.account())
    await forget_stored_token(platform)
    in_a_transaction, given = {"Idempotency-Key": unique("bind")}, await scan(platform.link, member, client)
    expect(await client.post(f"{AUTH}/wecom/bind", given, headers=in_a_transaction), 40900)
    platform.wecom.calls.clear()
    await enter(platform.link, member)
    assert platform.wecom.calls == {"auth/getuserinfo": 1}


async def test_the_token_is_encrypted_in_the_database(platform: Platform) -> None:
    _, member = await platform.bound_account()
    await enter(platform.link, member)
    kept = str(await platform.link.service.database.store(WECOM_TOKENS).find())
    assert not [token for token in platform.wecom.tokens if token in kept]


async def test_a_token_that_another_signing_key_encrypted_is_fetched_anew(platform: Platform) -> None:
    _, member = await platform.bound_account()
    async with platform.server(jwt_secret="another key, long enough to sign tokens with") as server:
        platform.wecom.calls.clear()
        await enter(server, member)
    assert platform.wecom.calls["gettoken"] == 1


# -- outages of WeCom


@pytest.mark.parametrize("fault", ["error", "garbage"])
async def test_a_response_that_wecom_does_not_promise_is_unavailable(platform: Platform, fault: str) -> None:
    _, member = await platform.bound_account()
    given = await scan(platform.link, member)
    platform.wecom.broken = fault
    reply = await Client(platform.link.url).post(f"{AUTH}/wecom/callback", given)
    expect(reply, 50300)
    assert int(reply.headers["Retry-After"]) > 0


async def test_after_a_failure_of_wecom_the_same_scan_logs_in(platform: Platform) -> None:
    user, member = await platform.bound_account()
    given = await scan(platform.link, member)
    platform.wecom.broken = "error"
    await finish(platform.link, given, 50300)
    platform.wecom.broken = ""
    session = await finish(platform.link, given)
    assert session["userInfo"]["userId"] == user["id"]


@pytest.mark.parametrize("token", ["kept", "missing"])
async def test_a_wecom_that_does_not_respond_in_time_is_unavailable(platform: Platform, token: str) -> None:
    _, member = await platform.bound_account()
    if token == "missing":
        await forget_stored_token(platform)
    async with platform.server(wecom_request_seconds=0.2) as server:
        given = await scan(server, member)
        platform.wecom.delay = 30
        started = time.monotonic()
        await finish(server, given, 50300)
    assert time.monotonic() - started < 2


async def test_callers_that_wait_for_the_same_token_share_its_failure(platform: Platform) -> None:
    await forget_stored_token(platform)
    async with platform.server(wecom_request_seconds=1) as server:
        given = [await scan(server, "staff") for _ in range(6)]
        platform.wecom.delay = 30
        platform.wecom.calls.clear()
        await asyncio.gather(*(finish(server, scanned, 50300) for scanned in given))
    assert platform.wecom.calls == {"gettoken": 1}


async def test_a_wecom_that_nobody_listens_for_is_unavailable(platform: Platform) -> None:
    _, member = await platform.bound_account()
    async with simulating(Simulator()) as gone:
        pass
    async with platform.server(wecom_api_base=gone.url) as server:
        await enter(server, member, 50300)


@pytest.mark.parametrize("wrong", [{"wecom_secret": "not-the-secret"}, {"wecom_corp_id": "ww-other"}])
async def test_a_wrong_secret_or_corporation_is_logged_by_its_error_code_alone(
    platform: Platform, wrong: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    async with platform.server(**wrong) as server:
        given = {"state": expect(await Client(server.url).get(f"{AUTH}/wecom/qr"))["state"], "code": "the-code"}
        await finish(server, given, 50300)
    [line] = [record for record in caplog.records if record.message == "WeCom call failed"]
    assert line.reason == ("errcode 40001" if "wecom_secret" in wrong else "errcode 40013")


# -- logs and database


async def test_scans_are_in_the_log_in_log_with_their_outcome(platform: Platform) -> None:
    user, member = await platform.bound_account()
    await enter(platform.link, member)
    stranger = platform.member()
    await enter(platform.link, stranger, 40011)
    logs = platform.link.service.database.driver
    [success] = await logs.find(
        "auth_login_logs", {"user_id": user["id"], "event": "login"}, sort=[("_id", -1)], limit=1
    )
    [refusal] = await logs.find("auth_login_logs", {"username": stranger})
    assert (success["username"], success["code"], success["session_id"] is None) == (user["username"], 0, False)
    assert (refusal["code"], refusal["user_id"]) == (40011, None)


async def test_nothing_secret_is_written_down(platform: Platform, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    user, member = await platform.bound_account()
    client = await platform.log_in(user)
    given = [await scan(platform.link, member), *[await scan(platform.link, one, client) for one in (member, OUTSIDER)]]
    session = expect(await client.post(f"{AUTH}/wecom/callback", given[0]))
    expect(await client.post(f"{AUTH}/wecom/bind", given[1]))
    expect(await client.post(f"{AUTH}/wecom/bind", given[2]), 40011)
    driver = platform.link.service.database.driver

    async def operations_are_logged() -> bool:
        return await driver.count(OPERATION_LOGS.name, {"user_id": user["id"], "route": f"{AUTH}/wecom/bind"}) == 3

    await eventually(operations_are_logged)
    collections = ("auth_login_logs", OPERATION_LOGS.name, "auth_wecom_states", "auth_sessions", "rbac_users")
    written = json.dumps([await driver.find(name, {}) for name in collections], default=str)
    written += "\n".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    secrets = [platform.wecom.secret, *platform.wecom.tokens, session["accessToken"], session["refreshToken"]]
    secrets += [value for scanned in given for value in scanned.values()]
    assert not [secret for secret in secrets if secret in written]
