"""Invoices that bill a contract or an order: what is paid of its open item is paid of them, the earliest first."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.api import Service, exact, store_money
from plugins.finance.documents import INVOICES
from plugins.finance.settling import get_owed, settle_invoice

_LIVE = ("confirmed", "partly_paid", "paid")


async def pay_billed(service: Service, item: Mapping[str, Any]) -> None:
    """Share what is paid of an item among the invoices that bill it, in the transaction that changes it."""
    invoices = service.database.store(INVOICES)
    left = max(exact(item["paid"]), Decimal(0))
    for invoice in await invoices.find({"open_item_id": item["id"], "status": {"$in": list(_LIVE)}}, sort="day"):
        paid = min(left, get_owed(invoice))
        left -= paid
        if paid != exact(invoice["paid"]):
            await settle_invoice(invoices, invoice, {"paid": store_money(paid)})
