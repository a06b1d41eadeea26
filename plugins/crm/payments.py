"""Payments received: never more than what is open of the contract, or of the plan that they are for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from plugins.api import CONFLICT, STALE, ApiError, Collection, Request, Route, conflicts, crud, day_of, exact
from plugins.crm import below, receivables
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.messages import NOT_PAYABLE, OVERPAID
from plugins.crm.ownership import REFUSES_READERS, editable, referred
from plugins.crm.records import CUSTOMERS

Record = dict[str, Any]
RECEIVED_EVENT, REMOVED_EVENT = "crm.payment.received", "crm.payment.removed"
DATED_EVENT = "finance.dated"
PAYABLE = ("in_force", "completed")


async def create(req: Request) -> Record:
    """A payment received for a contract in force, or completed; 40901 where it is more than what is open."""
    body = req.body
    contract = await referred(req, CONTRACTS, "contract_id", body["contract_id"])
    if body.get("plan_id") is not None:
        await referred(req, PLANS, "plan_id", body["plan_id"], contract_id=contract["id"])
    customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])
    values = {**body, "paid_at": body.get("paid_at") or req.now}

    async def work() -> Record:
        await _date(req, values["paid_at"])
        await _receive(req, contract["id"], body.get("plan_id"), body["amount"])
        payment = await below.insert(req, PAYMENTS, values, customer, contract["owner_id"])
        await req.emit(RECEIVED_EVENT, payment=payment, contract=contract)
        await receivables.tell(req.service, req, contract["id"])
        return payment

    return await req.transaction(work)


async def delete(req: Request) -> None:
    """Take a payment back that was entered by mistake: what is open grows again."""

    async def work() -> None:
        payment = await editable(req, PAYMENTS, req.path["id"])
        await _date(req, payment["paid_at"])
        await req.store(PAYMENTS).delete(payment["id"])
        await _add(req, CONTRACTS, payment["contract_id"], "received_amount", _negative(payment["amount"]))
        if payment["plan_id"] is not None:
            await _add(req, PLANS, payment["plan_id"], "paid_amount", _negative(payment["amount"]))
        await req.emit(REMOVED_EVENT, payment=payment)
        await receivables.tell(req.service, req, payment["contract_id"])

    await req.transaction(work)


async def _date(req: Request, moment: datetime) -> None:
    """Tell whoever keeps the books on which day money is entered or taken back; they may refuse."""
    await req.emit(DATED_EVENT, day=day_of(moment, req.service.settings.zone).isoformat())


async def _receive(req: Request, contract_id: Any, plan_id: Any, amount: Any) -> None:
    payable = {"status": {"$in": list(PAYABLE)}}
    if await _add(req, CONTRACTS, contract_id, "received_amount", amount, payable) is None:
        contract = await req.system_store(CONTRACTS).get(contract_id)
        if contract["status"] not in PAYABLE:
            raise ApiError(CONFLICT, NOT_PAYABLE)
        raise _overpaid(contract, "received_amount")
    if plan_id is not None and await _add(req, PLANS, plan_id, "paid_amount", amount) is None:
        raise _overpaid(await req.system_store(PLANS).get(plan_id), "paid_amount")


def _overpaid(record: Mapping[str, Any], paid: str) -> ApiError:
    """The refusal of more than is open of a contract or a plan; it says how much that is."""
    unpaid = f"{exact(record['amount']) - exact(record[paid]):.2f}"
    return ApiError(CONFLICT, OVERPAID.filled(open=unpaid), data={"open": unpaid})


async def _add(
    req: Request, collection: Collection, id: Any, field: str, amount: Any, where: Mapping[str, Any] | None = None
) -> Record | None:
    """Add to what was received, in one step with the check that it does not pass `amount`; None where it would."""
    total = {"$add": [f"${field}", amount]}
    change: list[Mapping[str, Any]] = [{"$set": {field: total, "version": {"$add": ["$version", 1]}}}]
    if collection is PLANS:
        change.append({"$set": {"settled": {"$gte": [f"${field}", "$amount"]}}})
    fits = {"_id": id, **(where or {}), "$expr": {"$lte": [total, "$amount"]}}
    return await req.system_store(collection).change_quietly(fits, change)


def _negative(amount: Any) -> Record:
    return {"$subtract": [0, amount]}


ROUTES: tuple[Route, ...] = crud(
    PAYMENTS,
    at="/api/v1/crm/payments",
    resource="crm:payment",
    noun="payment",
    only=("list", "read", "create", "delete"),
    create=create,
    delete=delete,
    errors=(STALE,),
    refusals=(REFUSES_READERS,),
    refusals_of={"create": conflicts(OVERPAID, NOT_PAYABLE)},
    asks=(DATED_EVENT,),
)
