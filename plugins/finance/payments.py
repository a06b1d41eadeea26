"""Payments: entering them with what they settle, allocating them later, and reversing them; paying one payable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    Action,
    ApiError,
    Collection,
    Record,
    Refusal,
    Request,
    Route,
    Step,
    conflicts,
    crud,
    exact,
    invalid,
    store_money,
    transitions,
)
from plugins.api.business import MONEY_ALLOCATED, complete_currency
from plugins.api.records import Announced
from plugins.api.values import RecordId
from plugins.finance.books import (
    REVERSED_EVENT,
    book_in_transaction,
    check_cashier,
    check_open,
    get_day,
    reverse_booked,
)
from plugins.finance.counterparties import find_party_name
from plugins.finance.entering import (
    Part,
    add_up,
    describe_reversal,
    enter,
    find_parts,
    is_of,
    list_allocations,
    pay,
    refuse,
    settle_all,
    take_back,
    with_left,
)
from plugins.finance.entries import adopt, enter_change, follow_amounts
from plugins.finance.messages import (
    ALREADY_REVERSED,
    ENTERED_ELSEWHERE,
    MORE_THAN_ADVANCE,
    MORE_THAN_ALLOCATED,
    MORE_THAN_OPEN,
    NOT_CASHIER,
    NOTHING_ALLOCATED,
    PAID_BACK,
    PAID_ELSEWHERE,
    PERIOD_CLOSED,
)
from plugins.finance.open_items import (
    ItemBefore,
    ItemWithBills,
    PaidAmount,
    PaymentVoucher,
    add_payment,
    get_amount,
    get_with_bills,
    in_books,
    pay_billed,
)
from plugins.finance.payment_records import (
    ALLOCATE_BODY,
    MAX_ALLOCATIONS,
    OPEN_ITEMS,
    PAYMENTS,
    REVERSE_PAYMENT_BODY,
    TAKE_BACK_BODY,
)
from plugins.finance.reallocations import Reallocated, enter_reallocated, take_allocation_back
from plugins.finance.record_types import FinancePayment, Voucher
from plugins.finance.records import ACCOUNTS, PAY_INVOICE_BODY, VOUCHERS
from plugins.finance.settlements import SETTLING, check_left, get_repayable, repay, settles


async def _find_payable(req: Request, _: Collection, id: RecordId) -> ItemWithBills:
    """Return the open item with its `bills`. Raises 40901 for a receivable."""
    item = await get_with_bills(req, id)
    if item["direction"] != "in":
        raise ApiError(CONFLICT, PAID_ELSEWHERE)
    return item


async def _book(step: Step[ItemWithBills]) -> None:
    """Book the payment of a payable, or of a part of it."""
    item = step.record
    if item["day"] is None:
        await adopt(step.service, item)
    amount = get_amount(step, exact(item["amount"]) - exact(item["paid"]))
    await pay(step, item, amount, {"category": "purchase", "open_item_id": item["id"]})


def _choose_action(step: Step[ItemWithBills]) -> str:
    return "pay" if add_payment(step) >= exact(step.record["amount"]) else "pay-part"


def _get_values(step: Step[ItemWithBills]) -> Record:
    values = {"paid": store_money(add_payment(step))}
    return values | follow_amounts({**step.record, **values})


async def _enter_payment(step: Step[ItemWithBills]) -> None:
    voucher, item = step.kept[PaymentVoucher].voucher, step.record
    before = {**item, "paid": store_money(exact(item["paid"]) - step.kept[PaidAmount].amount)}
    await enter_change(step.service, {**before, **follow_amounts(before)}, item, voucher["day"] or step.today)
    if cast(ItemWithBills, step.kept[ItemBefore].item)["bills"]:
        await pay_billed(step.service, step.record)


_PARTY = ("customer_id", "supplier_id", "counterparty")


async def create(req: Request) -> FinancePayment:
    """Enter a payment. What it does not allocate is an advance, unless it pays one back."""
    values = {**req.body, "day": get_day(req)}
    if values.get("customer_id") is not None and values.get("supplier_id") is not None:
        raise invalid("supplier_id", "invalid")
    given = values.pop("allocations", None) or []
    amount, parts = exact(values["amount"]), await find_parts(req, given)
    if add_up(parts) > amount:
        raise invalid("allocations", "maximum")
    named = any(values.get(name) is not None for name in _PARTY)
    values |= await _choose_currency(req, values, parts)
    values |= await _choose_party(req, values, parts)
    # the party of an item that the caller sees need not be in their data scope
    store = req.store(PAYMENTS) if named else req.system_store(PAYMENTS)
    if values.get("repays_id") is not None:
        await _check_advance(req, values, parts)

    async def work() -> FinancePayment:
        payment, voucher = await enter(req, store, values, parts, {}, () if named else _PARTY)
        await settle_all(req, with_left(payment, add_up(parts)), voucher, parts, values["day"])
        if values.get("repays_id") is not None:
            await repay(req, payment, amount, values["day"])
        return payment

    return await book_in_transaction(req, values["day"], work)


async def _choose_currency(req: Request, values: Mapping[str, Any], parts: Sequence[Part]) -> Record:
    """Return currency and rate of a payment: the given ones, or else the currency of what it settles, or of its account."""
    given = values.get("currency")
    if given is None and parts:
        given = parts[0][0]["currency"]
    elif given is None:
        account = await req.system_store(ACCOUNTS).find_one({"_id": values["account_id"]})
        given = account["currency"] if account is not None else None
    of = "currency" if values.get("currency") is not None else "rate"
    return await complete_currency(req, {**values, "currency": given}, values["day"], of)


async def _choose_party(req: Request, values: Mapping[str, Any], parts: Sequence[Part]) -> Record:
    """Return the party of a payment: the given one, or else that of its first item or of the advance it pays back."""
    party = {name: values.get(name) for name in _PARTY}
    if not any(party.values()):
        source = parts[0][0] if parts else None
        if source is None and values.get("repays_id") is not None:
            source = await req.store(PAYMENTS).find_one({"_id": values["repays_id"]})
        party = {name: source[name] if source else None for name in _PARTY}
    elif party["counterparty"] is None:
        party["counterparty"] = await find_party_name(req, party)
    _check_items({**values, **party}, parts)
    return party


def _check_items(payment: Mapping[str, Any], parts: Sequence[Part]) -> None:
    """Raise 40001 for items of another party or currency, and of the other direction with nothing to pay back."""
    refuse(
        (number, "reference")
        for number, (item, _) in enumerate(parts)
        if not is_of(payment, item) or not (settles(payment, item) or get_repayable(item) > 0)
    )
    refuse((number, "invalid") for number, (item, _) in enumerate(parts) if item["currency"] != payment.get("currency"))


async def _check_advance(req: Request, values: Mapping[str, Any], parts: Sequence[Part]) -> None:
    """Raise 40001 unless `repays_id` is an earlier payment of the other direction and the same party.

    Also raises 40001 if the payment itself allocates something.
    """
    if parts:
        raise invalid("allocations", "invalid")
    advance = await req.store(PAYMENTS).find_one({"_id": values["repays_id"]})
    if advance is None or advance["direction"] == values["direction"]:
        raise invalid("repays_id", "reference")
    if not is_of(values, advance) or advance["currency"] != values.get("currency"):
        raise invalid("repays_id", "reference")
    if values["day"] < advance["day"]:
        raise invalid("day", "minimum")


# -- actions


@dataclass(frozen=True)
class Reversed(Announced):
    """The voucher of a payment, and the one that reverses it."""

    voucher: Voucher
    reversal: Voucher


async def _allocate(step: Step[FinancePayment]) -> Record:
    """Settle the items of the body with an advance, or with a part of it. Returns what changes in the payment."""
    req, payment, day = step.req, step.record, get_day(step.req)
    parts = await find_parts(req, step.body["allocations"])
    _check_items(payment, parts)
    if payment["day"] is not None and day < payment["day"]:
        raise invalid("day", "minimum")
    if len(payment["allocations"] or ()) + len(parts) > MAX_ALLOCATIONS:
        raise invalid("allocations", "maxItems")
    await check_left(req, payment, add_up(parts), day)
    await check_open(step.service, {"day": day})
    voucher = await req.system_store(VOUCHERS).get(payment["voucher_id"])
    await settle_all(req, payment, voucher, parts, day)
    added = add_up(parts)
    step.keep(Reallocated(-added))
    return {
        "allocations": [*(payment["allocations"] or ()), *list_allocations(parts, day)],
        "allocated": store_money(exact(payment["allocated"]) + added),
        "unallocated": store_money(exact(payment["unallocated"]) - added),
    }


async def _reverse(step: Step[FinancePayment]) -> None:
    """Book the opposite voucher, and take the allocations back."""
    req, payment = step.req, step.record
    check_cashier(req, payment)
    voucher = await req.system_store(VOUCHERS).get(payment["voucher_id"])
    day = get_day(req)
    reversal = await reverse_booked(req, voucher, day, step.reason)
    step.keep(Reversed(voucher, reversal))
    await take_back(req, payment, voucher, day)


async def _announce_reversal(step: Step[FinancePayment]) -> None:
    await step.emit(REVERSED_EVENT, **vars(step.kept[Reversed]))


ROUTES: tuple[Route, ...] = (
    *transitions(
        OPEN_ITEMS,
        Action(
            "POST /api/v1/finance/payables/{id}/pay",
            access="finance:invoice:pay",
            does=("pay", "pay-part"),
            summary="Pay a payable",
            body=PAY_INVOICE_BODY,
            before=_book,
            choose=_choose_action,
            values=_get_values,
            after=_enter_payment,
            within=in_books,
            unless={"paid_elsewhere": PAID_ELSEWHERE},
            refusals=conflicts(PAID_ELSEWHERE, MORE_THAN_OPEN, PERIOD_CLOSED),
        ),
        find=_find_payable,
    ),
    *crud(
        PAYMENTS,
        at="/api/v1/finance/payments",
        resource="finance:payment",
        only=("list", "read", "create"),
        always=("reference", "remark"),
        create=create,
        events=(MONEY_ALLOCATED,),
        refusals_of={"create": conflicts(PERIOD_CLOSED, MORE_THAN_ADVANCE, *SETTLING)},
    ),
    *transitions(
        PAYMENTS,
        Action(
            "POST /api/v1/finance/payments/{id}/allocations",
            access="finance:payment:allocate",
            does=("allocate",),
            summary="Allocate an advance to open items",
            body=ALLOCATE_BODY,
            values=_allocate,
            after=enter_reallocated,
            events=(MONEY_ALLOCATED,),
            refusals=conflicts(PERIOD_CLOSED, MORE_THAN_ADVANCE, *SETTLING),
        ),
        Action(
            "POST /api/v1/finance/payments/{id}/take-back",
            access="finance:payment:allocate",
            summary="Undo an allocation, so that the amount becomes an advance",
            body=TAKE_BACK_BODY,
            values=take_allocation_back,
            after=enter_reallocated,
            events=(MONEY_ALLOCATED,),
            refusals=conflicts(PERIOD_CLOSED, MORE_THAN_ALLOCATED, NOTHING_ALLOCATED, ENTERED_ELSEWHERE, *SETTLING),
        ),
        Action(
            "POST /api/v1/finance/payments/{id}/reverse",
            access="finance:payment:reverse",
            body=REVERSE_PAYMENT_BODY,
            before=_reverse,
            values=lambda step: describe_reversal(step.req, step.kept[Reversed].reversal),
            after=_announce_reversal,
            within=in_books,
            events=(REVERSED_EVENT, MONEY_ALLOCATED),
            refusals=(
                Refusal(FORBIDDEN, NOT_CASHIER, exempt_super=True),
                *conflicts(ALREADY_REVERSED, PERIOD_CLOSED, PAID_BACK),
            ),
        ),
    ),
)
