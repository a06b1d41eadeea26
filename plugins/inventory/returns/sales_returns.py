"""The routes of sales returns and of reversed deliveries. `returns.py` has what they share with purchase returns."""

from __future__ import annotations

from plugins.api import Route, conflicts, crud, route
from plugins.api.business import DATED
from plugins.inventory.messages import (
    ALREADY_REVERSED,
    MORE_THAN_LEFT,
    NOT_ENOUGH,
    NOT_ENOUGH_THEN,
    NOTHING_LEFT,
    SHIPMENT_REVERSED,
    WAREHOUSE_GONE,
)
from plugins.inventory.orders.records import DELIVERIES
from plugins.inventory.orders.trades import SALE
from plugins.inventory.returns.records import RETURN_DELIVERY_BODY, REVERSE_BODY, SALES_RETURNS
from plugins.inventory.returns.returns import make_return_handler, make_reverse_handler
from plugins.inventory.returns.reversals import make_return_reverse_handler
from plugins.inventory.reversing import REVERSE_REFUSALS

ROUTES: tuple[Route, ...] = (
    *crud(
        SALES_RETURNS,
        at="/api/v1/inventory/sales-returns",
        resource="inventory:sales-return",
        only=("list", "read"),
    ),
    route(
        "POST /api/v1/inventory/deliveries/{id}/returns",
        make_return_handler(SALE),
        summary="Return goods of a delivery",
        access="inventory:delivery:return",
        body=RETURN_DELIVERY_BODY,
        returns=SALES_RETURNS.read,
        collection=DELIVERIES.name,
        events=(DATED,),
        refusals=conflicts(MORE_THAN_LEFT, NOTHING_LEFT, ALREADY_REVERSED, WAREHOUSE_GONE),
    ),
    route(
        "POST /api/v1/inventory/deliveries/{id}/reverse",
        make_reverse_handler(SALE),
        summary="Reverse a delivery that was entered by mistake",
        access="inventory:delivery:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        returns=SALES_RETURNS.read,
        collection=DELIVERIES.name,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(NOTHING_LEFT)),
    ),
    route(
        "POST /api/v1/inventory/sales-returns/{id}/reverse",
        make_return_reverse_handler(SALE),
        summary="Reverse a sales return that was entered by mistake",
        access="inventory:sales-return:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        record=SALES_RETURNS,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN, SHIPMENT_REVERSED)),
    ),
)
