"""What paying claims, invoices and payables has in common: the voucher is booked in the transaction of the action."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, Request, Step, Store, exact
from plugins.api.records import Announced, change_state
from plugins.api.values import ReadOnlyRecord
from plugins.finance.books.vouchers import book_in_transaction, get_day
from plugins.finance.messages import MORE_THAN_OPEN
from plugins.finance.record_types import Invoice, OpenItem, Voucher

# the action that leads an invoice to each state when what is owed or paid changes; `_OF_UNPAID` if it is `confirmed`
_ACTIONS = {"confirmed": "unpay", "partly_paid": "unpay-part", "paid": "settle", "credited": "credit"}
_OF_UNPAID = {**_ACTIONS, "partly_paid": "pay-part", "paid": "pay"}


@dataclass(frozen=True)
class Paid:
    """The open item that an action pays, as it was before."""

    item: OpenItem


@dataclass(frozen=True)
class Booked(Announced):
    """The voucher of the payment that an action enters."""

    voucher: Voucher


async def in_books(req: Request, work: Callable[[], Awaitable[Record]]) -> Record:
    """Run `work`, which books a voucher dated the `day` of the body or today, in one transaction."""
    return await book_in_transaction(req, get_day(req), work)


def get_amount(step: Step[Any], unpaid: Decimal) -> Decimal:
    """Return the amount to pay: that of the body, or all that is open. Raises 40901 if it is more than is open."""
    amount = exact(step.body["amount"]) if step.body.get("amount") is not None else unpaid
    if amount > unpaid:
        raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=unpaid), data={"open": f"{unpaid:.2f}"})
    return amount


def add_payment(step: Step[Any]) -> Decimal:
    """Return how much of the record is paid, including the voucher of the step."""
    return exact(step.record["paid"]) + exact(step.kept[Booked].voucher["amount"])


def get_owed(invoice: ReadOnlyRecord) -> Decimal:
    """Return what is owed for an invoice, whether paid or not: its total less its credit notes."""
    return exact(invoice["total"]) - exact(invoice["credited"])


async def settle_invoice(invoices: Store[Invoice], invoice: Invoice, values: Record) -> Invoice:
    """Change the paid or credited amount of an invoice, and its state, which follows from them."""
    after = {**invoice, **values}
    owed, paid = get_owed(after), exact(after["paid"])
    state = "paid" if paid and paid >= owed else "partly_paid" if paid else "confirmed" if owed else "credited"
    if state == invoice["status"]:
        return await invoices.update(invoice["id"], values, version=invoice["version"])
    action = (_OF_UNPAID if invoice["status"] == "confirmed" else _ACTIONS)[state]
    return await change_state(invoices, invoice["id"], action, values, version=invoice["version"])
