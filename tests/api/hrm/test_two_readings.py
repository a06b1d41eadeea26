"""A closed month as it was paid and as it is known now, and the difference in the month in which it became known."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, timedelta
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.hrm.results import reconcile
from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import configured
from tests.api.hrm.staff import AT, OFFICE, Staff, create
from tests.api.hrm.week import MONDAY, MONTH, at, day

pytestmark = pytest.mark.gen_test(timeout=60)
MONTHLY = f"{AT}/attendance/monthly"
LAST = (date.fromisoformat(f"{MONTH}-28") + timedelta(days=4)).replace(day=1) - timedelta(days=1)
NEXT = (LAST + timedelta(days=1)).isoformat()
CLOSED = {"hrm_attendance_closed_to": LAST.isoformat()}
LATE = {"after_closing": True}


async def hired(admin: Client, running: Running, **fields: Any) -> Staff:
    """Hire somebody who came on Monday and not on Tuesday, which are their only working days."""
    given = {"number": unique("E"), "attends_from": day(), "left_on": day(1), **fields}
    staff = await Staff.hire(admin, {"break_start": "12:00", "break_end": "13:00"}, **given)
    for hour in (9, 18):
        await staff.punch_at(running, MONDAY + timedelta(hours=hour))
    await reconcile(running.service)
    return staff


async def month_of(staff: Staff, month: str = MONTH, reading: str = "paid") -> dict[str, Any]:
    asked = f"month={month}&number={staff.employee['number']}&as={reading}"
    page = expect(await staff.admin.get(f"{MONTHLY}?{asked}"))
    row: dict[str, Any] = next(iter(page["items"]), {})
    return row


async def sick(staff: Staff, starts: float, ends: float, **flags: Any) -> Any:
    body = {"employee_id": staff.employee["id"], "type": "sick", "starts_at": at(starts), "ends_at": at(ends)}
    return await staff.admin.post(f"{AT}/leaves/enter", {**body, **flags})


def shown(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["absent"], row["leave"], row["leave_by_type"]["sick"], row["leave_hours_by_type"]["sick"]


async def test_leave_entered_after_closing_is_known_and_booked_in_the_next_month(
    admin: Client, tradewind: Running
) -> None:
    staff = await hired(admin, tradewind, left_on=NEXT)
    paid = await month_of(staff)
    async with configured(admin, **CLOSED):
        expect(await sick(staff, 33, 42), 40901)
        expect(await sick(staff, 33, 42, **LATE))
        assert await month_of(staff) == paid
        known, booked = await month_of(staff, reading="known"), await month_of(staff, NEXT[:7])
        assert (known["absent"], known["leave"]) == (paid["absent"] - 1, 1)
        (difference,) = booked["differences"]
        assert (difference["month"], *shown(difference)) == (MONTH, -1, 1, "1", "8")
        assert difference["leave_by_type"]["annual"] == "0" == difference["hours"]
        columns = f"{MONTHLY}/export?month={NEXT[:7]}&number={staff.employee['number']}&fields=number,differences"
        exported = (await admin.get(columns)).body.decode("utf-8-sig")
        (_, (number, found)) = list(csv.reader(io.StringIO(exported)))
        assert (number, json.loads(found)[0]["month"]) == (staff.employee["number"], MONTH)


async def test_a_holiday_declared_late_changes_only_what_is_known(admin: Client, tradewind: Running) -> None:
    place = await create(admin, "places", name=unique("place"), location={"lng": 121.4, "lat": 31.2}, radius=200)
    staff = await hired(admin, tradewind, place_id=place["id"])
    paid = await month_of(staff)
    async with configured(admin, **CLOSED):
        holiday = {"day": day(1), "kind": "holiday", "name": "Flood", "place_id": place["id"]}
        made = expect(await admin.post(f"{AT}/special-days", holiday))
        await reconcile(tradewind.service)
        known = await month_of(staff, reading="known")
        assert await month_of(staff) == paid
        assert (paid["working_days"], paid["absent"]) == (2, 1)
        assert (known["working_days"], known["absent"]) == (1, 0)
        expect(await admin.delete(f"{AT}/special-days/{made['id']}"))
        await reconcile(tradewind.service)
        assert await month_of(staff, reading="known") == paid
        rows = expect(await admin.get(f"{AT}/attendance/corrections?employee_id={staff.employee['id']}"))["items"]
        assert [(one["day"], one["before"]["status"], one["after"]["status"], one["booked_on"]) for one in rows] == [
            (day(1), None, "absent", NEXT),
            (day(1), "absent", None, NEXT),
        ]


@pytest.mark.parametrize("rostered", [False, True], ids=["of the group", "of a roster"])
async def test_another_shift_says_nothing_about_closed_days(rostered: bool, admin: Client, tradewind: Running) -> None:
    staff = await hired(admin, tradewind)
    shift = staff.shift
    if rostered:
        shift = await create(admin, "shifts", name=unique("shift"), start="09:00", end="18:00")
        await create(admin, "rosters", employee_id=staff.employee["id"], day=day(), shift_id=shift["id"])
        await reconcile(tradewind.service)
    async with configured(admin, **CLOSED):
        expect(await admin.patch(f"{AT}/shifts/{shift['id']}", {"version": 1, "start": "08:00"}))
        expect(await sick(staff, 33, 42, **LATE))  # Tuesday, for which all closed days are counted again
        await reconcile(tradewind.service)
        known, paid = await month_of(staff, reading="known"), await month_of(staff)
        assert (known["late"], known["leave"]) == (paid["late"], 1) == (0, 1)


async def test_a_punch_and_a_cancelled_leave_are_known_after_closing(admin: Client, tradewind: Running) -> None:
    staff = await hired(admin, tradewind)
    leave = await staff.leave(at(33), at(42), "submit", "approve")
    async with configured(admin, **CLOSED):
        expect(await admin.post(f"{AT}/leaves/{leave['id']}/cancel"), 40901)
        expect(await admin.post(f"{AT}/leaves/{leave['id']}/cancel", LATE))
        forgotten = {"employee_id": staff.employee["id"], "reason": "was there"}
        for hour in (33, 42):
            expect(await admin.post(f"{AT}/punches/enter", {**forgotten, "at": at(hour)}), 40901)
            expect(await admin.post(f"{AT}/punches/enter", {**forgotten, "at": at(hour), **LATE}))
        paid, known = await month_of(staff), await month_of(staff, reading="known")
        assert (paid["leave"], paid["present"], paid["hours"]) == (1, 1, "8")
        assert (known["leave"], known["present"], known["hours"]) == (0, 2, "16")


async def test_a_doubtful_punch_that_is_accepted_after_closing_is_known(admin: Client, tradewind: Running) -> None:
    staff = await hired(admin, tradewind)
    vague = {"location": OFFICE, "accuracy": 900}
    made = await staff.punch_at(tradewind, MONDAY + timedelta(hours=33), **vague)
    async with configured(admin, **CLOSED):
        expect(await admin.post(f"{AT}/punches/{made['id']}/accept", {}), 40901)
        expect(await admin.post(f"{AT}/punches/{made['id']}/accept", LATE))
        paid, known = await month_of(staff), await month_of(staff, reading="known")
        assert [(one["missed"], one["absent"]) for one in (paid, known)] == [(0, 1), (1, 0)]


async def test_reopening_says_why_and_gives_days_what_was_known(admin: Client, tradewind: Running) -> None:
    staff = await hired(admin, tradewind)
    closings, until = f"{AT}/attendance/closings", LAST.isoformat()
    try:
        expect(await admin.post(closings, {"closed_to": until, "reason": "paid"}))
        expect(await admin.post(closings, {"closed_to": until}), 40901)
        expect(await sick(staff, 33, 42, **LATE))
        expect(await admin.post(f"{closings}/reopen", {"closed_to": day()}), 40001)
        expect(await admin.post(f"{closings}/reopen", {"closed_to": NEXT, "reason": "wrong"}), 40901)
    finally:
        made = expect(await admin.post(f"{closings}/reopen", {"closed_to": None, "reason": "wrong rates"}))
    assert (made["previous"], made["closed_to"], made["reopened"], made["reason"]) == (until, None, True, "wrong rates")
    await reconcile(tradewind.service)
    row = await month_of(staff)
    assert (row["absent"], row["leave"]) == (0, 1)
    assert (await month_of(staff, reading="known"), (await month_of(staff, NEXT[:7])).get("differences", [])) == (
        row,
        [],
    )


async def test_who_may_close_need_not_be_an_administrator_and_may_not_reopen(admin: Client, people: People) -> None:
    payroll = await people.person(["hrm:attendance-closing:create", "hrm:attendance-closing:list"], "all")
    made = expect(await payroll.post(f"{AT}/attendance/closings", {"closed_to": "2001-01-31"}))
    expect(await payroll.post(f"{AT}/attendance/closings/reopen", {"reason": "no"}), 40300)
    expect(await admin.post(f"{AT}/attendance/closings/reopen", {"reason": "only a test"}))
    assert made["id"] in {row["id"] for row in expect(await payroll.get(f"{AT}/attendance/closings"))["items"]}
