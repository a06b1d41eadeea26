"""Contracts: their numbers, and their states from draft to end.

Approval works by events. `submit` makes a contract pending and emits `approval.requested`; an approval plugin emits
`approval.finished` when it is decided. Without such a plugin, whoever holds `crm:contract:approve` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from plugins.api import (
    DUPLICATE,
    REFUSES_OWN,
    STALE,
    ApiError,
    Message,
    Request,
    Route,
    Service,
    Store,
    as_json,
    conflicts,
    crud,
    day_of,
    invalid,
    people_behind,
    refuse_own,
    route,
    store_money,
    utc_now,
)
from plugins.api import exact as amount_of
from plugins.crm import customer_children, receivables
from plugins.crm.bodies import REJECT, TERMINATE
from plugins.crm.contract_records import CONTRACTS, PLANS, VERSION_BODY
from plugins.crm.messages import CONTRACT_FIXED, WRONG_STATE
from plugins.crm.ownership import REFUSES_READERS, build_child_sharing, find_reference, get_editable, resolve_owner
from plugins.crm.records import CUSTOMERS, OPPORTUNITIES
from plugins.crm.states import CONTRACT_STATES, after, allows

Record = dict[str, Any]
BIZ_TYPE = receivables.BIZ_TYPE
SUBMITTED_EVENT = "crm.contract.submitted"
REQUESTED_EVENT, CANCELLED_EVENT = "approval.requested", "approval.cancelled"
DECISION_EVENT = "approval.finished"
# outcome of an approval → action on the contract
OUTCOMES = {"approved": "approve", "rejected": "reject", "returned": "withdraw", "withdrawn": "withdraw"}
# action → its event
_EVENTS = {
    "withdraw": "crm.contract.withdrawn",
    "approve": "crm.contract.approved",
    "reject": "crm.contract.rejected",
    "complete": "crm.contract.completed",
    "terminate": "crm.contract.terminated",
}
# decisions, and all actions that end an approval under way
_DECISIONS = ("approve", "reject")
_APPROVAL_ENDING = ("withdraw", *_DECISIONS)
_EDITABLE = allows(CONTRACT_STATES, "submit")
_TRIES = 20


async def create(req: Request) -> Record:
    """Create a draft. Its number is the one given, or the next of the year."""
    customer = await find_reference(req, CUSTOMERS, "customer_id", req.body["customer_id"])
    await _check(req, req.body, {"customer_id": customer["id"]})
    owner_id = await resolve_owner(req, req.body)
    nothing = store_money(amount_of(None))
    values = {**req.body, "received_amount": nothing, "planned_amount": nothing}

    async def work() -> Record:
        number = values.get("number") or await _next_number(req)
        return await customer_children.insert(req, CONTRACTS, {**values, "number": number}, customer, owner_id)

    return await req.transaction(work)


async def _next_number(req: Request) -> str:
    """The next number of the year. It is drawn within the transaction, so that a failed creation leaves no gap.

    Numbers that were given by hand are skipped.
    """
    year = day_of(req.now, req.service.settings.zone).year
    contracts = req.system_store(CONTRACTS)
    for _ in range(_TRIES):
        sequence = await req.service.database.next_number(f"{CONTRACTS.name}:{year}", outside_transaction=False)
        number = f"HT-{year}-{sequence:05}"
        if not await contracts.count({"number": number}):
            return number
    raise ApiError(DUPLICATE, data={"field": "number"})


async def update(req: Request) -> Record:
    """Change a draft or a rejected contract."""
    values, version = customer_children.split_version(req)
    before = await get_editable(req, CONTRACTS, req.path["id"])
    await _check(req, {name: value for name, value in values.items() if value != before[name]}, {**before, **values})
    where = dict(_EDITABLE)
    if "amount" in values and amount_of(values["amount"]) < amount_of(before["planned_amount"]):
        raise invalid("amount", "minimum")
    if "amount" in values:
        where["$expr"] = {"$gte": [values["amount"], "$planned_amount"]}

    async def work() -> Record:
        changed = await customer_children.update(
            req, CONTRACTS, before, values, version, where=where, reason=CONTRACT_FIXED
        )
        if any(changed[name] != before[name] for name in ("customer_id", "owner_id")):
            await _move_plans(req, changed)
        return changed

    return await req.transaction(work)


async def _move_plans(req: Request, contract: Mapping[str, Any]) -> None:
    """Move the plans of a contract to its customer and owner."""
    customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])
    owner_id = contract["owner_id"]
    theirs = {"customer_id": customer["id"], "owner_id": owner_id, **build_child_sharing(customer, owner_id, 0)}
    await req.system_store(PLANS).update_many({"contract_id": contract["id"]}, {"$set": theirs})


async def delete(req: Request) -> None:
    """Delete a draft or a rejected contract with its payment plans. Its number is not reused."""
    contract = await get_editable(req, CONTRACTS, req.path["id"])
    await req.store(CONTRACTS).delete(contract["id"], where=_EDITABLE, reason=CONTRACT_FIXED)


async def _check(req: Request, given: Mapping[str, Any], whole: Mapping[str, Any]) -> None:
    whole = {**whole, **given}
    if ("customer_id" in given or "opportunity_id" in given) and whole.get("opportunity_id") is not None:
        same = {"customer_id": whole["customer_id"]}
        await find_reference(req, OPPORTUNITIES, "opportunity_id", whole["opportunity_id"], **same)
    start, end = whole.get("start_date"), whole.get("end_date")
    if start and end and end < start:
        raise invalid("end_date", "minimum")


# -- transitions


async def submit(req: Request) -> Record:
    """Submit a contract for approval. A listener may decide within the same transaction."""

    async def work() -> Record:
        submitted = {"submitted_at": req.now, "submitted_by": req.actor.user_id, "decided_at": None, "reason": None}
        contract = await _transition(req, "submit", submitted)
        this = {"biz_type": BIZ_TYPE, "resource_id": str(contract["id"])}
        await req.emit(SUBMITTED_EVENT, contract=contract, **this)
        customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])
        title = f"{contract['number']} {contract['name']}"
        # approvers may not be allowed to see the customer
        record = {**as_json(CONTRACTS.read, contract), "customer": customer["name"]}
        await req.emit(REQUESTED_EVENT, title=title, record=record, own=people_behind(contract), **this)
        return await req.store(CONTRACTS).get(contract["id"])

    return await req.transaction(work)


async def withdraw(req: Request) -> Record:
    """Take a contract back from approval."""
    return await _decide(req, "withdraw", {"submitted_at": None, "submitted_by": None})


async def approve(req: Request) -> Record:
    """Bring a pending contract into force."""
    contract = await get_editable(req, CONTRACTS, req.path["id"])
    return await _decide(req, "approve", _build_approval(req.service, contract, req.now))


async def reject(req: Request) -> Record:
    """Reject a pending contract."""
    return await _decide(req, "reject", {"decided_at": req.now, "reason": req.body.get("reason")})


async def complete(req: Request) -> Record:
    """Close a contract that was fulfilled."""
    return await _decide(req, "complete", {"ended_at": req.now})


async def terminate(req: Request) -> Record:
    """End a contract before its time."""
    return await _decide(req, "terminate", {"ended_at": req.now, "reason": req.body["reason"]})


async def _decide(req: Request, action: str, values: Mapping[str, Any]) -> Record:
    async def work() -> Record:
        contract = await _transition(req, action, values)
        await req.emit(_EVENTS[action], contract=contract)
        if action in _APPROVAL_ENDING:
            this = {"biz_type": BIZ_TYPE, "resource_id": str(contract["id"])}
            await req.emit(CANCELLED_EVENT, reason=contract["reason"], **this)
        await receivables.publish(req.service, req, contract["id"])
        return contract

    return await req.transaction(work)


async def _transition(req: Request, action: str, values: Mapping[str, Any]) -> Record:
    before = await get_editable(req, CONTRACTS, req.path["id"])
    if action in _DECISIONS:
        await refuse_own(req, people_behind(before))
    return await _apply_action(
        req.store(CONTRACTS), before["id"], action, values, (req.body or {}).get("version"), WRONG_STATE
    )


async def _apply_action(
    store: Store, id: Any, action: str, values: Mapping[str, Any], version: int | None, reason: Message
) -> Record:
    changes = {**values, "status": after(CONTRACT_STATES, action)}
    where = allows(CONTRACT_STATES, action)
    return await store.update(id, changes, version=version, where=where, reason=reason)


def _build_approval(service: Service, contract: Mapping[str, Any], now: datetime) -> Record:
    # dashboards count contracts by signing date, so every contract in force has one
    today = day_of(now, service.settings.zone).isoformat()
    return {"decided_at": now, "signed_date": contract["signed_date"] or today}


async def apply_decision(service: Service, payload: Mapping[str, Any]) -> None:
    """Apply the outcome of an approval to its contract. A contract that is no longer pending stays unchanged."""
    action = OUTCOMES.get(payload["outcome"])
    if payload["biz_type"] != BIZ_TYPE or action is None:
        return
    req = payload.get("request")
    store: Store = req.system_store(CONTRACTS) if req else service.database.store(CONTRACTS)
    contract = await store.get(payload["resource_id"])
    if contract["status"] != after(CONTRACT_STATES, "submit"):
        return
    now = utc_now()
    values = {"decided_at": now, "reason": payload.get("reason")}
    if action == "approve":
        values = _build_approval(service, contract, now)
    changed = await _apply_action(store, contract["id"], action, values, None, WRONG_STATE)
    await service.events.emit(_EVENTS[action], {**payload, "contract": changed})
    await receivables.publish(service, req, contract["id"])


ROUTES: tuple[Route, ...] = (
    *crud(
        CONTRACTS,
        at="/api/v1/crm/contracts",
        resource="crm:contract",
        noun="contract",
        create=create,
        update=update,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS,),
        refusals_of={"update": conflicts(CONTRACT_FIXED), "delete": conflicts(CONTRACT_FIXED)},
    ),
    route(
        "POST /api/v1/crm/contracts/{id}/submit",
        submit,
        summary="Submit a contract for approval",
        access="crm:contract:submit",
        body=VERSION_BODY,
        record=CONTRACTS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(WRONG_STATE)),
        events=(REQUESTED_EVENT,),
    ),
    route(
        "POST /api/v1/crm/contracts/{id}/withdraw",
        withdraw,
        summary="Take a contract back from approval",
        access="crm:contract:withdraw",
        body=VERSION_BODY,
        record=CONTRACTS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(WRONG_STATE)),
    ),
    route(
        "POST /api/v1/crm/contracts/{id}/approve",
        approve,
        summary="Approve a contract",
        access="crm:contract:approve",
        body=VERSION_BODY,
        record=CONTRACTS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(WRONG_STATE), REFUSES_OWN),
    ),
    route(
        "POST /api/v1/crm/contracts/{id}/reject",
        reject,
        summary="Reject a contract",
        access="crm:contract:reject",
        body=REJECT,
        record=CONTRACTS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(WRONG_STATE), REFUSES_OWN),
    ),
    route(
        "POST /api/v1/crm/contracts/{id}/complete",
        complete,
        summary="Close a contract that was fulfilled",
        access="crm:contract:complete",
        body=VERSION_BODY,
        record=CONTRACTS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(WRONG_STATE)),
    ),
    route(
        "POST /api/v1/crm/contracts/{id}/terminate",
        terminate,
        summary="End a contract before its time",
        access="crm:contract:terminate",
        body=TERMINATE,
        record=CONTRACTS,
        errors=(DUPLICATE, STALE),
        refusals=(REFUSES_READERS, *conflicts(WRONG_STATE)),
    ),
)
