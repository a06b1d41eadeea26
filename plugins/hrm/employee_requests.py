"""Requests of employees: from draft to approval, and their effect on daily results.

Approval flows decide on them; without a matching flow, whoever holds `hrm:request:approve` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from plugins.api import (
    CONFLICT,
    NOTIFY,
    Action,
    ApiError,
    Approval,
    Message,
    Record,
    Request,
    Route,
    Service,
    Step,
    conflicts,
    crud,
    day_of,
    integer,
    invalid,
    route,
    tables,
    text,
    transitions,
)
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.attendance_records import PUNCHES
from plugins.hrm.calendars import OFFICE, find_employee, load_calendar
from plugins.hrm.closing import MAX_DAYS, find_open_day, refuse_closed
from plugins.hrm.departments import store_of
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.messages import (
    ALREADY_PUNCHED,
    CLOSED,
    NOT_ATTENDED_THEN,
    NOT_DELETABLE,
    NOT_EDITABLE,
    NOT_EMPLOYED,
    OWN_ENTRY,
)
from plugins.hrm.record_types import Employee, EmployeeRequest
from plugins.hrm.records import AFTER_CLOSING, EMPLOYEES
from plugins.hrm.request_effects import overtime_by_day
from plugins.hrm.request_records import (
    DAY_KINDS,
    DUTIES,
    ENTER_REQUEST_BODY,
    KIND,
    ON_LEAVE,
    OVERLAPS_REQUEST,
    REJECT_REQUEST_BODY,
    REQUEST_DECIDED,
    REQUEST_NOT_EMPLOYED,
    REQUEST_STATES,
    REQUEST_TITLE,
    REQUESTS,
    WITHIN_HOURS,
)
from plugins.hrm.results import correct, lock, recompute
from plugins.hrm.roster_records import NOTHING_TO_SWAP, SWAP_FIELDS
from plugins.hrm.roster_swaps import (
    ROUTES as SWAP_ROUTES,
    SWAP_REFUSALS,
    apply_swap,
    ask_colleague,
    measure_swap,
    refuse_swap,
)
from plugins.hrm.timetable import Calendar, taken_days

_LONGEST = {"overtime": timedelta(days=1), "outside": timedelta(days=7), "trip": timedelta(days=366)}
_SAME_PUNCH = timedelta(minutes=1)
_ONE_DAY = timedelta(days=1)
_EDITABLE = REQUEST_STATES.allows("submit")
_REFUSED = conflicts(
    CLOSED, REQUEST_NOT_EMPLOYED, OVERLAPS_REQUEST, ON_LEAVE, WITHIN_HOURS, NOT_ATTENDED_THEN, ALREADY_PUNCHED
)
_REFUSED_AGAIN = (*conflicts(CLOSED), *SWAP_REFUSALS)
_KIND_NAMES = {item.value: item.label for item in KIND.items}


async def create(req: Request) -> EmployeeRequest:
    """Create a draft of the caller's own request."""
    employee = await find_employee(req.service, req.actor.user_id)
    if employee is None:
        raise ApiError(CONFLICT, NOT_EMPLOYED)
    values = {**req.body, **_of(employee)}
    values |= await _measure(req, employee, values)
    # the only reference that is given is `swap_with`, which may be a colleague whom the caller does not see
    return await _asked(req, await store_of(req, REQUESTS, employee).create(values))


async def update(req: Request) -> EmployeeRequest:
    """Change a request that is a draft or was rejected."""
    values = dict(req.body)
    version = values.pop("version")
    requests = req.store(REQUESTS)
    before = await requests.get(req.path["id"])
    employee = await req.system_store(EMPLOYEES).get(before["employee_id"])
    values |= await _measure(req, employee, {**before, **values})
    # the time must not have changed since its minutes were counted
    where = {**_EDITABLE, "kind": before["kind"], "starts_at": before["starts_at"], "ends_at": before["ends_at"]}
    return await _asked(
        req,
        await req.system_store(REQUESTS).update(
            before["id"], values, version=version, where=where, reason=NOT_EDITABLE
        ),
    )


async def _asked(req: Request, request: EmployeeRequest) -> EmployeeRequest:
    """Return a request; if it is a swap, the other person is asked first."""
    if request["kind"] == "swap":
        await ask_colleague(req, request)
    return request


async def delete(req: Request) -> None:
    """Delete a request that is a draft or was rejected."""
    await req.store(REQUESTS).delete(req.path["id"], where=_EDITABLE, reason=NOT_DELETABLE)


async def enter(req: Request) -> EmployeeRequest:
    """Enter an approved request for a visible employee, such as one without an account."""

    async def work() -> EmployeeRequest:
        employee = await req.store(EMPLOYEES).find_one({"_id": req.body["employee_id"]})
        if employee is None:
            raise invalid("employee_id", "reference")
        if employee["user_id"] == req.actor.user_id:
            raise ApiError(CONFLICT, OWN_ENTRY)
        values = {**req.body, **_of(employee), "entered_by": req.actor.user_id}
        after_closing = values.pop("after_closing", False)
        values |= await _measure(req, employee, values)
        await _refuse_invalid(req, employee, values, after_closing=after_closing)
        values |= {"status": REQUEST_STATES.after("approve"), "submitted_at": req.now}
        decided = {"decided_at": req.now, "decided_by": req.actor.user_id}
        made = await store_of(req, REQUESTS, employee).create({**values, **decided})
        await _recompute(req.service, made, req, after_closing=after_closing)
        await req.emit(REQUEST_STATES.transitions["approve"].event, employee_request=made)
        await _notify(req, made)
        return made

    return await req.transaction(work)


def _of(employee: Employee) -> Record:
    return {"user_id": employee["user_id"], "employee_id": employee["id"], "employee_name": employee["name"]}


async def _measure(req: Request, employee: Employee, values: ReadOnlyRecord) -> Record:
    """Return the minutes of a request by the person's calendar.

    Raises 40001 for fields that its kind needs or does not have, and for a time that is empty, too long, or over a year
    ago; a missing punch cannot be in the future.
    """
    kind, starts, ends = values["kind"], values.get("starts_at"), values.get("ends_at")
    if (kind == "overtime") != (values.get("compensation") is not None):
        raise invalid("compensation", "required" if kind == "overtime" else "invalid")
    if kind == "swap":
        return await measure_swap(req, employee, values)
    for name in SWAP_FIELDS:
        if values.get(name) is not None and not SWAP_FIELDS[name].read_only:
            raise invalid(name, "invalid")
    if starts is None:
        raise invalid("starts_at", "required")
    if starts < req.now - timedelta(days=MAX_DAYS):
        raise invalid("starts_at", "minimum")
    if kind == "correction":
        if ends is not None or starts > req.now:
            raise invalid("ends_at" if ends is not None else "starts_at", "invalid" if ends is not None else "maximum")
        return {"minutes": None, "by_day_kind": None}
    if ends is None:
        raise invalid("ends_at", "required")
    if not starts < ends <= starts + _LONGEST[kind]:
        raise invalid("ends_at", "minimum" if ends <= starts else "maximum")
    calendar, zone = await load_calendar(req.service, employee) or OFFICE, req.service.settings.zone
    if kind != "overtime":
        taken = taken_days(calendar, starts.astimezone(zone), ends.astimezone(zone), zone)
        return {"minutes": sum(day.minutes for day in taken), "by_day_kind": None}
    minutes = overtime_by_day(calendar, zone, values)
    return {"minutes": minutes.total(), "by_day_kind": {kind: minutes[kind] for kind in DAY_KINDS}}


async def _check(step: Step[EmployeeRequest]) -> None:
    employee = await step.store(EMPLOYEES).get(step.record["employee_id"])
    await _refuse_invalid(step.req, employee, step.record)


async def _refuse_invalid(
    req: Request, employee: Employee, request: ReadOnlyRecord, *, after_closing: object = False
) -> None:
    """Raise 40901 for a request of a closed day, outside of employment, or that another one or leave contradicts.

    Must run in a transaction: it locks the employee, so that concurrent requests for a person wait for each other.
    """
    if request["kind"] == "swap":
        await refuse_swap(req.service, request)
        return
    await lock(req.service, employee["id"])
    calendar = await load_calendar(req.service, employee)
    first, last = _days(req.service, calendar or OFFICE, request)
    await refuse_closed(req.service, first, employee["id"], after_closing=after_closing)
    if first.isoformat() < employee["hired_on"] or (employee["left_on"] and employee["left_on"] < last.isoformat()):
        raise ApiError(CONFLICT, REQUEST_NOT_EMPLOYED)
    if request["kind"] == "overtime" and not request["minutes"]:
        raise ApiError(CONFLICT, WITHIN_HOURS)
    if request["kind"] == "correction":
        if calendar is None or not calendar.attends_on(first) or (employee["attends_from"] or "") > first.isoformat():
            raise ApiError(CONFLICT, NOT_ATTENDED_THEN)
        during = {"$gt": request["starts_at"] - _SAME_PUNCH, "$lt": request["starts_at"] + _SAME_PUNCH}
        if await req.system_store(PUNCHES).find_one({"employee_id": employee["id"], "at": during, "counts": True}):
            raise ApiError(CONFLICT, ALREADY_PUNCHED)
    await _refuse_overlap(req, employee, request)


async def _refuse_overlap(req: Request, employee: Employee, request: ReadOnlyRecord) -> None:
    theirs = {"employee_id": employee["id"], "status": {"$in": ["pending", "approved"]}}
    kinds = DUTIES if request["kind"] in DUTIES else (request["kind"],)
    others = {**theirs, "_id": {"$ne": request.get("id")}, "kind": {"$in": [*kinds]}}
    if request["kind"] == "correction":
        near = {"$gt": request["starts_at"] - _SAME_PUNCH, "$lt": request["starts_at"] + _SAME_PUNCH}
        during: Record = {"starts_at": near}
    else:
        during = {"starts_at": {"$lt": request["ends_at"]}, "ends_at": {"$gt": request["starts_at"]}}
    if await req.system_store(REQUESTS).find_one({**others, **during}):
        raise ApiError(CONFLICT, OVERLAPS_REQUEST)
    if request["kind"] in DUTIES and await req.system_store(LEAVES).find_one({**theirs, **during}):
        raise ApiError(CONFLICT, ON_LEAVE)


def _days(service: Service, calendar: Calendar, request: ReadOnlyRecord) -> tuple[date, date]:
    """Return the first and the last working day that a request touches."""
    zone = service.settings.zone
    first = calendar.day_of(request["starts_at"].astimezone(zone))
    return first, calendar.day_of((request.get("ends_at") or request["starts_at"]).astimezone(zone))


def _submission(step: Step[EmployeeRequest]) -> Record:
    submitted = {"submitted_at": step.now, "submitted_by": step.by}
    return {**submitted, "decided_at": None, "decided_by": None, "decision_reason": None}


def _decision(step: Step[EmployeeRequest]) -> Record:
    return {"decided_at": step.now, "decided_by": step.by, "decision_reason": step.reason}


async def _complete(step: Step[EmployeeRequest]) -> None:
    """Recompute the results of the days, and notify the person. The approval plugin sends the notices of approvals."""
    if step.action in ("approve", "cancel"):
        await _recompute(step.service, step.record, step, after_closing=step.body.get("after_closing"))
    if not step.by_approval:
        await _notify(step.req, step.record)


async def _recompute(
    service: Service, request: EmployeeRequest, at: Request | Step[EmployeeRequest], *, after_closing: object
) -> None:
    """Recompute the results of those days that have begun; what changes of closed days is booked later.

    Raises 40901 if the first of them is closed, unless it may with `after_closing`.
    """
    if request["kind"] == "swap":
        await apply_swap(service, request, at.now)
        return
    employee = await service.database.store(EMPLOYEES).get(request["employee_id"])
    calendar = await load_calendar(service, employee)
    if calendar is None:
        return
    await lock(service, employee["id"])
    first, last = _days(service, calendar, request)
    await refuse_closed(service, first, employee["id"], after_closing=after_closing)
    today = day_of(at.now, service.settings.zone) + _ONE_DAY  # an early shift of tomorrow may have begun
    opens = await find_open_day(service, first, employee["id"])
    await recompute(service, employee, calendar, opens, min(last, today), at.now)
    await correct(service, employee, calendar, first, min(last, today), at.now)


async def _notify(req: Request, request: EmployeeRequest) -> None:
    """Notify a person that somebody else has decided on their request, or entered it."""
    if request["user_id"] in (None, req.actor.user_id):
        return
    kind, outcome = _KIND_NAMES[request["kind"]], REQUEST_STATES.states[request["status"]]
    day = day_of(request["starts_at"], req.service.settings.zone)
    title = Message(
        REQUEST_DECIDED.zh.format(day=day, kind=kind.zh, outcome=outcome.zh),
        REQUEST_DECIDED.en.format(day=day, kind=kind.en.lower(), outcome=outcome.en.lower()),
    )
    about = {"link": f"/hrm/requests/{request['id']}", "data": {"request_id": str(request["id"])}}
    message = {"kind": "request_result", "title": title, "body": request["decision_reason"], **about}
    await req.emit(NOTIFY, user_ids=[request["user_id"]], **message)


async def _describe(step: Step[EmployeeRequest]) -> Record:
    """Return the department of the person and the day, for conditions, approvers and the title."""
    employee = await step.store(EMPLOYEES).get(step.record["employee_id"])
    day = day_of(step.record["starts_at"], step.service.settings.zone)
    return {"department_id": employee["department_id"], "day": day.isoformat()}


_DESCRIBED = {"department_id": integer(), "day": text()}


def _title(shown: Mapping[str, Any]) -> Message:
    kind = _KIND_NAMES[shown["kind"]]
    words = {"name": shown["employee_name"], "day": shown["day"]}
    return Message(REQUEST_TITLE.zh.format(kind=kind.zh, **words), REQUEST_TITLE.en.format(kind=kind.en, **words))


ROUTES: tuple[Route, ...] = (
    *crud(
        REQUESTS,
        at="/api/v1/hrm/requests",
        resource="hrm:request",
        create=create,
        update=update,
        delete=delete,
        refusals_of={
            "create": conflicts(NOT_EMPLOYED, NOT_ATTENDED_THEN, NOTHING_TO_SWAP, CLOSED),
            "update": conflicts(NOT_EDITABLE, NOT_ATTENDED_THEN, NOTHING_TO_SWAP, CLOSED),
            "delete": conflicts(NOT_DELETABLE),
        },
    ),
    *transitions(
        REQUESTS,
        Action(
            "POST /api/v1/hrm/requests/{id}/submit",
            access="hrm:request:submit",
            summary="Submit a request for approval",
            values=_submission,
            after=_check,
            refusals=(*_REFUSED, *SWAP_REFUSALS),
        ),
        Action(
            "POST /api/v1/hrm/requests/{id}/withdraw",
            access="hrm:request:submit",
            summary="Withdraw a request",
            values=_decision,
            after=_complete,
        ),
        Action(
            "POST /api/v1/hrm/requests/{id}/approve",
            access="hrm:request:approve",
            body=AFTER_CLOSING,
            summary="Approve a request",
            values=_decision,
            after=_complete,
            refusals=_REFUSED_AGAIN,
        ),
        Action(
            "POST /api/v1/hrm/requests/{id}/reject",
            access="hrm:request:approve",
            summary="Reject a request",
            body=REJECT_REQUEST_BODY,
            values=_decision,
            after=_complete,
        ),
        Action(
            "POST /api/v1/hrm/requests/{id}/cancel",
            access="hrm:request:cancel",
            body=AFTER_CLOSING,
            summary="Cancel an approved request",
            values=_decision,
            after=_complete,
            refusals=_REFUSED_AGAIN,
        ),
        approval=Approval(title=_title, record=_describe, fields=_DESCRIBED, tells=False),
    ),
    route(
        "POST /api/v1/hrm/requests/enter",
        enter,
        summary="Enter a request of another employee",
        access="hrm:request:enter",
        body=ENTER_REQUEST_BODY,
        record=REQUESTS,
        refusals=(*conflicts(OWN_ENTRY), *_REFUSED, *SWAP_REFUSALS),
    ),
    *SWAP_ROUTES,
    *tables(REQUESTS, at="/api/v1/hrm/requests", resource="hrm:request", only=("export",)),
)
