"""The user of a WeCom member: first scans by each setting, binding and unbinding."""

from __future__ import annotations

import asyncio

import pytest

from plugins.rbac.api import USERS
from plugins.testing import Client, expect, unique
from tests.support.wecom_platform import AUTH, OUTSIDER, Platform, enter, scan

pytestmark = pytest.mark.gen_test(timeout=30)


# -- first scans


async def test_link_binds_the_user_of_that_name_in_any_case(platform: Platform) -> None:
    member = platform.member()
    user = await platform.people.account(username=member.swapcase())
    assert (await enter(platform.link, member))["userInfo"]["userId"] == user["id"]
    assert (await platform.record(user["id"]))["wecom_user_id"] == member


async def test_link_refuses_a_member_without_a_user(platform: Platform) -> None:
    await enter(platform.link, platform.member(), 40011)


async def test_link_refuses_a_name_that_two_users_have_in_different_cases(platform: Platform) -> None:
    member = platform.member()
    for username in (member.lower(), member.upper()):
        await platform.people.account(username=username)
    await enter(platform.link, member, 40011)


async def test_link_refuses_a_user_who_is_bound_to_somebody_else(platform: Platform) -> None:
    user, _ = await platform.bound_account()
    await enter(platform.link, platform.member(user["username"]), 40011)


async def test_link_never_makes_a_namesake_a_super_administrator(platform: Platform) -> None:
    await enter(platform.link, platform.member("admin"), 40011)


async def test_link_does_not_bind_a_disabled_user(platform: Platform) -> None:
    member = platform.member()
    user = await platform.people.account(username=member, status="disabled")
    await enter(platform.link, member, 40303)
    assert (await platform.record(user["id"]))["wecom_user_id"] is None


async def test_create_makes_a_bound_user_with_the_default_role(platform: Platform) -> None:
    member = platform.member()
    made = (await enter(platform.create, member))["userInfo"]
    record = await platform.record(made["userId"])
    assert (made["username"], made["roles"], made["isSuper"]) == (member, ["staff"], False)
    assert (record["wecom_user_id"], record["must_change_password"]) == (member, False)


async def test_the_second_scan_is_the_same_user(platform: Platform) -> None:
    member = platform.member()
    first, second = await enter(platform.create, member), await enter(platform.create, member)
    assert first["userInfo"]["userId"] == second["userInfo"]["userId"]


async def test_create_leaves_a_user_of_that_name_alone(platform: Platform) -> None:
    member = platform.member()
    user = await platform.people.account(username=member.lower())
    made = (await enter(platform.create, member))["userInfo"]
    assert made["userId"] != user["id"]
    assert made["username"] == f"{member}-2"


async def test_create_makes_a_valid_name_of_a_short_id(platform: Platform) -> None:
    assert (await enter(platform.create, platform.member("Q")))["userInfo"]["username"] == "wecom-Q"


async def test_create_makes_nobody_while_a_default_role_is_missing(platform: Platform) -> None:
    member = platform.member()
    wrong = "staff,no-such-role"
    async with platform.server(wecom_first_scan="create", wecom_default_role=wrong) as server:
        await enter(server, member, 40011)
    assert not await platform.link.service.database.store(USERS).count({"wecom_user_id": member})


@pytest.mark.parametrize("mode", ["create", "link"])
async def test_two_first_scans_of_one_person_at_once_are_one_user(platform: Platform, mode: str) -> None:
    member, first = platform.member(), getattr(platform, mode)
    if mode == "link":
        await platform.people.account(username=member)
    async with platform.server(wecom_first_scan=mode, wecom_default_role="staff") as second:
        sessions = await asyncio.gather(*(enter(server, member) for server in (first, second) * 5))
    assert len({session["userInfo"]["userId"] for session in sessions}) == 1
    assert await platform.link.service.database.store(USERS).count({"wecom_user_id": member}) == 1


async def test_refuse_turns_a_first_scan_away(platform: Platform) -> None:
    member = platform.member()
    await platform.people.account(username=member)
    await enter(platform.refuse, member, 40011)


async def test_refuse_lets_a_bound_member_in(platform: Platform) -> None:
    user, member = await platform.bound_account()
    assert (await enter(platform.refuse, member))["userInfo"]["userId"] == user["id"]


# -- binding after a log-in


async def test_binding_returns_the_member(platform: Platform) -> None:
    member = platform.member()
    client = await platform.log_in(await platform.people.account())
    data = expect(await client.post(f"{AUTH}/wecom/bind", await scan(platform.link, member, client)))
    assert data == {"wecom_user_id": member}


async def test_binding_to_the_member_of_another_user_is_a_duplicate(platform: Platform) -> None:
    _, member = await platform.bound_account()
    client = await platform.log_in(await platform.people.account())
    reply = await client.post(f"{AUTH}/wecom/bind", await scan(platform.link, member, client))
    assert expect(reply, 40900) == {"field": "wecom_user_id"}


async def test_binding_again_replaces_the_member(platform: Platform) -> None:
    user, old = await platform.bound_account()
    client, new = await platform.log_in(user), platform.member()
    expect(await client.post(f"{AUTH}/wecom/bind", await scan(platform.link, new, client)))
    await enter(platform.link, old, 40011)
    assert (await enter(platform.link, new))["userInfo"]["userId"] == user["id"]


async def test_binding_twice_to_the_same_member_is_no_change(platform: Platform) -> None:
    user, member = await platform.bound_account()
    client = await platform.log_in(user)
    before = (await platform.record(user["id"]))["version"]
    expect(await client.post(f"{AUTH}/wecom/bind", await scan(platform.link, member, client)))
    assert (await platform.record(user["id"]))["version"] == before


async def test_binding_needs_a_log_in(platform: Platform) -> None:
    expect(await Client(platform.link.url).post(f"{AUTH}/wecom/bind", await scan(platform.link, "staff")), 40100)


async def test_binding_by_an_outsider_is_refused(platform: Platform) -> None:
    admin = platform.people.admin
    expect(await admin.post(f"{AUTH}/wecom/bind", await scan(platform.link, OUTSIDER, admin)), 40011)


async def test_a_retried_binding_with_an_idempotency_key_gets_the_response_again(platform: Platform) -> None:
    member = platform.member()
    client = await platform.log_in(await platform.people.account())
    given, key = await scan(platform.link, member, client), {"Idempotency-Key": unique("bind")}
    platform.wecom.expire_tokens()
    answers = [await client.post(f"{AUTH}/wecom/bind", given, headers=key) for _ in range(2)]
    assert [expect(reply) for reply in answers] == [{"wecom_user_id": member}] * 2


async def test_after_unbinding_the_scan_is_a_first_scan_again(platform: Platform) -> None:
    user, member = await platform.bound_account()
    client = await platform.log_in(user)
    expect(await client.delete(f"{AUTH}/wecom/bind"))
    await enter(platform.refuse, member, 40011)


async def test_unbinding_twice_gets_the_same_response(platform: Platform) -> None:
    user, _ = await platform.bound_account()
    client = await platform.log_in(user)
    assert [expect(await client.delete(f"{AUTH}/wecom/bind")) for _ in range(2)] == [None, None]


async def test_the_member_of_somebody_who_unbound_is_free_for_another(platform: Platform) -> None:
    user, member = await platform.bound_account()
    expect(await (await platform.log_in(user)).delete(f"{AUTH}/wecom/bind"))
    other = await platform.log_in(await platform.people.account())
    expect(await other.post(f"{AUTH}/wecom/bind", await scan(platform.link, member, other)))
