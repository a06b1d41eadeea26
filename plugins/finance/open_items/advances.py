"""Advances: the part of a payment that is neither allocated nor paid back. On no day is more used than there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Request, exact, store_money
from plugins.finance.messages import MORE_THAN_ADVANCE, PAID_BACK
from plugins.finance.open_items.entries import ADVANCE, ENTRIES, PAID, ZERO, enter_advance
from plugins.finance.payments.records import PAYMENTS

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


async def repay(req: Request, id: Any, amount: Decimal, day: str) -> None:
    """Take the `amount` that is paid back on `day` off an advance, in a transaction; below zero, give it back.

    Raises 40901 if less is left, or if the advance was reversed.
    """
    payments = req.system_store(PAYMENTS)
    if amount > 0:
        await check_left(req, await payments.get(id), amount, day)
    change = {"$inc": {"unallocated": store_money(-amount), "repaid": store_money(amount)}}
    advance = await payments.update_unversioned({"_id": id, "status": "booked"}, change)
    if advance is None:
        raise ApiError(CONFLICT, PAID_BACK)
    await enter_advance(req.service, advance, -amount, day)


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
    """Return the changes of an advance, or of what is paid of an item; entries store both with the opposite sign."""
    rows = await req.system_store(ENTRIES).find(filter, sort="day", fields=("day", "amount"))
    return [(row["day"], -exact(row["amount"])) for row in rows]


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
