"""The routes of sales orders. `drafts.py` and `shipping.py` have what they share with purchase orders."""

from __future__ import annotations

from functools import partial

from plugins.api import Action, Route, conflicts, crud, transitions
from plugins.api.business import CREDIT_REFUSALS, DATED
from plugins.api.records import holds
from plugins.inventory.messages import (
    MORE_THAN_OPEN,
    NOT_A_DRAFT,
    NOT_DELETABLE,
    NOT_ENOUGH,
    NOT_ENOUGH_THEN,
    NOTHING_OPEN,
)
from plugins.inventory.orders.changes import end, refuse_closed_month
from plugins.inventory.orders.credit import confirm
from plugins.inventory.orders.drafts import amounts_route, make_create_handler, make_delete_handler, make_update_handler
from plugins.inventory.orders.owed import announce_confirmed, announce_ended, announce_shipped
from plugins.inventory.orders.records import SALES_ORDERS, SHIP_BODY
from plugins.inventory.orders.shipping import add_shipment, choose_shipping, ship_with
from plugins.inventory.orders.trades import SALE

ROUTES: tuple[Route, ...] = (
    *crud(
        SALES_ORDERS,
        at="/api/v1/inventory/sales-orders",
        resource="inventory:sales-order",
        always=("reference", "remark"),
        create=make_create_handler(SALE),
        update=make_update_handler(SALE),
        delete=make_delete_handler(SALE),
        refusals_of={"update": conflicts(NOT_A_DRAFT), "delete": conflicts(NOT_DELETABLE)},
    ),
    amounts_route("POST /api/v1/inventory/sales-orders/amounts", SALE, "inventory:sales-order:create"),
    *transitions(
        SALES_ORDERS,
        Action(
            "POST /api/v1/inventory/sales-orders/{id}/confirm",
            access="inventory:sales-order:confirm",
            before=refuse_closed_month,
            values=confirm,
            after=partial(announce_confirmed, SALE),
            events=(DATED,),
            refusals=CREDIT_REFUSALS,
            waits=True,
        ),
        Action(
            "POST /api/v1/inventory/sales-orders/{id}/cancel",
            access="inventory:sales-order:cancel",
            values=partial(end, SALE),
            after=partial(announce_ended, SALE),
        ),
        Action(
            "POST /api/v1/inventory/sales-orders/{id}/close",
            access="inventory:sales-order:close",
            values=partial(end, SALE),
            after=partial(announce_ended, SALE),
        ),
        Action(
            "POST /api/v1/inventory/sales-orders/{id}/deliver",
            access="inventory:sales-order:deliver",
            does=("ship", "ship-part"),
            summary="Deliver goods of a sales order",
            body=SHIP_BODY,
            waits=True,
            before=ship_with(SALE),
            choose=partial(choose_shipping, SALE),
            values=partial(add_shipment, SALE),
            after=partial(announce_shipped, SALE),
            events=(DATED,),
            refusals=conflicts(NOTHING_OPEN, MORE_THAN_OPEN, NOT_ENOUGH, NOT_ENOUGH_THEN),
        ),
    ),
    *holds(
        SALES_ORDERS,
        hold="POST /api/v1/inventory/sales-orders/{id}/hold",
        release="POST /api/v1/inventory/sales-orders/{id}/release",
        access="inventory:sales-order:hold",
    ),
)
