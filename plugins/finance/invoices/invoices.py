"""Invoices, sent and received, and their payments."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    Action,
    ApiError,
    Request,
    Route,
    Service,
    Step,
    conflicts,
    crud,
    exact,
    invalid,
    store_money,
    transitions,
)
from plugins.api.business import Customers, Suppliers, due_after
from plugins.finance.books.periods import check_open
from plugins.finance.books.records import MAX_AMOUNT
from plugins.finance.books.vouchers import get_day
from plugins.finance.invoices.duplicates import keys_of, name_number
from plugins.finance.invoices.records import INVOICES, PAY_INVOICE_BODY
from plugins.finance.messages import (
    MORE_THAN_OPEN,
    NOT_DELETABLE,
    NOT_EDITABLE,
    PAID_ELSEWHERE,
    PERIOD_CLOSED,
)
from plugins.finance.open_items import open_items
from plugins.finance.open_items.paying import Booked, Paid, add_payment, get_amount, get_owed, in_books, settle_invoice
from plugins.finance.payments.entering import pay
from plugins.finance.record_types import Invoice

_ZERO = store_money(Decimal(0))
_DRAFT = {"status": "draft"}


async def create(req: Request) -> Invoice:
    """Create a draft. Its total is the amount plus the tax."""
    values = {"tax": _ZERO, **req.body, "day": get_day(req), "paid": _ZERO}
    _check_party(values)
    values |= await open_items.describe_billed(req, values)
    if values.get("due_on") is None:
        values["due_on"] = await _find_due_day(req, values)
    try:
        return await req.store(INVOICES).create({**values, "total": _add_tax(values), **keys_of(values)})
    except ApiError as error:
        raise name_number(error) from error


async def _find_due_day(req: Request, values: Mapping[str, Any]) -> str | None:
    """Return the day on which an invoice is due by the terms of its customer or supplier, or None without terms."""
    days = None
    if values.get("customer_id") is not None:
        days = await req.part(Customers).find_terms(values["customer_id"])
    elif values.get("supplier_id") is not None:
        days = await req.part(Suppliers).find_terms(values["supplier_id"])
    return due_after(values["day"], days) if days is not None else None


async def _follows_terms(req: Request, before: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Return whether a changed invoice is due by the terms of its party: as before, unless the change says when."""
    if "due_on" in values or values.keys().isdisjoint(("day", "customer_id", "supplier_id")):
        return False
    return bool(before["due_on"] == await _find_due_day(req, before))


def _check_party(values: Mapping[str, Any]) -> None:
    """Raise 40001 if an invoice that is sent names a supplier, or one that is received names a customer."""
    other = "supplier_id" if values["direction"] == "out" else "customer_id"
    if values.get(other) is not None:
        raise invalid(other, "invalid")


async def update(req: Request) -> Invoice:
    """Change a draft."""
    values = dict(req.body)
    version = values.pop("version")
    invoices = req.store(INVOICES)
    before = await invoices.get(req.path["id"])
    if "day" in values:
        values["day"] = get_day(req)
    after = {**before, **values}
    _check_party(after)
    values |= await open_items.describe_billed(req, after)
    after |= values
    if await _follows_terms(req, before, values):
        values["due_on"] = await _find_due_day(req, after)
    values["total"] = _add_tax(after)
    values |= keys_of(after)
    try:
        return await invoices.update(req.path["id"], values, version=version, where=_DRAFT, reason=NOT_EDITABLE)
    except ApiError as error:
        raise name_number(error) from error


async def delete(req: Request) -> None:
    """Delete a draft."""
    await req.store(INVOICES).delete(req.path["id"], where=_DRAFT, reason=NOT_DELETABLE)


async def _update_item(step: Step[Invoice]) -> None:
    """Change what is owed for an invoice. Raises 40901 if its day is in a closed period."""
    await check_open(step.service, step.record)
    if step.record["open_item_id"] is None:
        await open_items.update_from_invoice(step.req, step.record, step.record["day"] or step.today)
    else:
        confirms = step.action == "confirm"
        await open_items.update_billed(step.req, step.record, step.record["day"] or step.today, confirms=confirms)
        step.record = await step.store(INVOICES).get(step.record["id"])


async def _book(step: Step[Invoice]) -> None:
    """Book the payment of the body. Raises 40901 if the invoice is not paid here, or for more than is open."""
    invoice = step.record
    if invoice["open_item_id"] is not None:
        raise ApiError(CONFLICT, PAID_ELSEWHERE)
    amount = get_amount(step, get_owed(invoice) - exact(invoice["paid"]))
    item = await open_items.find_item(step.req, open_items.INVOICE, invoice["id"])
    if item is None:
        raise ApiError(CONFLICT, PAID_ELSEWHERE)
    await pay(step, item, amount, {"category": invoice["category"], "invoice_id": invoice["id"]})


async def _update_paid_item(step: Step[Invoice]) -> None:
    day, item = step.kept[Booked].voucher["day"] or step.today, step.kept[Paid].item
    await open_items.update_from_invoice(step.req, step.record, day, item)


def _payment_action(step: Step[Invoice]) -> str:
    return "pay" if add_payment(step) == get_owed(step.record) else "pay-part"


async def reopen_payment(_: Service, payload: Mapping[str, Any]) -> None:
    """Take the amount of a reversed voucher off its invoice, unless the voucher belongs to a payment document."""
    voucher, req = payload["voucher"], payload["request"]
    if voucher["invoice_id"] and voucher["payment_id"] is None:
        invoices = req.system_store(INVOICES)
        invoice = await invoices.get(voucher["invoice_id"])
        paid = exact(invoice["paid"]) - exact(voucher["amount"])
        changed = await settle_invoice(invoices, invoice, {"paid": store_money(paid)})
        await open_items.update_from_invoice(req, changed, payload["reversal"]["day"])


def _add_tax(values: Mapping[str, Any]) -> Any:
    """Return the amount plus the tax. Raises 40001 if that is more than the maximum of an amount."""
    total = exact(values["amount"]) + exact(values["tax"])
    if total > Decimal(MAX_AMOUNT):
        raise invalid("amount", "maximum")
    return store_money(total)


ROUTES: tuple[Route, ...] = (
    *crud(
        INVOICES,
        at="/api/v1/finance/invoices",
        resource="finance:invoice",
        always=("reference", "remark"),
        create=create,
        update=update,
        delete=delete,
        refusals_of={"update": conflicts(NOT_EDITABLE), "delete": conflicts(NOT_DELETABLE)},
    ),
    *transitions(
        INVOICES,
        Action(
            "POST /api/v1/finance/invoices/{id}/confirm",
            access="finance:invoice:confirm",
            after=_update_item,
            refusals=conflicts(PERIOD_CLOSED, MORE_THAN_OPEN),
        ),
        Action(
            "POST /api/v1/finance/invoices/{id}/void",
            access="finance:invoice:void",
            summary="Void an invoice",
            after=_update_item,
            refusals=conflicts(PERIOD_CLOSED),
        ),
        Action(
            "POST /api/v1/finance/invoices/{id}/pay",
            access="finance:invoice:pay",
            does=("pay", "pay-part"),
            summary="Enter a payment of an invoice",
            body=PAY_INVOICE_BODY,
            before=_book,
            choose=_payment_action,
            values=lambda step: {"paid": store_money(add_payment(step))},
            after=_update_paid_item,
            within=in_books,
            refusals=conflicts(PAID_ELSEWHERE, MORE_THAN_OPEN, PERIOD_CLOSED),
        ),
    ),
)
