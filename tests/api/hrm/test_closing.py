"""Monthly attendance, and closed days, which no longer change."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from bson import ObjectId

from plugins.boot.runtime import Running
from plugins.hrm.attendance_records import MARKS
from plugins.hrm.results import reconcile
from plugins.hrm.texts import LEAVE_TYPE
from plugins.testing import Client, People, expect
from tests.api.approval.flows import configured
from tests.api.hrm.staff import AT, Staff
from tests.api.hrm.week import MONDAY, MONTH, at, day

pytestmark = pytest.mark.gen_test(timeout=60)
MONTHLY = f"{AT}/attendance/monthly"
CONFIGS = "/api/v1/system/configs"
CLOSED = {"hrm_attendance_closed_to": day()}
NO_OVERTIME = {"working_day": "0", "rest_day": "0", "holiday": "0"}
TWO_DAYS = {"attends_from": day(), "left_on": day(1)}


async def worked(admin: Client, running: Running) -> Staff:
    """Create an employee who worked from 09:20 to 18:00 on Monday and on Tuesday."""
    staff = await Staff.hire(admin, **TWO_DAYS)
    for number in (0, 1):
        for minute in (560, 1080):
            await staff.punch_at(running, MONDAY + timedelta(days=number, minutes=minute))
    await reconcile(running.service)
    return staff


async def statuses(staff: Staff) -> list[str]:
    return [row["status"] for _, row in sorted((await staff.days()).items())]


async def new_shift(admin: Client, running: Running, staff: Staff) -> None:
    """Allow half an hour of grace from now on; closed days stay unchanged."""
    expect(await admin.patch(f"{AT}/shifts/{staff.shift['id']}", {"version": 1, "grace_minutes": 30}))
    await reconcile(running.service)


async def test_a_change_of_the_shift_does_not_change_closed_days(admin: Client, tradewind: Running) -> None:
    staff = await worked(admin, tradewind)
    async with configured(admin, **CLOSED):
        await new_shift(admin, tradewind, staff)
        assert await statuses(staff) == ["late", "normal"]


async def test_leave_of_the_next_day_does_not_change_closed_days(admin: Client, tradewind: Running) -> None:
    staff = await worked(admin, tradewind)
    async with configured(admin, **CLOSED):
        await new_shift(admin, tradewind, staff)
        await staff.leave(at(33), at(42), "submit", "approve")
        assert await statuses(staff) == ["late", "leave"]


async def test_the_end_of_the_next_day_does_not_change_closed_days(admin: Client, tradewind: Running) -> None:
    staff = await worked(admin, tradewind)
    async with configured(admin, **CLOSED):
        await new_shift(admin, tradewind, staff)
        marks = tradewind.service.database.store(MARKS)
        await marks.upsert(ObjectId(staff.employee["id"]), {"attended_to": day(1)})
        await reconcile(tradewind.service)
        assert await statuses(staff) == ["late", "normal"]


async def test_an_earlier_last_day_of_work_removes_no_closed_days(admin: Client, tradewind: Running) -> None:
    staff = await worked(admin, tradewind)
    async with configured(admin, **CLOSED):
        expect(await admin.patch(f"{AT}/employees/{staff.employee['id']}", {"version": 1, "left_on": day(-3)}))
        await reconcile(tradewind.service)
        assert sorted(await staff.days()) == [day()]


async def test_punches_and_leave_of_closed_days_are_refused(admin: Client, tradewind: Running) -> None:
    staff = await worked(admin, tradewind)
    asked = await staff.leave(at(9), at(12), "submit")
    draft = await staff.leave(at(13), at(18))
    (punch, *_) = expect(await staff.client.get(f"{AT}/punches?employee_id={staff.employee['id']}&sort=at"))["items"]
    entered = {"employee_id": staff.employee["id"], "at": at(8.75), "reason": "forgotten"}
    given = {"employee_id": staff.employee["id"], "type": "sick", "starts_at": at(13)}
    async with configured(admin, **CLOSED):
        expect(await admin.post(f"{AT}/punches/enter", entered), 40901)
        expect(await admin.post(f"{AT}/punches/{punch['id']}/review", {"counts": False}), 40901)
        expect(await admin.post(f"{AT}/leaves/{asked['id']}/approve"), 40901)
        expect(await staff.client.post(f"{AT}/leaves/{draft['id']}/submit"), 40901)
        expect(await admin.post(f"{AT}/leaves/enter", {**given, "ends_at": at(37)}), 40901)
        assert await statuses(staff) == ["late", "late"]
        expect(await admin.post(f"{AT}/leaves/{asked['id']}/reject", {}))
    expect(await admin.post(f"{AT}/punches/enter", entered))
    assert await statuses(staff) == ["normal", "late"]


@pytest.mark.parametrize(("days", "code"), [(-1, 0), (0, 40901), (1, 40901), (400, 40901)])
async def test_a_day_that_is_not_over_is_not_closed(days: int, code: int, admin: Client) -> None:
    day = (datetime.now(ZoneInfo("Asia/Shanghai")).date() + timedelta(days=days)).isoformat()
    expect(await admin.patch(CONFIGS, {"values": {"hrm_attendance_closed_to": day}}), code)
    expect(await admin.patch(CONFIGS, {"values": {"hrm_attendance_closed_to": None}}))


async def test_a_month_is_the_sum_of_its_days(admin: Client, tradewind: Running) -> None:
    staff = await worked(admin, tradewind)
    await staff.leave(at(33), at(42), "submit", "approve")
    (row,) = [
        one
        for one in expect(await admin.get(f"{MONTHLY}?month={MONTH}&page_size=200&sort=-created_at"))["items"]
        if one["id"] == staff.employee["id"]
    ]
    assert row == {
        "id": staff.employee["id"],
        "number": None,
        "name": "Mei",
        "department_id": staff.employee["department_id"],
        "department_name": staff.employee["department_name"],
        "created_at": staff.employee["created_at"],
        "attendance_group_id": staff.employee["attendance_group_id"],
        "attendance_group_name": staff.employee["attendance_group_name"],
        "month": MONTH,
        "working_days": 2,
        "present": 1,
        "late": 1,
        "late_minutes": 20,
        "early_leave": 0,
        "early_minutes": 0,
        "missed": 0,
        "absent": 0,
        "leave": 1,
        "hours": "8.67",
        "overtime": "0",
        "leave_by_type": {**dict.fromkeys((one.value for one in LEAVE_TYPE.items), "0"), "annual": "1"},
        "leave_by_own_type": {},
        "leave_hours_by_type": {**dict.fromkeys((one.value for one in LEAVE_TYPE.items), "0"), "annual": "9"},
        "leave_hours_by_own_type": {},
        "trip_days": 0,
        "outside_days": 0,
        "rest_days_worked": 0,
        "overtime_paid": NO_OVERTIME,
        "overtime_compensatory": NO_OVERTIME,
        "overtime_unproven": "0",
        "differences": [],
    }


@pytest.mark.parametrize(
    ("month", "seen"),
    [("2024-12", False), ("2025-01", True), (MONTH, True), ("2099-12", False)],
    ids=["before", "the first", "the last", "after"],
)
async def test_a_month_has_the_people_who_were_employed_in_it(month: str, seen: bool, admin: Client) -> None:
    staff = await Staff.hire(admin, **TWO_DAYS)
    rows = expect(await admin.get(f"{MONTHLY}?month={month}&page_size=200&sort=-created_at"))["items"]
    assert (staff.employee["id"] in {row["id"] for row in rows}) is seen


async def test_a_month_has_the_people_whom_the_caller_sees(admin: Client, people: People) -> None:
    department = await people.department()
    theirs, other = await Staff.hire(admin, department_id=department), await Staff.hire(admin)
    boss = await people.person(["hrm:attendance:list"], "department", department)
    page = expect(await boss.get(f"{MONTHLY}?month={MONTH}"))
    assert ([row["id"] for row in page["items"]], page["total"]) == ([theirs.employee["id"]], 1)
    assert other.employee["id"] not in {row["id"] for row in page["items"]}


@pytest.mark.parametrize("month", ["2026-13", "2026-1", "2026-11-01", "november"])
async def test_an_invalid_month_is_refused(month: str, admin: Client) -> None:
    assert (await admin.get(f"{MONTHLY}?month={month}")).fields == {"month"}


@pytest.mark.parametrize(
    ("hours", "code"), [({}, 0), ({"start": "22:00", "end": "06:00"}, 40901)], ids=["day", "night"]
)
async def test_leave_after_midnight_belongs_to_the_night_shift_under_way(
    hours: dict[str, str], code: int, admin: Client
) -> None:
    staff = await Staff.hire(admin, hours)
    leave = await staff.leave(at(24), at(42))  # from midnight to six in the evening
    async with configured(admin, **CLOSED):
        expect(await staff.client.post(f"{AT}/leaves/{leave['id']}/submit"), code)
