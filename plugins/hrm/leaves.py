"""Leave: from draft to approval, and what it does to attendance.

Approval is joined by events: `submit` emits `approval.requested`, and a plugin for approvals answers with
`approval.finished`. Without one, or where it leaves the request alone, whoever holds `hrm:leave:approve` decides.
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
from plugins.hrm.calendars import OFFICE, calendar_of, employee_of
from plugins.hrm.closing import first_open, refuse_closed
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
from plugins.hrm.results import Record, remake, touch
from plugins.hrm.states import LEAVE_STATES, after, allows
from plugins.hrm.timetable import Calendar, begins_on, working_days, working_minutes

BIZ_TYPE = "LEAVE"
REQUESTED_EVENT, CANCELLED_EVENT, FINISHED_EVENT = "approval.requested", "approval.cancelled", "approval.finished"
DECIDED_EVENT = "hrm.leave.decided"
SEND_EVENT = "notification.send"
# how an approval ended → what that does to the leave
OUTCOMES = {"approved": "approve", "rejected": "reject", "returned": "withdraw", "withdrawn": "withdraw"}
# what of leave daily results are made of
_OF_RESULTS = (after("approve"), after("cancel"))
_LONGEST = timedelta(days=366)
_EDITABLE = allows("submit")
# for routes that submit or enter leave, which `refuse_wrong` checks
REFUSES_INVALID = conflicts(OVERLAPS, NOTHING_LEFT, NOT_EMPLOYED_THEN, CLOSED)


async def create(req: Request) -> Record:
    """A draft of the caller's own leave."""
    employee = await employee_of(req.service, req.actor.user_id)
    theirs = {"employee_id": employee["id"], "employee_name": employee["name"]} if employee else {}
    values = {"employee_name": req.actor.name, **theirs, **req.body, "user_id": req.actor.user_id, "status": "draft"}
    return await req.store(LEAVES).create({**values, **await length_of(req, values)})


async def update(req: Request) -> Record:
    """Change leave that is not on its way."""
    values = dict(req.body)
    version = values.pop("version")
    leaves = req.store(LEAVES)
    before = await leaves.get(req.path["id"])
    values |= await length_of(req, {**before, **values})
    # on the version that the days were counted with
    where = {**_EDITABLE, "starts_at": before["starts_at"], "ends_at": before["ends_at"]}
    return await leaves.update(before["id"], values, version=version, where=where, reason=NOT_EDITABLE)


async def delete(req: Request) -> None:
    """Delete leave that is not on its way."""
    await req.store(LEAVES).delete(req.path["id"], where=_EDITABLE, reason=NOT_DELETABLE)


async def submit(req: Request) -> Record:
    """Ask for approval. A listener of the event may decide at once, as part of it."""

    async def work() -> Record:
        leaves = req.store(LEAVES)
        asked = {
            "status": after("submit"),
            "submitted_at": req.now,
            "submitted_by": req.actor.user_id,
            "decided_at": None,
            "decided_by": None,
            "decision_reason": None,
        }
        leave = await leaves.update(req.path["id"], asked, where=allows("submit"), reason=NOT_IN_STATE)
        await refuse_wrong(req, leave)
        await req.emit(REQUESTED_EVENT, **_this(leave), **await _described(req, leave), own=people_behind(leave))
        return await leaves.get(leave["id"])

    return await req.transaction(work)


def decider(action: str) -> Handler:
    """A handler that decides by hand: `withdraw`, `approve`, `reject`, `cancel`; an approval under way ends."""

    async def decide(req: Request) -> Record:
        values = {**_decision(action, (req.body or {}).get("reason"), req.now), "decided_by": req.actor.user_id}

        async def work() -> Record:
            if action in ("approve", "reject"):
                await refuse_own(req, people_behind(await req.store(LEAVES).get(req.path["id"])))
            leave = await req.store(LEAVES).update(req.path["id"], values, where=allows(action), reason=NOT_IN_STATE)
            await decided(req.service, leave, req.now, {"request": req})
            await req.emit(CANCELLED_EVENT, **_this(leave), reason=leave["decision_reason"])
            await tell(req, leave)
            return leave

        return await req.transaction(work)

    return decide


async def apply_decision(service: Service, payload: Mapping[str, Any]) -> None:
    """An approval ended: do to the leave what its outcome says; leave that is no longer pending stays as it is."""
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
        values = {**_decision(action, payload.get("reason"), now), "decided_by": payload.get("by")}
        changed = await leaves.update(leave["id"], values, where=allows(action), reason=NOT_IN_STATE)
        await decided(service, changed, now, payload)

    await service.database.transaction(work)


async def decided(service: Service, leave: Record, now: datetime, payload: Mapping[str, Any]) -> None:
    """Make the results of the days of the leave again, as far as they have begun, and tell other plugins."""
    employee = await employee_of(service, leave["user_id"])
    calendar = await calendar_of(service, employee)
    if employee is not None and calendar is not None:
        await touch(service, employee["id"])
        if leave["status"] in _OF_RESULTS:
            await _refuse_closed(service, calendar, leave)
        first, last = (day_of(leave[name], service.settings.zone) for name in ("starts_at", "ends_at"))
        since, today = await first_open(service, first - timedelta(days=1)), day_of(now, service.settings.zone)
        await remake(service, employee, calendar, since, min(last, today), now)
    await service.events.emit(DECIDED_EVENT, {**payload, "leave": leave})


async def tell(req: Request, leave: Mapping[str, Any]) -> None:
    """Tell people what somebody else made of their leave at the record; of an approval its plugin tells them."""
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


async def refuse_wrong(req: Request, leave: Mapping[str, Any]) -> None:
    """Refuse leave at a time for which the person has asked for other leave, is not employed, or that is closed, and
    more than they may take.

    In a transaction: two requests at once come one by one.
    """
    employee = await employee_of(req.service, leave["user_id"])
    if employee is not None:
        await touch(req.service, employee["id"])
        calendar = await calendar_of(req.service, employee) or OFFICE
        await _refuse_closed(req.service, calendar, leave)
        _refuse_not_employed(req.service, calendar, employee, leave)
        await allowances.check(req.service, employee, leave)
    others = {"_id": {"$ne": leave.get("id")}, "user_id": leave["user_id"], "status": {"$in": ["pending", "approved"]}}
    during = {"starts_at": {"$lt": leave["ends_at"]}, "ends_at": {"$gt": leave["starts_at"]}}
    if await req.system_store(LEAVES).find_one({**others, **during}):
        raise ApiError(CONFLICT, OVERLAPS)


async def _refuse_closed(service: Service, calendar: Calendar, leave: Mapping[str, Any]) -> None:
    await refuse_closed(service, begins_on(calendar, *_by_the_clock(service, leave)))


def _refuse_not_employed(service: Service, calendar: Calendar, employee: Record, leave: Mapping[str, Any]) -> None:
    first, last = (
        calendar.timetable.day_of(leave[name].astimezone(service.settings.zone)).isoformat()
        for name in ("starts_at", "ends_at")
    )
    if last < employee["hired_on"] or (employee["left_on"] and employee["left_on"] < first):
        raise ApiError(CONFLICT, NOT_EMPLOYED_THEN)


def _this(leave: Record) -> Record:
    return {"biz_type": BIZ_TYPE, "resource_id": str(leave["id"])}


async def _described(req: Request, leave: Record) -> Record:
    """What the flow's conditions and its approvers look at."""
    employee = await employee_of(req.service, leave["user_id"])
    name = employee["name"] if employee else req.actor.name or req.actor.username
    record = as_json(LEAVES.read, leave)
    words = (text.replace("{days}", record["days"]).replace("{name}", name) for text in LEAVE_TITLE)
    title = type(LEAVE_TITLE)(*words)
    return {
        "title": title,
        "record": {**record, "employee": name, "department_id": employee and employee["department_id"]},
    }


def _decision(action: str, reason: str | None, now: datetime) -> Record:
    return {"status": after(action), "decided_at": now, "decision_reason": reason}


async def length_of(req: Request, leave: Mapping[str, Any]) -> Record:
    """The days and hours of work that leave takes, by the calendar of whose it is; refuses what does not end after it
    starts.
    """
    if leave["ends_at"] <= leave["starts_at"]:
        raise invalid("ends_at", "minimum")
    if leave["ends_at"] - leave["starts_at"] > _LONGEST:
        raise invalid("ends_at", "maximum")
    calendar = await calendar_of(req.service, await employee_of(req.service, leave["user_id"])) or OFFICE
    starts, ends = _by_the_clock(req.service, leave)
    hours = rounded(Decimal(working_minutes(calendar, starts, ends)) / 60)
    return {"days": store_quantity(working_days(calendar, starts, ends)), "hours": store_quantity(hours)}


def _by_the_clock(service: Service, leave: Mapping[str, Any]) -> tuple[datetime, datetime]:
    """When leave starts and ends, in the business time zone."""
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
        asks=(REQUESTED_EVENT,),
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
