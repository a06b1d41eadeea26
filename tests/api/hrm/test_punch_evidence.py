"""Attacks on punches, and what a group may ask of their evidence; what is doubtful waits for a review."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.hrm.punch_checks import start_attempt
from plugins.testing import Client, People, expect, unique
from tests.api.files.samples import image, upload
from tests.api.hrm.staff import AT, BSSID, OFFICE, Staff, create
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=30)
FAR = {"lng": 121.5737, "lat": 31.2304}  # nine and a half kilometres
NOON = datetime(2026, 11, 16, 4, tzinfo=UTC)


def gps(at: datetime = NOON, place: dict[str, float] = OFFICE, **more: Any) -> dict[str, Any]:
    return {"location": place, "accuracy": 15, "fix_at": at.isoformat(), **more}


def seen(reply: dict[str, Any]) -> tuple[str, set[str]]:
    """The result and the risks."""
    return reply["result"], {risk["code"] for risk in reply["risks"]}


async def attempt(staff: Staff, tradewind: Running, at: datetime = NOON) -> str:
    return str((await start_attempt(staff.request(tradewind, at, None)))["attempt"])


async def test_a_punch_is_sent_only_once_with_its_attempt(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, group={"policy": {"attempt": True}})
    assert seen(await staff.punch_at(tradewind, NOON, **gps())) == ("unproven", {"no_attempt"})
    soon = NOON + timedelta(minutes=2)
    sent = gps(soon, attempt=await attempt(staff, tradewind, soon))
    assert seen(await staff.punch_at(tradewind, soon, **sent)) == ("accepted", set())
    # the answer was lost, and the client asks again
    assert (await staff.punch_at(tradewind, soon + timedelta(seconds=20), **sent))["repeated"]
    late = soon + timedelta(hours=6)
    replayed = await staff.punch_at(tradewind, late, **sent)
    assert seen(replayed) == ("refused", {"invalid_attempt", "repeated_fix", "old_fix"})
    kept = await attempt(staff, tradewind, late)
    after = late + timedelta(minutes=3)
    assert seen(await staff.punch_at(tradewind, after, **gps(after, attempt=kept))) == ("refused", {"invalid_attempt"})


@pytest.mark.parametrize(
    ("policy", "evidence", "result", "risks"),
    [
        ({"proof": "gps"}, {"location": OFFICE}, "unproven", {"unknown_accuracy", "unknown_fix_time", "no_position"}),
        ({"proof": "either"}, {"location": OFFICE}, "accepted", {"unknown_accuracy", "unknown_fix_time"}),
        ({"max_accuracy_metres": 10}, gps(), "unproven", {"low_accuracy"}),
        ({"max_fix_age_seconds": 30}, gps(NOON - timedelta(seconds=31)), "unproven", {"old_fix"}),
        # the clock of the phone was set back to nine: the server's says when it was
        ({}, gps(NOON - timedelta(hours=3)), "unproven", {"old_fix"}),
        ({}, gps(NOON + timedelta(hours=3)), "unproven", {"future_fix"}),
        ({"proof": "gps"}, {"bssid": BSSID}, "unproven", {"no_position"}),
        ({"proof": "wifi"}, gps(), "unproven", {"no_wifi"}),
        ({"proof": "wifi"}, {"bssid": BSSID}, "accepted", set()),
        # a copied address of the office's WiFi
        ({"proof": "both"}, {"bssid": BSSID}, "unproven", {"no_position"}),
        ({"proof": "both"}, gps(place=FAR, bssid=BSSID), "unproven", {"no_position", "far_from_wifi"}),
        ({"proof": "both"}, gps(bssid=BSSID), "accepted", set()),
        (None, gps(place=FAR, bssid=BSSID), "unproven", {"far_from_wifi"}),
        ({"photo": True}, gps(), "unproven", {"no_photo"}),
        ({"known_device": True}, gps(), "unproven", {"no_device"}),
    ],
)
async def test_the_policy_of_the_group_decides_what_counts(
    policy: dict[str, Any] | None,
    evidence: dict[str, Any],
    result: str,
    risks: set[str],
    admin: Client,
    tradewind: Running,
) -> None:
    staff = await Staff.hire(admin, group={"policy": policy})
    reply = await staff.punch_at(tradewind, NOON, **evidence)
    assert (seen(reply), reply["counts"]) == ((result, risks), result == "accepted")


async def test_the_device_of_somebody_else_proves_nothing_and_a_new_one_only_after_a_review(
    admin: Client, tradewind: Running
) -> None:
    known = {"policy": {"known_device": True}}
    mei, other = await Staff.hire(admin, group=known), await Staff.hire(admin, group=known)
    theirs, borrowed, new = unique("device"), unique("device"), unique("device")
    assert seen(await other.punch_at(tradewind, NOON, **gps(device_id=borrowed)))[0] == "accepted"
    assert seen(await mei.punch_at(tradewind, NOON, **gps(device_id=theirs)))[0] == "accepted"
    times = [NOON + timedelta(hours=hours) for hours in (1, 2, 3)]
    lent = await mei.punch_at(tradewind, times[0], **gps(times[0], device_id=borrowed))
    assert seen(lent) == ("refused", {"shared_device"})
    first = await mei.punch_at(tradewind, times[1], **gps(times[1], device_id=new))
    assert seen(first) == ("unproven", {"unknown_device"})
    expect(await admin.post(f"{AT}/punches/{first['id']}/review", {"counts": True}))
    assert seen(await mei.punch_at(tradewind, times[2], **gps(times[2], device_id=new))) == ("accepted", set())


async def test_nobody_is_at_two_places_within_a_minute(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin)
    wifi = "02:00:00:00:00:99"
    branch = await create(admin, "places", name=unique("branch"), location=FAR, bssids=[wifi])
    places = {"version": staff.group["version"], "place_ids": [staff.place["id"], branch["id"]]}
    expect(await admin.patch(f"{AT}/attendance-groups/{staff.group['id']}", places))
    assert seen(await staff.punch_at(tradewind, NOON, bssid=BSSID)) == ("accepted", set())
    reply = await staff.punch_at(tradewind, NOON + timedelta(seconds=40), bssid=wifi)
    assert (seen(reply), reply["repeated"]) == (("refused", {"impossible_speed"}), False)
    # by taxi
    assert seen(await staff.punch_at(tradewind, NOON + timedelta(minutes=30), bssid=wifi)) == ("accepted", set())


async def test_a_photo_counts_once_and_is_one_that_the_person_has_uploaded(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, group={"policy": {"photo": True}})
    photo = (await upload(staff.client, image("JPEG"), "photo.jpg"))["objectKey"]
    of_another = (await upload(admin, image("JPEG"), "photo.jpg"))["objectKey"]
    for hours, key in ((2, of_another), (3, "20261120-0123456789abcdef0123456789abcdef.jpg")):
        before = NOON - timedelta(hours=hours)
        reply = await staff.punch_at(tradewind, before, **gps(before, photo=key))
        assert seen(reply) == ("unproven", {"unknown_photo"})
    later = NOON + timedelta(hours=9)
    assert seen(await staff.punch_at(tradewind, NOON, **gps(photo=photo))) == ("accepted", set())
    assert seen(await staff.punch_at(tradewind, later, **gps(later, photo=photo))) == ("unproven", {"repeated_photo"})


async def test_what_is_doubtful_waits_for_a_review_by_its_risk_and_the_person_sees_why(
    admin: Client, people: People
) -> None:
    staff = await Staff.hire(admin)
    boss = await people.person(["hrm:punch:list", "hrm:punch:review"], "all")
    of_staff = f"employee_id={staff.employee['id']}"
    for evidence in ({"accuracy": 900}, {"mock": True}):
        expect(await staff.punch(location=OFFICE, **evidence))
    queue = expect(await boss.get(f"{AT}/punches/queue?{of_staff}"))["items"]
    assert [(one["result"], one["risk"], one["counts"]) for one in queue] == [
        ("refused", 100, False),
        ("unproven", 40, False),
    ]
    today = expect(await staff.client.get(f"{AT}/attendance/today"))["punches"]
    assert [one["risks"] for one in today] == [
        ["low_accuracy", "unknown_fix_time"],
        ["mock_location", "unknown_accuracy", "unknown_fix_time"],
    ]
    for one, verb in zip(queue, ("reject", "accept"), strict=True):
        expect(await boss.post(f"{AT}/punches/{one['id']}/{verb}", {"remark": "asked"}))
    assert expect(await boss.get(f"{AT}/punches/queue?{of_staff}"))["items"] == []
    rejected = expect(await boss.get(f"{AT}/punches?review=rejected&{of_staff}"))["items"]
    assert [one["id"] for one in rejected] == [queue[0]["id"]]
    assert len([one for one in await titles(staff.client) if "复核" in one]) == 2


async def test_who_punches_cannot_read_the_wifi_of_a_place(admin: Client, people: People) -> None:
    staff = await Staff.hire(admin)
    reader = await people.person(["hrm:place:list", "hrm:place:read", "hrm:place:export"], "all")
    of_place = f"{AT}/places/{staff.place['id']}"
    version = staff.place["version"]
    expect(await admin.patch(of_place, {"version": version, "bssids": [BSSID, "02:00:00:00:00:98"]}))
    assert expect(await reader.get(of_place))["bssids"] == []
    assert all(one["bssids"] == [] for one in expect(await reader.get(f"{AT}/places?page_size=200"))["items"])
    assert BSSID not in str((await reader.get(f"{AT}/places/export")).body)
    history = expect(await reader.get(f"{of_place}/history"))["items"]
    assert not [change for one in history for change in one["changes"] if change["field"] == "bssids"]
    assert expect(await admin.get(of_place))["bssids"] == [BSSID, "02:00:00:00:00:98"]
