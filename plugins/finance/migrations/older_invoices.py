"""Invoices that were confirmed before invoices had open items."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from plugins.api import Service, day_of, exact, store_money
from plugins.finance.books.records import VOUCHERS
from plugins.finance.invoices.records import INVOICES
from plugins.finance.open_items import open_items

_OWED = ("confirmed", "partly_paid", "paid")


async def report_owed(service: Service, payload: Mapping[str, Any]) -> None:
    """Write the open item of such an invoice: owed from its day on, and paid on the days of its vouchers."""
    if payload["biz_type"] != open_items.INVOICE or payload["known"]:
        return
    database = service.database
    invoice = await database.store(INVOICES).find_one({"_id": INVOICES.parse_id(payload["resource_id"])})
    if invoice is None or invoice["status"] not in _OWED or invoice["open_item_id"] is not None:
        return
    of_invoice = await database.store(VOUCHERS).find({"invoice_id": invoice["id"]}, sort="day")
    arose = invoice["day"] or day_of(invoice["created_at"], service.settings.zone).isoformat()
    paid, steps = Decimal(0), [(arose, Decimal(0))]
    for voucher in of_invoice:
        paid += exact(voucher["amount"])
        steps.append((voucher["day"] or arose, paid))
    if paid != exact(invoice["paid"]):
        steps.append((day_of(invoice["updated_at"], service.settings.zone).isoformat(), exact(invoice["paid"])))
    for day, so_far in steps:
        await open_items.put_invoice(service, {**invoice, "paid": store_money(so_far)}, day)
