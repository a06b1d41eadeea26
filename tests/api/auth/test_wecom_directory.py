"""Departments and people taken over from WeCom's directory: tried first, repeatable, and nobody disabled unasked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.support.wecom_platform import AUTH, Platform, enter

pytestmark = pytest.mark.gen_test(timeout=30)
DIRECTORY, DEPARTMENTS, USERS = f"{AUTH}/wecom/directory", "/api/v1/system/departments", "/api/v1/system/users"


@pytest.fixture
def directory(platform: Platform) -> Iterator[Platform]:
    """A directory with nobody but who the tests put into it."""
    wecom = platform.wecom
    before = wecom.members, wecom.departments, wecom.places
    wecom.members, wecom.places = {}, {}
    wecom.departments = {1: (unique("company"), 0), 5: (unique("sales"), 1)}
    yield platform
    wecom.members, wecom.departments, wecom.places = before


async def take_over(platform: Platform, **body: bool) -> dict[str, Any]:
    """Take over as the administrator."""
    done: dict[str, Any] = expect(await platform.people.admin.post(DIRECTORY, body))
    return done


def changes(done: dict[str, Any], *members: str) -> dict[str, str]:
    """What became of each of these members."""
    return {one["wecom_user_id"]: one["change"] for one in done["people"] if one["wecom_user_id"] in members}


async def test_it_is_tried_first_and_repeated_it_changes_nothing(directory: Platform) -> None:
    new, namesake, wecom = directory.member(), directory.member(), directory.wecom
    account = await directory.people.account(username=namesake)
    wecom.places = {new: 5}
    tried = await take_over(directory)
    assert changes(tried, new, namesake) == {new: "created", namesake: "linked"}
    assert [one["change"] for one in tried["departments"]] == ["created", "created"]
    assert (await directory.record(account["id"]))["wecom_user_id"] is None
    done = await take_over(directory, apply=True)
    assert (done["departments"], done["people"]) == (tried["departments"], tried["people"])
    entered = (await enter(directory.refuse, new))["userInfo"]
    made = await directory.record(entered["userId"])
    placed = expect(await directory.people.admin.get(f"{DEPARTMENTS}/{made['department_id']}"))
    assert (made["username"], entered["roles"], placed["name"]) == (new, ["staff"], wecom.departments[5][0])
    again = await take_over(directory, apply=True)
    assert (again["departments"], changes(again, new, namesake)) == ([], {})


async def test_who_moved_moves_and_who_left_is_disabled_only_if_that_is_chosen(directory: Platform) -> None:
    moving, leaving, wecom = directory.member(), directory.member(), directory.wecom
    await take_over(directory, apply=True)
    ids = {one: (await enter(directory.refuse, one))["userInfo"]["userId"] for one in (moving, leaving)}
    wecom.members, wecom.places = {moving: "改名"}, {moving: 5}
    wecom.departments = {**wecom.departments, 5: (unique("renamed"), 0)}
    done = await take_over(directory, apply=True)
    assert (done["departments"][0]["change"], changes(done, *ids)) == ("changed", {moving: "changed", leaving: "left"})
    moved = await directory.record(ids[moving])
    placed = expect(await directory.people.admin.get(f"{DEPARTMENTS}/{moved['department_id']}"))
    assert (moved["real_name"], placed["name"], placed["parent_id"]) == ("改名", wecom.departments[5][0], None)
    assert (await directory.record(ids[leaving]))["status"] == "enabled"
    assert changes(await take_over(directory, apply=True, disable_left=True), *ids) == {leaving: "disabled"}
    assert (await directory.record(ids[leaving]))["status"] == "disabled"


async def test_only_super_administrators_take_over_and_nothing_is_written_without_wecom(directory: Platform) -> None:
    other = await directory.people.person(["system:user:take-over"])
    expect(await other.post(DIRECTORY, {}), 40302)
    member, admin = directory.member("admin"), directory.people.admin
    assert changes(await take_over(directory), member) == {member: "created"}  # no namesake of a super administrator
    directory.wecom.broken = "garbage"
    expect(await admin.post(DIRECTORY, {"apply": True}), 50300)
    directory.wecom.broken, directory.wecom.departments = "", {}
    expect(await admin.post(DIRECTORY, {"apply": True}), 40011)
    expect(await Client(directory.link.url).post(DIRECTORY, {}), 40100)
