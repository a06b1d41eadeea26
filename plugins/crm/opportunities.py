"""Opportunities: their stage, and how they end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import (
    CONFLICT,
    DUPLICATE,
    STALE,
    ApiError,
    Request,
    Route,
    conflicts,
    crud,
    invalid,
    route,
    store_money,
)
from plugins.api import exact as amount_of
from plugins.crm import customer_children
from plugins.crm.bodies import ADVANCE, LOSE, WIN
from plugins.crm.contract_records import CONTRACTS
from plugins.crm.messages import HAS_CONTRACTS, OPPORTUNITY_CLOSED, OPPORTUNITY_FIXED
from plugins.crm.ownership import REFUSES_READERS, find_reference, get_editable, resolve_owner
from plugins.crm.records import CUSTOMERS, OPPORTUNITIES, STAGES_KEPT
from plugins.crm.states import ADVANCE_TO, OPEN_STAGES, OPPORTUNITY_STAGES, PROBABILITY, allows

Record = dict[str, Any]
WON_EVENT, LOST_EVENT = "crm.opportunity.won", "crm.opportunity.lost"
# dashboards are computed from these fields: they are final once the opportunity is closed
_FINAL = ("amount", "probability", "expected_close_date")


async def create(req: Request) -> Record:
    """Create an opportunity of a customer, in the first stage or another open one."""
    customer = await find_reference(req, CUSTOMERS, "customer_id", req.body["customer_id"])
    return await insert(req, req.body, customer, await resolve_owner(req, req.body))


async def insert(req: Request, given: Mapping[str, Any], customer: Mapping[str, Any], owner_id: int | None) -> Record:
    """Create an opportunity from the body `given`. Raises 40001 for a stage that is not open."""
    stage = given.get("stage") or OPPORTUNITY_STAGES.initial
    if stage not in OPEN_STAGES:
        raise invalid("stage", "enum")
    values = {
        **given,
        "stage": stage,
        "amount": given.get("amount") or store_money(amount_of(None)),
        "probability": given["probability"] if given.get("probability") is not None else PROBABILITY[stage],
        "stage_history": [_build_stage_change(req, None, stage, None)],
    }
    return await customer_children.insert(req, OPPORTUNITIES, values, customer, owner_id)


async def update(req: Request) -> Record:
    """Change an opportunity. Another stage has the effect of `advance`."""
    values, version = customer_children.split_version(req)
    before = await get_editable(req, OPPORTUNITIES, req.path["id"])
    stage = values.pop("stage", None)
    if values.get("customer_id", before["customer_id"]) != before["customer_id"]:
        await customer_children.refuse_if_used(req, CONTRACTS, {"opportunity_id": before["id"]}, HAS_CONTRACTS)
    if stage in (None, before["stage"]):
        final = any(values.get(name, before[name]) != before[name] for name in _FINAL)
        where = {"stage": {"$in": list(OPEN_STAGES)}} if final else None
        return await customer_children.update(
            req, OPPORTUNITIES, before, values, version, where=where, reason=OPPORTUNITY_FIXED
        )
    if stage not in OPEN_STAGES:
        raise invalid("stage", "enum")

    async def work() -> Record:
        moved = await _change_stage(req, before, ADVANCE_TO[stage], version, None, {})
        return await customer_children.update(req, OPPORTUNITIES, moved, values, None) if values else moved

    return await req.transaction(work)


async def advance(req: Request) -> Record:
    """Move an open opportunity to the given open stage, or to the next one."""
    before = await get_editable(req, OPPORTUNITIES, req.path["id"])
    stage = req.body.get("stage") or _next_stage(before["stage"])
    return await _change_stage(req, before, ADVANCE_TO[stage], req.body.get("version"), None, {})


def _next_stage(stage: str) -> str:
    place = OPEN_STAGES.index(stage) + 1 if stage in OPEN_STAGES else len(OPEN_STAGES)
    if place == len(OPEN_STAGES):
        raise ApiError(CONFLICT, OPPORTUNITY_CLOSED)
    return OPEN_STAGES[place]


async def win(req: Request) -> Record:
    """Close an opportunity as won."""
    return await _close(req, "win", WON_EVENT, {"won_reason": req.body.get("reason")})


async def lose(req: Request) -> Record:
    """Close an opportunity as lost."""
    return await _close(req, "lose", LOST_EVENT, {"lost_reason": req.body["reason"]})


async def delete(req: Request) -> None:
    """Delete an opportunity. Raises 40901 if it has contracts."""
    opportunity = await get_editable(req, OPPORTUNITIES, req.path["id"])
    await req.store(OPPORTUNITIES).delete(opportunity["id"])


async def _close(req: Request, action: str, event: str, values: Mapping[str, Any]) -> Record:
    body = req.body

    async def work() -> Record:
        before = await get_editable(req, OPPORTUNITIES, req.path["id"])
        closing = {**values, "closed_at": req.now}
        closed = await _change_stage(req, before, action, body.get("version"), body.get("reason"), closing)
        await req.emit(event, opportunity=closed)
        return closed

    return await req.transaction(work)


async def _change_stage(
    req: Request, before: Record, action: str, version: int | None, reason: str | None, values: Mapping[str, Any]
) -> Record:
    stage = OPPORTUNITY_STAGES.transitions[action][1]
    step = {
        "$push": {
            "stage_history": {
                "$each": [_build_stage_change(req, before["stage"], stage, reason)],
                "$slice": -STAGES_KEPT,
            }
        }
    }
    if before["stage"] == stage:
        raise ApiError(CONFLICT, OPPORTUNITY_CLOSED)
    # the stage must not have changed since it was read: the history notes both stages
    allowed = {"$and": [allows(OPPORTUNITY_STAGES, action, "stage"), {"stage": before["stage"]}]}
    return await req.store(OPPORTUNITIES).update(
        before["id"],
        {"stage": stage, "probability": PROBABILITY[stage], **values},
        version=version,
        where=allowed,
        reason=OPPORTUNITY_CLOSED,
        operators=step,
    )


def _build_stage_change(req: Request, before: str | None, stage: str, reason: str | None) -> Record:
    return {"from_stage": before, "stage": stage, "at": req.now, "user_id": req.actor.user_id, "reason": reason}


ROUTES: tuple[Route, ...] = (
    *crud(
        OPPORTUNITIES,
        at="/api/v1/crm/opportunities",
        resource="crm:opportunity",
        noun="opportunity",
        plural="opportunities",
        create=create,
        update=update,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS,),
        refusals_of={"update": conflicts(OPPORTUNITY_CLOSED, OPPORTUNITY_FIXED, HAS_CONTRACTS)},
    ),
    route(
        "POST /api/v1/crm/opportunities/{id}/advance",
        advance,
        summary="Move an opportunity to a stage",
        access="crm:opportunity:advance",
        body=ADVANCE,
        record=OPPORTUNITIES,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(OPPORTUNITY_CLOSED)),
    ),
    route(
        "POST /api/v1/crm/opportunities/{id}/win",
        win,
        summary="Close an opportunity as won",
        access="crm:opportunity:win",
        body=WIN,
        record=OPPORTUNITIES,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(OPPORTUNITY_CLOSED)),
    ),
    route(
        "POST /api/v1/crm/opportunities/{id}/lose",
        lose,
        summary="Close an opportunity as lost",
        access="crm:opportunity:lose",
        body=LOSE,
        record=OPPORTUNITIES,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(OPPORTUNITY_CLOSED)),
    ),
)
