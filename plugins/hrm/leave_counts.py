"""How many days and hours leave takes: counted by its employee's calendar, and anew when that changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from plugins.api import NOTIFY, Message, Record, Service, day_of, utc_now
from plugins.api.requests import as_json
from plugins.api.values import rounded, start_of, store_quantity
from plugins.hrm.calendars import OFFICE, load_calendar
from plugins.hrm.closing import MAX_DAYS, get_closed_day
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.messages import LEAVE_RECOUNTED
from plugins.hrm.timetable import Calendar, begins_on, working_days, working_minutes

_NOTIFIED = ("pending", "approved")


def count(service: Service, calendar: Calendar, leave: Mapping[str, Any]) -> Record:
    """Return the working days and hours that leave takes by a calendar."""
    zone = service.settings.zone
    starts, ends = (leave[name].astimezone(zone) for name in ("starts_at", "ends_at"))
    hours = rounded(Decimal(working_minutes(calendar, starts, ends, zone)) / 60)
    return {"days": store_quantity(working_days(calendar, *to_local(service, leave))), "hours": store_quantity(hours)}


async def recount(service: Service, employees: Sequence[Mapping[str, Any]]) -> None:
    """Count the leave of these employees anew, within the caller's transaction, and notify whom it concerns.

    Leave that begins on a closed day keeps its days, because wages were paid by them; so does that of over a year ago.
    """
    closed, calendars = await get_closed_day(service), {}
    people = {employee["id"]: employee for employee in employees}
    year_ago = day_of(utc_now(), service.settings.zone) - timedelta(days=MAX_DAYS)
    since = start_of(max(year_ago, closed or year_ago), service.settings.zone)
    where: Record = {"employee_id": {"$in": list(people)}, "status": {"$ne": "cancelled"}, "ends_at": {"$gt": since}}
    for leave in await service.database.store(LEAVES).find(where, sort="id"):
        employee = people[leave["employee_id"]]
        group = employee["attendance_group_id"]
        if group not in calendars:
            calendars[group] = await load_calendar(service, employee) or OFFICE
        if closed is None or begins_on(calendars[group], *to_local(service, leave)) > closed:
            await _replace(service, leave, count(service, calendars[group], leave))


async def _replace(service: Service, leave: Record, counted: Record) -> None:
    if all(leave[name] == value for name, value in counted.items()):
        return
    changed = await service.database.store(LEAVES).update(leave["id"], counted)
    if changed["days"] == leave["days"] or changed["user_id"] is None or changed["status"] not in _NOTIFIED:
        return
    before, after = (as_json(LEAVES.read, one)["days"] for one in (leave, changed))
    words = {"day": day_of(leave["starts_at"], service.settings.zone), "before": before, "days": after}
    title = Message(*(text.format(**words) for text in LEAVE_RECOUNTED))
    about = {"link": f"/hrm/leaves/{leave['id']}", "data": {"leave_id": str(leave["id"])}}
    message = {"kind": "leave_result", "title": title, "body": None, **about}
    await service.events.emit(NOTIFY, {"user_ids": [changed["user_id"]], **message})


def to_local(service: Service, leave: Mapping[str, Any]) -> tuple[datetime, datetime]:
    """Return the start and the end of leave as local times in the business time zone."""
    zone = service.settings.zone
    starts, ends = (leave[name].astimezone(zone).replace(tzinfo=None) for name in ("starts_at", "ends_at"))
    return starts, ends
