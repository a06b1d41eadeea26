"""Payment plans: amounts of a contract with due dates. Their status is computed as of today."""

from __future__ import annotations

from plugins.api import (
    CONFLICT,
    ApiError,
    Page,
    Record,
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
from plugins.api.errors import STALE
from plugins.api.values import RecordId, StoredAmount
from plugins.crm import customer_children, receivables
from plugins.crm.contract_records import CONTRACTS, PLANS
from plugins.crm.messages import OVERPLANNED, PLAN_PAID, WRONG_STATE
from plugins.crm.ownership import REFUSES_READERS, find_reference, get_editable
from plugins.crm.record_types import Contract, PaymentPlan
from plugins.crm.records import CUSTOMERS
from plugins.crm.states import PLAN_STATES

_ENDED = ("completed", "terminated")
LIST_QUERY = {
    **PLANS.list_query,
    "status": array(
        choice(*PLAN_STATES.states), max_items=4, nullable=False, description="One value, or several with commas."
    ),
}


async def list_plans(req: Request) -> Page:
    """Return a page of plans with their status as of today."""
    query = dict(req.query)
    wanted = query.pop("status", None)
    today = _today(req)
    filter = {"$or": [_status_filter(status, today) for status in wanted]} if wanted else None
    page = await req.store(PLANS).page(query, filter)
    rows = [_with_status(row, today) for row in page.items]
    return Page(rows, page.total, page.page, page.page_size, page.next_cursor, page.sums)


async def read(req: Request) -> Record:
    """Return one plan with its status as of today."""
    return _with_status(await req.store(PLANS).get(req.path["id"]), _today(req))


async def create(req: Request) -> Record:
    """Create a plan. The plans of a contract may not add up to more than its amount."""
    contract = await find_reference(req, CONTRACTS, "contract_id", req.body["contract_id"])
    customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])

    async def work() -> PaymentPlan:
        planned = await _add_planned(req, contract["id"], req.body["amount"])
        values = {
            "paid_amount": store_money(exact(None)),
            "settled": False,
            **req.body,
            "currency": planned["currency"],
        }
        values["sequence"] = values.get("sequence") or await _next_sequence(req, contract["id"])
        plan = await customer_children.insert(req, PLANS, values, customer, contract["owner_id"])
        await receivables.publish(req.service, req, contract["id"])
        return plan

    return _with_status(await req.transaction(work), _today(req))


async def update(req: Request) -> Record:
    """Change a plan. Its amount may not fall below what was paid; its contract cannot change."""
    values, version = customer_children.split_version(req)

    async def work() -> PaymentPlan:
        before = await get_editable(req, PLANS, req.path["id"])
        if values.pop("contract_id", before["contract_id"]) != before["contract_id"]:
            raise invalid("contract_id", "invalid")
        amount, paid = exact(values.get("amount", before["amount"])), exact(before["paid_amount"])
        if amount < paid:
            raise invalid("amount", "minimum")
        await _add_planned(req, before["contract_id"], store_money(amount - exact(before["amount"])))
        changes = {**values, "settled": paid >= amount}
        if values.get("due_date", before["due_date"]) != before["due_date"]:
            changes["reminded"] = None
        planned = await req.store(PLANS).update(
            before["id"], changes, version=version, where={"paid_amount": before["paid_amount"]}, reason=PLAN_PAID
        )
        await receivables.publish(req.service, req, before["contract_id"])
        return planned

    return _with_status(await req.transaction(work), _today(req))


async def delete(req: Request) -> None:
    """Delete a plan. Raises 40901 if it has payments."""

    async def work() -> None:
        plan = await get_editable(req, PLANS, req.path["id"])
        await req.store(PLANS).delete(plan["id"])
        await _add_planned(req, plan["contract_id"], store_money(-exact(plan["amount"])))
        await receivables.publish(req.service, req, plan["contract_id"])

    await req.transaction(work)


async def _add_planned(req: Request, contract_id: RecordId, amount: StoredAmount) -> Contract:
    """Add `amount` to the planned amount of a contract, and return the contract.

    One conditional update ensures that the sum stays within the amount of the contract. Raises 40901 if it would not,
    or if the contract has ended.
    """
    total = {"$add": ["$planned_amount", amount]}
    fits = {"_id": contract_id, "status": {"$nin": list(_ENDED)}, "$expr": {"$lte": [total, "$amount"]}}
    planned = await req.system_store(CONTRACTS).update_unversioned(fits, [{"$set": {"planned_amount": total}}])
    if planned is None:
        contract = await req.system_store(CONTRACTS).get(contract_id)
        raise ApiError(CONFLICT, WRONG_STATE if contract["status"] in _ENDED else OVERPLANNED)
    return planned


async def _next_sequence(req: Request, contract_id: RecordId) -> int:
    last = await req.system_store(PLANS).find({"contract_id": contract_id}, sort="-sequence", limit=1)
    return (last[0]["sequence"] or 0) + 1 if last else 1


def _today(req: Request) -> str:
    return day_of(req.now, req.service.settings.zone).isoformat()


def _with_status(plan: PaymentPlan, today: str) -> Record:
    paid = exact(plan["paid_amount"])
    if paid >= exact(plan["amount"]):
        status = "paid"
    elif plan["due_date"] < today:
        status = "overdue"
    else:
        status = "partial" if paid else "pending"
    return {**plan, "status": status}


def _status_filter(status: str, today: str) -> Record:
    """Return the filter for the plans to which `_with_status` gives this status."""
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
        only=("read", "create", "update", "delete"),
        without=("restore",),  # the contract may have new plans by then
        read=read,
        create=create,
        update=update,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS, *conflicts(OVERPLANNED, WRONG_STATE)),
        refusals_of={"update": conflicts(PLAN_PAID)},
    ),
)
