"""The calendars of employees: of each day its roster, or else the attendance group of then, its shift and special days."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from plugins.api import Service, day_of, utc_now
from plugins.api.values import ReadOnlyRecord, RecordId
from plugins.hrm.assignment_records import SPECIAL_DAYS
from plugins.hrm.assignments import Timeline, load_timelines
from plugins.hrm.closing import MAX_DAYS
from plugins.hrm.record_types import AttendanceGroup, Employee
from plugins.hrm.records import EMPLOYEES, GROUPS, SHIFTS
from plugins.hrm.roster_records import ROSTERS
from plugins.hrm.timetable import DAY, OFFICE_WEEK, Calendar, Period, Timetable, WorkingWeek

# by this calendar, leave of people who never had an attendance group is counted
OFFICE = Calendar((Period(date.min, OFFICE_WEEK),))
_Exceptions = dict[RecordId, dict[str, bool]]
_Rostered = dict[date, Timetable | None]
_AROUND = timedelta(days=3)  # the days before and after decide to which day a punch belongs


async def load_calendar(service: Service, employee: Employee | None, near: date | None = None) -> Calendar | None:
    """Return the calendar of an employee, or None if they have never had an attendance group.

    `near`: it is needed only for this day and those beside it.
    """
    return (await load_calendars(service, [employee], near))[employee["id"]] if employee is not None else None


async def load_calendars(
    service: Service, employees: Sequence[ReadOnlyRecord], near: date | None = None
) -> dict[RecordId, Calendar | None]:
    """Return the calendars of employees by their ids; None for whoever has never had an attendance group."""
    timelines = await load_timelines(service, employees)
    pieces = [piece.values for timeline in timelines.values() for piece in timeline.pieces]
    weeks = await _load_weeks(service, {(one["group_id"], one["place_id"]) for one in pieces})
    attended = [id for id, timeline in timelines.items() if timeline.attended]
    rostered = await _load_rostered(service, attended, near)
    return {
        one["id"]: _build_calendar(one, timelines[one["id"]], weeks, rostered.get(one["id"], {})) for one in employees
    }


async def _load_rostered(
    service: Service, employee_ids: Sequence[RecordId], near: date | None
) -> Mapping[RecordId, _Rostered]:
    """Return the hours that employees have on single days. Days of over a year ago are not computed any more."""
    if not employee_ids:
        return {}
    oldest = day_of(utc_now(), service.settings.zone) - timedelta(days=MAX_DAYS) - _AROUND
    days = {"$gte": ((near - _AROUND) if near else oldest).isoformat()}
    days |= {"$lte": (near + _AROUND).isoformat()} if near else {}
    rows = await service.database.store(ROSTERS).find(
        {"employee_id": {"$in": [*employee_ids]}, "day": days}, fields=["employee_id", "day", "shift_id"]
    )
    used = list({row["shift_id"] for row in rows if row["shift_id"] is not None})
    shifts = await service.database.store(SHIFTS).find({"_id": {"$in": used}}) if used else []
    tables = {shift["id"]: to_timetable(shift) for shift in shifts}
    found: dict[RecordId, _Rostered] = {}
    for row in rows:
        table = tables[row["shift_id"]] if row["shift_id"] is not None else None
        found.setdefault(row["employee_id"], {})[date.fromisoformat(row["day"])] = table
    return found


def _build_calendar(
    employee: ReadOnlyRecord,
    timeline: Timeline,
    weeks: Mapping[tuple[Any, Any], WorkingWeek | None],
    rostered: _Rostered,
) -> Calendar | None:
    if not timeline.attended:
        return None
    return Calendar(
        tuple(
            Period(
                date.fromisoformat(piece.since),
                weeks[piece.values["group_id"], piece.values["place_id"]],
                piece.values["group_id"],
                piece.values["department_id"],
            )
            for piece in timeline.pieces
        ),
        rostered,
        date.fromisoformat(employee["hired_on"]),
        date.fromisoformat(employee["left_on"]) if employee["left_on"] else date.max,
    )


async def week_of_group(service: Service, group: AttendanceGroup) -> WorkingWeek | None:
    """Return the working week of an attendance group, or None if its shift is gone."""
    return (await _load_weeks(service, {(group["id"], None)}))[group["id"], None]


async def load_weeks_of_groups(service: Service) -> dict[RecordId, WorkingWeek | None]:
    """Return the working weeks of all attendance groups by their ids; None for those whose shift is gone."""
    groups = await service.database.store(GROUPS).find({}, fields=["id"])
    weeks = await _load_weeks(service, [(one["id"], None) for one in groups])
    return {id: week for (id, _), week in weeks.items()}


async def _load_weeks(
    service: Service, wanted: Iterable[tuple[RecordId, RecordId]]
) -> dict[tuple[RecordId, RecordId], WorkingWeek | None]:
    """Return the working weeks of groups at places of work."""
    pairs = set(wanted)
    group_ids = [id for id in {group_id for group_id, _ in pairs} if id is not None]
    found = await service.database.store(GROUPS).find({"_id": {"$in": group_ids}}) if group_ids else []
    groups = {group["id"]: group for group in found}
    shift_ids = list({group["shift_id"] for group in found})
    shifts = {one["id"]: one for one in await service.database.store(SHIFTS).find({"_id": {"$in": shift_ids}})}
    special = await _load_special_days(service, {place_id for _, place_id in pairs}) if found else {}
    weeks: dict[tuple[RecordId, RecordId], WorkingWeek | None] = dict.fromkeys(pairs)
    for group_id, place_id in pairs:
        group = groups.get(group_id)
        if group is not None and group["shift_id"] in shifts:
            own = {one["day"]: bool(one.get("working")) for one in group["holidays"]}
            exceptions = {**special.get(None, {}), **special.get(place_id, {}), **own}
            table = to_timetable(shifts[group["shift_id"]])
            overtime = group["holiday_shifts"] == "overtime"
            weeks[group_id, place_id] = WorkingWeek(table, frozenset(group["working_days"]), exceptions, overtime)
    return weeks


async def _load_special_days(service: Service, place_ids: Iterable[RecordId]) -> _Exceptions:
    """Return whether the special days of the company (None) and of these places of work are working days."""
    days: _Exceptions = {}
    for one in await service.database.store(SPECIAL_DAYS).find({"place_id": {"$in": [*{*place_ids, None}]}}):
        days.setdefault(one["place_id"], {})[one["day"]] = one["kind"] == "workday"
    return days


async def find_employee(service: Service, user_id: int) -> Employee | None:
    """Return the employee with this account, or None."""
    return await service.database.store(EMPLOYEES).find_one({"user_id": user_id})


def to_timetable(shift: ReadOnlyRecord) -> Timetable:
    """Return the timetable of a shift, in minutes. A shift that ends before it starts ends on the next day."""
    start, end = _parse_clock(shift["start"]), _parse_clock(shift["end"])
    return Timetable(
        start,
        end if end > start else end + DAY,
        shift["flexible_minutes"] or 0,
        shift["grace_minutes"] or 0,
        to_pause(shift),
        shift.get("id"),
    )


def to_pause(shift: ReadOnlyRecord) -> tuple[int, int] | None:
    """Return the break of a shift in minutes, or None. In a night shift it may be on the next day."""
    if not shift.get("break_start") or not shift.get("break_end"):
        return None
    start, begins, ends = (_parse_clock(shift[name]) for name in ("start", "break_start", "break_end"))
    begins += DAY if begins < start else 0
    return begins, ends + (DAY if ends < start else 0)


def _parse_clock(clock: str) -> int:
    hours, _, minutes = clock.partition(":")
    return int(hours) * 60 + int(minutes)
