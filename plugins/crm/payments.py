"""Payments received: never more than the open amount of the contract, or of the plan that they are for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import (
    CONFLICT,
    DATED,
    MONEY_MOVED,
    MONEY_RETURNED,
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
    route,
)
from plugins.crm import customer_children, receivables
from plugins.crm.bodies import REVERSE_PAYMENT
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.messages import ENTERED_IN_FINANCE, NOT_PAYABLE, OVERPAID, PAYMENT_REVERSED
from plugins.crm.ownership import REFUSES_READERS, find_reference, get_editable
from plugins.crm.payment_accounts import announce_money, announce_return, find_account
from plugins.crm.records import CUSTOMERS

Record = dict[str, Any]
RECEIVED_EVENT = Event("crm.payment.received", payment=dict, contract=dict)
REMOVED_EVENT = Event("crm.payment.removed", payment=dict)
PAYABLE = ("in_force", "completed")
OVERPAYMENT = conflicts(OVERPAID, NOT_PAYABLE)


async def create(req: Request) -> Record:
    """Create a payment for a contract in force or completed. Raises 40901 if it exceeds the open amount."""
    body = req.body
    contract = await find_reference(req, CONTRACTS, "contract_id", body["contract_id"])
    if body.get("plan_id") is not None:
        await find_reference(req, PLANS, "plan_id", body["plan_id"], contract_id=contract["id"])
    customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])
    values = {**body, "paid_at": body.get("paid_at") or req.now, "account_id": await find_account(req)}

    async def work() -> Record:
        day = await _announce_day(req, day_of(values["paid_at"], req.service.settings.zone).isoformat())
        payment = await receive(req, contract, customer, values)
        await receivables.publish(req.service, req, contract["id"], day)
        await announce_money(req, payment, customer["name"], day)
        return payment

    return await req.transaction(work)


async def receive(
    req: Request, contract: Mapping[str, Any], customer: Mapping[str, Any], values: Mapping[str, Any]
) -> Record:
    """Add a payment to its contract and plan, and store it. Raises 40901 if it exceeds the open amount."""
    await _receive(req, contract["id"], values.get("plan_id"), values["amount"])
    payment = await customer_children.insert(req, PAYMENTS, values, customer, contract["owner_id"])
    await req.emit(RECEIVED_EVENT, payment=payment, contract=contract)
    return payment


async def delete(req: Request) -> None:
    """Delete a payment that was entered by mistake, and add it to the open amount again."""

    async def work() -> None:
        payment = await get_editable(req, PAYMENTS, req.path["id"])
        if payment["reversed_at"] is not None:
            await req.store(PAYMENTS).delete(payment["id"])
            return
        _check_entered_here(payment)
        day = await _announce_day(req, day_of(payment["paid_at"], req.service.settings.zone).isoformat())
        await req.store(PAYMENTS).delete(payment["id"])
        await take_off(req, payment, day)
        await announce_return(req, payment, day, None)

    await req.transaction(work)


async def reverse(req: Request) -> Record:
    """Take a payment off its contract, plan and account, dated `day` or today. It stays readable."""
    day = req.body.get("day") or day_of(req.now, req.service.settings.zone).isoformat()

    async def work() -> Record:
        payment = await get_editable(req, PAYMENTS, req.path["id"])
        _check_entered_here(payment)
        await _announce_day(req, day)
        changed = await mark_reversed(req, payment, day, req.body.get("reason"), req.body.get("version"))
        await take_off(req, payment, day)
        await announce_return(req, payment, day, req.body.get("reason"))
        return changed

    return await req.transaction(work)


def _check_entered_here(payment: Mapping[str, Any]) -> None:
    if payment["finance_payment_id"] is not None:
        raise ApiError(CONFLICT, ENTERED_IN_FINANCE)


async def mark_reversed(
    req: Request, payment: Mapping[str, Any], day: str, reason: str | None, version: int | None = None
) -> Record:
    """Mark a payment as reversed. Raises 40901 if it was before."""
    values = {"reversed_at": req.now, "reversed_on": day, "reason": reason}
    return await req.system_store(PAYMENTS).update(
        payment["id"], values, version=version, where={"reversed_at": None}, reason=PAYMENT_REVERSED
    )


async def take_off(req: Request, payment: Mapping[str, Any], day: str) -> None:
    """Take a payment off its contract and plan, and report what is owed then."""
    await _add_amount(req, CONTRACTS, payment["contract_id"], "received_amount", _negate(payment["amount"]))
    if payment["plan_id"] is not None:
        await _add_amount(req, PLANS, payment["plan_id"], "paid_amount", _negate(payment["amount"]))
    await req.emit(REMOVED_EVENT, payment=payment)
    await receivables.publish(req.service, req, payment["contract_id"], day)


async def _announce_day(req: Request, day: str) -> str:
    """Announce the business day of a payment or its removal, and return it. Listeners that keep the books may refuse."""
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


ROUTES: tuple[Route, ...] = (
    *crud(
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
        refusals_of={"create": OVERPAYMENT, "delete": conflicts(ENTERED_IN_FINANCE)},
        events=(DATED, MONEY_MOVED, MONEY_RETURNED),
    ),
    route(
        "POST /api/v1/crm/payments/{id}/reverse",
        reverse,
        summary="Reverse a payment that was entered by mistake",
        access="crm:payment:reverse",
        body=REVERSE_PAYMENT,
        record=PAYMENTS,
        errors=(STALE,),
        refusals=(REFUSES_READERS, *conflicts(PAYMENT_REVERSED, ENTERED_IN_FINANCE)),
        events=(DATED, MONEY_RETURNED),
    ),
)
