"""Closing attendance up to a day, and reopening it, for everyone, groups or single people.

Each is noted with who did it, when and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

from plugins.api import (
    CONFLICT,
    ApiError,
    Listener,
    Record,
    Request,
    Route,
    Service,
    conflicts,
    crud,
    day_of,
    invalid,
    route,
)
from plugins.api.values import RecordId
from plugins.hrm.assignment_records import ASSIGNMENTS
from plugins.hrm.calendars import load_weeks_of_groups, to_timetable
from plugins.hrm.closing import CLOSED_TO, ClosedDays, get_closed_day, load_closed_days
from plugins.hrm.closing_records import CLOSE_BODY, CLOSINGS, REOPEN_BODY
from plugins.hrm.corrections import withdraw
from plugins.hrm.messages import ALREADY_CLOSED, NOT_AGREED_YET, NOT_CLOSED, NOT_OVER
from plugins.hrm.record_types import AttendanceClosing
from plugins.hrm.records import EMPLOYEES, SHIFTS
from plugins.hrm.results import mark_many_stale, reconcile_soon
from plugins.hrm.sheets import count_not_agreed, refuse_not_agreed
from plugins.system.api import CONFIG_CHANGING_EVENT, change_configs


async def close(req: Request) -> AttendanceClosing:
    """Close attendance up to a day. Raises 40901 for a day that is closed already, or not over."""
    day = req.body["closed_to"]
    if _names(req):
        return await req.transaction(lambda: _set_of_people(req, day, reopened=False))
    closed = await get_closed_day(req.service)
    if closed is not None and day <= closed.isoformat():
        raise ApiError(CONFLICT, ALREADY_CLOSED.filled(day=closed.isoformat()))
    return await _set(req, day)


async def reopen(req: Request) -> AttendanceClosing:
    """Reopen the days after a day. Raises 40901 if that changes nothing."""
    closed, day = await get_closed_day(req.service), req.body.get("closed_to")
    if _names(req):
        made = await req.transaction(lambda: _set_of_people(req, day, reopened=True))
    elif closed is None or (day is not None and day >= closed.isoformat()):
        raise ApiError(CONFLICT, NOT_CLOSED)
    else:
        made = await _set(req, day)
    reconcile_soon(req.service)
    return made


def _names(req: Request) -> bool:
    return any(name in req.body for name in ("group_ids", "employee_ids"))


async def _set(req: Request, day: str | None) -> AttendanceClosing:
    async def work() -> AttendanceClosing:
        await change_configs(req, {CLOSED_TO: day})
        return (await req.store(CLOSINGS).find({}, sort="-id", limit=1))[0]

    return await req.transaction(work)


async def _set_of_people(req: Request, day: str | None, *, reopened: bool) -> AttendanceClosing:
    """Close or reopen the days of those whom the body names. Raises 40901 if that changes nothing."""
    closed = await get_closed_day(req.service)
    # writes the option as it is, so that closings wait for each other
    await change_configs(req, {CLOSED_TO: _iso(closed)})
    if not reopened:
        _refuse_not_over(req, day)
    before = await load_closed_days(req.service)
    ids = [id for id in await _find_named(req, day, before, reopened) if _changes(before.of(id), day, reopened)]
    if not ids:
        raise ApiError(CONFLICT, NOT_CLOSED if reopened else ALREADY_CLOSED.filled(day=day))
    named = {name: req.body.get(name) for name in ("group_ids", "employee_ids")}
    return await _note(req, day, _iso(closed), before, ids, reopened, {**named, "people": len(ids)})


def _changes(closed: date | None, day: str | None, reopened: bool) -> bool:
    was, becomes = _iso(closed) or "", day or ""
    return becomes < was if reopened else becomes > was


async def _find_named(req: Request, day: str | None, before: ClosedDays, reopened: bool) -> Sequence[RecordId]:
    """Return the ids of the employees whom the body names: a group has its members of the last closed day then.

    When days are reopened, whoever was in the group on one of them. Raises 40001 for employees whom the caller does
    not see.
    """
    ids = list(dict.fromkeys(req.body.get("employee_ids", ())))
    if await req.store(EMPLOYEES).count({"_id": {"$in": ids}}) < len(ids):
        raise invalid("employee_ids", "reference")
    groups: Record = {"group_id": {"$in": req.body.get("group_ids", [])}}
    groups |= {"to": {"$not": {"$lte" if reopened else "$lt": day}}} if day else {}
    rows = await req.system_store(ASSIGNMENTS).find(groups, fields=["employee_id", "from"])
    until = {row["employee_id"]: (_iso(before.of(row["employee_id"])) or "") if reopened else day for row in rows}
    return list(
        dict.fromkeys([*ids, *(row["employee_id"] for row in rows if row["from"] <= str(until[row["employee_id"]]))])
    )


async def note_closing(service: Service, payload: Mapping[str, Any]) -> None:
    """Note a change of the last closed day. Reopened days get what was known of them; it is no longer booked elsewhere.

    Raises 40901 for a day that is not over.
    """
    if CLOSED_TO not in payload["values"]:
        return
    req: Request = payload["request"]
    day, previous = payload["values"][CLOSED_TO], _iso(await get_closed_day(service))
    _refuse_not_over(req, day)
    if day != previous:
        reopened = previous is not None and (day is None or day < previous)
        await _note(req, day, previous, await load_closed_days(service), None, reopened, {})


NOTED = Listener(CONFIG_CHANGING_EVENT, note_closing, conflicts(NOT_OVER, NOT_AGREED_YET))


def _refuse_not_over(req: Request, day: str | None) -> None:
    if day is not None and day >= day_of(req.now, req.service.settings.zone).isoformat():
        raise ApiError(CONFLICT, NOT_OVER.filled(day=day))


async def _note(
    req: Request,
    day: str | None,
    previous: str | None,
    before: ClosedDays,
    ids: Sequence[RecordId] | None,
    reopened: bool,
    named: Record,
) -> AttendanceClosing:
    """Store a closing or reopening of these employees, or of everyone; let what is known of reopened days count."""
    if not reopened and day is not None:
        named["not_agreed"] = await count_not_agreed(req.service, day, before, ids)
        await refuse_not_agreed(req.service, named["not_agreed"])
    apart = before.apart if ids is None else {id: before.of(id) for id in ids}
    members = [{"employee_id": id, "closed_to": _iso(closed)} for id, closed in apart.items()]
    noted = {"closed_to": day, "previous": previous, "reopened": reopened, "reason": (req.body or {}).get("reason")}
    frozen = {} if reopened else await _freeze(req.service)
    made = await req.store(CLOSINGS).create({**noted, **named, **frozen, "members": members})
    if reopened:
        await mark_many_stale(req.service, await withdraw(req, day or "", ids))
    return made


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day is not None else None


async def _freeze(service: Service) -> Record:
    """Return the hours of all groups and shifts, by which their closed days are computed again."""
    groups = await load_weeks_of_groups(service)
    weeks = {
        str(id): {
            "timetable": asdict(week.timetable),
            "working_days": sorted(week.working_days),
            "holiday_overtime": week.holiday_overtime,
        }
        for id, week in groups.items()
        if week is not None
    }
    shifts = await service.database.store(SHIFTS).find({})
    return {"weeks": weeks, "shifts": {str(one["id"]): asdict(to_timetable(one)) for one in shifts}}


_REFUSED_CLOSING = conflicts(ALREADY_CLOSED, NOT_OVER, NOT_AGREED_YET)
ROUTES: tuple[Route, ...] = (
    *crud(
        CLOSINGS,
        at="/api/v1/hrm/attendance/closings",
        resource="hrm:attendance-closing",
        only=("list", "read"),
    ),
    route(
        "POST /api/v1/hrm/attendance/closings",
        close,
        summary="Close attendance up to a day",
        title=("封账", "Close"),
        access="hrm:attendance-closing:create",
        body=CLOSE_BODY,
        record=CLOSINGS,
        refusals=_REFUSED_CLOSING,
        description="Closed days keep their results, by which wages are paid. What becomes known of them later is "
        "booked on the first open day. With `group_ids` or `employee_ids`, only for the members that the groups have on "
        "that day, and for these employees.",
    ),
    route(
        "POST /api/v1/hrm/attendance/closings/reopen",
        reopen,
        summary="Reopen attendance after a day",
        title=("重新开放", "Reopen"),
        access="hrm:attendance-closing:reopen",
        body=REOPEN_BODY,
        record=CLOSINGS,
        refusals=conflicts(NOT_CLOSED),
        description="With `group_ids` or `employee_ids`, only for whoever was in one of the groups on a reopened day, "
        "and for these employees.",
    ),
)
