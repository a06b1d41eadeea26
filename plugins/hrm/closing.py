"""Closed days, whose results no longer change because wages were paid by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import cast

from plugins.api import (
    CONFLICT,
    ApiError,
    Message,
    Option,
    Record,
    Service,
    day as a_day,
    day_of,
    utc_now,
)
from plugins.api.values import RecordId
from plugins.hrm.closing_records import CLOSINGS
from plugins.hrm.messages import CLOSED
from plugins.hrm.record_types import AttendanceClosing
from plugins.hrm.timetable import Calendar, Period, Timetable
from plugins.system.api import Configs

MAX_DAYS = 366  # older results, and the days of older leave, are not computed again
CLOSED_TO = "hrm_attendance_closed_to"
_ONE_DAY = timedelta(days=1)

CLOSING = Option(
    CLOSED_TO,
    a_day(example="2026-10-31"),
    Message("考勤结果封账至（含当日）", "Last day whose attendance is closed"),
)


@dataclass(frozen=True)
class ClosedDays:
    """The last closed day of everyone, and of the employees for whom it is another one; None if none is closed."""

    of_everyone: date | None
    apart: Mapping[RecordId, date | None]

    def of(self, employee_id: RecordId) -> date | None:
        """Return the last closed day of an employee, or None."""
        return self.apart.get(employee_id, self.of_everyone)


async def get_closed_day(service: Service, employee_id: RecordId = None) -> date | None:
    """Return the last day that is closed for an employee, or else for everyone; None if there is none."""
    if employee_id is None:
        return _parse(await service.part(Configs).value(CLOSED_TO))
    return (await load_closed_days(service, [employee_id])).of(employee_id)


async def load_closed_days(service: Service, employee_ids: Sequence[RecordId] | None = None) -> ClosedDays:
    """Return the last closed days of everyone, and of whom among these employees, or all, it is another one."""
    store, of_everyone = service.database.store(CLOSINGS), await get_closed_day(service)
    whose = {"members.employee_id": {"$ne": None} if employee_ids is None else {"$in": list(employee_ids)}}
    last = await store.find({"people": None}, sort="-id", limit=1, fields=["id"])
    since = {"_id": {"$gte": last[0]["id"]}} if last else {}
    wanted, apart = set(employee_ids or ()), dict[RecordId, date | None]()
    for closing in await store.find({**since, **whose}, sort="id"):
        for one in members_of(closing):
            if employee_ids is None or one["employee_id"] in wanted:
                apart[one["employee_id"]] = _day_after(closing, one["closed_to"])
    return ClosedDays(of_everyone, {id: day for id, day in apart.items() if day != of_everyone})


def members_of(closing: AttendanceClosing) -> Sequence[Record]:
    """Return the people whom a closing names, each with their last closed day before it, `closed_to`."""
    return cast(Sequence[Record], closing.get("members") or ())


def _day_after(closing: AttendanceClosing, before: str | None) -> date | None:
    """Return the last closed day after a closing or reopening of somebody who had `before`; each only goes its way."""
    days = (closing["closed_to"] or "", before or "")
    return _parse(min(days) if closing["reopened"] else max(days))


def _parse(day: str | None) -> date | None:
    return date.fromisoformat(day) if day else None


async def find_open_day(service: Service, day: date, employee_id: RecordId) -> date:
    """Return `day`, or the first open day of an employee if `day` is closed."""
    closed = await get_closed_day(service, employee_id)
    return max(day, closed + _ONE_DAY) if closed else day


async def refuse_closed(service: Service, day: date, *employee_ids: RecordId, after_closing: object = False) -> None:
    """Raise 40901 if `day` is closed for one of these employees, without any of them for everyone.

    With `after_closing`, only if a difference of it cannot be booked.
    """
    closed_days = await load_closed_days(service, employee_ids)
    for id in employee_ids or (None,):
        closed = closed_days.of(id)
        if closed is not None and day <= closed and not (after_closing and await _takes_difference(service, day, id)):
            raise ApiError(CONFLICT, CLOSED.filled(day=closed.isoformat()))


async def _takes_difference(service: Service, day: date, employee_id: RecordId) -> bool:
    recent = day >= first_known(service)
    return recent and closing_of(day, await load_closings(service, employee_id)) is not None


def first_known(service: Service) -> date:
    """Return the first day whose result is computed again."""
    return day_of(utc_now(), service.settings.zone) - timedelta(days=MAX_DAYS)


async def load_closings(service: Service, employee_id: RecordId) -> list[AttendanceClosing]:
    """Return the closings of an employee's days of which a difference can be booked, the newest first.

    `previous` of each is the last closed day of the employee before it.
    """
    recent = {"reopened": False, "closed_to": {"$gte": first_known(service).isoformat()}}
    theirs = {"$or": [{"people": None}, {"members.employee_id": employee_id}]}
    closings = await service.database.store(CLOSINGS).find({**recent, **theirs}, sort="-id")
    for closing in closings:
        own = (one["closed_to"] for one in members_of(closing) if one["employee_id"] == employee_id)
        closing["previous"] = next(own, closing["previous"])
    return closings


def closing_of(day: date, closings: Sequence[AttendanceClosing]) -> AttendanceClosing | None:
    """Return the closing that closed a day last, or None."""
    on = day.isoformat()
    return next((one for one in closings if (one["previous"] or "") < on <= str(one["closed_to"])), None)


def freeze(calendar: Calendar, closings: Sequence[AttendanceClosing]) -> Calendar:
    """Return a calendar with the shifts and working days of groups as they were when their days were closed.

    Holidays, assignments and rosters are those of now: they have dates, so their change says something about closed days.
    """
    borders = {one.first for one in calendar.periods}
    for one in closings:
        borders |= {_first_of(one), date.fromisoformat(str(one["closed_to"])) + _ONE_DAY}
    periods = tuple(_freeze(calendar, day, closings) for day in sorted(borders))
    rostered = {day: _freeze_shift(table, closing_of(day, closings)) for day, table in calendar.rostered.items()}
    return replace(calendar, periods=periods, rostered=rostered)


def _first_of(closing: AttendanceClosing) -> date:
    return date.fromisoformat(closing["previous"]) + _ONE_DAY if closing["previous"] else date.min


def _freeze(calendar: Calendar, day: date, closings: Sequence[AttendanceClosing]) -> Period:
    period, closing = replace(calendar.period_of(day), first=day), closing_of(day, closings)
    weeks = cast(dict[str, Record], closing.get("weeks") if closing else None) or {}
    kept = weeks.get(str(period.group_id))
    if period.week is None or kept is None:
        return period
    table, days = _read_timetable(kept["timetable"]), frozenset(kept["working_days"])
    overtime = kept.get("holiday_overtime", False)
    return replace(period, week=replace(period.week, timetable=table, working_days=days, holiday_overtime=overtime))


def _freeze_shift(table: Timetable | None, closing: AttendanceClosing | None) -> Timetable | None:
    shifts = cast(dict[str, Record], closing.get("shifts") if closing else None) or {}
    kept = shifts.get(str(table.shift_id)) if table is not None else None
    return _read_timetable(kept) if kept is not None else table


def _read_timetable(kept: Record) -> Timetable:
    pause = kept["pause"]
    return Timetable(**{**kept, "pause": tuple(pause) if pause else None})
