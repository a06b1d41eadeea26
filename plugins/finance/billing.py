"""Invoices that bill a contract or an order: what is paid of its open item pays them, the earliest first."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.api import NOT_FOUND, ApiError, Request, Service, exact, store_money
from plugins.finance.documents import INVOICES, OPEN_ITEMS
from plugins.finance.settling import get_owed, settle_invoice

_LIVE = {"status": {"$in": ["confirmed", "partly_paid", "paid"]}}


async def get_with_bills(req: Request, id: Any) -> dict[str, Any]:
    """Return an open item that the caller may see, with the ids of the invoices that bill it as `bills`.

    Call it in the transaction that changes the item. It reads both with one command, so that an invoice that is
    confirmed meanwhile conflicts with the transaction.
    """
    bills = {
        "from": INVOICES.name,
        "localField": "_id",
        "foreignField": "open_item_id",
        "pipeline": [{"$match": {"deleted": False, **_LIVE}}, {"$project": {"_id": 1}}],
        "as": "bills",
    }
    this, hidden = {"_id": OPEN_ITEMS.parse_id(id)}, list(OPEN_ITEMS.hidden)
    found = await req.store(OPEN_ITEMS).aggregate([{"$match": this}, {"$lookup": bills}, {"$unset": hidden}])
    if not found:
        raise ApiError(NOT_FOUND)
    item = dict(found[0])
    return {**OPEN_ITEMS.blank, "id": item.pop("_id"), **item}


async def pay_billed(service: Service, item: Mapping[str, Any]) -> None:
    """Share what is paid of an item among the invoices that bill it, in the transaction that changes it."""
    invoices = service.database.store(INVOICES)
    left = max(exact(item["paid"]), Decimal(0))
    for invoice in await invoices.find({"open_item_id": item["id"], **_LIVE}, sort="day"):
        paid = min(left, get_owed(invoice))
        left -= paid
        if paid != exact(invoice["paid"]):
            await settle_invoice(invoices, invoice, {"paid": store_money(paid)})
