"""Settling open items: what a payment allocates to an item changes the item and the document that it comes from.

What a payment neither allocates nor pays back is an advance. On no day is more of it used than there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Request, exact, invalid, store_money
from plugins.api.business import MONEY_ALLOCATED
from plugins.api.records import change_state
from plugins.finance.claim_records import EXPENSE_CLAIMS
from plugins.finance.entries import ADVANCE, ENTRIES, PAID, ZERO, enter_advance, is_counted_elsewhere
from plugins.finance.exchange_differences import realise, realise_repaid
from plugins.finance.messages import ITEM_VOID, MORE_THAN_ADVANCE, MORE_THAN_OPEN, NO_SOURCE, PAID_BACK
from plugins.finance.open_items import CLAIM, INVOICE, add_paid, settle_invoice, update_from_invoice
from plugins.finance.payment_records import OPEN_ITEMS, PAYMENTS
from plugins.finance.record_types import FinancePayment, OpenItem, Voucher
from plugins.finance.records import INVOICES

Values = Mapping[str, Any]
Changes = list[tuple[str, Decimal]]  # days in order, each with the amount by which the total grew on it


async def check_left(req: Request, payment: Values, amount: Decimal, day: str) -> None:
    """Raise 40901 unless `amount` of an advance is left from `day` on, in a transaction; `data.open` is what is left.

    What is given back to the advance on a later day cannot be used before that day.
    """
    left = _find_least(await _list_advances(req, payment), day)
    if amount > left:
        shown = f"{max(left, ZERO):.2f}"
        raise ApiError(CONFLICT, MORE_THAN_ADVANCE.filled(open=shown), data={"open": shown})


async def repay(req: Request, payment: FinancePayment, amount: Decimal, day: str) -> None:
    """Take the `amount` that a payment pays back on `day` off its advance, in a transaction; below zero, give it back.

    Raises 40901 if less is left, or if the advance was reversed.
    """
    payments, id = req.system_store(PAYMENTS), payment["repays_id"]
    if amount > 0:
        await check_left(req, await payments.get(id), amount, day)
    change = {"$inc": {"unallocated": store_money(-amount), "repaid": store_money(amount)}}
    advance = await payments.update_unversioned({"_id": id, "status": "booked"}, change)
    if advance is None:
        raise ApiError(CONFLICT, PAID_BACK)
    await enter_advance(req.service, advance, -amount, day)
    await realise_repaid(req, payment, advance, amount, day)


async def find_first_reversal_day(req: Request, payment: Values) -> str:
    """Return the first day on which a payment may be reversed.

    It is the last day on which the payment was entered or allocated, or something was given back to it.
    """
    entered: str = payment["day"]
    settled = [row["day"] for row in payment["allocations"] or ()]
    last: str = max([entered, *settled, *(day for day, _ in await _list_advances(req, payment))])
    return last


async def find_least_paid(req: Request, item_id: Any, day: str) -> Decimal:
    """Return the least that is paid of an open item on `day` or on any later day."""
    return _find_least(await _list(req, {"kind": PAID, "open_item_id": item_id}), day)


async def _list_advances(req: Request, payment: Values) -> Changes:
    return await _list(req, {"kind": ADVANCE, "resource_id": str(payment["id"])})


async def _list(req: Request, filter: Values) -> Changes:
    """Return the changes of an advance, or of what is paid of an item, in its currency; entries have the opposite sign."""
    rows = await req.system_store(ENTRIES).find(filter, sort="day", fields=("day", "amount", "currency_amount"))
    return [
        (row["day"], -exact(row["amount"] if row["currency_amount"] is None else row["currency_amount"]))
        for row in rows
    ]


def _find_least(changes: Iterable[tuple[str, Decimal]], day: str) -> Decimal:
    """Return the least sum of the changes up to `day` or up to any later day."""
    total, at_day, later = ZERO, ZERO, []
    for changed_on, change in changes:
        total += change
        if changed_on <= day:
            at_day = total
        else:
            later.append((changed_on, total))
    # only the last sum of each day counts
    return min([at_day, *dict(later).values()])


SETTLING = (ITEM_VOID, MORE_THAN_OPEN, NO_SOURCE, PAID_BACK)  # the reasons of refusals
_DIRECTIONS = {"in": "out", "out": "in"}  # of a payment, and of the items that it settles


def settles(payment: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Return whether the payment settles the item; one of the other direction pays back what was paid too much."""
    return bool(_DIRECTIONS[payment["direction"]] == item["direction"])


def get_repayable(item: Mapping[str, Any]) -> Decimal:
    """Return what can be paid back of an item: what was paid too much, or all if another plugin counts the payments.

    A refund lowers what was received for a contract, so more of it is owed again unless the contract has ended.
    """
    paid = exact(item["paid"])
    return paid if is_counted_elsewhere(item) else paid - exact(item["amount"])


async def settle(
    req: Request,
    payment: FinancePayment,
    voucher: Voucher,
    item_id: Any,
    amount: Decimal,
    day: str,
    *,
    undo: bool = False,
) -> None:
    """Add what a payment allocates to an item to what is paid of the item, in a transaction; `undo` takes it off.

    `payment` says what was left of it before. Raises 40901, with the open amount as `data.open`, for more than is open or can
    be paid back. For an `undo`, raises 40901 if what it takes off was paid back, and 40001 if on `day` it was still paid back.
    """
    item = await req.system_store(OPEN_ITEMS).get(item_id)
    await realise(req, payment, item, amount, day, undo=undo)
    change = amount if settles(payment, item) != undo else -amount
    await _check(req, item, change, day, undo)
    if item["biz_type"] == INVOICE:
        await _settle_invoice(req, item, voucher, change, day)
    elif item["biz_type"] == CLAIM:
        await _settle_claim(req, item, voucher, change, day)
    elif is_counted_elsewhere(item):
        await _settle_elsewhere(req, item, payment, change, day)
    else:
        paid = await add_paid(req, item, change, day)
        if change > 0:
            await req.emit("finance.payable.paid", item=paid, voucher=voucher)


async def _check(req: Request, item: Mapping[str, Any], change: Decimal, day: str, undo: bool) -> None:
    owed, paid = exact(item["amount"]), exact(item["paid"])
    if undo:
        if paid + change < 0:
            raise ApiError(CONFLICT, PAID_BACK)
        # a repayment may have been reversed, but on a day after `day`; items of an older version have no entries
        if change < 0 and item["day"] is not None and await find_least_paid(req, item["id"], day) + change < 0:
            raise invalid("day", "minimum")
        return
    if change > 0 and item["status"] == "void":
        raise ApiError(CONFLICT, ITEM_VOID.filled(number=item["number"]))
    left = owed - paid if change > 0 else get_repayable(item)
    if abs(change) > left:
        shown = f"{max(left, Decimal(0)):.2f}"
        raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=shown), data={"open": shown})


async def _settle_invoice(req: Request, item: OpenItem, voucher: Voucher, change: Decimal, day: str) -> None:
    invoices = req.system_store(INVOICES)
    invoice = await invoices.get(item["resource_id"])
    paid = store_money(exact(invoice["paid"]) + change)
    changed = await settle_invoice(invoices, invoice, {"paid": paid})
    await update_from_invoice(req, changed, day, item)
    if change > 0:
        await req.emit("finance.invoice.paid", invoice=changed, voucher=voucher)


async def _settle_claim(req: Request, item: Mapping[str, Any], voucher: Voucher, change: Decimal, day: str) -> None:
    """Mark a claim as paid once all of it is paid, and as unpaid when that is no longer so."""
    claims = req.system_store(EXPENSE_CLAIMS)
    paid = await add_paid(req, item, change, day)
    claim = await claims.get(item["resource_id"])
    if paid["status"] == "paid" and claim["status"] != "paid":
        values = {"paid_at": req.now, "voucher_id": voucher["id"]}
        claim = await change_state(claims, claim["id"], "pay", values)
        await req.emit("finance.expense.paid", claim=claim, voucher=voucher)
    elif paid["status"] != "paid" and claim["status"] == "paid":
        await change_state(claims, claim["id"], "unpay", {"paid_at": None, "voucher_id": None})


async def _settle_elsewhere(req: Request, item: OpenItem, payment: FinancePayment, change: Decimal, day: str) -> None:
    """Have the plugin that counts the payments of the item count this one. Raises 40901 if none has done so."""
    await req.emit(
        MONEY_ALLOCATED,
        biz_type=item["biz_type"],
        resource_id=item["resource_id"],
        amount=store_money(change),
        day=day,
        payment=payment,
    )
    updated = await req.system_store(OPEN_ITEMS).get(item["id"])
    if exact(updated["paid"]) != exact(item["paid"]) + change:
        raise ApiError(CONFLICT, NO_SOURCE.filled(number=item["number"]))
