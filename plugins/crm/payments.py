"""Payments received. A payment may not exceed the open amount of its contract, or of the plan that it is for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    Actor,
    ApiError,
    Collection,
    Event,
    Record,
    Request,
    Route,
    conflicts,
    crud,
    day_of,
    exact,
    route,
    store_money,
)
from plugins.api.business import DATED, MONEY_MOVED, MONEY_RETURNED, complete_currency
from plugins.api.data import new_id
from plugins.api.errors import STALE
from plugins.api.values import ReadOnlyRecord, RecordId, StoredAmount, Typed, Values, start_of
from plugins.crm import customer_children, receivables
from plugins.crm.bodies import REVERSE_PAYMENT
from plugins.crm.contract_records import CONTRACTS, PAYMENTS, PLANS
from plugins.crm.currencies import find_worth, limit_worth
from plugins.crm.messages import ENTERED_IN_FINANCE, NOT_PAYABLE, OVERPAID, PAYMENT_REVERSED, REFUNDED
from plugins.crm.ownership import REFUSES_READERS, find_reference, get_editable
from plugins.crm.payment_accounts import announce_money, announce_return, find_account
from plugins.crm.record_types import Contract, Customer, Payment
from plugins.crm.records import CUSTOMERS, EDITORS

RECEIVED_EVENT = Event("crm.payment.received", payment=dict, contract=dict)
REMOVED_EVENT = Event("crm.payment.removed", payment=dict)
PAYABLE = ("in_force", "completed")
REFUNDABLE = receivables.OWED
OVERPAYMENT = conflicts(OVERPAID, NOT_PAYABLE)
ALLOCATION_REFUSALS = (*OVERPAYMENT, *conflicts(REFUNDED))
_COPIED_BY_REVERSALS = (
    *("contract_id", "customer_id", "plan_id", "method", "reference", "account_id", "remark"),
    *("currency", "rate", "owner_id", "salesperson_id", "finance_payment_id", "shared_with", EDITORS),
)


async def create(req: Request) -> Payment:
    """Create a payment for a contract in force or completed. Raises 40901 if it exceeds the open amount."""
    body = req.body
    contract = await find_reference(req, CONTRACTS, "contract_id", body["contract_id"])
    if body.get("plan_id") is not None:
        await find_reference(req, PLANS, "plan_id", body["plan_id"], contract_id=contract["id"])
    customer = await req.system_store(CUSTOMERS).get(contract["customer_id"])
    paid_at = body.get("paid_at") or req.now
    on = day_of(paid_at, req.service.settings.zone).isoformat()
    stated = await complete_currency(req, {**body, "currency": contract["currency"]}, on, "rate")
    limit_worth(body["amount"], stated, "rate")
    values = {**body, **stated, "paid_at": paid_at, "account_id": await find_account(req)}

    async def work() -> Payment:
        day = await _announce_day(req, values, on)
        payment, paid = await receive(req, contract, customer, values)
        await receivables.announce(req.service, req, paid, customer, day)
        await announce_money(req, payment, customer["name"], day)
        return payment

    return await req.transaction(work)


async def receive(
    req: Request, contract: Contract, customer: Customer, values: Values, *, corrects: bool = False
) -> tuple[Payment, Contract]:
    """Add a payment to its contract and plan, store it, and return the payment and the updated contract.

    A payment below zero is a refund. `values` has its `rate`, None in the company's currency. Raises 40901 if the payment
    exceeds the open amount, unless it `corrects` another one, or if more is refunded than was received.
    """
    paid = await _receive(req, contract["id"], values.get("plan_id"), values["amount"], corrects=corrects)
    # not looked up: this transaction has written both, so neither can be deleted before it ends
    changed = ("contract_id", "plan_id")
    owned = {**values, "salesperson_id": contract["owner_id"], "currency": contract["currency"]}
    owned["base_amount"] = find_worth(values["amount"], values)
    payment = await customer_children.insert(req, PAYMENTS, owned, customer, contract["owner_id"], changed)
    await req.emit(RECEIVED_EVENT, payment=payment, contract=contract)
    return payment, paid


async def delete(req: Request) -> None:
    """Delete a payment that was entered by mistake, and add its amount back to the open amount."""

    async def work() -> None:
        payment = await get_editable(req, PAYMENTS, req.path["id"])
        _check_entered_here(payment)
        day = await _announce_day(
            req, payment, day_of(payment["paid_at"] or payment["created_at"], req.service.settings.zone).isoformat()
        )
        await req.store(PAYMENTS).delete(payment["id"])
        await _take_off(req, payment, day)
        await announce_return(req, payment, day, None)

    await req.transaction(work)


async def reverse(req: Request) -> Payment:
    """Take a payment off its contract, plan and account, dated `day` or today. Both it and its reversal are kept."""
    day = req.body.get("day") or _today(req)

    async def work() -> Payment:
        payment = await get_editable(req, PAYMENTS, req.path["id"])
        _check_entered_here(payment)
        await _announce_day(req, payment, day)
        changed = await enter_reversal(req, payment, day, req.body.get("reason"), req.body.get("version"))
        await announce_return(req, payment, day, req.body.get("reason"))
        return changed

    return await req.transaction(work)


def _check_entered_here(payment: Payment) -> None:
    if payment["reversed_at"] is not None:
        raise ApiError(CONFLICT, PAYMENT_REVERSED)
    if payment["finance_payment_id"] is not None:
        raise ApiError(CONFLICT, ENTERED_IN_FINANCE)


async def enter_reversal(
    req: Request, payment: Payment, day: str, reason: str | None, version: int | None = None
) -> Payment:
    """Enter the opposite of a payment on `day`, link the two, and take the payment off its contract and plan.

    Returns the payment. Raises 40901 if it is already reversed. Whoever can see the payment can see its reversal.
    """
    id, marks = new_id(), {"reversed_at": req.now, "reversed_on": day, "reason": reason}
    changed = await req.system_store(PAYMENTS).update(
        payment["id"],
        {**marks, "reversed_by_id": id},
        version=version,
        where={"reversed_at": None},
        reason=PAYMENT_REVERSED,
    )
    creator = Actor(user_id=payment["creator_id"], department_id=payment["creator_department_id"])
    amount = store_money(-exact(payment["amount"]))
    opposite = {"amount": amount, "base_amount": find_worth(amount, payment), "paid_at": moment_on(req, day)}
    copied = {name: payment.get(name) for name in _COPIED_BY_REVERSALS}
    values = {**copied, **opposite, **marks, "reverses_id": payment["id"]}
    await req.service.database.store(PAYMENTS, creator).create(values, id=id)
    await _take_off(req, payment, day)
    return changed


def moment_on(req: Request, day: str) -> datetime:
    """Return the current time if `day` is today, else the start of the day."""
    return req.now if day == _today(req) else start_of(date.fromisoformat(day), req.service.settings.zone)


def _today(req: Request) -> str:
    return day_of(req.now, req.service.settings.zone).isoformat()


async def _take_off(req: Request, payment: Payment, day: str) -> None:
    """Take a payment off its contract and plan, and report what is owed afterwards.

    Raises 40901 if the payment has been refunded. A refund can always be taken off, so that payments and refunds never
    wait for each other: if the contract was paid again meanwhile, too much is paid of it.
    """
    if await _add_amount(req, CONTRACTS, payment["contract_id"], "received_amount", _negate(payment["amount"])) is None:
        raise ApiError(CONFLICT, REFUNDED)
    if payment["plan_id"] is not None:
        await _add_amount(req, PLANS, payment["plan_id"], "paid_amount", _negate(payment["amount"]))
    await req.emit(REMOVED_EVENT, payment=payment)
    await receivables.publish(req.service, req, payment["contract_id"], day)


async def _announce_day(req: Request, payment: ReadOnlyRecord, day: str) -> str:
    """Emit the business day of a payment or its removal, and return it. Listeners that keep the books may refuse it."""
    await req.emit(DATED, day=day, booked=payment["account_id"] is not None)
    return day


async def _receive(
    req: Request, contract_id: RecordId, plan_id: RecordId, amount: StoredAmount, *, corrects: bool
) -> Contract:
    pays = exact(amount) > 0 and not corrects
    states = PAYABLE if pays else REFUNDABLE
    where = {"status": {"$in": list(states)}}
    paid = await _add_amount(req, CONTRACTS, contract_id, "received_amount", amount, where, limited=pays)
    if paid is None:
        contract = await req.system_store(CONTRACTS).get(contract_id)
        if contract["status"] not in states:
            raise ApiError(CONFLICT, NOT_PAYABLE)
        if not pays:
            raise ApiError(CONFLICT, REFUNDED)
        raise _overpaid_error(contract, "received_amount")
    if plan_id is not None and await _add_amount(req, PLANS, plan_id, "paid_amount", amount, limited=True) is None:
        raise _overpaid_error(await req.system_store(PLANS).get(plan_id), "paid_amount")
    return paid


def _overpaid_error(record: ReadOnlyRecord, paid: str) -> ApiError:
    """Return the error for a payment that exceeds the open amount, with the open amount in its data."""
    unpaid = f"{max(exact(record['amount']) - exact(record[paid]), Decimal(0)):.2f}"
    return ApiError(CONFLICT, OVERPAID.filled(open=unpaid), data={"open": unpaid})


async def _add_amount(
    req: Request,
    collection: Collection[Typed],
    id: RecordId,
    field: str,
    amount: object,
    where: Values | None = None,
    *,
    limited: bool = False,
) -> Typed | None:
    """Add `amount` to the sum in `field` of a record, in one conditional update, and return the record.

    Returns None if the sum would fall below zero, or exceed the amount of the record if `limited`, or if `where`
    does not match.
    """
    total = {"$add": [f"${field}", amount]}
    change: list[Mapping[str, Any]] = [{"$set": {field: total, "version": {"$add": ["$version", 1]}}}]
    if collection is PLANS:
        change.append({"$set": {"settled": {"$gte": [f"${field}", "$amount"]}}})
    most = [{"$lte": [total, "$amount"]}] if limited else []
    fits = {"_id": id, **(where or {}), "$expr": {"$and": [{"$gte": [total, 0]}, *most]}}
    return await req.system_store(collection).update_unversioned(fits, change)


def _negate(amount: object) -> Record:
    return {"$subtract": [0, amount]}


ROUTES: tuple[Route, ...] = (
    *crud(
        PAYMENTS,
        at="/api/v1/crm/payments",
        resource="crm:payment",
        only=("list", "read", "create", "delete"),
        always=("reference", "remark"),
        find=get_editable,
        without=("restore",),  # a deletion takes the amount off contract, plan and account
        create=create,
        delete=delete,
        errors=(STALE,),
        refusals=(REFUSES_READERS,),
        refusals_of={"create": OVERPAYMENT, "delete": conflicts(ENTERED_IN_FINANCE, PAYMENT_REVERSED, REFUNDED)},
        events=(DATED, MONEY_MOVED, MONEY_RETURNED),
    ),
    route(
        "POST /api/v1/crm/payments/{id}/reverse",
        reverse,
        summary="Reverse a payment that was entered by mistake",
        effect=(
            "回款将从合同、回款计划和账户中扣除，原记录保留。",
            "The payment is taken off its contract, plan and account; the record is kept.",
        ),
        access="crm:payment:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_PAYMENT,
        record=PAYMENTS,
        errors=(STALE,),
        refusals=(REFUSES_READERS, *conflicts(PAYMENT_REVERSED, ENTERED_IN_FINANCE, REFUNDED)),
        events=(DATED, MONEY_RETURNED),
    ),
)
