"""What inventory answers other plugins, and the events of theirs that it listens to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from plugins.api import Listener, Request, Service
from plugins.api.business import DEBT_ASKED, OF_SUPPLIERS, Party, PaymentTerms, PricedLines, Suppliers
from plugins.api.values import RecordId
from plugins.inventory import billing
from plugins.inventory.records import SUPPLIERS
from plugins.inventory.revisions import cancel_waiting
from plugins.inventory.trades import PURCHASE, SALE, find_history, find_order, publish


@dataclass(frozen=True)
class KeptSuppliers(Suppliers):
    """The suppliers that inventory keeps."""

    service: Service

    async def find_terms(self, supplier_id: Any) -> int | None:
        """Return the number of days within which the supplier is paid, or None."""
        return (await self.find_payment_terms(supplier_id)).terms_days

    async def find_payment_terms(self, supplier_id: Any) -> PaymentTerms:
        """Return when the supplier is paid."""
        return PaymentTerms.of(await self.service.database.store(SUPPLIERS).find_one({"_id": supplier_id}) or {})

    async def find_currency(self, supplier_id: Any) -> str | None:
        """Return the currency of the supplier's new documents, or None for the company's own."""
        supplier = await self.service.database.store(SUPPLIERS).find_one({"_id": supplier_id})
        return supplier["currency"] if supplier is not None else None

    async def find_party(self, req: Request, supplier_id: Any) -> Party:
        """Return what documents copy of a supplier."""
        supplier = await req.store(SUPPLIERS).find_one({"_id": supplier_id})
        return Party(supplier["vat_number"], supplier["addresses"] or ()) if supplier is not None else Party()

    async def find_supplier(self, req: Request, vat_number: str | None, name: str | None) -> RecordId | None:
        """Return the one supplier with this tax number, or else of this name."""
        for field, value in {"vat_number": vat_number, "name": name}.items():
            found = await req.store(SUPPLIERS).find({field: value}, limit=2) if value else []
            if len(found) == 1:
                return found[0]["id"]
        return None


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the suppliers, and lines with products."""
    service.provide(Suppliers, KeptSuppliers(service))
    service.provide(PricedLines, billing.LinesOfProducts())
    yield


async def report_owed(service: Service, payload: Mapping[str, Any]) -> None:
    """Emit again what is owed for the goods of an order: the current sum if it is `known`, else that of each day."""
    trade = {one.biz_type: one for one in (PURCHASE, SALE)}.get(payload["biz_type"])
    if trade is None:
        return
    order = await find_order(service, trade, payload["resource_id"])
    if order is None or order.get("contract_id") is not None:
        return
    history = await find_history(service, trade, order)
    for day, shipments in history[-1:] if payload["known"] else history:
        await publish(trade, service, payload.get("request"), order, shipments, day)


LISTENS = (
    Listener(DEBT_ASKED, report_owed),
    *(Listener(f"inventory.purchase_order.{ended}", cancel_waiting) for ended in ("cancelled", "closed")),
    *OF_SUPPLIERS,
)
