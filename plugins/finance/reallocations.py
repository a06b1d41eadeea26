"""Later changes to what a payment settles: an allocation is taken back, or what was paid too much pays another item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    ApiError,
    Handler,
    Message,
    Record,
    Request,
    Route,
    Step,
    conflicts,
    exact,
    invalid,
    route,
    store_money,
)
from plugins.api.business import MONEY_ALLOCATED
from plugins.api.records import change_state
from plugins.api.requests import RouteOptions
from plugins.api.values import RecordId
from plugins.finance.books import check_open, get_day
from plugins.finance.entering import Part, add_up, find_parts, list_allocations, refuse, settle_all, with_left
from plugins.finance.entries import enter_advance
from plugins.finance.messages import (
    ENTERED_ELSEWHERE,
    MORE_THAN_ALLOCATED,
    MORE_THAN_EXCESS,
    MORE_THAN_OPEN,
    NOTHING_ALLOCATED,
    PERIOD_CLOSED,
    WRONG_SIDE,
)
from plugins.finance.payment_records import CREDIT_ITEMS_BODY, MAX_ALLOCATIONS, OPEN_ITEMS, PAYMENTS
from plugins.finance.record_types import Allocation, FinancePayment, OpenItem
from plugins.finance.records import VOUCHERS
from plugins.finance.settlements import SETTLING, settle

_ZERO = Decimal(0)
_IDS = ("customer_id", "supplier_id")
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Reallocated:
    """By how much a payment becomes more of an advance; below zero, less."""

    advance: Decimal


async def take_allocation_back(step: Step[FinancePayment]) -> Record:
    """Take back what a payment allocates to the item of the body, or a part of it: the amount is an advance again.

    Returns the values that change in the payment.
    """
    req, payment, body = step.req, step.record, step.body
    if payment["biz_type"] is not None:
        raise ApiError(CONFLICT, ENTERED_ELSEWHERE)
    item_id, day = body["open_item_id"], get_day(req)
    allocated = _add_up_rows(payment, item_id)
    amount = exact(body["amount"]) if body.get("amount") is not None else allocated
    _refuse_more(amount, allocated, MORE_THAN_ALLOCATED if allocated else NOTHING_ALLOCATED)
    await check_open(step.service, {"day": day})
    step.keep(Reallocated(amount))
    return await _move(req, payment, item_id, amount, (), day)


async def enter_reallocated(step: Step[FinancePayment]) -> None:
    """Enter what is more or less of an advance."""
    await enter_advance(step.service, step.record, step.kept[Reallocated].advance, get_day(step.req))


def make_credit_handler(direction: str) -> Handler:
    """Return the handler that settles items of a party with what was paid too much of another item of that party."""

    async def credit_items(req: Request) -> OpenItem:
        day = get_day(req)

        async def work() -> OpenItem:
            item = await req.store(OPEN_ITEMS).get(req.path["id"])
            if item["direction"] != direction:
                raise ApiError(CONFLICT, WRONG_SIDE)
            parts = await find_parts(req, req.body["allocations"])
            _check_parts(item, parts)
            await check_open(req.service, {"day": day})
            await _credit(req, item, parts, day)
            return await req.system_store(OPEN_ITEMS).get(item["id"])

        return await req.transaction(work)

    return credit_items


def _check_parts(item: Values, parts: Sequence[Part]) -> None:
    """Raise 40001 for items of another party or direction, and 40901 for more than is open of one."""
    refuse((number, "reference") for number, (one, _) in enumerate(parts) if not _may_credit(item, one))
    for number, (one, amount) in enumerate(parts):
        left = exact(one["amount"]) - exact(one["paid"])
        _refuse_more(amount, left, MORE_THAN_OPEN, field=f"allocations[{number}].amount")


def _may_credit(item: Values, other: Values) -> bool:
    """Return whether `other` is another item of the same direction, party and currency; without an id the name is compared."""
    if other["id"] == item["id"] or any(other[name] != item[name] for name in ("direction", "currency", *_IDS)):
        return False
    named = any(item[name] is not None for name in _IDS)
    return named or bool(item["counterparty"] and item["counterparty"] == other["counterparty"])


async def _credit(req: Request, item: OpenItem, parts: Sequence[Part], day: str) -> None:
    """Move allocations of an item to these parts, those of the latest payments first."""
    payments = req.system_store(PAYMENTS)
    live = {"allocations.open_item_id": item["id"], "status": "booked", "biz_type": None}
    settling = {"direction": "in" if item["direction"] == "out" else "out", **live}
    found = await payments.find(settling, sort="-day")
    movable = sum((_add_up_rows(payment, item["id"]) for payment in found), _ZERO)
    _refuse_more(add_up(parts), min(exact(item["paid"]) - exact(item["amount"]), movable), MORE_THAN_EXCESS)
    waiting = list(parts)
    for payment in found:
        taken = _take(waiting, _add_up_rows(payment, item["id"]))
        if not taken:
            break
        values = await _move(req, payment, item["id"], add_up(taken), taken, day)
        await change_state(payments, payment["id"], "allocate", values)


def _take(waiting: list[Part], most: Decimal) -> list[Part]:
    """Take parts off the front of `waiting`, up to a sum of `most`, and return them. The last one may be divided."""
    taken = []
    while waiting and most:
        item, amount = waiting.pop(0)
        part = min(amount, most)
        most -= part
        taken.append((item, part))
        if part < amount:
            waiting.insert(0, (item, amount - part))
    return taken


async def _move(
    req: Request, payment: FinancePayment, item_id: Any, amount: Decimal, parts: Sequence[Part], day: str
) -> Record:
    """Take an amount off what a payment allocates to an item, on `day`, and settle other items with these parts of it.

    Returns the values that change in the payment. Raises 40001 for a day before the allocation, and if the payment
    would have too many allocations.
    """
    voucher = await req.system_store(VOUCHERS).get(payment["voucher_id"])
    kept, taken = _split(payment["allocations"] or (), item_id, amount)
    before = payment
    if any(row["day"] is not None and day < row["day"] for row in taken):
        raise invalid("day", "minimum")
    for row in taken:
        await settle(req, payment, voucher, item_id, exact(row["amount"]), day, undo=True)
        payment = with_left(payment, exact(row["amount"]))
    await settle_all(req, payment, voucher, parts, day)
    allocations = [*kept, *list_allocations(parts, day)]
    gone = [{**row, "taken_back_on": day, "reason": req.body.get("reason")} for row in taken]
    former = [*(before["taken_back"] or ()), *gone]
    if max(len(allocations), len(former)) > MAX_ALLOCATIONS:
        raise invalid("allocations", "maxItems")
    freed = amount - add_up(parts)
    return {
        "allocations": allocations,
        "taken_back": former,
        "allocated": store_money(exact(before["allocated"]) - freed),
        "unallocated": store_money(exact(before["unallocated"]) + freed),
    }


def _split(rows: Sequence[Allocation], item_id: RecordId, amount: Decimal) -> tuple[list[Allocation], list[Allocation]]:
    """Divide allocations into those that stay and those that are taken off an item, the latest first."""
    kept: list[Allocation] = []
    taken: list[Allocation] = []
    for row in reversed(rows):
        part = min(exact(row["amount"]), amount) if row["open_item_id"] == item_id else _ZERO
        amount -= part
        if part:
            taken.append({**row, "amount": store_money(part)})
        if part < exact(row["amount"]):
            kept.insert(0, {**row, "amount": store_money(exact(row["amount"]) - part)})
    return kept, taken


def _add_up_rows(payment: Values, item_id: Any) -> Decimal:
    rows = payment["allocations"] or ()
    return sum((exact(row["amount"]) for row in rows if row["open_item_id"] == item_id), _ZERO)


def _refuse_more(amount: Decimal, most: Decimal, message: Message, **place: str) -> None:
    """Raise 40901 if the amount is more than `most`, or not above zero; `data.open` says how much there is."""
    if amount > most or amount <= 0:
        shown = f"{max(most, _ZERO):.2f}"
        raise ApiError(CONFLICT, message.filled(open=shown), data={"open": shown, **place})


_OPTIONS: RouteOptions = {
    "body": CREDIT_ITEMS_BODY,
    "record": OPEN_ITEMS,
    "events": (MONEY_ALLOCATED,),
    "refusals": conflicts(PERIOD_CLOSED, MORE_THAN_EXCESS, WRONG_SIDE, *SETTLING),
}


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/finance/receivables/{id}/credits",
        make_credit_handler("out"),
        summary="Settle other receivables with the overpayment of one",
        access="finance:payment:allocate",
        **_OPTIONS | {"title": ("用多收款核销", "Use overpayment")},
    ),
    route(
        "POST /api/v1/finance/payables/{id}/credits",
        make_credit_handler("in"),
        summary="Settle other payables with the overpayment of one",
        access="finance:payment:allocate",
        **_OPTIONS | {"title": ("用多付款核销", "Use overpayment")},
    ),
)
