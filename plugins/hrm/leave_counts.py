"""How many days and hours leave takes: counted by its employee's calendar, and anew when that changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from plugins.api import NOTIFY, Record, Service, day_of, exact
from plugins.api.requests import as_json
from plugins.api.values import ReadOnlyRecord, RecordId, rounded, start_of, store_quantity
from plugins.hrm.calendars import OFFICE, find_employee, load_calendars
from plugins.hrm.closing import closing_of, first_known, freeze, load_closed_days, load_closings
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.messages import LEAVE_RECOUNTED
from plugins.hrm.record_types import AttendanceClosing, Employee, Leave
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.timetable import Calendar, taken_days

Span = tuple[datetime, datetime]
_NOTIFIED = ("pending", "approved")


async def find_person(service: Service, leave: ReadOnlyRecord) -> Employee | None:
    """Return the employee to whom leave belongs, or None if whoever requested it is no employee."""
    if leave.get("employee_id") is None:
        return None if leave["user_id"] is None else await find_employee(service, leave["user_id"])
    return await service.database.store(EMPLOYEES).find_one({"_id": leave["employee_id"]})


def of_person(employee: Employee | None, user_id: int | None) -> Record:
    """Return the filter on the leave of an employee, or of an account that belongs to none."""
    return {"employee_id": employee["id"]} if employee else {"employee_id": None, "user_id": user_id}


def count(service: Service, calendar: Calendar, leave: ReadOnlyRecord) -> Record:
    """Return the working days and hours that leave takes by a calendar, and what of them is taken on which day."""
    return _counted(_by_calendar(service, calendar, leave))


def _counted(by_day: Sequence[Record]) -> Record:
    return {**_sums(by_day), "by_day": list(by_day)}


def _count_anew(
    service: Service,
    calendar: Calendar,
    leave: ReadOnlyRecord,
    closed: date | None,
    closings: Sequence[AttendanceClosing],
) -> Record:
    """Return what leave takes now. Of closed days it takes what is noted, unless they are known to be no working days."""
    now = _by_calendar(service, calendar, leave)
    if closed is None:
        return _counted(now)
    first, last = first_known(service).isoformat(), closed.isoformat()
    known = {one["day"]: one for one in _by_calendar(service, freeze(calendar, closings), leave)}
    noted = {one["day"]: one for one in days_taken(service, calendar, leave)}

    def is_known(day: str) -> bool:
        return day >= first and closing_of(date.fromisoformat(day), closings) is not None

    kept = {day: one for day, one in noted.items() if not is_known(day) or day in known}
    more = {day: one for day, one in known.items() if is_known(day)}
    of_closed = [one for day, one in sorted({**more, **kept}.items()) if day <= last]
    return _counted([*of_closed, *(one for one in now if one["day"] > last)])


def _sums(by_day: Sequence[Record]) -> Record:
    return {
        "days": store_quantity(sum((exact(one["days"]) for one in by_day), Decimal(0))),
        "hours": store_quantity(rounded(Decimal(sum(one["minutes"] for one in by_day)) / 60)),
    }


def days_taken(service: Service, calendar: Calendar, leave: ReadOnlyRecord) -> list[Record]:
    """Return what leave takes of which day: `day`, `days` and `minutes`, in order.

    Of leave that was counted before this was recorded, the calendar tells; a difference is put on the first day.
    """
    if leave.get("by_day") is not None:
        return list(leave["by_day"])
    by_day = _by_calendar(service, calendar, leave) or [
        {"day": day_of(leave["starts_at"], service.settings.zone).isoformat(), "days": 0, "minutes": 0}
    ]
    counted, first = _sums(by_day), by_day[0]
    first["days"] = store_quantity(exact(first["days"]) + exact(leave["days"]) - exact(counted["days"]))
    first["minutes"] += round((exact(leave["hours"]) - exact(counted["hours"])) * 60) if leave["hours"] else 0
    return by_day


def _by_calendar(service: Service, calendar: Calendar, leave: ReadOnlyRecord) -> list[Record]:
    zone = service.settings.zone
    starts, ends = (leave[name].astimezone(zone) for name in ("starts_at", "ends_at"))
    return [
        {"day": one.day.isoformat(), "days": store_quantity(Decimal(one.halves) / 2), "minutes": one.minutes}
        for one in taken_days(calendar, starts, ends, zone)
    ]


async def recount(service: Service, employees: Sequence[Employee], around: Span | None = None) -> None:
    """Count the leave of these employees anew, within the caller's transaction, and notify whom it concerns.

    Leave of over a year ago stays, and of days whose closing was not recorded. `around`: only leave between these
    moments.
    """
    for leave, counted in await find_recounted(service, employees, around):
        await _replace(service, leave, counted)


async def find_recounted(
    service: Service, employees: Sequence[Employee], around: Span | None = None
) -> list[tuple[Leave, Record]]:
    """Return the leave of these employees that takes other days than noted, with what it takes by their calendars."""
    calendars, closings = await load_calendars(service, employees), dict[RecordId, list[AttendanceClosing]]()
    closed_days = await load_closed_days(service, list(calendars))
    since = start_of(first_known(service), service.settings.zone)
    where: Record = {"employee_id": {"$in": list(calendars)}, "status": {"$ne": "cancelled"}}
    where |= (
        {"ends_at": {"$gt": max(since, around[0])}, "starts_at": {"$lt": around[1]}}
        if around
        else {"ends_at": {"$gt": since}}
    )
    found = []
    for leave in await service.database.store(LEAVES).find(where, sort="id"):
        id = leave["employee_id"]
        closed = closed_days.of(id)
        if closed is not None and id not in closings:
            closings[id] = await load_closings(service, id)
        counted = _count_anew(service, calendars[id] or OFFICE, leave, closed, closings.get(id, ()))
        if any(leave.get(name) != value for name, value in counted.items()):
            found.append((leave, counted))
    return found


async def _replace(service: Service, leave: Leave, counted: Record) -> None:
    changed = await service.database.store(LEAVES).update(leave["id"], counted)
    if changed["days"] == leave["days"] or changed["user_id"] is None or changed["status"] not in _NOTIFIED:
        return
    before, after = (as_json(LEAVES.read, one)["days"] for one in (leave, changed))
    words = {"day": day_of(leave["starts_at"], service.settings.zone), "before": before, "days": after}
    title = LEAVE_RECOUNTED.filled(**words)
    about = {"link": f"/hrm/leaves/{leave['id']}", "data": {"leave_id": str(leave["id"])}}
    message = {"kind": "leave_result", "title": title, "body": None, **about}
    await service.events.emit(NOTIFY, {"user_ids": [changed["user_id"]], **message})


def to_local(service: Service, leave: ReadOnlyRecord) -> tuple[datetime, datetime]:
    """Return the start and the end of leave as local times in the business time zone."""
    zone = service.settings.zone
    starts, ends = (leave[name].astimezone(zone).replace(tzinfo=None) for name in ("starts_at", "ends_at"))
    return starts, ends
