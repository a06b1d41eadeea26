"""Migrates what is owed for contracts and orders that were invoiced before items knew their invoices."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import Service, day_of, exact, store_money
from plugins.api.data import Migration, Stage
from plugins.api.values import ReadOnlyRecord
from plugins.finance.invoices.records import CREDIT_NOTES
from plugins.finance.open_items import open_items
from plugins.finance.open_items.billing import find_bills, sum_bills
from plugins.finance.open_items.records import OPEN_ITEMS
from plugins.finance.record_types import Invoice

log = logging.getLogger("tradewind.finance")
_OWN = [open_items.INVOICE, open_items.CLAIM]


def _stages(service: Service) -> Iterator[Stage]:
    older = {"biz_type": {"$nin": _OWN}, "invoiced": None, "deleted": False}
    yield Stage(OPEN_ITEMS, partial(_complete, service), older)


BILLS = Migration(
    "2026-11-invoices-of-items",
    "Lowers what is owed for contracts and orders by the credit notes of their invoices, on the days of the notes. It "
    "cannot decide which is right where invoices claim more than is owed, or name another party: it leaves them, and the "
    "audit of finance names them.",
    _stages,
)


async def _complete(service: Service, rows: Sequence[ReadOnlyRecord]) -> int:
    return sum([await service.database.transaction(partial(_count, service, row["_id"])) for row in rows])


async def _count(service: Service, item_id: Any) -> bool:
    """Count the invoices of an item; return whether there are any."""
    item = await service.database.store(OPEN_ITEMS).find_one({"_id": item_id, "invoiced": None})
    bills = await find_bills(service, item_id) if item is not None else []
    if item is None or not bills:
        return False
    credits = await service.database.store(CREDIT_NOTES).find(
        {"invoice_id": {"$in": [one["id"] for one in bills]}}, sort="day"
    )
    left: defaultdict[Any, Decimal] = defaultdict(Decimal)
    for note in credits:
        left[note["invoice_id"]] += exact(note["total"])
        known: list[Invoice] = [{**one, "credited": store_money(left[one["id"]])} for one in bills]
        item = await open_items.count_bills(service, item, known, note["day"])
    await open_items.count_bills(
        service, item, bills, item["day"] or day_of(item["created_at"], service.settings.zone).isoformat()
    )
    sums = sum_bills(item, bills)
    if exact(sums["invoiced"]) - exact(sums["credited"]) > exact(sums["amount"]):
        log.warning("invoices claim more than is owed", extra={"open_item": str(item["id"]), "number": item["number"]})
    return True
