"""What paying has in common, of claims, invoices and payables: a voucher is booked in the transaction of the action."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal

from plugins.api import CONFLICT, ApiError, Request, Step, exact
from plugins.finance.messages import MORE_THAN_OPEN
from plugins.finance.vouchers import Record, book_in_transaction, get_day


async def in_books(req: Request, work: Callable[[], Awaitable[Record]]) -> Record:
    """Run `work`, which books a voucher of the `day` of the body, or of today, in one transaction."""
    return await book_in_transaction(req, get_day(req), work)


def get_amount(step: Step, unpaid: Decimal) -> Decimal:
    """Return the amount to pay: that of the body, or all that is open. Raises 40901 if that is more than is open."""
    amount = exact(step.body["amount"]) if step.body.get("amount") is not None else unpaid
    if amount > unpaid:
        raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=unpaid), data={"open": f"{unpaid:.2f}"})
    return amount


def add_payment(step: Step) -> Decimal:
    """Return what is paid of the record with the voucher of the step."""
    return exact(step.record["paid"]) + exact(step.payload["voucher"]["amount"])
