"""Attendance: daily results, and the current working day of the caller."""

from __future__ import annotations

from datetime import timedelta

from plugins.api import Record, Request, Route, crud, day_of, route, tables
from plugins.hrm.attendance_records import DAYS, PUNCHES, TODAY
from plugins.hrm.calendars import find_employee, load_calendar


async def today(req: Request) -> Record:
    """Return the caller's current working day: its hours, its punches and its result so far."""
    zone = req.service.settings.zone
    employee = await find_employee(req.service, req.actor.user_id)
    calendar = await load_calendar(req.service, employee)
    day = calendar.day_of(req.now.astimezone(zone)) if calendar else day_of(req.now, zone)
    if employee is None or calendar is None or not calendar.attends_on(day):
        return {
            "day": day.isoformat(),
            "employee_id": employee and employee["id"],
            "working": False,
            "punches": [],
        }
    table = calendar.timetable_of(day)
    of_day = {"employee_id": employee["id"], "day": day.isoformat()}
    return {
        "day": day.isoformat(),
        "employee_id": employee["id"],
        "working": calendar.works_on(day),
        "start": _clock(table.start),
        "end": _clock(table.end),
        "result": await req.system_store(DAYS).find_one(of_day),
        "punches": await req.system_store(PUNCHES).find(of_day, sort="at"),
    }


def _clock(minutes: int) -> str:
    return f"{timedelta(minutes=minutes % 1440)}"[:-3].zfill(5)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/hrm/attendance/today",
        today,
        summary="Show my attendance today",
        access="hrm:attendance:punch",
        returns=TODAY,
    ),
    *crud(DAYS, at="/api/v1/hrm/attendance", resource="hrm:attendance", only=("list",)),
    *tables(DAYS, at="/api/v1/hrm/attendance", resource="hrm:attendance", only=("export",)),
)
