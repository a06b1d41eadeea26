"""Closing attendance up to a day, and reopening it: each is noted with who did it, when and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
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
    route,
)
from plugins.hrm.calendars import load_weeks_of_groups, to_timetable
from plugins.hrm.closing import CLOSED_TO, get_closed_day
from plugins.hrm.closing_records import CLOSE_BODY, CLOSINGS, REOPEN_BODY
from plugins.hrm.corrections import withdraw
from plugins.hrm.messages import ALREADY_CLOSED, NOT_CLOSED, NOT_OVER
from plugins.hrm.record_types import AttendanceClosing
from plugins.hrm.records import SHIFTS
from plugins.hrm.results import mark_many_stale, reconcile_soon
from plugins.system.api import CONFIG_CHANGING_EVENT, change_configs


async def close(req: Request) -> AttendanceClosing:
    """Close attendance up to a day. Raises 40901 for a day that is closed already, or not over."""
    closed = await get_closed_day(req.service)
    if closed is not None and req.body["closed_to"] <= closed.isoformat():
        raise ApiError(CONFLICT, ALREADY_CLOSED.filled(day=closed.isoformat()))
    return await _set(req, req.body["closed_to"])


async def reopen(req: Request) -> AttendanceClosing:
    """Reopen the days after a day. Raises 40901 if that changes nothing."""
    closed, day = await get_closed_day(req.service), req.body.get("closed_to")
    if closed is None or (day is not None and day >= closed.isoformat()):
        raise ApiError(CONFLICT, NOT_CLOSED)
    made = await _set(req, day)
    reconcile_soon(req.service)
    return made


async def _set(req: Request, day: str | None) -> AttendanceClosing:
    async def work() -> AttendanceClosing:
        await change_configs(req, {CLOSED_TO: day})
        return (await req.store(CLOSINGS).find({}, sort="-id", limit=1))[0]

    return await req.transaction(work)


async def note_closing(service: Service, payload: Mapping[str, Any]) -> None:
    """Note a change of the last closed day. Reopened days get what was known of them; it is no longer booked elsewhere.

    Raises 40901 for a day that is not over.
    """
    if CLOSED_TO not in payload["values"]:
        return
    req: Request = payload["request"]
    day, closed = payload["values"][CLOSED_TO], await get_closed_day(service)
    if day is not None and day >= day_of(req.now, service.settings.zone).isoformat():
        raise ApiError(CONFLICT, NOT_OVER.filled(day=day))
    previous = closed.isoformat() if closed else None
    if day == previous:
        return
    reopened = previous is not None and (day is None or day < previous)
    noted = {"closed_to": day, "previous": previous, "reopened": reopened, "reason": (req.body or {}).get("reason")}
    await req.store(CLOSINGS).create({**noted, **({} if reopened else await _freeze(service))})
    if reopened:
        await mark_many_stale(service, await withdraw(req, day or ""))


NOTED = Listener(CONFIG_CHANGING_EVENT, note_closing, conflicts(NOT_OVER))


async def _freeze(service: Service) -> Record:
    """Return the hours of all groups and shifts, by which their closed days are computed again."""
    groups = await load_weeks_of_groups(service)
    weeks = {
        str(id): {"timetable": asdict(week.timetable), "working_days": sorted(week.working_days)}
        for id, week in groups.items()
        if week is not None
    }
    shifts = await service.database.store(SHIFTS).find({})
    return {"weeks": weeks, "shifts": {str(one["id"]): asdict(to_timetable(one)) for one in shifts}}


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
        refusals=conflicts(ALREADY_CLOSED, NOT_OVER),
        description="Closed days keep their results, by which wages are paid. What becomes known of them later is "
        "booked on the first open day.",
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
    ),
)
