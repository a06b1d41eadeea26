"""What was paid of open items and invoices, by the allocations of payments and by vouchers without a payment.

Vouchers that an older version booked have no payment, and name the document themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from plugins.api import exact
from plugins.api.reports import Piece
from plugins.finance.books.records import VOUCHERS
from plugins.finance.open_items.open_items import INVOICE
from plugins.finance.open_items.records import OPEN_ITEMS
from plugins.finance.open_items.settlements import settles
from plugins.finance.payments.records import PAYMENTS

_ALONE = {"payment_id": None}


async def sum_paid_of_items(piece: Piece) -> Mapping[Any, Decimal]:
    """Return what was paid of each open item of the piece."""
    alone = await piece.sums(VOUCHERS, "open_item_id", "amount", _ALONE)
    allocated = await _sum_allocations(piece, piece.records)
    return {id: alone[id] + allocated[id] for id in piece.ids}


async def sum_paid_of_invoices(piece: Piece) -> Mapping[Any, Decimal]:
    """Return what was paid of each invoice of the piece itself, not of an item that it bills."""
    alone = await piece.sums(VOUCHERS, "invoice_id", "amount", _ALONE)
    theirs = {"biz_type": INVOICE, "resource_id": {"$in": [str(id) for id in piece.ids]}}
    items = await piece.store(OPEN_ITEMS).find(theirs)
    allocated = await _sum_allocations(piece, items)
    of_invoices = {item["resource_id"]: allocated[item["id"]] for item in items}
    return {id: alone[id] + of_invoices.get(str(id), Decimal(0)) for id in piece.ids}


async def _sum_allocations(piece: Piece, items: Iterable[Mapping[str, Any]]) -> Mapping[Any, Decimal]:
    """Return what booked payments allocate to each item; allocations of the other direction are subtracted."""
    known = {item["id"]: item for item in items}
    those = {"allocations.open_item_id": {"$in": list(known)}}
    key = {"item": "$allocations.open_item_id", "direction": "$direction"}
    rows = await piece.store(PAYMENTS).aggregate(
        [
            {"$match": {**those, "status": "booked"}},
            {"$unwind": "$allocations"},
            {"$match": those},
            {"$group": {"_id": key, "amount": {"$sum": "$allocations.amount"}}},
        ]
    )
    sums: dict[Any, Decimal] = defaultdict(Decimal)
    for row in rows:
        item = known[row["_id"]["item"]]
        sums[item["id"]] += exact(row["amount"]) * (1 if settles(row["_id"], item) else -1)
    return sums
