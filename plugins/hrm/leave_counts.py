"""How many days and hours leave takes: counted by its employee's calendar, and anew when that changes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from plugins.api import NOTIFY, Record, Service, day_of, exact, utc_now
from plugins.api.requests import as_json
from plugins.api.values import ReadOnlyRecord, rounded, start_of, store_quantity
from plugins.hrm.calendars import OFFICE, find_employee, load_calendars
from plugins.hrm.closing import MAX_DAYS, load_closed_days
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.messages import LEAVE_RECOUNTED
from plugins.hrm.record_types import Employee, Leave
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


def count(service: Service, calendar: Calendar, leave: ReadOnlyRecord, kept: Sequence[Record] = ()) -> Record:
    """Return the working days and hours that leave takes by a calendar, and what of them is taken on which day.

    `kept`: what it takes of closed days, in order; only the days after them are counted.
    """
    by_day = [
        *kept,
        *(one for one in _by_calendar(service, calendar, leave) if not kept or one["day"] > kept[-1]["day"]),
    ]
    return {**_sums(by_day), "by_day": by_day}


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

    What it takes of closed days stays, because wages were paid by it; so does leave of over a year ago. `around`: only
    leave between these moments.
    """
    for leave, counted in await find_recounted(service, employees, around):
        await _replace(service, leave, counted)


async def find_recounted(
    service: Service, employees: Sequence[Employee], around: Span | None = None
) -> list[tuple[Leave, Record]]:
    """Return the leave of these employees that takes other days than noted, with what it takes by their calendars."""
    calendars = await load_calendars(service, employees)
    closed_days = await load_closed_days(service, list(calendars))
    year_ago = day_of(utc_now(), service.settings.zone) - timedelta(days=MAX_DAYS)
    opens = min((closed_days.of(id) or year_ago for id in calendars), default=year_ago)
    since = start_of(max(year_ago, opens), service.settings.zone)
    where: Record = {"employee_id": {"$in": list(calendars)}, "status": {"$ne": "cancelled"}}
    where |= (
        {"ends_at": {"$gt": max(since, around[0])}, "starts_at": {"$lt": around[1]}}
        if around
        else {"ends_at": {"$gt": since}}
    )
    found = []
    for leave in await service.database.store(LEAVES).find(where, sort="id"):
        calendar, closed = calendars[leave["employee_id"]] or OFFICE, closed_days.of(leave["employee_id"])
        if closed and leave["ends_at"] <= start_of(closed, service.settings.zone):
            continue
        taken = days_taken(service, calendar, leave) if closed else []
        kept = [one for one in taken if closed and one["day"] <= closed.isoformat()]
        counted = count(service, calendar, leave, kept)
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
