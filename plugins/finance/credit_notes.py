"""Credit notes. A note, its invoice and what is owed for it change in one transaction.

What was paid may be more than is owed then: the rest is a credit of the other side.
"""

from __future__ import annotations

from decimal import Decimal

from plugins.api import (
    CONFLICT,
    ApiError,
    Event,
    Numbering,
    Request,
    Route,
    conflicts,
    crud,
    exact,
    invalid,
    route,
    store_money,
)
from plugins.finance import open_items
from plugins.finance.credit_note_records import CREDIT_BODY, CREDIT_NOTES
from plugins.finance.documents import INVOICES
from plugins.finance.messages import MORE_THAN_OPEN, NOT_IN_STATE, PERIOD_CLOSED
from plugins.finance.periods import check_open
from plugins.finance.settling import settle_invoice
from plugins.finance.vouchers import Record, get_day

CREDIT_NOTE_NUMBERS = Numbering("finance_credit_note_number", CREDIT_NOTES.noun, "CN", CREDIT_NOTES.name)
CREDITED = Event("finance.invoice.credited", invoice=dict, credit_note=dict)
_CREDITABLE = ("confirmed", "partly_paid", "paid")


async def credit(req: Request) -> Record:
    """Credit an invoice: the amount and tax of the body, or all that is left.

    Raises 40901 for more than is left, for an invoice in another state, and for a day in a closed month.
    """
    day = get_day(req)

    async def work() -> Record:
        invoice = await req.lock(INVOICES, req.path["id"])
        if invoice["status"] not in _CREDITABLE:
            raise ApiError(CONFLICT, NOT_IN_STATE)
        if req.body.get("day") is not None and day < invoice["day"]:
            raise invalid("day", "minimum")
        await check_open(req.service, {"day": day})
        amount, tax = _choose_amounts(req.body, invoice)
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
            }
        )
        credited = {
            "credited": store_money(exact(invoice["credited"]) + amount + tax),
            "credited_tax": store_money(exact(invoice["credited_tax"]) + tax),
        }
        changed = await settle_invoice(req.store(INVOICES), invoice, credited)
        await open_items.update_from_invoice(req, changed, day)
        await req.emit(CREDITED, invoice=changed, credit_note=note)
        return note

    return await req.transaction(work)


def _choose_amounts(body: Record, invoice: Record) -> tuple[Decimal, Decimal]:
    """Return amount and tax of a credit note."""
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
)
