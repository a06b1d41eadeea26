"""Payment plans: what is to be paid of a contract, and by when. Their status is that of today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import (
    CONFLICT,
    STALE,
    ApiError,
    Page,
    Request,
    Route,
    array,
    choice,
    conflicts,
    crud,
    day_of,
    exact,
    invalid,
    route,
    store_money,
)
from plugins.crm import below, receivables
from plugins.crm.contract_records import CONTRACTS, PLAN_STATES, PLANS
from plugins.crm.messages import OVERPLANNED, PLAN_PAID, WRONG_STATE
from plugins.crm.ownership import REFUSES_READERS, editable, referred
from plugins.crm.records import CUSTOMERS

Record = dict[str, Any]
_OVER = ("completed", "terminated")
LIST_QUERY = {
    **PLANS.list_query,
    "status": array(
        choice(*PLAN_STATES), max_items=4, nullable=False, description="One value, or several with commas."
    ),
}


async def list_plans(req: Request) -> Page:
    """A page of plans with the status that they have today."""
    query = dict(req.query)
    wanted = query.pop("status", None)
    today = _today(req)
    filter = {"$or": [_having(status, today) for status in wanted]} if wanted else None
    page = await req.store(PLANS).page(query, filter)
    return Page([_shown(row, today) for row in page.items], page.total, page.page, page.page_size, page.next_cursor)


async def read(req: Request) -> Record:
    """One plan."""
    return _shown(await req.store(PLANS).get(req.path["id"]), _today(req))


async def create(req: Request) -> Record:
    """A plan of a contract; all plans together come to no more than the contract."""
    contract = await referred(req, CONTRACTS, "contract_id", req.body["contract_id"])
    customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])

    async def work() -> Record:
        await _plan(req, contract["id"], req.body["amount"])
        values = {"paid_amount": store_money(exact(None)), "settled": False, **req.body}
        values["sequence"] = values.get("sequence") or await _next_sequence(req, contract["id"])
        planned = await below.insert(req, PLANS, values, customer, contract["owner_id"])
        await receivables.tell(req.service, req, contract["id"])
        return planned

    return _shown(await req.transaction(work), _today(req))


async def update(req: Request) -> Record:
    """Change a plan; its amount is no less than what was paid on it, and its contract stays."""
    values, version = below.versioned(req)

    async def work() -> Record:
        before = await editable(req, PLANS, req.path["id"])
        if values.pop("contract_id", before["contract_id"]) != before["contract_id"]:
            raise invalid("contract_id", "invalid")
        amount, paid = exact(values.get("amount", before["amount"])), exact(before["paid_amount"])
        if amount < paid:
            raise invalid("amount", "minimum")
        await _plan(req, before["contract_id"], store_money(amount - exact(before["amount"])))
        changes = {**values, "settled": paid >= amount}
        if values.get("due_date", before["due_date"]) != before["due_date"]:
            changes["reminded"] = None
        planned = await req.store(PLANS).update(
            before["id"], changes, version=version, where={"paid_amount": before["paid_amount"]}, reason=PLAN_PAID
        )
        await receivables.tell(req.service, req, before["contract_id"])
        return planned

    return _shown(await req.transaction(work), _today(req))


async def delete(req: Request) -> None:
    """Delete a plan on which nothing was paid."""

    async def work() -> None:
        plan = await editable(req, PLANS, req.path["id"])
        if exact(plan["paid_amount"]):
            raise ApiError(CONFLICT, PLAN_PAID)
        await req.store(PLANS).delete(plan["id"])
        await _plan(req, plan["contract_id"], store_money(-exact(plan["amount"])))
        await receivables.tell(req.service, req, plan["contract_id"])

    await req.transaction(work)


async def _plan(req: Request, contract_id: Any, amount: Any) -> None:
    """Add to what is planned of a contract, in one step with the check that it does not pass the contract's amount."""
    total = {"$add": ["$planned_amount", amount]}
    fits = {"_id": contract_id, "status": {"$nin": list(_OVER)}, "$expr": {"$lte": [total, "$amount"]}}
    planned = await req.system_store(CONTRACTS).change_quietly(fits, [{"$set": {"planned_amount": total}}])
    if planned is None:
        contract = await req.system_store(CONTRACTS).get(contract_id)
        raise ApiError(CONFLICT, WRONG_STATE if contract["status"] in _OVER else OVERPLANNED)


async def _next_sequence(req: Request, contract_id: Any) -> int:
    last = await req.system_store(PLANS).find({"contract_id": contract_id}, sort="-sequence", limit=1)
    return int(last[0]["sequence"]) + 1 if last else 1


def _today(req: Request) -> str:
    return day_of(req.now, req.service.settings.zone).isoformat()


def _shown(plan: Mapping[str, Any], today: str) -> Record:
    paid = exact(plan["paid_amount"])
    if paid >= exact(plan["amount"]):
        status = "paid"
    elif plan["due_date"] < today:
        status = "overdue"
    else:
        status = "partial" if paid else "pending"
    return {**plan, "status": status}


def _having(status: str, today: str) -> Record:
    """The filter for the plans that `_shown` gives this status."""
    if status == "paid":
        return {"settled": True}
    if status == "overdue":
        return {"settled": False, "due_date": {"$lt": today}}
    paid = {"$gt": 0} if status == "partial" else {"$lte": 0}
    return {"settled": False, "due_date": {"$gte": today}, "paid_amount": paid}


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/crm/payment-plans",
        list_plans,
        summary="List payment plans",
        access="crm:payment-plan:list",
        paged=True,
        query=LIST_QUERY,
        record=PLANS,
    ),
    *crud(
        PLANS,
        at="/api/v1/crm/payment-plans",
        resource="crm:payment-plan",
        noun="payment plan",
        only=("read", "create", "update", "delete"),
        read=read,
        create=create,
        update=update,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS, *conflicts(OVERPLANNED, WRONG_STATE)),
        refusals_of={"update": conflicts(PLAN_PAID), "delete": conflicts(PLAN_PAID)},
    ),
)
