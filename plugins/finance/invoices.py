"""Invoices, sent and received, and their payments."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, STALE, ApiError, Handler, Request, Route, conflicts, crud, exact, route, store_money
from plugins.finance import open_items
from plugins.finance.documents import INVOICES, PAY_INVOICE_BODY
from plugins.finance.messages import (
    MORE_THAN_OPEN,
    NOT_DELETABLE,
    NOT_EDITABLE,
    NOT_IN_STATE,
    PAID_ELSEWHERE,
    PERIOD_CLOSED,
)
from plugins.finance.periods import check_open
from plugins.finance.states import INVOICE_STATES, after, allows
from plugins.finance.vouchers import Record, book, book_in_transaction, get_day

_ZERO = store_money(Decimal(0))
_DRAFT = {"status": "draft"}
PAID_EVENT = "finance.invoice.paid"


async def create(req: Request) -> Record:
    """Create a draft. Its total is the amount plus the tax."""
    values = {"tax": _ZERO, **req.body, "day": get_day(req), "status": "draft", "paid": _ZERO}
    await open_items.check_billed_item(req, values)
    return await req.store(INVOICES).create({**values, "total": _add_tax(values)})


async def update(req: Request) -> Record:
    """Change a draft."""
    values = dict(req.body)
    version = values.pop("version")
    invoices = req.store(INVOICES)
    before = await invoices.get(req.path["id"])
    if "day" in values:
        values["day"] = get_day(req)
    await open_items.check_billed_item(req, {**before, **values})
    values["total"] = _add_tax({**before, **values})
    return await invoices.update(req.path["id"], values, version=version, where=_DRAFT, reason=NOT_EDITABLE)


async def delete(req: Request) -> None:
    """Delete a draft."""
    await req.store(INVOICES).delete(req.path["id"], where=_DRAFT, reason=NOT_DELETABLE)


def make_transition_handler(action: str) -> Handler:
    """Return the handler that takes an invoice to its next state: `confirm`, `void`."""

    async def step(req: Request) -> Record:
        values = {"status": after(INVOICE_STATES, action)}

        async def work() -> Record:
            invoice = await req.store(INVOICES).update(
                req.path["id"], values, where=allows(INVOICE_STATES, action), reason=NOT_IN_STATE
            )
            await check_open(req.service, invoice)
            await open_items.update_from_invoice(req, invoice)
            return invoice

        return await req.transaction(work)

    return step


async def pay(req: Request) -> Record:
    """Book a payment on an invoice. Voucher, balance and invoice change in one transaction."""
    day, account_id = get_day(req), req.body["account_id"]

    async def work() -> Record:
        invoice = await req.store(INVOICES).get(req.path["id"])
        amount = _check_payment(req, invoice)
        voucher = await book(
            req,
            {
                "kind": "income" if invoice["direction"] == "out" else "expense",
                "account_id": account_id,
                "amount": store_money(amount),
                "day": day,
                "category": invoice["category"],
                "counterparty": invoice["counterparty"],
                "remark": invoice["number"],
                "invoice_id": invoice["id"],
            },
        )
        changed = await req.store(INVOICES).update(
            invoice["id"], _add_payment(invoice, amount), version=invoice["version"]
        )
        await open_items.update_from_invoice(req, changed)
        await req.emit(PAID_EVENT, invoice=changed, voucher=voucher)
        return changed

    await req.store(INVOICES).get(req.path["id"])
    return await book_in_transaction(req, day, work)


def _check_payment(req: Request, invoice: Record) -> Decimal:
    """Return the amount to pay: that of the body, or all that is open. Raises 40901 if it cannot be paid here."""
    if req.body.get("version") not in (None, invoice["version"]):
        raise ApiError(STALE)
    if invoice["status"] not in INVOICE_STATES.transitions["pay"][0]:
        raise ApiError(CONFLICT, NOT_IN_STATE)
    if invoice["open_item_id"] is not None:
        raise ApiError(CONFLICT, PAID_ELSEWHERE)
    unpaid = exact(invoice["total"]) - exact(invoice["paid"])
    amount = exact(req.body["amount"]) if req.body.get("amount") is not None else unpaid
    if amount > unpaid:
        raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=unpaid), data={"open": f"{unpaid:.2f}"})
    return amount


def _add_payment(invoice: Mapping[str, Any], amount: Decimal) -> Record:
    """Return `paid` and `status` of the invoice with `amount` added to what is paid; a negative amount takes away."""
    paid = exact(invoice["paid"]) + amount
    if amount > 0:
        action = "pay" if paid == exact(invoice["total"]) else "pay-part"
        return {"paid": store_money(paid), "status": after(INVOICE_STATES, action)}
    action = "unpay-part" if paid else "unpay"
    return {"paid": store_money(paid), "status": after(INVOICE_STATES, action)}


async def reopen_payment(payload: Mapping[str, Any]) -> None:
    """Take a payment off its invoice after the voucher was reversed."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["invoice_id"]:
        invoices = req.system_store(INVOICES)
        invoice = await invoices.get(voucher["invoice_id"])
        changed = _add_payment(invoice, -exact(voucher["amount"]))
        await open_items.update_from_invoice(
            req, await invoices.update(invoice["id"], changed, version=invoice["version"])
        )


def _add_tax(values: Mapping[str, Any]) -> Any:
    return store_money(exact(values["amount"]) + exact(values["tax"]))


ROUTES: tuple[Route, ...] = (
    *crud(
        INVOICES,
        at="/api/v1/finance/invoices",
        resource="finance:invoice",
        noun="invoice",
        create=create,
        update=update,
        delete=delete,
        refusals_of={"update": conflicts(NOT_EDITABLE), "delete": conflicts(NOT_DELETABLE)},
    ),
    route(
        "POST /api/v1/finance/invoices/{id}/confirm",
        make_transition_handler("confirm"),
        summary="Confirm an invoice",
        access="finance:invoice:confirm",
        record=INVOICES,
        refusals=conflicts(NOT_IN_STATE, PERIOD_CLOSED),
    ),
    route(
        "POST /api/v1/finance/invoices/{id}/void",
        make_transition_handler("void"),
        summary="Declare an invoice void",
        access="finance:invoice:void",
        record=INVOICES,
        refusals=conflicts(NOT_IN_STATE, PERIOD_CLOSED),
    ),
    route(
        "POST /api/v1/finance/invoices/{id}/pay",
        pay,
        summary="Book a payment on an invoice",
        access="finance:invoice:pay",
        body=PAY_INVOICE_BODY,
        record=INVOICES,
        errors=(STALE,),
        refusals=conflicts(NOT_IN_STATE, PAID_ELSEWHERE, MORE_THAN_OPEN, PERIOD_CLOSED),
    ),
)
