"""Daily results are computed from punches, shifts and leave, and recomputed when these change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from bson import ObjectId
from hypothesis import HealthCheck, given, settings, strategies as st
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.hrm import results
from plugins.hrm.attendance_records import MARKS
from plugins.hrm.results import reconcile
from plugins.testing import Client, People, eventually, expect
from tests.api.hrm.staff import AT, Staff
from tests.api.hrm.week import MONDAY, at, day

DAYS = [day(number) for number in range(3)]
Result = tuple[str, int, int]


def model(start: int, end: int, flexible: int, grace: int, punches: Sequence[int], leave: Sequence[int]) -> Result:
    """Status, minutes of lateness and of early departure of a day that is over, from minutes since its midnight."""
    begins = leave[1] if leave and leave[0] <= start < leave[1] else start
    ends = leave[0] if leave and leave[0] < end <= leave[1] else end
    if begins >= ends or not punches:
        return ("leave" if begins >= ends else "absent", 0, 0)
    came = punches[0] if len(punches) > 1 or punches[0] < ends else None
    went = punches[-1] if len(punches) > 1 or came is None else None
    late = 0 if came is None else came - begins - (flexible if begins == start else 0)
    later = 0 if came is None or (leave and (begins, ends) != (start, end)) else min(max(came - start, 0), flexible)
    late, early = (minutes if minutes > grace else 0 for minutes in (late, 0 if went is None else ends + later - went))
    status = "missed" if None in (came, went) else "late" if late else "early_leave" if early else "normal"
    return status, late, early


SHIFTS = st.sampled_from([("09:00", "18:00", 540, 1080), ("22:00", "06:00", 1320, 1800), ("00:30", "09:00", 30, 540)])
NEAR = st.integers(-200, 200) | st.integers(-6, 36)  # around the begin or the end of the shift


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    shift=SHIFTS,
    flexible=st.sampled_from([0, 30]),
    grace=st.sampled_from([0, 5]),
    taps=st.lists(st.tuples(st.integers(0, 2), st.booleans(), NEAR), max_size=9),
    leave=st.none() | st.tuples(st.integers(0, 2), NEAR, st.integers(1, 600)),
)
def test_results_of_random_punches_match_the_model(
    shift: tuple[str, str, int, int],
    flexible: int,
    grace: int,
    taps: Any,
    leave: Any,
    admin: Client,
    tradewind: Running,
    io_loop: IOLoop,
) -> None:
    opens, closes, start, end = shift
    hours = {"start": opens, "end": closes, "flexible_minutes": flexible, "grace_minutes": grace}
    minutes = sorted({1440 * day + (end if going else start) + by for day, going, by in taps})
    away = (1440 * leave[0] + start + leave[1], 1440 * leave[0] + start + leave[1] + leave[2]) if leave else ()

    async def compare() -> None:
        staff = await Staff.hire(admin, hours, attends_from=DAYS[0], left_on=DAYS[-1])
        if away:
            await staff.leave(*(at(minute / 60) for minute in away), "submit", "approve")
        for minute in minutes:
            await staff.punch_at(tradewind, MONDAY + timedelta(minutes=minute))
        await reconcile(tradewind.service)
        rows = await staff.days()
        found = {day: (row["status"], row["late_minutes"], row["early_minutes"]) for day, row in rows.items()}
        assert found == {day: expected(number) for number, day in enumerate(DAYS)}

    def expected(number: int) -> Result:
        first = start - (1440 - (end - start)) // 2
        own = [minute - 1440 * number for minute in minutes if first <= minute - 1440 * number < first + 1440]
        return model(start, end, flexible, grace, own, [minute - 1440 * number for minute in away])

    io_loop.run_sync(compare, timeout=60)


@pytest.fixture(scope="module")
def monday(io_loop: IOLoop, admin: Client, tradewind: Running) -> Staff:
    """An employee who worked from 09:20 to 18:00 on Monday, their only day of attendance."""

    async def worked() -> Staff:
        staff = await Staff.hire(admin, attends_from=DAYS[0], left_on=DAYS[0])
        for minute in (560, 1080):
            await staff.punch_at(tradewind, MONDAY + timedelta(minutes=minute))
        return staff

    staff: Staff = io_loop.run_sync(worked)
    return staff


async def becomes(staff: Staff, status: str) -> None:
    async def is_so() -> bool:
        return {day: row["status"] for day, row in (await staff.days()).items()} == {DAYS[0]: status}

    await eventually(is_so)


async def patched(staff: Staff, what: str, record: dict[str, Any], **values: Any) -> None:
    """Change a record with its current version."""
    at = f"{AT}/{what}/{record['id']}"
    version = expect(await staff.admin.get(at))["version"]
    expect(await staff.admin.patch(at, {"version": version, **values}))


@pytest.mark.gen_test(timeout=30)
async def test_a_change_of_the_shift_recomputes_results(monday: Staff) -> None:
    await becomes(monday, "late")
    await patched(monday, "shifts", monday.shift, grace_minutes=20)
    await becomes(monday, "normal")
    await patched(monday, "shifts", monday.shift, grace_minutes=0, flexible_minutes=30)
    await becomes(monday, "early_leave")  # who comes later stays longer
    await patched(monday, "shifts", monday.shift, flexible_minutes=0)
    await becomes(monday, "late")


@pytest.mark.gen_test(timeout=30)
async def test_a_holiday_recomputes_results(monday: Staff) -> None:
    await patched(monday, "attendance-groups", monday.group, holidays=[{"day": DAYS[0], "name": "day off"}])
    await becomes(monday, "rest")
    await patched(monday, "attendance-groups", monday.group, holidays=[])
    await becomes(monday, "late")


@pytest.mark.gen_test(timeout=30)
async def test_leave_and_its_cancellation_recompute_results(monday: Staff) -> None:
    await becomes(monday, "late")
    leave = await monday.leave(at(9), at(10), "submit")
    await becomes(monday, "late")  # asked for is not given
    expect(await monday.admin.post(f"{AT}/leaves/{leave['id']}/approve"))
    await becomes(monday, "normal")
    expect(await monday.admin.post(f"{AT}/leaves/{leave['id']}/cancel"))
    await becomes(monday, "late")


@pytest.mark.gen_test(timeout=30)
async def test_days_after_the_last_day_of_work_have_no_results(admin: Client) -> None:
    staff = await Staff.hire(admin, attends_from=DAYS[0], left_on=DAYS[2])

    async def lists_days(days: list[str]) -> bool:
        return sorted(await staff.days()) == days

    await eventually(lambda: lists_days(DAYS))
    await patched(staff, "employees", staff.employee, left_on=DAYS[1])
    await eventually(lambda: lists_days(DAYS[:2]))


@pytest.mark.gen_test(timeout=30)
async def test_a_day_under_way_is_pending_and_is_finished_by_the_job(admin: Client, tradewind: Running) -> None:
    # at noon Monday is under way: the second punch is not missing yet
    staff = await Staff.hire(admin, attends_from=DAYS[0], left_on=DAYS[0])
    reply = await staff.punch_at(tradewind, MONDAY + timedelta(minutes=530))
    assert reply["day_status"] == "normal"
    await reconcile(tradewind.service)
    await becomes(staff, "missed")


@pytest.mark.gen_test(timeout=30)
async def test_past_results_stay_with_the_department_of_then(admin: Client, people: People) -> None:
    old, new = await people.department(), await people.department()
    staff = await Staff.hire(admin, attends_from=DAYS[0], department_id=old)

    async def departments(first: str) -> set[int] | None:
        """The departments of the days of the week, once they begin with this one."""
        rows = await staff.days()
        return {rows[day]["department_id"] for day in DAYS[1:]} if min(rows, default=None) == first else None

    assert await eventually(lambda: departments(DAYS[0])) == {old}
    await patched(staff, "employees", staff.employee, department_id=new, attends_from=DAYS[1])
    assert await eventually(lambda: departments(DAYS[1])) == {old}
    await patched(staff, "employees", staff.employee, left_on=DAYS[1])


@pytest.mark.gen_test(timeout=30)
async def test_a_change_during_a_recomputation_is_not_lost(
    admin: Client, tradewind: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    staff = await Staff.hire(admin, attends_from=DAYS[0])
    await reconcile(tradewind.service)
    path, changes = f"{AT}/employees/{staff.employee['id']}", [{"version": 2, "left_on": None, "attends_from": DAYS[1]}]
    load = results.load_calendar

    async def change_meanwhile(service: Any, employee: Any) -> Any:
        if employee["left_on"] == DAYS[1] and changes:
            expect(await admin.patch(path, changes.pop()))
        return await load(service, employee)

    monkeypatch.setattr(results, "load_calendar", change_meanwhile)
    expect(await admin.patch(path, {"version": 1, "left_on": DAYS[1]}))

    async def caught_up() -> bool:
        mark = {"_id": ObjectId(staff.employee["id"]), "stale": False}
        return not changes and await tradewind.service.database.store(MARKS).find_one(mark) is not None

    await eventually(caught_up)
    days = await staff.days()
    assert min(days) == DAYS[1]
    assert DAYS[2] in days
