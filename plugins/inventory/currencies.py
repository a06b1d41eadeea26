"""In which currency orders and quotations are, and prices in it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from plugins.api import Record, Request, Service, exact, invalid, store_money
from plugins.api.business import MAX_PRICE, RATE_PLACES, Rates, complete_currency, find_party_currency, in_base
from plugins.api.data import Filter
from plugins.api.values import ReadOnlyRecord, StoredAmount, store_price, times
from plugins.inventory.trades import Drafts, get_today

_FIELDS = ("currency", "rate")
_LINE_SUMS = ("net", "tax", "amount", "discount_amount")
_MOST_PRICE = Decimal(MAX_PRICE)


async def choose_currency(
    req: Request, trade: Drafts, values: ReadOnlyRecord, before: ReadOnlyRecord | None = None
) -> Record:
    """Return the currency and rate of a draft: those that it names, or else that of its customer or supplier.

    `values` are those of the body, `before` is the draft that they change, which keeps its own until it is given others; a
    rate of its day follows that. Raises 40001 for what `complete_currency` refuses, for a currency under a contract, and for
    another one without its prices.
    """
    order = {**(before or {}), **values}
    kept = {name: order.get(name) for name in _FIELDS}
    if before is None and kept["currency"] is None and order.get("contract_id") is None:
        kept["currency"] = await find_party_currency(req, order)
    on = order.get(trade.dated) or get_today(req)
    chosen = await complete_currency(req, kept, on, draft=before, dated=trade.dated)
    if chosen["currency"] is not None and order.get("contract_id") is not None:
        raise invalid("currency", "invalid")
    if before is not None and chosen["currency"] != before.get("currency") and "lines" not in values:
        raise invalid("lines", "required")
    return chosen


async def find_rate_of(req: Request, quotation: ReadOnlyRecord, day: str) -> StoredAmount | None:
    """Return the rate of an order of a quotation that is made on `day`: of that day, or else that of the quotation."""
    code = quotation["currency"]
    found = await req.part(Rates).find_rate(code, day) if code is not None else None
    rate: StoredAmount | None = quotation["rate"]
    return rate if found is None else store_price(found, RATE_PLACES)


async def value_for_limits(service: Service, order: ReadOnlyRecord, day: str) -> Record:
    """Return an order with the rate at which limits compare it: that of `day` if its own, which anybody may type, is lower."""
    code = order["currency"]
    known = await service.part(Rates).find_rate(code, day) if code is not None else None
    return {
        **order,
        "rate": order["rate"] if known is None else store_price(max(known, exact(order["rate"])), RATE_PLACES),
    }


async def filter_lists(req: Request, order: ReadOnlyRecord) -> Filter:
    """Return the filter for the price lists in the currency of an order."""
    code = order.get("currency")
    return {"currency": {"$in": [None, await req.part(Rates).find_base()]} if code is None else code}


def convert_price(price: Decimal, order: ReadOnlyRecord) -> Decimal:
    """Return a price of the company's currency in that of an order, to the cent. Raises 40001 if it is too high there."""
    converted = times(price, Decimal(1), exact(order["rate"]))
    if converted > _MOST_PRICE:
        raise invalid("rate", "minimum")
    return converted


def convert_sums(record: ReadOnlyRecord, order: ReadOnlyRecord, sums: Sequence[str]) -> Record:
    """Return a record of an order with these sums, and those of its lines, in the company's currency."""
    given = {name: record[name] for name in sums if record.get(name) is not None}
    converted = {name: store_money(in_base(exact(one), order)) for name, one in given.items()}
    lines = {"lines": [convert_sums(line, order, _LINE_SUMS) for line in record["lines"]]} if "lines" in record else {}
    return {**record, **converted, **lines}
