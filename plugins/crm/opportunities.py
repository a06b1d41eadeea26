"""Opportunities: their stages, and how they are won or lost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from plugins.api import (
    CONFLICT,
    Action,
    ApiError,
    Record,
    Request,
    Route,
    Step,
    conflicts,
    crud,
    exact as amount_of,
    invalid,
    store_money,
    transitions,
)
from plugins.api.errors import DUPLICATE, STALE
from plugins.api.records import change_state
from plugins.crm import customer_children
from plugins.crm.bodies import ADVANCE, LOSE, WIN
from plugins.crm.contract_records import CONTRACTS
from plugins.crm.messages import HAS_CONTRACTS, OPPORTUNITY_CLOSED, OPPORTUNITY_FIXED
from plugins.crm.ownership import REFUSES_READERS, find_reference, get_editable, resolve_child_owner
from plugins.crm.record_types import Customer, Opportunity
from plugins.crm.records import CUSTOMERS, OPPORTUNITIES, STAGES_KEPT
from plugins.crm.states import ADVANCE_TO, OPEN_STAGES, OPPORTUNITY_STAGES, PROBABILITY

# dashboards are computed from these fields: they are final once the opportunity is closed
_FINAL = ("amount", "probability", "expected_close_date")


async def create(req: Request) -> Opportunity:
    """Create an opportunity for a customer, in the first stage unless the body names another open one."""
    customer = await find_reference(req, CUSTOMERS, "customer_id", req.body["customer_id"])
    return await insert(req, req.body, customer, await resolve_child_owner(req, req.body, customer))


async def insert(req: Request, given: Mapping[str, Any], customer: Customer, owner_id: int | None) -> Opportunity:
    """Create an opportunity from the body `given`. Raises 40001 for a stage that is not open."""
    stage = given.get("stage") or OPPORTUNITY_STAGES.initial
    if stage not in OPEN_STAGES:
        raise invalid("stage", "enum")
    values = {
        **given,
        "stage": stage,
        "amount": given.get("amount") or store_money(amount_of(None)),
        "probability": given["probability"] if given.get("probability") is not None else PROBABILITY[stage],
        "stage_history": [_build_stage_change(req.now, req.actor.user_id, None, stage, None)],
    }
    return await customer_children.insert(req, OPPORTUNITIES, values, customer, owner_id)


async def update(req: Request) -> Opportunity:
    """Change an opportunity. A change of its stage has the same effect as `advance`."""
    values, version = customer_children.split_version(req)
    before = await get_editable(req, OPPORTUNITIES, req.path["id"])
    stage = values.pop("stage", None)
    if values.get("customer_id", before["customer_id"]) != before["customer_id"]:
        await customer_children.refuse_if_used(req, CONTRACTS, {"opportunity_id": before["id"]}, HAS_CONTRACTS)
    if stage in (None, before["stage"]):
        final = any(values.get(name, before.get(name)) != before.get(name) for name in _FINAL)
        where = {"stage": {"$in": list(OPEN_STAGES)}} if final else None
        return await customer_children.update(
            req, OPPORTUNITIES, before, values, version, where=where, reason=OPPORTUNITY_FIXED
        )
    if stage not in OPEN_STAGES:
        raise invalid("stage", "enum")

    action = ADVANCE_TO[stage]

    async def work() -> Opportunity:
        step = Step(req.service, OPPORTUNITIES, action, before, req.now, req.actor.user_id, request=req)
        moved = await change_state(req.store(OPPORTUNITIES), before["id"], action, _stage_of(step), version=version)
        return await customer_children.update(req, OPPORTUNITIES, moved, values, None) if values else moved

    return await req.transaction(work)


def _next_action(step: Step[Opportunity]) -> str:
    """Return the action that leads to the stage in the body, or else to the next one. Raises 40901 if there is none."""
    place = OPEN_STAGES.index(step.record["stage"]) + 1
    stage = step.body.get("stage") or (OPEN_STAGES[place] if place < len(OPEN_STAGES) else None)
    if stage in (None, step.record["stage"]):
        raise ApiError(CONFLICT, OPPORTUNITY_CLOSED)
    return ADVANCE_TO[stage]


def _stage_of(step: Step[Opportunity]) -> Record:
    """Return the values that change with the stage: the probability, and the stage history."""
    stage = OPPORTUNITY_STAGES.after(step.action)
    entry = _build_stage_change(step.now, step.by, step.record["stage"], stage, step.reason)
    history = {"stage_history": {"$each": [entry], "$slice": -STAGES_KEPT}}
    return {"probability": PROBABILITY[stage], "$push": history}


async def delete(req: Request) -> None:
    """Delete an opportunity. Raises 40901 if it has contracts."""
    opportunity = await get_editable(req, OPPORTUNITIES, req.path["id"])
    await req.store(OPPORTUNITIES).delete(opportunity["id"])


def _build_stage_change(now: datetime, by: int | None, before: str | None, stage: str, reason: str | None) -> Record:
    return {"from_stage": before, "stage": stage, "at": now, "user_id": by, "reason": reason}


ROUTES: tuple[Route, ...] = (
    *crud(
        OPPORTUNITIES,
        at="/api/v1/crm/opportunities",
        resource="crm:opportunity",
        create=create,
        update=update,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS,),
        refusals_of={"update": conflicts(OPPORTUNITY_CLOSED, OPPORTUNITY_FIXED, HAS_CONTRACTS)},
    ),
    *transitions(
        OPPORTUNITIES,
        Action(
            "POST /api/v1/crm/opportunities/{id}/advance",
            access="crm:opportunity:advance",
            does=tuple(ADVANCE_TO.values()),
            summary="Move an opportunity to another stage",
            body=ADVANCE,
            choose=_next_action,
            values=_stage_of,
        ),
        Action(
            "POST /api/v1/crm/opportunities/{id}/win",
            access="crm:opportunity:win",
            summary="Close an opportunity as won",
            body=WIN,
            values=lambda step: {**_stage_of(step), "closed_at": step.now, "won_reason": step.reason},
        ),
        Action(
            "POST /api/v1/crm/opportunities/{id}/lose",
            access="crm:opportunity:lose",
            summary="Close an opportunity as lost",
            body=LOSE,
            values=lambda step: {**_stage_of(step), "closed_at": step.now, "lost_reason": step.reason},
        ),
        find=get_editable,
        errors=(DUPLICATE,),
        refusals=(REFUSES_READERS,),
    ),
)
