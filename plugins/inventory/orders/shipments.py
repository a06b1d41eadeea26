"""Receipts and deliveries: the documents of goods that come in or go out for an order."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from plugins.api import Record, Request, Route, crud, store_money
from plugins.api.data import new_id
from plugins.api.values import store_quantity
from plugins.inventory.orders.lines import add_up
from plugins.inventory.orders.records import DELIVERIES, RECEIPTS
from plugins.inventory.stock.stock import Movements, Origin

Part = tuple[Any, Decimal, Decimal, Decimal]


async def ship_lines(
    req: Request, warehouse: Record, shipment: Record, parts: Sequence[Part], incoming: bool
) -> Record:
    """Move the parts (product, quantity, amount, net) in or out. Returns `_id`, `lines`, `amount` and `cost`.

    Goods that come in cost their net: the tax on them adds no value to the stock.
    """
    id = new_id()
    origin = Origin("receipt" if incoming else "delivery", id, shipment["number"], shipment["day"])
    moves, lines = Movements(req, warehouse, origin), []
    await moves.read(part[0] for part in parts)
    for product_id, quantity, amount, net in sorted(parts, key=lambda part: str(part[0])):
        cost = net
        if incoming:
            await moves.put(product_id, quantity, net)
        else:
            cost = await moves.take(product_id, quantity)
        lines.append(
            {
                "product_id": product_id,
                "quantity": store_quantity(quantity),
                "amount": store_money(amount),
                "cost": store_money(cost),
                "returned": store_quantity(Decimal(0)),
            }
        )
    await moves.enter()
    return {"_id": id, "lines": lines, "amount": add_up(lines, "amount"), "cost": add_up(lines, "cost")}


ROUTES: tuple[Route, ...] = (
    *crud(
        RECEIPTS,
        at="/api/v1/inventory/receipts",
        resource="inventory:receipt",
        only=("list", "read"),
    ),
    *crud(
        DELIVERIES,
        at="/api/v1/inventory/deliveries",
        resource="inventory:delivery",
        only=("list", "read"),
    ),
)
