"""The events of other plugins that inventory listens to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Listener, Service
from plugins.api.events import DEBT_ASKED, TERMS_ASKED
from plugins.inventory.orders.owed import find_history, find_order, publish
from plugins.inventory.orders.trades import PURCHASE, SALE
from plugins.inventory.records import SUPPLIERS


async def tell_terms(service: Service, payload: Mapping[str, Any]) -> None:
    """Put the number of days within which a supplier is paid into `found` of the payload."""
    if payload.get("supplier_id") is not None:
        supplier = await service.database.store(SUPPLIERS).find_one({"_id": payload["supplier_id"]})
        payload["found"]["days"] = supplier["terms_days"] if supplier is not None else None


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


LISTENS = (Listener(TERMS_ASKED, tell_terms), Listener(DEBT_ASKED, report_owed))
