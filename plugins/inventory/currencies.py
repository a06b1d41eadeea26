"""In which currency orders and quotations are, and prices in it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from plugins.api import Record, Request, exact, invalid, store_money
from plugins.api.business import MAX_PRICE, RATE_PLACES, Contracts, Rates, choose_currency, in_base
from plugins.api.data import Filter
from plugins.api.values import ReadOnlyRecord, StoredAmount, store_price, times
from plugins.inventory.trades import Drafts, get_today

_LINE_SUMS = ("net", "tax", "amount", "discount_amount")
_MOST_PRICE = Decimal(MAX_PRICE)


async def choose_order_currency(
    req: Request, trade: Drafts, values: ReadOnlyRecord, before: ReadOnlyRecord | None = None
) -> Record:
    """Return the currency and rate of a draft as `choose_currency` does.

    Raises 40001 also for another currency than that of its contract, and for another one without its prices.
    """
    order = {**(before or {}), **values}
    chosen = await choose_currency(req, values, order.get(trade.dated) or get_today(req), before, dated=trade.dated)
    of_contract = order.get("contract_id")
    if of_contract is not None and chosen["currency"] != await req.part(Contracts).find_currency(of_contract):
        raise invalid("currency", "invalid")
    if before is not None and chosen["currency"] != before.get("currency") and "lines" not in values:
        raise invalid("lines", "required")
    return chosen


async def find_rate_of(req: Request, quotation: ReadOnlyRecord, day: str) -> StoredAmount | None:
    """Return the rate of what is made of a quotation on `day`: of that day, or else that of the quotation."""
    code = quotation["currency"]
    found = await req.part(Rates).find_rate(code, day) if code is not None else None
    rate: StoredAmount | None = quotation["rate"]
    return rate if found is None else store_price(found, RATE_PLACES)


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
