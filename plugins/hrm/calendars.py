"""The calendar of an employee, loaded from their attendance group and its shift."""

from __future__ import annotations

from plugins.api import Service
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.record_types import AttendanceGroup, Employee, Shift
from plugins.hrm.records import EMPLOYEES, GROUPS, SHIFTS
from plugins.hrm.timetable import DAY, Calendar, Timetable

# by this calendar, leave of people without an attendance group is counted
OFFICE = Calendar(Timetable(9 * 60, 18 * 60, pause=(12 * 60, 13 * 60)), frozenset({1, 2, 3, 4, 5}), {})


async def load_calendar(service: Service, employee: Employee | None) -> Calendar | None:
    """Return the calendar of the employee's group, or None without a group."""
    if employee is None or employee["attendance_group_id"] is None:
        return None
    group = await service.database.store(GROUPS).find_one({"_id": employee["attendance_group_id"]})
    return await calendar_of_group(service, group) if group else None


async def calendar_of_group(service: Service, group: AttendanceGroup) -> Calendar | None:
    """Return the calendar of an attendance group, or None if its shift is gone."""
    shift = await service.database.store(SHIFTS).find_one({"_id": group["shift_id"]})
    return _build_calendar(group, shift) if shift else None


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
    )


def to_pause(shift: ReadOnlyRecord) -> tuple[int, int] | None:
    """Return the break of a shift in minutes, or None. In a night shift it may be on the next day."""
    if not shift.get("break_start") or not shift.get("break_end"):
        return None
    start, begins, ends = (_parse_clock(shift[name]) for name in ("start", "break_start", "break_end"))
    begins += DAY if begins < start else 0
    return begins, ends + (DAY if ends < start else 0)


def _build_calendar(group: AttendanceGroup, shift: Shift) -> Calendar:
    exceptions = {one["day"]: bool(one.get("working")) for one in group["holidays"]}
    return Calendar(to_timetable(shift), frozenset(group["working_days"]), exceptions)


def _parse_clock(clock: str) -> int:
    hours, _, minutes = clock.partition(":")
    return int(hours) * 60 + int(minutes)
