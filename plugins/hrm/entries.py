"""Entries for other people: a forgotten punch, and leave that was requested by other means.

The record belongs to the employee, and is visible as if they had made it. `entered_by` is the person who entered it.
"""

from __future__ import annotations

from datetime import timedelta

from plugins.api import (
    CONFLICT,
    ApiError,
    Record,
    Request,
    Route,
    conflicts,
    day_of,
    invalid,
    route,
)
from plugins.hrm import leaves
from plugins.hrm.attendance_records import ENTER_PUNCH_BODY, PUNCHES
from plugins.hrm.calendars import load_calendar
from plugins.hrm.closing import MAX_DAYS, find_open_day, refuse_closed
from plugins.hrm.departments import store_of
from plugins.hrm.leave_records import ENTER_LEAVE_BODY, LEAVES
from plugins.hrm.messages import ALREADY_PUNCHED, CLOSED, NOT_ATTENDED_THEN, OWN_ENTRY
from plugins.hrm.record_types import Employee, Leave, Punch
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import correct, lock, recompute
from plugins.hrm.states import LEAVE_STATES

_SAME_PUNCH = timedelta(minutes=1)


async def enter_punch(req: Request) -> Punch:
    """Enter a forgotten punch for a visible employee."""
    return await store_punch(req, {"method": "manual", "remark": req.body["reason"]})


async def store_punch(req: Request, about: Record) -> Punch:
    """Store a punch of the visible employee and the time that the body names, with the values `about` it.

    It counts, and the result of its day is recomputed. Raises 40001 for a time in the future or more than a year ago,
    40901 for a day without attendance, and for a time at which there is a punch.
    """
    zone, at = req.service.settings.zone, req.body["at"]
    if at > req.now:
        raise invalid("at", "maximum")
    if at < req.now - timedelta(days=MAX_DAYS):
        raise invalid("at", "minimum")

    async def work() -> Punch:
        employee = await _get_employee(req)
        await lock(req.service, employee["id"])
        calendar = await load_calendar(req.service, employee)
        day = calendar.day_of(at.astimezone(zone)) if calendar else day_of(at, zone)
        if calendar is None or not (calendar.attends_on(day) and _attends(employee, day.isoformat())):
            raise ApiError(CONFLICT, NOT_ATTENDED_THEN)
        await refuse_closed(req.service, day, employee["id"], after_closing=req.body.get("after_closing"))
        during = {"$gt": at - _SAME_PUNCH, "$lt": at + _SAME_PUNCH}
        known = {"employee_id": employee["id"], "at": during, "counts": True}
        if await req.system_store(PUNCHES).find_one(known):
            raise ApiError(CONFLICT, ALREADY_PUNCHED)
        made = await store_of(req, PUNCHES, employee).create(
            {
                **PUNCHES.defaults,
                "employee_id": employee["id"],
                "employee_name": employee["name"],
                "user_id": employee["user_id"],
                "at": at,
                "day": day.isoformat(),
                "result": "accepted",
                "counts": True,
                "risks": [],
                "entered_by": req.actor.user_id,
                **about,
            }
        )
        if day == await find_open_day(req.service, day, employee["id"]):
            await recompute(req.service, employee, calendar, day, day, req.now)
        await correct(req.service, employee, calendar, day, day, req.now)
        return made

    return await req.transaction(work)


async def enter_leave(req: Request) -> Leave:
    """Enter approved leave for a visible employee. Raises 40901 if it exceeds their balance."""

    async def work() -> Leave:
        employee = await _get_employee(req)
        given = {name: value for name, value in req.body.items() if name not in ("employee_id", "after_closing")}
        after_closing = req.body.get("after_closing")
        values = {
            **given,
            "user_id": employee["user_id"],
            "employee_id": employee["id"],
            "employee_name": employee["name"],
        }
        values |= await leaves.measure(req, values)
        await leaves.refuse_invalid(req, values, after_closing=after_closing)
        leave = await store_of(req, LEAVES, employee).create(
            {
                **values,
                "status": LEAVE_STATES.after("approve"),
                "submitted_at": req.now,
                "decided_at": req.now,
                "decided_by": req.actor.user_id,
                "entered_by": req.actor.user_id,
            }
        )
        await leaves.recompute_results(req.service, leave, req.now, after_closing=after_closing)
        await req.emit(LEAVE_STATES.transitions["approve"].event, leave=leave)
        await leaves.notify(req, leave)
        return leave

    return await req.transaction(work)


async def _get_employee(req: Request) -> Employee:
    employee = await req.store(EMPLOYEES).find_one({"_id": req.body["employee_id"]})
    if employee is None:
        raise invalid("employee_id", "reference")
    if employee["user_id"] == req.actor.user_id:
        raise ApiError(CONFLICT, OWN_ENTRY)
    return employee


def _attends(employee: Employee, day: str) -> bool:
    begins: str = max(employee["hired_on"], employee["attends_from"] or "")
    return begins <= day and (employee["left_on"] is None or day <= str(employee["left_on"]))


REFUSES_PUNCHES = (OWN_ENTRY, NOT_ATTENDED_THEN, ALREADY_PUNCHED, CLOSED)
ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/hrm/punches/enter",
        enter_punch,
        summary="Enter a forgotten punch of an employee",
        access="hrm:punch:enter",
        body=ENTER_PUNCH_BODY,
        record=PUNCHES,
        refusals=conflicts(*REFUSES_PUNCHES),
    ),
    route(
        "POST /api/v1/hrm/leaves/enter",
        enter_leave,
        summary="Enter leave of another employee",
        access="hrm:leave:enter",
        body=ENTER_LEAVE_BODY,
        record=LEAVES,
        refusals=(*conflicts(OWN_ENTRY), *leaves.REFUSES_INVALID),
    ),
)
