"""Daily results: computed from punches, shifts and approved leave, and recomputed when these change.

A change that affects a few days recomputes them in its own transaction. A change that affects many days of many people,
such as that of a shift, only marks the people as stale in its transaction; `reconcile` recomputes their results right
afterwards. A job runs `reconcile` too, which also starts new days and finishes those that are over. Every transaction
about an employee's attendance first locks the employee.

Results of closed days stay as they were paid; what becomes known of them is booked by `correct`.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, cast
from zoneinfo import ZoneInfo

from plugins.api import NOTIFY, Job, Message, Record, Service, day_of, utc_now
from plugins.api.data import Jobs, SingleFlight
from plugins.api.ports import Absences, WorkingTime
from plugins.api.values import RecordId, start_of, store_quantity
from plugins.hrm.assignments import move_on
from plugins.hrm.attendance_records import DAYS, MARKS, PUNCHES
from plugins.hrm.availability import CompanyHours, PeopleOnLeave
from plugins.hrm.calendars import load_calendar
from plugins.hrm.closing import MAX_DAYS, closing_of, freeze, get_closed_day, load_closings
from plugins.hrm.corrections import book
from plugins.hrm.leave_counts import recount
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.messages import RESULTS_CHANGED
from plugins.hrm.record_types import AttendanceMark, DailyResult, Employee
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.request_effects import load_granted
from plugins.hrm.sheets import refresh
from plugins.hrm.timetable import (
    Calendar,
    DayResult,
    evaluate_day,
    minutes_of,
    minutes_since,
    shift_minutes,
    worked_minutes,
)

log = logging.getLogger("tradewind.hrm")
_BATCH = 200
_FAILURES = 10
_ONE_DAY = timedelta(days=1)
_TOLD = ("status", "late_minutes", "early_minutes")  # of changes of these, people are told
# a mark that is set again must be written again, so that a recomputation under way conflicts with it and starts anew
_COUNTED = {"$inc": {"changes": 1}}


class Reconciliation(SingleFlight):
    """The call of `reconcile` that is under way in this process."""


async def lock(service: Service, employee_id: RecordId) -> AttendanceMark:
    """Lock an employee, and thereby their attendance, until the transaction ends. Returns the employee's mark."""
    await service.database.lock(EMPLOYEES, employee_id)
    return await service.database.store(MARKS).find_one({"_id": employee_id}) or cast(AttendanceMark, dict(MARKS.blank))


async def mark_stale(service: Service, employee_id: Any) -> None:
    """Mark all results of an employee as stale, within the caller's transaction. Creates the mark if there is none."""
    await service.database.store(MARKS).upsert(employee_id, {"stale": True}, _COUNTED)


async def mark_many_stale(service: Service, employee_ids: Sequence[Any]) -> None:
    """Mark all results of several employees as stale."""
    await service.database.store(MARKS).update_many(
        {"_id": {"$in": list(employee_ids)}}, {"$set": {"stale": True}, **_COUNTED}
    )


def reconcile_soon(service: Service) -> None:
    """Run `reconcile` in the background."""
    service.part(Jobs).spawn("hrm.settle", service.part(Reconciliation).run("settle", lambda: reconcile(service)))


async def reconcile(service: Service, now: datetime | None = None) -> None:
    """Recompute stale results, start the days that have begun, and finish those that are over."""
    now = now or utc_now()
    await move_on(service, day_of(now, service.settings.zone))
    today = day_of(now, service.settings.zone).isoformat()
    waiting = {"$or": [{"stale": True}, {"attended_to": {"$lt": today}}]}
    failed: list[Any] = []
    while marks := await service.database.store(MARKS).find(
        {**waiting, "_id": {"$nin": failed}}, limit=_BATCH, fields=["stale"]
    ):
        for one in marks:
            await _try(service, one["id"], partial(_catch_up, service, one["id"], now), failed)
    for row in await service.database.store(DAYS).find({"settles_at": {"$lte": now}}, limit=_BATCH * 10):
        await _try(service, row["employee_id"], partial(_finish_day, service, row, now), failed)


SETTLING = Job("hrm.settle", 60, reconcile, Message("结算考勤结果", "Settle attendance results"))


async def _try(service: Service, employee_id: Any, work: Callable[[], Awaitable[None]], failed: list[Any]) -> None:
    """Run `work` in a transaction. Up to ten failures are logged and do not stop the work for other employees."""
    try:
        await service.database.transaction(work)
    except Exception:
        failed.append(employee_id)
        if len(failed) > _FAILURES:
            raise
        log.exception("daily results were not computed", extra={"employee_id": str(employee_id)})


async def _catch_up(service: Service, employee_id: Any, now: datetime) -> None:
    marks, today = service.database.store(MARKS), day_of(now, service.settings.zone)
    before = await lock(service, employee_id)
    employee = await service.database.store(EMPLOYEES).find_one({"_id": employee_id})
    calendar = await load_calendar(service, employee)
    if employee is not None and before["stale"]:
        await recount(service, [employee])  # leave entered while the calendar changed
    if employee is None or calendar is None:
        await marks.upsert(employee_id, {"stale": False, "attended_to": None})
        return
    first = today - timedelta(days=MAX_DAYS)
    # tomorrow's early shift may have begun
    last = max(today, calendar.day_of(now.astimezone(service.settings.zone)))
    closed = await get_closed_day(service, employee_id)
    opens = closed + _ONE_DAY if closed else first
    if not before["stale"] and before["attended_to"]:
        # the last day may be over by now; today is started even if it is already closed
        first = max(first, date.fromisoformat(before["attended_to"]) - _ONE_DAY, min(opens, today))
    else:
        first = max(first, opens)
        await _delete_outside(service, employee, first, last, closed, now)
    computed = await compute(service, employee, calendar, first, last, now)
    await _write(service, employee, computed, now)
    if before["stale"]:
        await correct(service, employee, calendar, today - timedelta(days=MAX_DAYS), today, now)
        await refresh(service, employee, None, now)
        await _notify(service, employee, computed, today)
    done = employee["left_on"] is not None and employee["left_on"] < (today - 2 * _ONE_DAY).isoformat()
    await marks.upsert(employee_id, {"stale": False, "attended_to": None if done else today.isoformat()})


async def _delete_outside(
    service: Service, employee: Employee, first: date, last: date, closed: date | None, now: datetime
) -> None:
    """Soft-delete results of open days that are no longer days of attendance."""
    starts, ends = (day.isoformat() for day in _limit_to_attendance(service, employee, first, last, now))
    ends = max(ends, closed.isoformat()) if closed else ends
    outside = {"$or": [{"day": {"$lt": starts, "$gte": first.isoformat()}}, {"day": {"$gt": ends}}]}
    deleted = {"$set": {"deleted": True, "deleted_at": now}}
    await service.database.store(DAYS).update_many({"employee_id": employee["id"], **outside}, deleted)


async def _finish_day(service: Service, row: DailyResult, now: datetime) -> None:
    await lock(service, row["employee_id"])
    employee = await service.database.store(EMPLOYEES).find_one({"_id": row["employee_id"]})
    calendar = await load_calendar(service, employee)
    if employee is None or calendar is None:
        await service.database.store(DAYS).update(row["id"], {"settles_at": None})
        return
    day = date.fromisoformat(row["day"])
    await recompute(service, employee, calendar, day, day, now)


async def recompute(
    service: Service, employee: Employee, calendar: Calendar, first: date, last: date, now: datetime
) -> dict[date, DayResult]:
    """Recompute and return the results of the days of attendance from `first` to `last`. Call `lock` first."""
    computed = await compute(service, employee, calendar, first, last, now)
    await _write(service, employee, computed, now)
    return {day: one.result for day, one in computed.items() if one.result is not None}


async def correct(
    service: Service, employee: Employee, calendar: Calendar, first: date, last: date, now: datetime
) -> None:
    """Book what is now known otherwise of the closed days from `first` to `last`. Call `lock` first.

    Their shifts are those of the closing. What was closed before the employee was registered stays as it is.
    """
    closed = await get_closed_day(service, employee["id"])
    if closed is None:
        return
    closings = await load_closings(service, employee["id"])
    closings = [one for one in closings if one["created_at"] >= employee["created_at"]]
    if not closings:
        return
    first, last = max(first, day_of(now, service.settings.zone) - timedelta(days=MAX_DAYS)), min(last, closed)
    days = (first + number * _ONE_DAY for number in range((last - first).days + 1))
    frozen = [day for day in days if closing_of(day, closings)]
    if not frozen:
        return
    computed = await compute(service, employee, freeze(calendar, closings), frozen[0], frozen[-1], now)
    values = {day: (computed[day].values if day in computed else None) or {} for day in frozen}
    # the night shift of the last closed day may still be under way
    known = {day: one for day, one in values.items() if not one.get("settles_at")}
    if booked_on := await book(service, employee, known, closed, now):
        await refresh(service, employee, [booked_on[:7]], now)


@dataclass(frozen=True)
class ComputedDay:
    """The result of a day with the values to store; both are None without attendance. `stored` is its row so far."""

    result: DayResult | None
    values: Record | None
    stored: DailyResult | None

    @property
    def changes(self) -> bool:
        """Whether the stored row has other values, or should not be there."""
        stored, values = self.stored, self.values
        return stored is not None and (values is None or any(stored.get(name) != one for name, one in values.items()))


async def compute(
    service: Service, employee: Employee, calendar: Calendar, first: date, last: date, now: datetime
) -> dict[date, ComputedDay]:
    """Compute the results of the days of attendance from `first` to `last`, and store nothing."""
    first, last = _limit_to_attendance(service, employee, first, last, now)
    if last < first:
        return {}
    zone = service.settings.zone
    punches = await _load_punches(service, employee, calendar, first, last)
    leave = await _load_leave(service, employee, calendar, first, last)
    granted = await load_granted(service, employee["id"], first, last)
    of_days = {"employee_id": employee["id"], "day": {"$gte": first.isoformat(), "$lte": last.isoformat()}}
    known = {row["day"]: row for row in await service.database.store(DAYS).find(of_days)}
    computed = {}
    for day in (first + number * _ONE_DAY for number in range((last - first).days + 1)):
        row = known.get(day.isoformat())
        if not calendar.attends_on(day):
            computed[day] = ComputedDay(None, None, row)
            continue
        spans = [(minutes_since(start, day, zone), minutes_since(end, day, zone)) for _, start, end in leave]
        hours, ends = calendar.timetable_of(day).on(day, zone), calendar.end_of(day, zone)
        passed = minutes_since(now, day, zone)
        over = passed >= ends
        table = hours if calendar.works_on(day) else None
        requested = granted.on(calendar, day, zone, passed)
        present = sorted([*punches[day], *requested.punches])
        result = evaluate_day(table, present, spans, over=over)
        if row is None and table is None and not present and requested.empty:
            computed[day] = ComputedDay(result, None, None)
            continue
        values = _build_values(service, employee, calendar, day, result, None if over else ends)
        values["worked_minutes"] = worked_minutes(hours, result, spans if table else [])
        holiday = shift_minutes(hours, result, [*spans, *requested.overtime]) if calendar.is_holiday_shift(day) else 0
        values |= {**_count_leave(calendar, day, leave, zone), **requested.with_holiday_shift(holiday)}
        values["unproven_minutes"] = (over and requested.unproven(result)) or None
        computed[day] = ComputedDay(result, values, row)
    return computed


async def _write(service: Service, employee: Employee, computed: Mapping[date, ComputedDay], now: datetime) -> None:
    rows = service.database.store(DAYS, now=now)
    different = [one for one in computed.values() if one.changes]
    changes = [(one.stored, one.values) for one in different if one.stored is not None and one.values is not None]
    if changes:
        await rows.update_each(changes)
    for one in different:
        if one.stored is not None and one.values is None:
            await rows.delete(one.stored["id"])
    if new := [one.values for one in computed.values() if one.stored is None and one.values is not None]:
        await rows.create_many(new)
    written = [day for day, one in computed.items() if one.changes or (one.stored is None and one.values is not None)]
    await refresh(service, employee, [day.isoformat()[:7] for day in written], now)


async def _notify(service: Service, employee: Employee, computed: Mapping[date, ComputedDay], today: date) -> None:
    """Tell a person which of their past results have changed because their working time has."""
    changed = [day for day, one in computed.items() if day < today and one.values is not None and _differs(one)]
    if not changed or employee["user_id"] is None:
        return
    title = RESULTS_CHANGED.filled(days=len(changed), first=min(changed), last=max(changed))
    message: Record = {"kind": "attendance_result", "title": title, "body": None, "link": "/hrm/attendance", "data": {}}
    await service.events.emit(NOTIFY, {"user_ids": [employee["user_id"]], **message})


def _differs(one: ComputedDay) -> bool:
    if one.stored is None or one.stored["status"] == "pending":
        return False
    return any(one.stored.get(name) != (one.values or {}).get(name) for name in _TOLD)


def _limit_to_attendance(
    service: Service, employee: Employee, first: date, last: date, now: datetime
) -> tuple[date, date]:
    """Return the first and the last of these days that have attendance; none has if the last is before the first.

    Attendance begins with employment or on the first day of attendance, whichever is later. It ends with employment, at
    the latest tomorrow.
    """
    begins = [employee["attends_from"], employee["hired_on"]]
    # one day more than today: an early shift of tomorrow may have begun
    ends = [employee["left_on"], (day_of(now, service.settings.zone) + _ONE_DAY).isoformat()]
    starts = max([first, *(date.fromisoformat(day) for day in begins if day)])
    return starts, min([last, *(date.fromisoformat(day) for day in ends if day)])


async def _load_punches(
    service: Service, employee: Employee, calendar: Calendar, first: date, last: date
) -> dict[date, list[int]]:
    """Return the minutes of the punches that count, in order, by day."""
    zone = service.settings.zone
    during = {"$gte": start_of(first - _ONE_DAY, zone), "$lt": start_of(last + 3 * _ONE_DAY, zone)}
    found = await service.database.store(PUNCHES).find(
        {"employee_id": employee["id"], "at": during, "counts": True}, sort="at", fields=["at"]
    )
    by_day: dict[date, list[int]] = defaultdict(list)
    for punch in found:
        day = calendar.day_of(punch["at"].astimezone(zone))
        by_day[day].append(minutes_since(punch["at"], day, zone))
    return by_day


async def _load_leave(
    service: Service, employee: Employee, calendar: Calendar, first: date, last: date
) -> list[tuple[str, datetime, datetime]]:
    """Return the type and the local span of the approved leave around these days."""
    zone = service.settings.zone
    found = await service.database.store(LEAVES).find(
        {
            "employee_id": employee["id"],
            "status": "approved",
            "starts_at": {"$lt": start_of(last + 3 * _ONE_DAY, zone)},
            "ends_at": {"$gt": start_of(first - _ONE_DAY, zone)},
        },
        sort="starts_at",
    )
    local = ((one["type"], one["starts_at"].astimezone(zone), one["ends_at"].astimezone(zone)) for one in found)
    return [(type, *calendar.own_days(starts, ends)) for type, starts, ends in local]


def _count_leave(
    calendar: Calendar, day: date, leave: Sequence[tuple[str, datetime, datetime]], zone: ZoneInfo
) -> Record:
    """Return how much of a day is leave, by type too, counted as balances count it."""
    halves, minutes = Counter[str](), Counter[str]()
    table = calendar.timetable_of(day)
    for type, starts, ends in leave if calendar.works_on(day) else ():
        halves[type] += table.halves(minutes_of(starts, day), minutes_of(ends, day))
        minutes[type] += table.on(day, zone).worked(*(minutes_since(moment, day, zone) for moment in (starts, ends)))
    days = {type: store_quantity(Decimal(number) / 2) for type, number in sorted(halves.items()) if number}
    return {
        "leave_days": store_quantity(Decimal(halves.total()) / 2),
        "leave_by_type": days,
        "leave_minutes_by_type": {type: number for type, number in sorted(minutes.items()) if number},
    }


def _build_values(
    service: Service, employee: Employee, calendar: Calendar, day: date, result: DayResult, settles: int | None
) -> Record:
    midnight = start_of(day, service.settings.zone)

    def moment(minutes: int | None) -> datetime | None:
        return None if minutes is None else midnight + timedelta(minutes=minutes)

    return {
        "employee_id": employee["id"],
        "employee_name": employee["name"],
        "user_id": employee["user_id"],
        "department_id": calendar.period_of(day).department_id,
        "day": day.isoformat(),
        "status": result.status,
        "arrived_at": moment(result.arrived),
        "departed_at": moment(result.departed),
        "late_minutes": result.late,
        "early_minutes": result.early,
        "settles_at": moment(settles),
    }


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the `Reconciliation`, which keeps two runs of `reconcile_soon` in this process from overlapping.

    And the answers to others: who is on leave, and when people work.
    """
    service.provide(Reconciliation, Reconciliation())
    service.provide(Absences, PeopleOnLeave(service))
    service.provide(WorkingTime, CompanyHours(service))
    yield
