"""Purchase orders and approvals are connected by events; neither imports the other.

`submit` makes a draft `pending` and emits `approval.requested`; an approval plugin emits `approval.finished`. Without
such a plugin, whoever has the permission `inventory:purchase-order:confirm` confirms, from `draft` or `pending`.
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
# outcome of an approval → action on the order
OUTCOMES = {"approved": "confirm", "rejected": "reject", "returned": "withdraw", "withdrawn": "withdraw"}
# action → the event that it emits when an approval has led to it
DECIDED_EVENTS = {
    "confirm": "inventory.purchase_order.ordered",
    "reject": "inventory.purchase_order.draft",
    "withdraw": "inventory.purchase_order.draft",
}


async def request(req: Request, order: Record) -> None:
    """Ask for the approval of an order that was submitted, in the same transaction."""
    payload = {"title": order["number"], "record": await _describe(req, order), "own": people_behind(order)}
    await req.emit(REQUESTED_EVENT, **payload, **_refer_to(order))


async def _describe(req: Request, order: Record) -> Record:
    """Return the order with names of supplier and products, which the approvers may not be able to look up."""
    supplier = await req.system_store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
    wanted = {"_id": {"$in": [line["product_id"] for line in order["lines"]]}}
    products = {str(one["id"]): one["name"] for one in await req.system_store(PRODUCTS).find(wanted, fields=["name"])}
    record = as_json(PURCHASE_ORDERS.read, order)
    lines = [{**line, "product": products.get(line["product_id"])} for line in record["lines"]]
    return {**record, "supplier": supplier and supplier["name"], "lines": lines}


async def cancel(req: Request, order: Record) -> None:
    """Cancel the approval of an order that was decided or withdrawn at the order itself, in the same transaction."""
    await req.emit(CANCELLED_EVENT, reason=order["reason"], **_refer_to(order))


async def apply_approval(service: Service, payload: Mapping[str, Any]) -> None:
    """Apply the outcome of an approval to its order. An order that is no longer pending is left as it is."""
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
    await service.events.emit(DECIDED_EVENTS[action], {**payload, "record": changed})


def _refer_to(order: Record) -> Record:
    return {"biz_type": BIZ_TYPE, "resource_id": str(order["id"])}
