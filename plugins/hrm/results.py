"""Daily results: made from punches, shifts and approved leave, and made again when those change.

What concerns a day or two is made again in the transaction that changes it. What concerns many days of many people, such
as a change of a shift, marks them stale in that transaction; `settle` makes them again right after it, and so does a job
that also begins new days and ends those that are over. Everything that touches somebody's attendance first changes
their mark, so no two such things run at once, in whatever process.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any

from plugins.api import Jobs, Service, Shared, day_of, start_of, utc_now
from plugins.hrm.attendance_records import DAYS, MARKS, PUNCHES
from plugins.hrm.calendars import calendar_of
from plugins.hrm.closing import closed_to
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.timetable import DAY, Calendar, Verdict, judge, minutes_of

Record = dict[str, Any]
log = logging.getLogger("tradewind.hrm")
MOST_DAYS = 366  # what is longer ago stays as it is
_BATCH = 200
_FAILURES = 10
_ONE_DAY = timedelta(days=1)


class Settling(Shared):
    """The settling that is under way in this process."""


async def touch(service: Service, employee_id: Any) -> Record:
    """Be alone with the attendance of an employee until the transaction ends; answers the mark."""
    return await service.database.store(MARKS).upsert(employee_id, {}, {"$inc": {"turns": 1}})


async def mark(service: Service, employee_id: Any) -> None:
    """Note, in a transaction, that all results of an employee are to be made again; their first mark too."""
    await service.database.store(MARKS).upsert(employee_id, {"stale": True})


async def mark_all(service: Service, employee_ids: Sequence[Any]) -> None:
    """As `mark`, of many employees."""
    await service.database.store(MARKS).change_many({"_id": {"$in": list(employee_ids)}}, {"$set": {"stale": True}})


def settle_soon(service: Service) -> None:
    """Settle beside the request, which does not wait for it."""
    service.part(Jobs).spawn("hrm.settle", service.part(Settling).run("settle", lambda: settle(service)))


async def settle(service: Service, now: datetime | None = None) -> None:
    """Make again what is stale, begin the days that have begun, and end those that are over."""
    now = now or utc_now()
    today = day_of(now, service.settings.zone).isoformat()
    waiting = {"$or": [{"stale": True}, {"attended_to": {"$lt": today}}]}
    failed: list[Any] = []
    while marks := await service.database.store(MARKS).find(
        {**waiting, "_id": {"$nin": failed}}, limit=_BATCH, fields=["turns"]
    ):
        for one in marks:
            await _tried(service, one["id"], partial(_catch_up, service, one["id"], now), failed)
    for row in await service.database.store(DAYS).find({"settles_at": {"$lte": now}}, limit=_BATCH * 10):
        await _tried(service, row["employee_id"], partial(_end, service, row, now), failed)


async def _tried(service: Service, employee_id: Any, work: Callable[[], Awaitable[None]], failed: list[Any]) -> None:
    """Run `work` as a transaction. A few employees of whom it fails do not hold up the others."""
    try:
        await service.database.transaction(work)
    except Exception:
        failed.append(employee_id)
        if len(failed) > _FAILURES:
            raise
        log.exception("daily results were not made", extra={"employee_id": str(employee_id)})


async def _catch_up(service: Service, employee_id: Any, now: datetime) -> None:
    marks, today = service.database.store(MARKS), day_of(now, service.settings.zone)
    before = await touch(service, employee_id)
    employee = await service.database.store(EMPLOYEES).find_one({"_id": employee_id})
    calendar = await calendar_of(service, employee)
    if employee is None or calendar is None:
        await marks.upsert(employee_id, {"stale": False, "attended_to": None})
        return
    first = today - timedelta(days=MOST_DAYS)
    # an early shift of tomorrow may have begun
    last = max(today, calendar.timetable.day_of(now.astimezone(service.settings.zone)))
    closed = await closed_to(service)
    opens = closed + _ONE_DAY if closed else first
    if not before["stale"] and before["attended_to"]:
        # the last day may have ended since; today begins even if it is closed already
        first = max(first, date.fromisoformat(before["attended_to"]) - _ONE_DAY, min(opens, today))
    else:
        first = max(first, opens)
        await _clear(service, employee, first, last, closed, now)
    await remake(service, employee, calendar, first, last, now)
    done = employee["left_on"] is not None and employee["left_on"] < (today - 2 * _ONE_DAY).isoformat()
    await marks.upsert(employee_id, {"stale": False, "attended_to": None if done else today.isoformat()})


async def _clear(
    service: Service, employee: Record, first: date, last: date, closed: date | None, now: datetime
) -> None:
    """Delete results of days that are no longer days of attendance, but for closed ones."""
    starts, ends = (day.isoformat() for day in _attended(service, employee, first, last, now))
    ends = max(ends, closed.isoformat()) if closed else ends
    outside = {"$or": [{"day": {"$lt": starts, "$gte": first.isoformat()}}, {"day": {"$gt": ends}}]}
    gone = {"$set": {"deleted": True, "deleted_at": now}}
    await service.database.store(DAYS).change_many({"employee_id": employee["id"], **outside}, gone)


async def _end(service: Service, row: Record, now: datetime) -> None:
    await touch(service, row["employee_id"])
    employee = await service.database.store(EMPLOYEES).find_one({"_id": row["employee_id"]})
    calendar = await calendar_of(service, employee)
    if employee is None or calendar is None:
        await service.database.store(DAYS).update(row["id"], {"settles_at": None})
        return
    day = date.fromisoformat(row["day"])
    await remake(service, employee, calendar, day, day, now)


async def remake(
    service: Service, employee: Record, calendar: Calendar, first: date, last: date, now: datetime
) -> dict[date, Verdict]:
    """Make the results of these days again, as far as they are days of attendance; answers them. After `touch`."""
    first, last = _attended(service, employee, first, last, now)
    if last < first:
        return {}
    zone = service.settings.zone
    punches = await _punches(service, employee, calendar, first, last)
    leave = await _leave(service, employee, first, last)
    rows = service.database.store(DAYS, now=now)
    of_days = {"employee_id": employee["id"], "day": {"$gte": first.isoformat(), "$lte": last.isoformat()}}
    known = {row["day"]: row for row in await rows.find(of_days)}
    made, new = {}, []
    for day in (first + number * _ONE_DAY for number in range((last - first).days + 1)):
        spans = [(minutes_of(start, day), minutes_of(end, day)) for start, end in leave]
        local = minutes_of(now.astimezone(zone), day)
        table = calendar.timetable if calendar.works_on(day) else None
        verdict = made[day] = judge(table, punches[day], spans, local)
        row = known.get(day.isoformat())
        if row is None and table is None and not punches[day]:
            continue
        values = _values(service, employee, calendar, day, verdict, over=local >= calendar.timetable.begin + DAY)
        if row is None:
            new.append(values)
        elif any(row.get(name) != value for name, value in values.items()):
            await rows.update(row["id"], values)
    if new:
        await rows.create_many(new)
    return made


def _attended(service: Service, employee: Record, first: date, last: date, now: datetime) -> tuple[date, date]:
    """The part of the days that attendance is kept for: while employed, from the first day of attendance, not ahead."""
    begins = [employee["attends_from"], employee["hired_on"]]
    # at noon a night shift of the day before is still under way, and an early one of tomorrow is not
    ends = [employee["left_on"], (day_of(now, service.settings.zone) + _ONE_DAY).isoformat()]
    starts = max([first, *(date.fromisoformat(day) for day in begins if day)])
    return starts, min([last, *(date.fromisoformat(day) for day in ends if day)])


async def _punches(
    service: Service, employee: Record, calendar: Calendar, first: date, last: date
) -> dict[date, list[int]]:
    """Day → when there were punches that count, in order."""
    zone = service.settings.zone
    during = {"$gte": start_of(first - _ONE_DAY, zone), "$lt": start_of(last + 3 * _ONE_DAY, zone)}
    found = await service.database.store(PUNCHES).find(
        {"employee_id": employee["id"], "at": during, "counts": True}, sort="at", fields=["at"]
    )
    by_day: dict[date, list[int]] = defaultdict(list)
    for punch in found:
        local = punch["at"].astimezone(zone)
        day = calendar.timetable.day_of(local)
        by_day[day].append(minutes_of(local, day))
    return by_day


async def _leave(service: Service, employee: Record, first: date, last: date) -> list[tuple[datetime, datetime]]:
    """The approved leave around these days, by the business clock."""
    if employee["user_id"] is None:
        return []
    zone = service.settings.zone
    found = await service.database.store(LEAVES).find(
        {
            "user_id": employee["user_id"],
            "status": "approved",
            "starts_at": {"$lt": start_of(last + 3 * _ONE_DAY, zone)},
            "ends_at": {"$gt": start_of(first - _ONE_DAY, zone)},
        },
        sort="starts_at",
    )
    return [(one["starts_at"].astimezone(zone), one["ends_at"].astimezone(zone)) for one in found]


def _values(
    service: Service, employee: Mapping[str, Any], calendar: Calendar, day: date, verdict: Verdict, over: bool
) -> Record:
    midnight = datetime.combine(day, time(), service.settings.zone)

    def moment(minutes: int | None) -> datetime | None:
        return None if minutes is None else (midnight + timedelta(minutes=minutes)).astimezone(UTC)

    return {
        "employee_id": employee["id"],
        "employee_name": employee["name"],
        "user_id": employee["user_id"],
        "department_id": employee["department_id"],
        "day": day.isoformat(),
        "status": verdict.status,
        "arrived_at": moment(verdict.arrived),
        "departed_at": moment(verdict.departed),
        "late_minutes": verdict.late,
        "early_minutes": verdict.early,
        "settles_at": None if over else moment(calendar.timetable.begin + DAY),
    }
