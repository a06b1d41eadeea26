"""Purchase orders: their routes. `orders.py` has the handlers that they share with sales orders."""

from __future__ import annotations

from plugins.api import REFUSES_OWN, STALE, Route, conflicts, crud, route
from plugins.inventory import purchase_approval
from plugins.inventory.documents import PURCHASE_ORDERS, REJECT_BODY, SHIP_BODY
from plugins.inventory.lines import DATED_EVENT
from plugins.inventory.messages import (
    MORE_THAN_OPEN,
    NOT_A_DRAFT,
    NOT_DELETABLE,
    NOT_IN_STATE,
    NOTHING_OPEN,
    WAREHOUSE_GONE,
)
from plugins.inventory.order_shipping import make_shipping_handler
from plugins.inventory.orders import (
    make_create_handler,
    make_delete_handler,
    make_transition_handler,
    make_update_handler,
)
from plugins.inventory.trades import PURCHASE

ROUTES: tuple[Route, ...] = (
    *crud(
        PURCHASE_ORDERS,
        at="/api/v1/inventory/purchase-orders",
        resource="inventory:purchase-order",
        noun="purchase order",
        create=make_create_handler(PURCHASE),
        update=make_update_handler(PURCHASE),
        delete=make_delete_handler(PURCHASE),
        refusals_of={"update": conflicts(NOT_A_DRAFT), "delete": conflicts(NOT_DELETABLE)},
    ),
    route(
        "POST /api/v1/inventory/purchase-orders/{id}/confirm",
        make_transition_handler(PURCHASE, "confirm"),
        summary="Confirm a purchase order",
        access="inventory:purchase-order:confirm",
        record=PURCHASE_ORDERS,
        errors=(STALE,),
        refusals=(*conflicts(NOT_IN_STATE), REFUSES_OWN),
    ),
    route(
        "POST /api/v1/inventory/purchase-orders/{id}/cancel",
        make_transition_handler(PURCHASE, "cancel"),
        summary="Cancel a purchase order",
        access="inventory:purchase-order:cancel",
        record=PURCHASE_ORDERS,
        errors=(STALE,),
        refusals=conflicts(NOT_IN_STATE),
    ),
    route(
        "POST /api/v1/inventory/purchase-orders/{id}/close",
        make_transition_handler(PURCHASE, "close"),
        summary="Close a purchase order",
        access="inventory:purchase-order:close",
        record=PURCHASE_ORDERS,
        errors=(STALE,),
        refusals=conflicts(NOT_IN_STATE),
    ),
    route(
        "POST /api/v1/inventory/purchase-orders/{id}/receive",
        make_shipping_handler(PURCHASE),
        summary="Receive goods of a purchase order",
        access="inventory:purchase-order:receive",
        body=SHIP_BODY,
        record=PURCHASE_ORDERS,
        events=(DATED_EVENT,),
        errors=(STALE,),
        refusals=conflicts(NOT_IN_STATE, NOTHING_OPEN, MORE_THAN_OPEN, WAREHOUSE_GONE),
    ),
    route(
        "POST /api/v1/inventory/purchase-orders/{id}/submit",
        make_transition_handler(PURCHASE, "submit"),
        summary="Ask for approval of a purchase order",
        access="inventory:purchase-order:submit",
        events=(purchase_approval.REQUESTED_EVENT,),
        record=PURCHASE_ORDERS,
        refusals=conflicts(NOT_IN_STATE),
    ),
    route(
        "POST /api/v1/inventory/purchase-orders/{id}/withdraw",
        make_transition_handler(PURCHASE, "withdraw"),
        summary="Take a purchase order back from approval",
        access="inventory:purchase-order:submit",
        record=PURCHASE_ORDERS,
        refusals=conflicts(NOT_IN_STATE),
    ),
    route(
        "POST /api/v1/inventory/purchase-orders/{id}/reject",
        make_transition_handler(PURCHASE, "reject"),
        summary="Reject a purchase order",
        access="inventory:purchase-order:confirm",
        body=REJECT_BODY,
        record=PURCHASE_ORDERS,
        refusals=(*conflicts(NOT_IN_STATE), REFUSES_OWN),
    ),
)
