"""Closed days, whose results no longer change because wages were paid by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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


async def get_closed_day(service: Service) -> date | None:
    """Return the last day that is closed, or None."""
    chosen = await service.part(Configs).value(CLOSED_TO)
    return date.fromisoformat(chosen) if chosen else None


async def find_open_day(service: Service, day: date) -> date:
    """Return `day`, or the first open day if `day` is closed."""
    closed = await get_closed_day(service)
    return max(day, closed + _ONE_DAY) if closed else day


async def refuse_closed(service: Service, day: date, *, after_closing: object = False) -> None:
    """Raise 40901 if `day` is closed; with `after_closing`, only if a difference of it cannot be booked."""
    closed = await get_closed_day(service)
    if closed is None or day > closed or (after_closing and await _takes_difference(service, day)):
        return
    raise ApiError(CONFLICT, CLOSED.filled(day=closed.isoformat()))


async def _takes_difference(service: Service, day: date) -> bool:
    recent = day >= first_known(service)
    return recent and closing_of(day, await load_closings(service)) is not None


def first_known(service: Service) -> date:
    """Return the first day whose result is computed again."""
    return day_of(utc_now(), service.settings.zone) - timedelta(days=MAX_DAYS)


async def load_closings(service: Service) -> list[AttendanceClosing]:
    """Return the closings of the days of which a difference can be booked, the newest first."""
    recent = {"reopened": False, "closed_to": {"$gte": first_known(service).isoformat()}}
    return await service.database.store(CLOSINGS).find(recent, sort="-id")


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
    return replace(period, week=replace(period.week, timetable=table, working_days=days))


def _freeze_shift(table: Timetable | None, closing: AttendanceClosing | None) -> Timetable | None:
    shifts = cast(dict[str, Record], closing.get("shifts") if closing else None) or {}
    kept = shifts.get(str(table.shift_id)) if table is not None else None
    return _read_timetable(kept) if kept is not None else table


def _read_timetable(kept: Record) -> Timetable:
    pause = kept["pause"]
    return Timetable(**{**kept, "pause": tuple(pause) if pause else None})
