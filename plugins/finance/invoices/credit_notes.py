"""Credit notes. A note, its invoice and what is owed for it change in one transaction.

What was paid may then be more than is owed: the difference is a credit of the other party.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    ApiError,
    Event,
    Record,
    Request,
    Route,
    conflicts,
    crud,
    exact,
    invalid,
    route,
    store_money,
)
from plugins.api.records import Numbering
from plugins.finance.books.periods import check_open
from plugins.finance.books.vouchers import get_day
from plugins.finance.invoices.records import CREDIT_BODY, CREDIT_NOTES, INVOICES, REVERSE_NOTE_BODY
from plugins.finance.messages import MORE_THAN_OPEN, NOT_IN_STATE, NOTE_REVERSED_ALREADY, PERIOD_CLOSED
from plugins.finance.open_items import open_items
from plugins.finance.open_items.paying import settle_invoice
from plugins.finance.record_types import CreditNote, Invoice

CREDIT_NOTE_NUMBERS = Numbering("finance_credit_note_number", CREDIT_NOTES.noun, "CN", CREDIT_NOTES.name)
CREDITED = Event("finance.invoice.credited", invoice=dict, credit_note=dict)
NOTE_REVERSED = Event("finance.credit_note.reversed", invoice=dict, credit_note=dict, reversal=dict)
_CREDITABLE = ("confirmed", "partly_paid", "paid")


async def credit(req: Request) -> CreditNote:
    """Credit an invoice: the amount and tax of the body, or all that is left.

    Raises 40901 for more than is left, for an invoice whose state forbids it, and for a day in a closed month.
    """
    day = get_day(req)

    async def work() -> CreditNote:
        invoice = await req.lock(INVOICES, req.path["id"])
        if invoice["status"] not in _CREDITABLE:
            raise ApiError(CONFLICT, NOT_IN_STATE)
        await check_open(req.service, {"day": day})
        amount, tax = _choose_amounts(req.body, invoice)
        note, changed = await _enter(req, invoice, amount, tax, day)
        await req.emit(CREDITED, invoice=changed, credit_note=note)
        return note

    return await req.transaction(work)


async def reverse(req: Request) -> CreditNote:
    """Reverse a credit note by another one with amounts below zero, so that the invoice is owed again."""
    day = get_day(req)

    async def work() -> CreditNote:
        note = await req.lock(CREDIT_NOTES, req.path["id"])
        if note["reverses_id"] is not None or note["reversed_by_id"] is not None:
            raise ApiError(CONFLICT, NOTE_REVERSED_ALREADY)
        await check_open(req.service, {"day": day})
        if req.body.get("day") is not None and day < note["day"]:
            raise invalid("day", "minimum")
        await req.service.database.lock(INVOICES, note["invoice_id"])
        invoice = await req.system_store(INVOICES).get(note["invoice_id"])
        amount, tax = -exact(note["amount"]), -exact(note["tax"])
        reversal, changed = await _enter(req, invoice, amount, tax, day, reverses_id=note["id"])
        linked = await req.system_store(CREDIT_NOTES).update(note["id"], {"reversed_by_id": reversal["id"]})
        await req.emit(NOTE_REVERSED, invoice=changed, credit_note=linked, reversal=reversal)
        return reversal

    return await req.transaction(work)


async def _enter(
    req: Request, invoice: Invoice, amount: Decimal, tax: Decimal, day: str, **links: Any
) -> tuple[CreditNote, Invoice]:
    """Write a credit note, and change the invoice and what is owed for it. Returns the note and the invoice."""
    note = await req.store(CREDIT_NOTES).create(
        {
            "number": await CREDIT_NOTE_NUMBERS.take(req),
            "invoice_id": invoice["id"],
            "direction": invoice["direction"],
            "counterparty": invoice["counterparty"],
            "day": day,
            "amount": store_money(amount),
            "tax": store_money(tax),
            "total": store_money(amount + tax),
            "reason": req.body.get("reason"),
            **links,
        }
    )
    credited = {
        "credited": store_money(exact(invoice["credited"]) + amount + tax),
        "credited_tax": store_money(exact(invoice["credited_tax"]) + tax),
    }
    changed = await settle_invoice(req.system_store(INVOICES), invoice, credited)
    await open_items.update_from_invoice(req, changed, day)
    return note, changed


def _choose_amounts(body: Record, invoice: Invoice) -> tuple[Decimal, Decimal]:
    """Return the amount and the tax of a credit note: those of the body, or all that is left.

    Raises 40901 for more than is left, and 40001 for a tax without an amount.
    """
    credited_tax = exact(invoice["credited_tax"])
    left = {
        "amount": exact(invoice["amount"]) - (exact(invoice["credited"]) - credited_tax),
        "tax": exact(invoice["tax"]) - credited_tax,
    }
    if body.get("amount") is None:
        if body.get("tax") is not None:
            raise invalid("amount", "required")
        wanted = left
    else:
        wanted = {name: exact(body.get(name)) for name in left}
    for name, value in wanted.items():
        if value > left[name] or not any(left.values()):
            data = {"open": f"{left[name]:.2f}", "field": name}
            raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=data["open"]), data=data)
    return wanted["amount"], wanted["tax"]


ROUTES: tuple[Route, ...] = (
    *crud(CREDIT_NOTES, at="/api/v1/finance/credit-notes", resource="finance:credit-note", only=("list", "read")),
    route(
        "POST /api/v1/finance/invoices/{id}/credit-notes",
        credit,
        summary="Credit an invoice",
        access="finance:invoice:credit",
        body=CREDIT_BODY,
        returns=CREDIT_NOTES.read,
        collection=INVOICES.name,
        refusals=conflicts(MORE_THAN_OPEN, NOT_IN_STATE, PERIOD_CLOSED),
    ),
    route(
        "POST /api/v1/finance/credit-notes/{id}/reverse",
        reverse,
        summary="Reverse a credit note that was entered by mistake",
        access="finance:credit-note:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_NOTE_BODY,
        record=CREDIT_NOTES,
        refusals=conflicts(NOTE_REVERSED_ALREADY, PERIOD_CLOSED),
    ),
)
