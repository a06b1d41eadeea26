"""Purchase orders and approval, joined by events: neither knows the other.

`submit` makes a draft `pending` and emits `approval.requested`; a plugin for approvals answers with
`approval.finished`. Without one, whoever holds `inventory:purchase-order:confirm` confirms, from `draft` or `pending`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Request, Service, as_json, people_behind, utc_now
from plugins.inventory import payables
from plugins.inventory.documents import PURCHASE_ORDERS
from plugins.inventory.lines import Record
from plugins.inventory.records import PRODUCTS, SUPPLIERS
from plugins.inventory.states import PURCHASE_STATES, after, allows

BIZ_TYPE = payables.BIZ_TYPE
REQUESTED_EVENT, CANCELLED_EVENT = "approval.requested", "approval.cancelled"
DECISION_EVENT = "approval.finished"
# how an approval ended → what that does to the order
OUTCOMES = {"approved": "confirm", "rejected": "reject", "returned": "withdraw", "withdrawn": "withdraw"}


async def request(req: Request, order: Record) -> None:
    """Ask for the approval of an order that was submitted; in its transaction."""
    asked = {"title": order["number"], "record": await _described(req, order), "own": people_behind(order)}
    await req.emit(REQUESTED_EVENT, **asked, **_resource(order))


async def _described(req: Request, order: Record) -> Record:
    """The order with names: who is asked may see neither suppliers nor products."""
    supplier = await req.system_store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
    wanted = {"_id": {"$in": [line["product_id"] for line in order["lines"]]}}
    products = {str(one["id"]): one["name"] for one in await req.system_store(PRODUCTS).find(wanted, fields=["name"])}
    record = as_json(PURCHASE_ORDERS.read, order)
    lines = [{**line, "product": products.get(line["product_id"])} for line in record["lines"]]
    return {**record, "supplier": supplier and supplier["name"], "lines": lines}


async def cancel(req: Request, order: Record) -> None:
    """End the approval of an order that was decided, or taken back, at the order itself; in its transaction."""
    await req.emit(CANCELLED_EVENT, reason=order["reason"], **_resource(order))


async def after_approval(service: Service, payload: Mapping[str, Any]) -> None:
    """An approval ended: do to the order what its outcome says; one that is no longer pending stays as it is."""
    action = OUTCOMES.get(payload["outcome"])
    if payload["biz_type"] != BIZ_TYPE or action is None:
        return
    req = payload.get("request")
    orders = req.system_store(PURCHASE_ORDERS) if req else service.database.store(PURCHASE_ORDERS)
    order = await orders.get(payload["resource_id"])
    if order["status"] != after(PURCHASE_STATES, "submit"):
        return
    values: Record = {"status": after(PURCHASE_STATES, action), "reason": payload.get("reason")}
    if action == "confirm":
        values["confirmed_at"] = req.now if req else utc_now()
    changed = await orders.update(order["id"], values, where=allows(PURCHASE_STATES, action))
    await service.events.emit(f"inventory.purchase_order.{changed['status']}", {**payload, "record": changed})


def _resource(order: Record) -> Record:
    return {"biz_type": BIZ_TYPE, "resource_id": str(order["id"])}
