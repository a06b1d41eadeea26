"""The routes of purchase orders. `orders.py` and `order_shipping.py` have what they share with sales orders."""

from __future__ import annotations

from functools import partial

from plugins.api import DATED, Action, Approval, Route, conflicts, crud, holds, text, transitions
from plugins.inventory import payables
from plugins.inventory.documents import PURCHASE_ORDERS, REJECT_BODY, SHIP_BODY
from plugins.inventory.messages import MORE_THAN_OPEN, NOT_A_DRAFT, NOT_DELETABLE, NOTHING_OPEN, WAREHOUSE_GONE
from plugins.inventory.order_changes import end_with, get_ended, refuse_closed_month
from plugins.inventory.order_shipping import add_shipment, choose_shipping, ship_with
from plugins.inventory.orders import make_create_handler, make_delete_handler, make_update_handler
from plugins.inventory.purchase_approval import describe
from plugins.inventory.trades import PURCHASE

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
            after=payables.announce_confirmed,
            events=(DATED,),
            waits=True,
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/cancel",
            access="inventory:purchase-order:cancel",
            before=end_with(PURCHASE),
            values=get_ended,
            after=payables.announce_ended,
        ),
        Action(
            "POST /api/v1/inventory/purchase-orders/{id}/close",
            access="inventory:purchase-order:close",
            before=end_with(PURCHASE),
            values=get_ended,
            after=payables.announce_ended,
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
            after=payables.announce_received,
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
