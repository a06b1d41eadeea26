"""Invoices, sent and received, and what is paid on them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, STALE, ApiError, Handler, Request, exact, store_money
from plugins.finance import open_items
from plugins.finance.documents import INVOICES
from plugins.finance.messages import MORE_THAN_OPEN, NOT_DELETABLE, NOT_EDITABLE, NOT_IN_STATE, PAID_ELSEWHERE
from plugins.finance.periods import check_open
from plugins.finance.states import INVOICE_STATES, after, allows
from plugins.finance.vouchers import Record, book, booking, day_in

_ZERO = store_money(Decimal(0))
_DRAFT = {"status": "draft"}
PAID_EVENT = "finance.invoice.paid"


async def create(req: Request) -> Record:
    """A draft; its total is amount and tax."""
    values = {"tax": _ZERO, **req.body, "day": day_in(req), "status": "draft", "paid": _ZERO}
    await open_items.check_billed(req, values)
    return await req.store(INVOICES).create({**values, "total": _total(values)})


async def update(req: Request) -> Record:
    """Change a draft."""
    values = dict(req.body)
    version = values.pop("version")
    invoices = req.store(INVOICES)
    before = await invoices.get(req.path["id"])
    if "day" in values:
        values["day"] = day_in(req)
    await open_items.check_billed(req, {**before, **values})
    values["total"] = _total({**before, **values})
    return await invoices.update(req.path["id"], values, version=version, where=_DRAFT, reason=NOT_EDITABLE)


async def delete(req: Request) -> None:
    """Delete a draft."""
    await req.store(INVOICES).delete(req.path["id"], where=_DRAFT, reason=NOT_DELETABLE)


def stepper(action: str) -> Handler:
    """A handler that leads an invoice to its next state: `confirm`, `void`."""

    async def step(req: Request) -> Record:
        values = {"status": after(INVOICE_STATES, action)}

        async def work() -> Record:
            invoice = await req.store(INVOICES).update(
                req.path["id"], values, where=allows(INVOICE_STATES, action), reason=NOT_IN_STATE
            )
            await check_open(req.service, invoice)
            await open_items.of_invoice(req, invoice)
            return invoice

        return await req.transaction(work)

    return step


async def pay(req: Request) -> Record:
    """Receive or pay money on an invoice: voucher, balance and invoice change together."""
    day, account_id = day_in(req), req.body["account_id"]

    async def work() -> Record:
        invoice = await req.store(INVOICES).get(req.path["id"])
        amount = _payment(req, invoice)
        voucher = await book(req, {
            "kind": "income" if invoice["direction"] == "out" else "expense", "account_id": account_id,
            "amount": store_money(amount), "day": day, "category": invoice["category"],
            "counterparty": invoice["counterparty"], "remark": invoice["number"], "invoice_id": invoice["id"],
        })  # fmt: skip
        changed = await req.store(INVOICES).update(invoice["id"], _paid(invoice, amount), version=invoice["version"])
        await open_items.of_invoice(req, changed)
        await req.emit(PAID_EVENT, invoice=changed, voucher=voucher)
        return changed

    await req.store(INVOICES).get(req.path["id"])
    return await booking(req, day, work)


def _payment(req: Request, invoice: Record) -> Decimal:
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


def _paid(invoice: Mapping[str, Any], amount: Decimal) -> Record:
    """The invoice's `paid` and `status` after `amount` more, or less when it is below zero."""
    paid = exact(invoice["paid"]) + amount
    if amount > 0:
        action = "pay" if paid == exact(invoice["total"]) else "pay-part"
        return {"paid": store_money(paid), "status": after(INVOICE_STATES, action)}
    action = "unpay-part" if paid else "unpay"
    return {"paid": store_money(paid), "status": after(INVOICE_STATES, action)}


async def after_reversal(payload: Mapping[str, Any]) -> None:
    """A payment of an invoice was reversed: that much is open again."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["invoice_id"]:
        invoices = req.system_store(INVOICES)
        invoice = await invoices.get(voucher["invoice_id"])
        changed = _paid(invoice, -exact(voucher["amount"]))
        await open_items.of_invoice(req, await invoices.update(invoice["id"], changed, version=invoice["version"]))


def _total(values: Mapping[str, Any]) -> Any:
    return store_money(exact(values["amount"]) + exact(values["tax"]))
