"""The shifts of a week: what each person works on each day, by roster or group, with leave and duty elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from plugins.api import Page, Record, Request, Route, day_of, route
from plugins.api.values import RecordId
from plugins.hrm.calendars import load_calendars
from plugins.hrm.record_types import Employee, Shift
from plugins.hrm.records import EMPLOYEES, SHIFTS
from plugins.hrm.request_records import KIND
from plugins.hrm.roster_conflicts import find_absences
from plugins.hrm.roster_records import OFF, ON_LEAVE_THEN, WEEK_QUERY, WEEK_ROW, WEEKDAYS
from plugins.hrm.rosters import attends
from plugins.hrm.timetable import Calendar

_ONE_DAY = timedelta(days=1)
_SHOWN = ("id", "number", "name", "department_id")
_DUTIES = {item.value: item.label for item in KIND.items}


async def show_week(req: Request) -> Page:
    """Return a page of the visible employees who attend in a week, with their shifts of its days."""
    query = dict(req.query)
    given, group_id = query.pop("day", None), query.pop("group_id", None)
    day = date.fromisoformat(given) if given else day_of(req.now, req.service.settings.zone)
    days = [day + (number - day.weekday()) * _ONE_DAY for number in range(7)]
    first, last = days[0].isoformat(), days[-1].isoformat()
    employed = {"hired_on": {"$lte": last}, "$or": [{"left_on": None}, {"left_on": {"$gte": first}}]}
    of_group = {"attendance_group_id": group_id if group_id is not None else {"$ne": None}}
    page: Page = await req.store(EMPLOYEES).page(query, {**employed, **of_group}, shown=_SHOWN)
    return replace(page, items=await _rows(req, page.items, days))


async def _rows(req: Request, employees: Sequence[Employee], days: Sequence[date]) -> list[Record]:
    calendars = await load_calendars(req.service, employees)
    known = {id: one for id, one in calendars.items() if one is not None}
    away = await find_absences(req.service, known, days[0], days[-1])
    shifts = {one["id"]: one for one in await req.system_store(SHIFTS).find({})}
    rows = []
    for employee in employees:
        calendar = known.get(employee["id"])
        states = {(day, of): state for day, of, state in away.get(employee["id"], ())}
        cells = [
            {
                **_cell(employee, calendar, day, shifts),
                "leave": states.get((day, "leave")),
                "duty": states.get((day, "duty")),
            }
            for day in days
        ]
        words = (_in_words(req, cell, shifts) for cell in cells)
        names = {name: value for name, value in employee.items() if name in _SHOWN}
        rows.append({**names, **dict(zip(WEEKDAYS, words, strict=True)), "days": cells})
    return rows


def _cell(employee: Employee, calendar: Calendar | None, day: date, shifts: Mapping[RecordId, Shift]) -> Record:
    if calendar is None or not attends(employee, calendar, day):
        return {"day": day.isoformat(), "shift_id": None, "start": None, "end": None, "source": None}
    shift_id, source = calendar.shift_of(day), "roster" if day in calendar.rostered else "group"
    hours = {name: shifts[shift_id][name] if shift_id in shifts else None for name in ("start", "end")}
    return {"day": day.isoformat(), "shift_id": shift_id, **hours, "source": source}


def _in_words(req: Request, cell: Record, shifts: Mapping[RecordId, Shift]) -> str | None:
    if cell["source"] is None:
        return None
    if cell["shift_id"] not in shifts:
        return OFF.text(req.language)
    words = [f"{shifts[cell['shift_id']]['name']} {cell['start']}–{cell['end']}"]
    words += [ON_LEAVE_THEN.text(req.language)] if cell["leave"] else []
    words += [_DUTIES[cell["duty"]].text(req.language)] if cell["duty"] else []
    return " · ".join(words)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/hrm/rosters/week",
        show_week,
        summary="Show the shifts of a week",
        title=("周排班", "Week"),
        access="hrm:roster:list",
        query=WEEK_QUERY,
        returns=WEEK_ROW,
        paged=True,
    ),
)
