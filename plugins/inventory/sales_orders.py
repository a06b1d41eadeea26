"""Sales orders: their routes. `orders.py` has the handlers that they share with purchase orders."""

from __future__ import annotations

from plugins.api import STALE, Route, conflicts, crud, route
from plugins.inventory.documents import SALES_ORDERS, SHIP_BODY
from plugins.inventory.lines import DATED_EVENT
from plugins.inventory.messages import (
    MORE_THAN_OPEN,
    NOT_A_DRAFT,
    NOT_DELETABLE,
    NOT_ENOUGH,
    NOT_IN_STATE,
    NOTHING_OPEN,
)
from plugins.inventory.order_shipping import make_shipping_handler
from plugins.inventory.orders import (
    make_create_handler,
    make_delete_handler,
    make_transition_handler,
    make_update_handler,
)
from plugins.inventory.trades import SALE

ROUTES: tuple[Route, ...] = (
    *crud(
        SALES_ORDERS,
        at="/api/v1/inventory/sales-orders",
        resource="inventory:sales-order",
        noun="sales order",
        create=make_create_handler(SALE),
        update=make_update_handler(SALE),
        delete=make_delete_handler(SALE),
        refusals_of={"update": conflicts(NOT_A_DRAFT), "delete": conflicts(NOT_DELETABLE)},
    ),
    route(
        "POST /api/v1/inventory/sales-orders/{id}/confirm",
        make_transition_handler(SALE, "confirm"),
        summary="Confirm a sales order",
        access="inventory:sales-order:confirm",
        record=SALES_ORDERS,
        errors=(STALE,),
        refusals=conflicts(NOT_IN_STATE),
    ),
    route(
        "POST /api/v1/inventory/sales-orders/{id}/cancel",
        make_transition_handler(SALE, "cancel"),
        summary="Cancel a sales order",
        access="inventory:sales-order:cancel",
        record=SALES_ORDERS,
        errors=(STALE,),
        refusals=conflicts(NOT_IN_STATE),
    ),
    route(
        "POST /api/v1/inventory/sales-orders/{id}/close",
        make_transition_handler(SALE, "close"),
        summary="Close a sales order",
        access="inventory:sales-order:close",
        record=SALES_ORDERS,
        errors=(STALE,),
        refusals=conflicts(NOT_IN_STATE),
    ),
    route(
        "POST /api/v1/inventory/sales-orders/{id}/deliver",
        make_shipping_handler(SALE),
        summary="Deliver goods of a sales order",
        access="inventory:sales-order:deliver",
        body=SHIP_BODY,
        record=SALES_ORDERS,
        events=(DATED_EVENT,),
        errors=(STALE,),
        refusals=conflicts(NOT_IN_STATE, NOTHING_OPEN, MORE_THAN_OPEN, NOT_ENOUGH),
    ),
)
