"""What shifts conflict with: too little rest beside another shift, leave, and duty elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, Service
from plugins.api.values import RecordId, start_of
from plugins.hrm.calendars import load_calendars
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.record_types import Employee
from plugins.hrm.request_records import DUTIES, REQUESTS
from plugins.hrm.roster_records import IN_CONFLICT, MIN_REST, MOST_CONFLICTS
from plugins.hrm.timetable import DAY, Calendar, taken_days
from plugins.system.api import Configs

_ONE_DAY = timedelta(days=1)
_OPEN = ["pending", "approved"]


async def find_conflicts(
    service: Service,
    employees: Sequence[Employee],
    days: Mapping[RecordId, Collection[date]],
    planned: Mapping[RecordId, Calendar] | None = None,
) -> list[Record]:
    """Return the conflicts of what employees work on their `days`, by day: up to `MOST_CONFLICTS`.

    `planned`: their calendars, if these are not those that are stored.
    """
    calendars = planned if planned is not None else await load_calendars(service, employees)
    least = 60 * int(await service.part(Configs).value(MIN_REST.key))
    found: list[Record] = []
    for employee in employees:
        calendar, theirs = calendars[employee["id"]], days.get(employee["id"], ())
        if calendar is not None and theirs:
            about = {"employee_id": employee["id"]}
            found += ({**about, **one} for one in _too_little_rest(calendar, theirs, least))
            away = await find_absences(service, {employee["id"]: calendar}, min(theirs), max(theirs))
            found += (
                {**about, "day": day.isoformat(), "kind": "leave" if of == "leave" else state, "minutes": None}
                for day, of, state in away[employee["id"]]
                if day in theirs and calendar.works_on(day)
            )
    found.sort(key=lambda one: (one["day"], str(one["employee_id"]), one["kind"]))
    return found[:MOST_CONFLICTS]


def refuse_conflicts(found: Sequence[Record]) -> None:
    """Raise 40901 that says the first of these conflicts."""
    for one in found:
        raise ApiError(CONFLICT, IN_CONFLICT[one["kind"]].filled(day=one["day"]))


def _too_little_rest(calendar: Calendar, days: Collection[date], least: int) -> Iterator[Record]:
    """Yield the days whose shift begins too early after the one before, by the clock; the shifts after `days` too."""
    for day in sorted({*days, *(day + _ONE_DAY for day in days)}):
        before = day - _ONE_DAY
        if calendar.works_on(day) and calendar.works_on(before):
            rest = calendar.timetable_of(day).start + DAY - calendar.timetable_of(before).end
            if rest < least:
                yield {"day": day.isoformat(), "kind": "rest", "minutes": rest}


async def find_absences(
    service: Service, calendars: Mapping[RecordId, Calendar], first: date, last: date
) -> Mapping[RecordId, list[tuple[date, str, str]]]:
    """Return the working days of employees that leave or duty elsewhere touches.

    Each with `leave` and its status, or with `duty` and its kind.
    """
    zone = service.settings.zone
    around = {"starts_at": {"$lt": start_of(last + 2 * _ONE_DAY, zone)}, "ends_at": {"$gt": start_of(first, zone)}}
    theirs = {"employee_id": {"$in": [*calendars]}, "status": {"$in": _OPEN}, **around}
    found: dict[RecordId, list[tuple[date, str, str]]] = {id: [] for id in calendars}

    def note(row: Mapping[str, Any], of: str, state: str) -> None:
        starts, ends = (row[name].astimezone(zone) for name in ("starts_at", "ends_at"))
        calendar = calendars[row["employee_id"]]
        found[row["employee_id"]] += (
            (one.day, of, state) for one in taken_days(calendar, starts, ends, zone) if first <= one.day <= last
        )

    for leave in await service.database.store(LEAVES).find(theirs, sort="starts_at"):
        note(leave, "leave", str(leave["status"]))
    duties = {**theirs, "kind": {"$in": [*DUTIES]}}
    for duty in await service.database.store(REQUESTS).find(duties, sort="starts_at"):
        note(duty, "duty", str(duty["kind"]))
    return found
