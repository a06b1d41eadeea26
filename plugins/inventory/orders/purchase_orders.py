"""The routes of purchase orders, and what their approvers see."""

from __future__ import annotations

from functools import partial

from plugins.api import Action, Approval, Record, Route, Step, conflicts, crud, text, transitions
from plugins.api.business import DATED
from plugins.api.records import holds
from plugins.api.requests import as_json
from plugins.inventory.messages import MORE_THAN_OPEN, NOT_A_DRAFT, NOT_DELETABLE, NOTHING_OPEN, WAREHOUSE_GONE
from plugins.inventory.orders.changes import end, refuse_closed_month
from plugins.inventory.orders.drafts import amounts_route, make_create_handler, make_delete_handler, make_update_handler
from plugins.inventory.orders.owed import announce_confirmed, announce_ended, announce_shipped
from plugins.inventory.orders.records import PURCHASE_ORDERS, REJECT_BODY, SHIP_BODY
from plugins.inventory.orders.shipping import add_shipment, choose_shipping, ship_with
from plugins.inventory.orders.trades import PURCHASE
from plugins.inventory.record_types import PurchaseOrder
from plugins.inventory.records import PRODUCTS, SUPPLIERS


async def describe(step: Step[PurchaseOrder]) -> Record:
    """Return the names of the supplier and the products, which the approvers may not be allowed to look up."""
    order = step.record
    supplier = await step.store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
    wanted = {"_id": {"$in": [line["product_id"] for line in order["lines"]]}}
    products = {str(one["id"]): one["name"] for one in await step.store(PRODUCTS).find(wanted, fields=["name"])}
    lines = as_json(PURCHASE_ORDERS.read, order)["lines"]
    return {
        "supplier": supplier and supplier["name"],
        "lines": [{**line, "product": products.get(line["product_id"])} for line in lines],
    }


ROUTES: tuple[Route, ...] = (
    *crud(
        PURCHASE_ORDERS,
        at="/api/v1/inventory/purchase-orders",
        resource="inventory:purchase-order",
        always=("reference", "remark"),
        create=make_create_handler(PURCHASE),
        update=make_update_handler(PURCHASE),
        delete=make_delete_handler(PURCHASE),
        refusals_of={"update": conflicts(NOT_A_DRAFT), "delete": conflicts(NOT_DELETABLE)},
    ),
    amounts_route("POST /api/v1/inventory/purchase-orders/amounts", PURCHASE, "inventory:purchase-order:create"),
    *transitions(
        PURCHASE_ORDERS,
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/submit",
            access="inventory:purchase-order:submit",
            summary="Submit a purchase order for approval",
            before=refuse_closed_month,
            values=lambda step: {"submitted_by": step.by, "reason": None},
            events=(DATED,),
            waits=True,
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/withdraw",
            access="inventory:purchase-order:submit",
            summary="Withdraw a purchase order from approval",
            values=lambda step: {"reason": step.reason},
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/reject",
            access="inventory:purchase-order:confirm",
            body=REJECT_BODY,
            values=lambda step: {"reason": step.reason},
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/confirm",
            access="inventory:purchase-order:confirm",
            before=refuse_closed_month,
            values=lambda step: {"confirmed_at": step.now},
            after=partial(announce_confirmed, PURCHASE),
            events=(DATED,),
            waits=True,
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/cancel",
            access="inventory:purchase-order:cancel",
            values=partial(end, PURCHASE),
            after=partial(announce_ended, PURCHASE),
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/close",
            access="inventory:purchase-order:close",
            values=partial(end, PURCHASE),
            after=partial(announce_ended, PURCHASE),
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/receive",
            access="inventory:purchase-order:receive",
            does=("ship", "ship-part"),
            summary="Receive goods of a purchase order",
            body=SHIP_BODY,
            waits=True,
            before=ship_with(PURCHASE),
            choose=partial(choose_shipping, PURCHASE),
            values=partial(add_shipment, PURCHASE),
            after=partial(announce_shipped, PURCHASE),
            events=(DATED,),
            refusals=conflicts(NOTHING_OPEN, MORE_THAN_OPEN, WAREHOUSE_GONE),
        ),
        approval=Approval(done="confirm", record=describe, fields={"supplier": text()}),
    ),
    *holds(
        PURCHASE_ORDERS,
        hold="POST /api/v1/inventory/purchase-orders/{id}/hold",
        release="POST /api/v1/inventory/purchase-orders/{id}/release",
        access="inventory:purchase-order:hold",
    ),
)
