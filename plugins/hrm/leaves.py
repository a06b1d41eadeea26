"""Leave: from draft to approval, and its effect on attendance.

Approval flows decide on it; without a matching flow, whoever holds `hrm:leave:approve` decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
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
    exact,
    integer,
    invalid,
    tables,
    text,
    transitions,
)
from plugins.api.data import Migration, Stage
from plugins.api.ports import Attachments
from plugins.api.requests import as_json
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.calendars import OFFICE, find_employee, load_calendar
from plugins.hrm.closing import find_open_day, refuse_closed
from plugins.hrm.departments import store_of
from plugins.hrm.leave_balances import check_balance
from plugins.hrm.leave_counts import count, days_taken, find_person, of_person, to_local
from plugins.hrm.leave_records import LEAVES, REJECT_BODY
from plugins.hrm.leave_types import find_type, is_for
from plugins.hrm.messages import (
    CLOSED,
    EVIDENCE_MISSING,
    HOURS_LEFT,
    LEAVE_DECIDED,
    LEAVE_TITLE,
    NOT_DELETABLE,
    NOT_EDITABLE,
    NOT_EMPLOYED_THEN,
    NOTHING_LEFT,
    ON_DUTY,
    OVERLAPS,
    WHOLE_DAYS,
)
from plugins.hrm.record_types import Employee, Leave
from plugins.hrm.records import AFTER_CLOSING
from plugins.hrm.request_records import DUTIES, REQUESTS
from plugins.hrm.results import correct, lock, recompute
from plugins.hrm.states import LEAVE_STATES
from plugins.hrm.timetable import Calendar, begins_on

# leave that enters one of these states changes daily results
_OF_RESULTS = ("approved", "cancelled")
_LONGEST = timedelta(days=366)
_EDITABLE = LEAVE_STATES.allows("submit")
# for routes that submit or enter leave, which `refuse_invalid` checks
REFUSES_INVALID = conflicts(OVERLAPS, ON_DUTY, NOTHING_LEFT, HOURS_LEFT, WHOLE_DAYS, NOT_EMPLOYED_THEN, CLOSED)


async def create(req: Request) -> Leave:
    """Create a draft of the caller's own leave. Raises 40001 for a type that is not for their department."""
    employee = await find_employee(req.service, req.actor.user_id)
    await _refuse_others_type(req, employee, req.body["type"])
    theirs = {"employee_id": employee["id"], "employee_name": employee["name"]} if employee else {}
    values = {"employee_name": req.actor.name, **theirs, **req.body, "user_id": req.actor.user_id}
    leaves = store_of(req, LEAVES, employee) if employee else req.store(LEAVES)
    return await leaves.create({**values, **await measure(req, values)})


async def update(req: Request) -> Leave:
    """Change leave that is a draft or was rejected. Raises 40001 for a type that is not for the person's department."""
    values = dict(req.body)
    version = values.pop("version")
    leaves = req.store(LEAVES)
    before = await leaves.get(req.path["id"])
    if "type" in values:
        await _refuse_others_type(req, await find_person(req.service, before), values["type"])
    values |= await measure(req, {**before, **values})
    # the period must not have changed since its days were counted
    where = {**_EDITABLE, "starts_at": before["starts_at"], "ends_at": before["ends_at"]}
    return await leaves.update(before["id"], values, version=version, where=where, reason=NOT_EDITABLE)


async def _refuse_others_type(req: Request, employee: Employee | None, code: str) -> None:
    type = await find_type(req.service, code)
    if type is not None and not is_for(type, employee):
        raise invalid("type", "enum")


async def delete(req: Request) -> None:
    """Delete leave that is a draft or was rejected."""
    await req.store(LEAVES).delete(req.path["id"], where=_EDITABLE, reason=NOT_DELETABLE)


def _submission(step: Step[Leave]) -> Record:
    submitted = {"submitted_at": step.now, "submitted_by": step.by}
    return {**submitted, "decided_at": None, "decided_by": None, "decision_reason": None}


def _decision(step: Step[Leave]) -> Record:
    return {"decided_at": step.now, "decided_by": step.by, "decision_reason": step.reason}


async def _check(step: Step[Leave]) -> None:
    await refuse_invalid(step.req, step.record)
    type = await find_type(step.service, step.record["type"])
    proven = type is None or not type["evidence_required"]
    if not proven and not await step.service.part(Attachments).exist("LEAVE", str(step.record["id"])):
        raise ApiError(CONFLICT, EVIDENCE_MISSING)


async def _complete(step: Step[Leave]) -> None:
    """Recompute the results of the days, and notify the person. The approval plugin sends the notices of approvals."""
    await recompute_results(step.service, step.record, step.now, after_closing=step.body.get("after_closing"))
    if not step.by_approval:
        await notify(step.req, step.record)


async def recompute_results(service: Service, leave: Leave, now: datetime, *, after_closing: object = False) -> None:
    """Recompute the results of those days of the leave that have begun; what it changes of closed days is booked later.

    Raises 40901 if the leave was approved or cancelled and begins on a closed day, unless it may with `after_closing`.
    """
    employee = await find_person(service, leave)
    calendar = await load_calendar(service, employee)
    if employee is None or calendar is None:
        return
    await lock(service, employee["id"])
    if leave["status"] in _OF_RESULTS:
        await _refuse_closed(service, calendar, employee, leave, after_closing)
    first, last = (day_of(leave[name], service.settings.zone) for name in ("starts_at", "ends_at"))
    since = await find_open_day(service, first - timedelta(days=1), employee["id"])
    today = day_of(now, service.settings.zone)
    await recompute(service, employee, calendar, since, min(last, today), now)
    await correct(service, employee, calendar, first - timedelta(days=1), min(last, today), now)


async def notify(req: Request, leave: Leave) -> None:
    """Notify a person that somebody else has decided on their leave, or entered it."""
    if leave["user_id"] in (None, req.actor.user_id):
        return
    outcome, day = LEAVE_STATES.states[leave["status"]], day_of(leave["starts_at"], req.service.settings.zone)
    days = as_json(LEAVES.read, leave)["days"]
    title = Message(
        LEAVE_DECIDED.text("zh", day=day, days=days, outcome=outcome.zh),
        LEAVE_DECIDED.text("en", day=day, days=days, outcome=outcome.en.lower()),
    )
    await req.emit(
        NOTIFY,
        user_ids=[leave["user_id"]],
        kind="leave_result",
        title=title,
        body=leave["decision_reason"],
        link=f"/hrm/leaves/{leave['id']}",
        data={"leave_id": str(leave["id"])},
    )


async def refuse_invalid(req: Request, leave: ReadOnlyRecord, *, after_closing: object = False) -> None:
    """Raise 40901 for leave that overlaps other leave or duty elsewhere, is outside of employment, begins on a closed day or exceeds a balance.

    Also for a part of a day if the type is taken in whole days.

    Must run in a transaction: it locks the employee, so that concurrent requests for a person wait for each other.
    """
    employee = await find_person(req.service, leave)
    if employee is not None:
        await lock(req.service, employee["id"])
        calendar = await load_calendar(req.service, employee) or OFFICE
        await _refuse_closed(req.service, calendar, employee, leave, after_closing)
        _refuse_not_employed(req.service, calendar, employee, leave)
        await _refuse_part_days(req.service, calendar, leave)
        await check_balance(req.service, employee, leave)
    theirs = of_person(employee, leave["user_id"])
    others = {"_id": {"$ne": leave.get("id")}, **theirs, "status": {"$in": ["pending", "approved"]}}
    during = {"starts_at": {"$lt": leave["ends_at"]}, "ends_at": {"$gt": leave["starts_at"]}}
    if await req.system_store(LEAVES).find_one({**others, **during}):
        raise ApiError(CONFLICT, OVERLAPS)
    away = {"employee_id": employee["id"], "kind": {"$in": [*DUTIES]}, "status": others["status"]} if employee else None
    if away and (duty := await req.system_store(REQUESTS).find_one({**away, **during})):
        raise ApiError(CONFLICT, ON_DUTY.filled(day=day_of(duty["starts_at"], req.service.settings.zone)))


async def _refuse_closed(
    service: Service, calendar: Calendar, employee: Employee, leave: ReadOnlyRecord, after_closing: object
) -> None:
    first = begins_on(calendar, *to_local(service, leave))
    await refuse_closed(service, first, employee["id"], after_closing=after_closing)


async def _refuse_part_days(service: Service, calendar: Calendar, leave: ReadOnlyRecord) -> None:
    type = await find_type(service, leave["type"])
    if (
        type is not None
        and type["unit"] == "day"
        and any(exact(one["days"]) != 1 for one in days_taken(service, calendar, leave))
    ):
        raise ApiError(CONFLICT, WHOLE_DAYS)


def _refuse_not_employed(service: Service, calendar: Calendar, employee: Employee, leave: ReadOnlyRecord) -> None:
    first, last = (
        calendar.day_of(leave[name].astimezone(service.settings.zone)).isoformat() for name in ("starts_at", "ends_at")
    )
    if last < employee["hired_on"] or (employee["left_on"] and employee["left_on"] < first):
        raise ApiError(CONFLICT, NOT_EMPLOYED_THEN)


async def _describe(step: Step[Leave]) -> Record:
    """Return the name and the department of the person, for conditions and approvers."""
    employee = await find_person(step.service, step.record)
    name = employee["name"] if employee else step.req.actor.name or step.req.actor.username
    return {"employee": name, "department_id": employee and employee["department_id"]}


_DESCRIBED = {"employee": text(), "department_id": integer()}


def _title(shown: Mapping[str, Any]) -> Message:
    return LEAVE_TITLE.filled(name=shown["employee"], days=shown["days"])


async def measure(req: Request, leave: ReadOnlyRecord) -> Record:
    """Return the working days and hours of leave, by the person's calendar.

    Raises 40001 for a period that is empty or longer than 366 days.
    """
    if leave["ends_at"] <= leave["starts_at"]:
        raise invalid("ends_at", "minimum")
    if leave["ends_at"] - leave["starts_at"] > _LONGEST:
        raise invalid("ends_at", "maximum")
    calendar = await load_calendar(req.service, await find_person(req.service, leave)) or OFFICE
    return count(req.service, calendar, leave)


def _stages(service: Service) -> Iterator[Stage]:
    yield Stage(LEAVES, partial(_note_days, service), {"by_day": None})


DAYS_TAKEN = Migration(
    "2026-11-days-of-leave",
    "Notes what leave takes of which day, by today's calendar; what differs from the days of older leave is on its first.",
    _stages,
)


async def _note_days(service: Service, rows: Sequence[Record]) -> int:
    changed, leaves = 0, service.database.store(LEAVES)
    for leave in rows:
        calendar = await load_calendar(service, await find_person(service, leave)) or OFFICE
        noted = {"$set": {"by_day": days_taken(service, calendar, leave)}}
        as_read = {"_id": leave["_id"], "version": leave["version"], "by_day": None}
        changed += await leaves.update_unversioned(as_read, noted) is not None
    return changed


ROUTES: tuple[Route, ...] = (
    *crud(
        LEAVES,
        at="/api/v1/hrm/leaves",
        resource="hrm:leave",
        create=create,
        update=update,
        delete=delete,
        refusals_of={"update": conflicts(NOT_EDITABLE), "delete": conflicts(NOT_DELETABLE)},
    ),
    *tables(LEAVES, at="/api/v1/hrm/leaves", resource="hrm:leave", only=("export",)),
    *transitions(
        LEAVES,
        Action(
            "POST /api/v1/hrm/leaves/{id}/submit",
            access="hrm:leave:submit",
            summary="Submit a leave request for approval",
            values=_submission,
            after=_check,
            refusals=(*REFUSES_INVALID, *conflicts(EVIDENCE_MISSING)),
        ),
        Action(
            "POST /api/v1/hrm/leaves/{id}/withdraw",
            access="hrm:leave:submit",
            summary="Withdraw a leave request",
            values=_decision,
            after=_complete,
        ),
        Action(
            "POST /api/v1/hrm/leaves/{id}/approve",
            access="hrm:leave:approve",
            body=AFTER_CLOSING,
            summary="Approve a leave request",
            values=_decision,
            after=_complete,
            refusals=conflicts(CLOSED),
        ),
        Action(
            "POST /api/v1/hrm/leaves/{id}/reject",
            access="hrm:leave:approve",
            summary="Reject a leave request",
            body=REJECT_BODY,
            values=_decision,
            after=_complete,
            refusals=conflicts(CLOSED),
        ),
        Action(
            "POST /api/v1/hrm/leaves/{id}/cancel",
            access="hrm:leave:cancel",
            body=AFTER_CLOSING,
            summary="Cancel approved leave",
            values=_decision,
            after=_complete,
            refusals=conflicts(CLOSED),
        ),
        approval=Approval(title=_title, record=_describe, fields=_DESCRIBED, tells=False),
    ),
)
