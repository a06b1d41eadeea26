"""The routes of purchase returns and of reversed receipts. `returns.py` has what they share with sales returns."""

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
from plugins.inventory.orders.records import RECEIPTS
from plugins.inventory.orders.trades import PURCHASE
from plugins.inventory.returns.records import PURCHASE_RETURNS, RETURN_RECEIPT_BODY, REVERSE_BODY
from plugins.inventory.returns.returns import make_return_handler, make_reverse_handler
from plugins.inventory.returns.reversals import make_return_reverse_handler
from plugins.inventory.reversing import REVERSE_REFUSALS

ROUTES: tuple[Route, ...] = (
    *crud(
        PURCHASE_RETURNS,
        at="/api/v1/inventory/purchase-returns",
        resource="inventory:purchase-return",
        only=("list", "read"),
    ),
    route(
        "POST /api/v1/inventory/receipts/{id}/returns",
        make_return_handler(PURCHASE),
        summary="Return goods of a receipt",
        access="inventory:receipt:return",
        body=RETURN_RECEIPT_BODY,
        returns=PURCHASE_RETURNS.read,
        collection=RECEIPTS.name,
        events=(DATED,),
        refusals=conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN, MORE_THAN_LEFT, NOTHING_LEFT, ALREADY_REVERSED, WAREHOUSE_GONE),
    ),
    route(
        "POST /api/v1/inventory/receipts/{id}/reverse",
        make_reverse_handler(PURCHASE),
        summary="Reverse a receipt that was entered by mistake",
        access="inventory:receipt:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        returns=PURCHASE_RETURNS.read,
        collection=RECEIPTS.name,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN, NOTHING_LEFT)),
    ),
    route(
        "POST /api/v1/inventory/purchase-returns/{id}/reverse",
        make_return_reverse_handler(PURCHASE),
        summary="Reverse a purchase return that was entered by mistake",
        access="inventory:purchase-return:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        record=PURCHASE_RETURNS,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(SHIPMENT_REVERSED)),
    ),
)
