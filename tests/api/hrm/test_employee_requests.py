"""Requests of employees: what they need, who decides, and what days have of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.hrm.results import reconcile
from plugins.testing import Client, People, Reply, expect
from tests.api.approval.flows import configured
from tests.api.hrm.staff import AT, Staff
from tests.api.hrm.week import MONDAY, at, day

pytestmark = pytest.mark.gen_test(timeout=30)
REQUESTS = f"{AT}/requests"
WEEK = {"attends_from": day(), "left_on": day(6)}
WEEKDAYS = {"working_days": [1, 2, 3, 4, 5], "holidays": [{"day": day(4), "name": "Founding day"}]}
BREAK = {"break_start": "12:00", "break_end": "13:00"}


def body(kind: str, starts: float, ends: float | None = None, **fields: Any) -> dict[str, Any]:
    """Hours are those since the midnight of the Monday."""
    of_overtime = {"compensation": "paid"} if kind == "overtime" else {}
    span = {"starts_at": at(starts), "ends_at": at(ends) if ends is not None else None}
    return {"kind": kind, "reason": "as agreed", **span, **of_overtime, **fields}


async def ask(staff: Staff, *args: Any, **fields: Any) -> dict[str, Any]:
    """Let an employee submit a request, and return it."""
    made = expect(await staff.client.post(REQUESTS, body(*args, **fields)))
    submitted: dict[str, Any] = expect(await staff.client.post(f"{REQUESTS}/{made['id']}/submit"))
    return submitted


async def grant(staff: Staff, *args: Any, **fields: Any) -> dict[str, Any]:
    made = await ask(staff, *args, **fields)
    granted: dict[str, Any] = expect(await staff.admin.post(f"{REQUESTS}/{made['id']}/approve"))
    return granted


async def refused(staff: Staff, *args: Any, **fields: Any) -> Reply:
    """Let an employee submit a request that is refused."""
    made = expect(await staff.client.post(REQUESTS, body(*args, **fields)))
    return await staff.client.post(f"{REQUESTS}/{made['id']}/submit")


async def of_day(staff: Staff, number: int = 0) -> dict[str, Any]:
    return (await staff.days())[day(number)]


@pytest.fixture(scope="module")
def shared(io_loop: IOLoop, admin: Client) -> Staff:
    """Somebody whose days no test looks at."""
    hired: Staff = io_loop.run_sync(lambda: Staff.hire(admin, BREAK, WEEKDAYS, **WEEK))
    return hired


async def test_an_approved_correction_gives_the_missing_punch_and_stays_apart_from_punches(
    admin: Client, tradewind: Running
) -> None:
    staff = await Staff.hire(admin, **WEEK)
    await staff.punch_at(tradewind, MONDAY + timedelta(hours=8.9))
    asked = await ask(staff, "correction", 18.25)
    await reconcile(tradewind.service)
    assert (await of_day(staff))["status"] == "missed"
    expect(await admin.post(f"{REQUESTS}/{asked['id']}/approve"))
    found = await of_day(staff)
    assert (found["status"], found["departed_at"], found["corrected"]) == ("normal", at(18.25).replace("Z", ".000Z"), 1)
    punches = expect(await admin.get(f"{AT}/punches?employee_id={staff.employee['id']}"))["items"]
    assert [one["method"] for one in punches] == ["gps"]
    cancelled = expect(await admin.post(f"{REQUESTS}/{asked['id']}/cancel"))
    assert cancelled["decided_by"] == 1
    found = await of_day(staff)
    assert (found["status"], found["corrected"]) == ("missed", None)


async def test_a_trip_makes_its_working_days_present(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, BREAK, WEEKDAYS, **WEEK)
    await staff.punch_at(tradewind, MONDAY + timedelta(hours=8.9))
    trip = await grant(staff, "trip", 14, 24 + 11, destination="Suzhou")
    assert trip["minutes"] == 4 * 60 + 2 * 60
    monday, tuesday = await of_day(staff), await of_day(staff, 1)
    assert (monday["status"], monday["duty"], monday["worked_minutes"]) == ("normal", "trip", 8 * 60 + 6)
    # back at eleven on Tuesday, and not seen again
    assert (tuesday["status"], tuesday["early_minutes"]) == ("early_leave", 7 * 60)


async def test_outside_duty_counts_without_any_punch(admin: Client) -> None:
    staff = await Staff.hire(admin, BREAK, **WEEK)
    await grant(staff, "outside", 9, 18)
    found = await of_day(staff)
    assert (found["status"], found["duty"], found["worked_minutes"]) == ("normal", "outside", 8 * 60)


@pytest.mark.parametrize(
    ("span", "kind", "minutes"),
    [
        ((17, 20), "working_day", 2 * 60),
        ((5 * 24 + 9, 5 * 24 + 13), "rest_day", 4 * 60),
        ((4 * 24 + 10, 4 * 24 + 12), "holiday", 2 * 60),
    ],
)
async def test_overtime_is_recorded_with_the_kind_of_its_day(
    span: tuple[float, float], kind: str, minutes: int, admin: Client
) -> None:
    staff = await Staff.hire(admin, group=WEEKDAYS, **WEEK)
    paid = await grant(staff, "overtime", *span)
    assert (paid["minutes"], paid["by_day_kind"][kind]) == (minutes, minutes)
    found = await of_day(staff, int(span[0]) // 24)
    assert (found["overtime_minutes"], found["compensatory_minutes"], found["overtime_day"]) == (minutes, None, kind)


async def test_overtime_through_the_night_is_that_of_two_days(admin: Client) -> None:
    staff = await Staff.hire(admin, group=WEEKDAYS, **WEEK)
    made = await grant(staff, "overtime", 3 * 24 + 20, 4 * 24 + 4, compensation="compensatory")
    # days begin in the middle of the time off, at half past one
    assert made["by_day_kind"] == {"working_day": 330, "rest_day": 0, "holiday": 150}
    thursday, friday = await of_day(staff, 3), await of_day(staff, 4)
    assert [one["compensatory_minutes"] for one in (thursday, friday)] == [330, 150]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (body("correction", 9, 10), "ends_at"),
        (body("correction", 24 * 400), "starts_at"),
        (body("trip", -24 * 500, 10), "starts_at"),
        (body("trip", 9), "ends_at"),
        (body("outside", 9, 9), "ends_at"),
        (body("overtime", 9, 34), "ends_at"),
        (body("overtime", 19, 20, compensation=None), "compensation"),
        (body("outside", 9, 12, compensation="paid"), "compensation"),
        (body("holiday", 9, 12), "kind"),
        (body("swap", 9, 12), "day"),
        (body("outside", 9, 12, swap_day=day()), "swap_day"),
        ({**body("outside", 9, 12), "starts_at": None}, "starts_at"),
        ({**body("outside", 9, 12), "reason": " "}, "reason"),
    ],
)
async def test_a_request_that_lacks_what_its_kind_needs_names_it(
    given: dict[str, Any], field: str, shared: Staff
) -> None:
    reply = await shared.client.post(REQUESTS, given)
    expect(reply, 40001)
    assert reply.fields == {field}


async def test_requests_that_contradict_one_another_or_leave_are_refused(admin: Client) -> None:
    staff = await Staff.hire(admin, BREAK, WEEKDAYS, **WEEK)
    await ask(staff, "trip", 9, 18)
    await staff.leave(at(33), at(42), "submit")
    for contradicting in (
        ("outside", 17, 20),  # of the trip
        ("trip", 30, 34),  # of the leave
        ("overtime", 9, 12),  # within working hours
        ("correction", 7 * 24 + 9),  # after the last day of work
        ("correction", -24 + 9),  # before the first day of attendance
    ):
        expect(await refused(staff, *contradicting), 40901)


async def test_a_punch_that_is_there_cannot_be_requested(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, **WEEK)
    await staff.punch_at(tradewind, MONDAY + timedelta(hours=9))
    expect(await refused(staff, "correction", 9.01), 40901)


async def test_closed_days_take_no_requests(admin: Client) -> None:
    staff = await Staff.hire(admin, BREAK, WEEKDAYS, **WEEK)
    pending, granted = await ask(staff, "outside", 9, 12), await grant(staff, "overtime", 19, 21)
    draft = expect(await staff.client.post(REQUESTS, body("correction", 18.25)))
    async with configured(admin, hrm_attendance_closed_to=day()):
        expect(await staff.client.post(f"{REQUESTS}/{draft['id']}/submit"), 40901)
        expect(await admin.post(f"{REQUESTS}/{pending['id']}/approve"), 40901)
        expect(await admin.post(f"{REQUESTS}/{granted['id']}/cancel"), 40901)
        entered = {**body("overtime", 21, 22), "employee_id": staff.employee["id"]}
        expect(await admin.post(f"{REQUESTS}/enter", entered), 40901)
        expect(await staff.client.post(f"{REQUESTS}/{pending['id']}/withdraw"))


async def test_a_flow_decides_and_the_result_follows(admin: Client) -> None:
    staff = await Staff.hire(admin, BREAK, **WEEK)
    node = {"key": "boss", "name": "boss", "approvers": {"users": [1]}, "mode": "any", "on_reject": "end"}
    theirs = {"field": "user_id", "op": "eq", "value": staff.client.user["userId"]}
    flow = {"name": "requests", "biz_type": "EMPLOYEE_REQUEST", "conditions": [theirs], "nodes": [node], "priority": 1}
    expect(await admin.post("/api/v1/approvals/definitions", flow))
    asked = await ask(staff, "outside", 9, 18)
    instance = expect(await admin.get(f"/api/v1/approvals/instances/{asked['approval']}"))
    assert instance["title"] == f"Mei：外出，{day()}"
    expect(await admin.post(f"/api/v1/approvals/instances/{asked['approval']}/agree", {}))
    assert (await of_day(staff))["status"] == "normal"


async def test_people_without_an_account_have_requests_that_others_enter(admin: Client, people: People) -> None:
    department = await people.department()
    staff = await Staff.hire(admin, BREAK, department_id=department, user_id=None, **WEEK)
    clerk = await people.person(["hrm:request:enter", "hrm:request:list"], "department", department)
    entered = {**body("trip", 9, 18), "employee_id": staff.employee["id"]}
    made = expect(await clerk.post(f"{REQUESTS}/enter", entered))
    assert (made["status"], made["user_id"], made["entered_by"]) == ("approved", None, clerk.user["userId"])
    assert (await of_day(staff))["duty"] == "trip"
    assert [one["id"] for one in expect(await clerk.get(REQUESTS))["items"]] == [made["id"]]
    other = await Staff.hire(admin, **WEEK)
    reply = await clerk.post(f"{REQUESTS}/enter", {**entered, "employee_id": other.employee["id"]})
    assert reply.fields == {"employee_id"}


async def test_people_see_and_decide_only_what_is_theirs_to(admin: Client, people: People, shared: Staff) -> None:
    asked = await ask(shared, "overtime", 20, 21)
    stranger = await people.person([f"hrm:request:{one}" for one in ("read", "create", "approve")], "self")
    expect(await stranger.get(f"{REQUESTS}/{asked['id']}"), 40400)
    expect(await stranger.post(REQUESTS, body("outside", 9, 12)), 40901)  # no employee
    expect(await stranger.post(f"{REQUESTS}/{asked['id']}/approve"), 40400)
    changed = {"version": asked["version"], "ends_at": at(23)}
    expect(await shared.client.patch(f"{REQUESTS}/{asked['id']}", changed), 40901)  # it is submitted
    draft = expect(await shared.client.post(f"{REQUESTS}/{asked['id']}/withdraw"))
    changed = {"version": draft["version"], "ends_at": at(23)}
    assert expect(await shared.client.patch(f"{REQUESTS}/{asked['id']}", changed))["minutes"] == 180
