"""What an invoice bills and comes to: one that is entered, and one that is not kept, while its lines are typed."""

from __future__ import annotations

from decimal import Decimal

from plugins.api import Record, Request, exact, route, shape, store_money
from plugins.api.business import find_party_currency
from plugins.api.values import ReadOnlyRecord, store_quantity
from plugins.finance import bills, invoice_lines, open_items
from plugins.finance.bills import choose_currency
from plugins.finance.books import get_day
from plugins.finance.record_types import OpenItem
from plugins.finance.records import INVOICES

_DECIDE = (
    *("kind", "prepayment_rate", "customer_id", "supplier_id", "day", "currency", "rate"),
    *("prices_include_tax", "open_item_id", "open_item_ids", "shipment_ids"),
)
_PRICES = ("price", "unit_price")
_NOTHING = {
    "quantity": store_quantity(Decimal(0)),
    **dict.fromkeys(("net", "tax", "amount"), store_money(Decimal(0))),
}


async def begin(req: Request, values: ReadOnlyRecord, given: ReadOnlyRecord) -> tuple[Record, list[OpenItem]]:
    """Return a new invoice with the currency, the lines and the sums that its body `given` asks for, and what it bills.

    Raises 40001 and 40901 as `invoice_lines.derive` does, and 40001 for what cannot be billed or its currency.
    """
    items = await open_items.find_billed(req, values)
    begun = {**values, **bills.describe_billed(values, items)}
    if begun.get("currency") is None and not items:
        begun["currency"] = await find_party_currency(req, begun)
    begun |= await choose_currency(req, begun, items)
    return {**begun, **await invoice_lines.derive(req, begun, items, given)}, items


def _is_entered(line: ReadOnlyRecord) -> bool:
    """Return whether a line says enough to be counted: it is one of an order, or text, or has units and a price."""
    if line.get("order_line") is not None:
        return True
    priced = any(line.get(name) is not None for name in ("product_id", *_PRICES))
    return priced == (line.get("quantity") is not None)


async def count(req: Request) -> Record:
    """Return what an invoice with this body comes to; a line that is not entered completely comes to nothing."""
    lines = req.body["lines"]
    given = {**req.body, "lines": [line for line in lines if _is_entered(line)]}
    begun, _ = await begin(req, {**given, "day": get_day(req)}, given)
    counted = iter(begun["lines"])
    total = store_money(exact(begun["amount"]) + exact(begun["tax"]))
    return {**begun, "lines": [next(counted) if _is_entered(line) else _NOTHING for line in lines], "total": total}


AMOUNTS = route(
    "POST /api/v1/finance/invoices/amounts",
    count,
    summary="Compute the prices and amounts of an invoice that is not kept",
    access="finance:invoice:create",
    body=shape(
        "InvoiceAmountsBody",
        **{name: INVOICES.fields[name].but(description=None) for name in _DECIDE},  # as that of the creation says
        **{
            name: INVOICES.fields[name].but(required=True, nullable=False, description=None)
            for name in ("direction", "lines")
        },
    ),
    returns=shape(
        "InvoiceAmounts",
        **{name: INVOICES.fields[name].but(description=None) for name in ("lines", "amount", "tax", "total")},
    ),
)
