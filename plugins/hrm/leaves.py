"""Leave: from draft to approval, and its effect on attendance.

Approval works by events: `submit` emits `approval.requested`, and an approval plugin emits `approval.finished` when it
is decided. Without such a plugin, or without a matching flow, whoever holds `hrm:leave:approve` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    REFUSES_OWN,
    ApiError,
    Handler,
    Message,
    Request,
    Route,
    Service,
    as_json,
    conflicts,
    crud,
    day_of,
    invalid,
    people_behind,
    refuse_own,
    rounded,
    route,
    store_quantity,
    utc_now,
)
from plugins.hrm import allowances
from plugins.hrm.calendars import OFFICE, find_employee, load_calendar
from plugins.hrm.closing import find_open_day, refuse_closed
from plugins.hrm.leave_records import LEAVES, REJECT_BODY
from plugins.hrm.messages import (
    CLOSED,
    LEAVE_DECIDED,
    LEAVE_TITLE,
    NOT_DELETABLE,
    NOT_EDITABLE,
    NOT_EMPLOYED_THEN,
    NOT_IN_STATE,
    NOTHING_LEFT,
    OVERLAPS,
)
from plugins.hrm.results import Record, lock, recompute
from plugins.hrm.states import LEAVE_STATES, after, allows
from plugins.hrm.timetable import Calendar, begins_on, working_days, working_minutes

BIZ_TYPE = "LEAVE"
REQUESTED_EVENT, CANCELLED_EVENT, FINISHED_EVENT = "approval.requested", "approval.cancelled", "approval.finished"
DECIDED_EVENT = "hrm.leave.decided"
SEND_EVENT = "notification.send"
# outcome of an approval → action on the leave
OUTCOMES = {"approved": "approve", "rejected": "reject", "returned": "withdraw", "withdrawn": "withdraw"}
# states of leave that change daily results
_OF_RESULTS = (after("approve"), after("cancel"))
_LONGEST = timedelta(days=366)
_EDITABLE = allows("submit")
# for routes that submit or enter leave, which `refuse_invalid` checks
REFUSES_INVALID = conflicts(OVERLAPS, NOTHING_LEFT, NOT_EMPLOYED_THEN, CLOSED)


async def create(req: Request) -> Record:
    """Create a draft of the caller's own leave."""
    employee = await find_employee(req.service, req.actor.user_id)
    theirs = {"employee_id": employee["id"], "employee_name": employee["name"]} if employee else {}
    values = {"employee_name": req.actor.name, **theirs, **req.body, "user_id": req.actor.user_id, "status": "draft"}
    return await req.store(LEAVES).create({**values, **await measure(req, values)})


async def update(req: Request) -> Record:
    """Change leave that is a draft or was rejected."""
    values = dict(req.body)
    version = values.pop("version")
    leaves = req.store(LEAVES)
    before = await leaves.get(req.path["id"])
    values |= await measure(req, {**before, **values})
    # the period must not have changed since its days were counted
    where = {**_EDITABLE, "starts_at": before["starts_at"], "ends_at": before["ends_at"]}
    return await leaves.update(before["id"], values, version=version, where=where, reason=NOT_EDITABLE)


async def delete(req: Request) -> None:
    """Delete leave that is a draft or was rejected."""
    await req.store(LEAVES).delete(req.path["id"], where=_EDITABLE, reason=NOT_DELETABLE)


async def submit(req: Request) -> Record:
    """Submit leave for approval. A listener may decide within the same transaction."""

    async def work() -> Record:
        leaves = req.store(LEAVES)
        submitted = {
            "status": after("submit"),
            "submitted_at": req.now,
            "submitted_by": req.actor.user_id,
            "decided_at": None,
            "decided_by": None,
            "decision_reason": None,
        }
        leave = await leaves.update(req.path["id"], submitted, where=allows("submit"), reason=NOT_IN_STATE)
        await refuse_invalid(req, leave)
        await req.emit(REQUESTED_EVENT, **_resource_key(leave), **await _describe(req, leave), own=people_behind(leave))
        return await leaves.get(leave["id"])

    return await req.transaction(work)


def decider(action: str) -> Handler:
    """A handler for `withdraw`, `approve`, `reject` or `cancel`. It ends an approval under way."""

    async def decide(req: Request) -> Record:
        values = {**_build_decision(action, (req.body or {}).get("reason"), req.now), "decided_by": req.actor.user_id}

        async def work() -> Record:
            if action in ("approve", "reject"):
                await refuse_own(req, people_behind(await req.store(LEAVES).get(req.path["id"])))
            leave = await req.store(LEAVES).update(req.path["id"], values, where=allows(action), reason=NOT_IN_STATE)
            await complete_decision(req.service, leave, req.now, {"request": req})
            await req.emit(CANCELLED_EVENT, **_resource_key(leave), reason=leave["decision_reason"])
            await notify(req, leave)
            return leave

        return await req.transaction(work)

    return decide


async def apply_decision(service: Service, payload: Mapping[str, Any]) -> None:
    """Apply the outcome of an approval to its leave. Leave that is no longer pending stays unchanged."""
    action = OUTCOMES.get(payload["outcome"])
    if payload["biz_type"] != BIZ_TYPE or action is None:
        return
    req = payload.get("request")
    now = req.now if req else utc_now()

    async def work() -> None:
        leaves = req.system_store(LEAVES) if req else service.database.store(LEAVES, now=now)
        leave = await leaves.get(payload["resource_id"])
        if leave["status"] != after("submit"):
            return
        values = {**_build_decision(action, payload.get("reason"), now), "decided_by": payload.get("by")}
        changed = await leaves.update(leave["id"], values, where=allows(action), reason=NOT_IN_STATE)
        await complete_decision(service, changed, now, payload)

    await service.database.transaction(work)


async def complete_decision(service: Service, leave: Record, now: datetime, payload: Mapping[str, Any]) -> None:
    """Recompute the results of the days of the leave that have begun, and emit the decision."""
    employee = await find_employee(service, leave["user_id"])
    calendar = await load_calendar(service, employee)
    if employee is not None and calendar is not None:
        await lock(service, employee["id"])
        if leave["status"] in _OF_RESULTS:
            await _refuse_closed(service, calendar, leave)
        first, last = (day_of(leave[name], service.settings.zone) for name in ("starts_at", "ends_at"))
        since, today = await find_open_day(service, first - timedelta(days=1)), day_of(now, service.settings.zone)
        await recompute(service, employee, calendar, since, min(last, today), now)
    await service.events.emit(DECIDED_EVENT, {**payload, "leave": leave})


async def notify(req: Request, leave: Mapping[str, Any]) -> None:
    """Notify a person of somebody else's decision on their leave. The approval plugin notifies of its own."""
    if leave["user_id"] == req.actor.user_id:
        return
    outcome, day = LEAVE_STATES.states[leave["status"]], day_of(leave["starts_at"], req.service.settings.zone)
    days = as_json(LEAVES.read, leave)["days"]
    title = Message(
        LEAVE_DECIDED.zh.format(day=day, days=days, outcome=outcome.zh),
        LEAVE_DECIDED.en.format(day=day, days=days, outcome=outcome.en.lower()),
    )
    await req.emit(
        SEND_EVENT,
        user_ids=[leave["user_id"]],
        kind="leave_result",
        title=title,
        body=leave["decision_reason"],
        link=f"/hrm/leaves/{leave['id']}",
        data={"leave_id": str(leave["id"])},
    )


async def refuse_invalid(req: Request, leave: Mapping[str, Any]) -> None:
    """Raise 40901 for leave that overlaps, is outside employment or in closed days, or exceeds a balance.

    Must run in a transaction, which serialises concurrent requests of a person.
    """
    employee = await find_employee(req.service, leave["user_id"])
    if employee is not None:
        await lock(req.service, employee["id"])
        calendar = await load_calendar(req.service, employee) or OFFICE
        await _refuse_closed(req.service, calendar, leave)
        _refuse_not_employed(req.service, calendar, employee, leave)
        await allowances.check_balance(req.service, employee, leave)
    others = {"_id": {"$ne": leave.get("id")}, "user_id": leave["user_id"], "status": {"$in": ["pending", "approved"]}}
    during = {"starts_at": {"$lt": leave["ends_at"]}, "ends_at": {"$gt": leave["starts_at"]}}
    if await req.system_store(LEAVES).find_one({**others, **during}):
        raise ApiError(CONFLICT, OVERLAPS)


async def _refuse_closed(service: Service, calendar: Calendar, leave: Mapping[str, Any]) -> None:
    await refuse_closed(service, begins_on(calendar, *_to_local(service, leave)))


def _refuse_not_employed(service: Service, calendar: Calendar, employee: Record, leave: Mapping[str, Any]) -> None:
    first, last = (
        calendar.timetable.day_of(leave[name].astimezone(service.settings.zone)).isoformat()
        for name in ("starts_at", "ends_at")
    )
    if last < employee["hired_on"] or (employee["left_on"] and employee["left_on"] < first):
        raise ApiError(CONFLICT, NOT_EMPLOYED_THEN)


def _resource_key(leave: Record) -> Record:
    return {"biz_type": BIZ_TYPE, "resource_id": str(leave["id"])}


async def _describe(req: Request, leave: Record) -> Record:
    """The title and the record of a request, for conditions and approvers."""
    employee = await find_employee(req.service, leave["user_id"])
    name = employee["name"] if employee else req.actor.name or req.actor.username
    record = as_json(LEAVES.read, leave)
    words = (text.replace("{days}", record["days"]).replace("{name}", name) for text in LEAVE_TITLE)
    title = type(LEAVE_TITLE)(*words)
    return {
        "title": title,
        "record": {**record, "employee": name, "department_id": employee and employee["department_id"]},
    }


def _build_decision(action: str, reason: str | None, now: datetime) -> Record:
    return {"status": after(action), "decided_at": now, "decision_reason": reason}


async def measure(req: Request, leave: Mapping[str, Any]) -> Record:
    """The working days and hours of leave, by the person's calendar. Raises 40001 for an empty or too long period."""
    if leave["ends_at"] <= leave["starts_at"]:
        raise invalid("ends_at", "minimum")
    if leave["ends_at"] - leave["starts_at"] > _LONGEST:
        raise invalid("ends_at", "maximum")
    calendar = await load_calendar(req.service, await find_employee(req.service, leave["user_id"])) or OFFICE
    starts, ends = _to_local(req.service, leave)
    hours = rounded(Decimal(working_minutes(calendar, starts, ends)) / 60)
    return {"days": store_quantity(working_days(calendar, starts, ends)), "hours": store_quantity(hours)}


def _to_local(service: Service, leave: Mapping[str, Any]) -> tuple[datetime, datetime]:
    """Start and end of leave as local times of the business time zone."""
    zone = service.settings.zone
    starts, ends = (leave[name].astimezone(zone).replace(tzinfo=None) for name in ("starts_at", "ends_at"))
    return starts, ends


ROUTES: tuple[Route, ...] = (
    *crud(
        LEAVES,
        at="/api/v1/hrm/leaves",
        resource="hrm:leave",
        noun="leave",
        plural="leave",
        create=create,
        update=update,
        delete=delete,
        refusals_of={"update": conflicts(NOT_EDITABLE), "delete": conflicts(NOT_DELETABLE)},
    ),
    route(
        "POST /api/v1/hrm/leaves/{id}/submit",
        submit,
        summary="Ask for leave",
        access="hrm:leave:submit",
        record=LEAVES,
        refusals=(*conflicts(NOT_IN_STATE), *REFUSES_INVALID),
        events=(REQUESTED_EVENT,),
    ),
    route(
        "POST /api/v1/hrm/leaves/{id}/withdraw",
        decider("withdraw"),
        summary="Take leave back",
        access="hrm:leave:submit",
        record=LEAVES,
        refusals=conflicts(NOT_IN_STATE),
    ),
    route(
        "POST /api/v1/hrm/leaves/{id}/approve",
        decider("approve"),
        summary="Approve leave",
        access="hrm:leave:approve",
        record=LEAVES,
        refusals=(*conflicts(NOT_IN_STATE, CLOSED), REFUSES_OWN),
    ),
    route(
        "POST /api/v1/hrm/leaves/{id}/reject",
        decider("reject"),
        summary="Reject leave",
        access="hrm:leave:approve",
        body=REJECT_BODY,
        record=LEAVES,
        refusals=(*conflicts(NOT_IN_STATE, CLOSED), REFUSES_OWN),
    ),
    route(
        "POST /api/v1/hrm/leaves/{id}/cancel",
        decider("cancel"),
        summary="Cancel leave that was approved",
        access="hrm:leave:cancel",
        record=LEAVES,
        refusals=conflicts(NOT_IN_STATE, CLOSED),
    ),
)
