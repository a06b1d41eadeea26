"""Punches over HTTP: the time by the server's clock, the place by the evidence."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import Client, expect
from tests.api.hrm.staff import AT, BSSID, OFFICE, Staff
from tests.api.hrm.week import MONDAY, day

pytestmark = pytest.mark.gen_test(timeout=30)
GCJ02 = {"lng": 121.47822, "lat": 31.22845}  # the office, as Chinese maps show it
BD09 = {"lng": 121.484761, "lat": 31.234213}
FAR = {"lng": 121.5737, "lat": 31.2304}  # nine and a half kilometres
NOON = datetime(2026, 11, 16, 4, tzinfo=UTC)
GOOD = {"accuracy": 15, "fix_at": NOON.isoformat()}


@pytest.fixture(scope="module")
def staff(io_loop: IOLoop, admin: Client) -> Staff:
    hired: Staff = io_loop.run_sync(lambda: Staff.hire(admin))
    return hired


@pytest.mark.parametrize(
    ("evidence", "result", "method", "risks"),
    [
        ({"location": OFFICE, **GOOD}, "accepted", "gps", []),
        ({"location": GCJ02, "coordinate_system": "gcj02", **GOOD}, "accepted", "gps", []),
        ({"location": BD09, "coordinate_system": "bd09", **GOOD}, "accepted", "gps", []),
        ({"location": GCJ02, **GOOD}, "outside", None, []),
        ({"bssid": BSSID.upper().replace(":", "-")}, "accepted", "wifi", []),
        ({"bssid": BSSID, "location": FAR, **GOOD}, "unproven", None, ["far_from_wifi"]),
        ({"bssid": "00:00:00:00:00:01"}, "outside", None, ["unknown_wifi"]),
        ({"location": OFFICE}, "accepted", "gps", ["unknown_accuracy", "unknown_fix_time"]),
        ({"location": OFFICE, **GOOD, "accuracy": 200}, "accepted", "gps", []),
        ({"location": OFFICE, **GOOD, "accuracy": 201}, "unproven", None, ["low_accuracy"]),
        ({"location": OFFICE, **GOOD, "fix_at": "2026-11-16T03:54:59Z"}, "unproven", None, ["old_fix"]),
        ({"location": OFFICE, **GOOD, "fix_at": "2026-11-16T04:02:00Z"}, "unproven", None, ["future_fix"]),
        ({"location": OFFICE, **GOOD, "mock": True}, "refused", None, ["mock_location"]),
        ({"location": OFFICE, **GOOD, "mock": True, "bssid": BSSID}, "refused", "wifi", ["mock_location"]),
    ],
)
async def test_the_evidence_decides(
    evidence: dict[str, Any],
    result: str,
    method: str | None,
    risks: list[str],
    admin: Client,
    tradewind: Running,
) -> None:
    staff = await Staff.hire(admin)
    reply = await staff.punch_at(tradewind, NOON, **evidence)
    shown = (reply["result"], reply["counts"], reply["method"], [risk["code"] for risk in reply["risks"]])
    assert shown == (result, result == "accepted", method, risks)


async def test_the_response_contains_a_message(staff: Staff) -> None:
    english = {"Accept-Language": "en"}
    far = {"location": {"lng": 121.4737, "lat": 31.2349}, "accuracy": 900}
    reply = expect(await staff.client.post(f"{AT}/punches", far, headers=english))
    assert (reply["result"], reply["place"]["name"]) == ("outside", staff.place["name"])
    assert reply["distance"] == pytest.approx(500.4, abs=1)
    assert reply["message"] == "You are not at an attendance place; this punch does not count"
    assert reply["risks"][0] == {"code": "low_accuracy", "message": "The position is too inaccurate"}


async def test_an_impossible_speed_is_refused(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin)
    beijing = {"lng": 116.39, "lat": 39.91}
    await staff.punch_at(tradewind, NOON, location=beijing, **GOOD)
    soon, later = (NOON + timedelta(minutes=minutes) for minutes in (30, 90))
    reply = await staff.punch_at(tradewind, soon, location=OFFICE, accuracy=15, fix_at=soon.isoformat())
    assert (reply["result"], [risk["code"] for risk in reply["risks"]]) == ("refused", ["impossible_speed"])
    # a refused punch proves no position: the speed is computed from the one in Beijing, an hour and a half ago
    reply = await staff.punch_at(tradewind, later, location=OFFICE, accuracy=15, fix_at=later.isoformat())
    assert reply["result"] == "accepted"


async def test_fifty_concurrent_punches_are_one(admin: Client) -> None:
    staff = await Staff.hire(admin)
    replies = [expect(reply) for reply in await asyncio.gather(*(staff.punch() for _ in range(50)))]
    assert Counter(reply["repeated"] for reply in replies) == {False: 1, True: 49}
    assert len({reply["id"] for reply in replies}) == 1
    assert expect(await admin.get(f"{AT}/punches?employee_id={staff.employee['id']}"))["total"] == 1
    assert [row["departed_at"] for row in (await staff.days()).values() if row["arrived_at"]] in ([None], [])


async def test_a_punch_from_outside_can_be_repeated_at_once_with_other_evidence(admin: Client) -> None:
    staff = await Staff.hire(admin)
    near = {"location": {"lng": 121.4737, "lat": 31.2349}, "accuracy": 5}  # half a kilometre
    taps = [near, near, {"bssid": BSSID}, {"bssid": BSSID}]
    replies = [expect(await staff.punch(**tap)) for tap in taps]
    assert [(reply["result"], reply["repeated"]) for reply in replies] == [
        ("outside", False),
        ("outside", True),
        ("accepted", False),
        ("accepted", True),
    ]


async def test_of_several_places_the_one_whose_radius_contains_the_position_is_returned(
    admin: Client, tradewind: Running
) -> None:
    staff = await Staff.hire(admin)
    near = {"name": f"gate of {staff.place['name']}", "location": {"lng": 121.4767, "lat": 31.2304}, "radius": 10}
    gate = expect(await admin.post(f"{AT}/places", near))
    version, places = staff.group["version"], [staff.place["id"], gate["id"]]
    changed = {"version": version, "place_ids": places}
    expect(await admin.patch(f"{AT}/attendance-groups/{staff.group['id']}", changed))
    beside_the_gate = {"lng": 121.4756, "lat": 31.2304}
    reply = await staff.punch_at(tradewind, NOON, location=beside_the_gate, **GOOD)
    assert (reply["result"], str(reply["place"]["id"])) == ("accepted", places[0])


async def test_places_of_other_groups_prove_nothing(admin: Client) -> None:
    staff = await Staff.hire(admin, group={"place_ids": []})
    place = expect(await admin.get(f"{AT}/places/{staff.place['id']}"))
    expect(await admin.patch(f"{AT}/places/{place['id']}", {"version": place["version"], "status": "disabled"}))
    other = await Staff.hire(admin, group={"place_ids": [staff.place["id"]]})
    assert expect(await other.punch(location=OFFICE, accuracy=5))["result"] == "outside"


async def test_field_work_counts_if_the_group_allows_it(admin: Client) -> None:
    staff = await Staff.hire(admin, group={"outside_counts": True})
    reply = expect(await staff.punch(location=FAR, accuracy=5))
    assert (reply["result"], reply["counts"], reply["message"]) == ("outside", True, "外勤打卡成功")


async def test_a_reviewed_punch_counts(admin: Client) -> None:
    staff = await Staff.hire(admin, attends_from=day())  # after midnight a punch is of the day before
    made = expect(await staff.punch(location=FAR, accuracy=5))
    assert made["counts"] is False
    at = f"{AT}/punches/{made['id']}/review"
    expect(await staff.client.post(at, {"counts": True}), 40901)
    reviewed = expect(await admin.post(at, {"counts": True, "remark": "at the customer's"}))
    assert (reviewed["counts"], reviewed["reviewed_by"]) == (True, 1)
    result = (await staff.days())[made["day"]]
    assert result["arrived_at"] or result["departed_at"]


async def test_the_current_working_day_is_returned(staff: Staff) -> None:
    today = expect(await staff.client.get(f"{AT}/attendance/today"))
    assert (today["working"], today["start"], today["end"]) == (True, "09:00", "18:00")
    assert today["employee_id"] == staff.employee["id"]


async def test_punching_requires_employment_and_a_group(admin: Client, people: Any) -> None:
    stranger = await people.person(["hrm:attendance:punch"])
    body = {"location": OFFICE, "accuracy": 5}
    expect(await stranger.post(f"{AT}/punches", body), 40901)
    without = {"name": "No group", "hired_on": "2025-01-01", "user_id": stranger.user["userId"]}
    expect(await admin.post(f"{AT}/employees", without))
    expect(await stranger.post(f"{AT}/punches", body), 40901)


@pytest.mark.parametrize("dates", [{"hired_on": "2199-01-01"}, {"left_on": "2025-12-31"}])
async def test_punches_outside_of_employment_are_refused(dates: dict[str, str], admin: Client) -> None:
    expect(await (await Staff.hire(admin, **dates)).punch(), 40901)


async def test_a_punch_without_evidence_names_what_is_missing(staff: Staff) -> None:
    reply = await staff.punch(remark="here I am")
    expect(reply, 40001)
    assert reply.fields == {"location"}


async def test_the_morning_of_a_night_shift_belongs_to_the_day_before(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, {"start": "22:00", "end": "06:00"}, attends_from=day())
    evening, morning = MONDAY + timedelta(hours=21, minutes=50), MONDAY + timedelta(hours=30, minutes=5)
    for moment in (evening, morning):
        assert (await staff.punch_at(tradewind, moment))["day"] == day()
    result = (await staff.days())[day()]
    assert (result["status"], result["departed_at"]) == ("normal", f"{morning:%Y-%m-%dT%H:%M}:00.000Z")
