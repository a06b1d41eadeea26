"""Payments received: never more than the open amount of the contract, or of the plan that they are for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from plugins.api import (
    CONFLICT,
    DATED,
    STALE,
    ApiError,
    Collection,
    Event,
    Request,
    Route,
    conflicts,
    crud,
    day_of,
    exact,
)
from plugins.crm import customer_children, receivables
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.messages import NOT_PAYABLE, OVERPAID
from plugins.crm.ownership import REFUSES_READERS, find_reference, get_editable
from plugins.crm.records import CUSTOMERS

Record = dict[str, Any]
RECEIVED_EVENT = Event("crm.payment.received", payment=dict, contract=dict)
REMOVED_EVENT = Event("crm.payment.removed", payment=dict)
PAYABLE = ("in_force", "completed")


async def create(req: Request) -> Record:
    """Create a payment for a contract in force or completed. Raises 40901 if it exceeds the open amount."""
    body = req.body
    contract = await find_reference(req, CONTRACTS, "contract_id", body["contract_id"])
    if body.get("plan_id") is not None:
        await find_reference(req, PLANS, "plan_id", body["plan_id"], contract_id=contract["id"])
    customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])
    values = {**body, "paid_at": body.get("paid_at") or req.now}

    async def work() -> Record:
        day = await _announce_day(req, values["paid_at"])
        await _receive(req, contract["id"], body.get("plan_id"), body["amount"])
        payment = await customer_children.insert(req, PAYMENTS, values, customer, contract["owner_id"])
        await req.emit(RECEIVED_EVENT, payment=payment, contract=contract)
        await receivables.publish(req.service, req, contract["id"], day)
        return payment

    return await req.transaction(work)


async def delete(req: Request) -> None:
    """Delete a payment that was entered by mistake, and add it to the open amount again."""

    async def work() -> None:
        payment = await get_editable(req, PAYMENTS, req.path["id"])
        day = await _announce_day(req, payment["paid_at"])
        await req.store(PAYMENTS).delete(payment["id"])
        await _add_amount(req, CONTRACTS, payment["contract_id"], "received_amount", _negate(payment["amount"]))
        if payment["plan_id"] is not None:
            await _add_amount(req, PLANS, payment["plan_id"], "paid_amount", _negate(payment["amount"]))
        await req.emit(REMOVED_EVENT, payment=payment)
        await receivables.publish(req.service, req, payment["contract_id"], day)

    await req.transaction(work)


async def _announce_day(req: Request, moment: datetime) -> str:
    """Announce the business day of a payment or its removal, and return it. Listeners that keep the books may refuse."""
    day = day_of(moment, req.service.settings.zone).isoformat()
    await req.emit(DATED, day=day)
    return day


async def _receive(req: Request, contract_id: Any, plan_id: Any, amount: Any) -> None:
    payable = {"status": {"$in": list(PAYABLE)}}
    if await _add_amount(req, CONTRACTS, contract_id, "received_amount", amount, payable) is None:
        contract = await req.system_store(CONTRACTS).get(contract_id)
        if contract["status"] not in PAYABLE:
            raise ApiError(CONFLICT, NOT_PAYABLE)
        raise _overpaid_error(contract, "received_amount")
    if plan_id is not None and await _add_amount(req, PLANS, plan_id, "paid_amount", amount) is None:
        raise _overpaid_error(await req.system_store(PLANS).get(plan_id), "paid_amount")


def _overpaid_error(record: Mapping[str, Any], paid: str) -> ApiError:
    """The error for a payment that exceeds the open amount, with that amount in its data."""
    unpaid = f"{exact(record['amount']) - exact(record[paid]):.2f}"
    return ApiError(CONFLICT, OVERPAID.filled(open=unpaid), data={"open": unpaid})


async def _add_amount(
    req: Request, collection: Collection, id: Any, field: str, amount: Any, where: Mapping[str, Any] | None = None
) -> Record | None:
    """Add to the received amount in one conditional update. Returns None if it would exceed `amount`."""
    total = {"$add": [f"${field}", amount]}
    change: list[Mapping[str, Any]] = [{"$set": {field: total, "version": {"$add": ["$version", 1]}}}]
    if collection is PLANS:
        change.append({"$set": {"settled": {"$gte": [f"${field}", "$amount"]}}})
    fits = {"_id": id, **(where or {}), "$expr": {"$lte": [total, "$amount"]}}
    return await req.system_store(collection).update_unversioned(fits, change)


def _negate(amount: Any) -> Record:
    return {"$subtract": [0, amount]}


ROUTES: tuple[Route, ...] = crud(
    PAYMENTS,
    at="/api/v1/crm/payments",
    resource="crm:payment",
    only=("list", "read", "create", "delete"),
    always=("reference", "remark"),
    find=get_editable,
    without=("restore",),  # a deletion takes the amount back from contract, plan and account
    create=create,
    delete=delete,
    errors=(STALE,),
    refusals=(REFUSES_READERS,),
    refusals_of={"create": conflicts(OVERPAID, NOT_PAYABLE)},
    events=(DATED,),
)
