"""Receipts and deliveries: the documents of goods that come in or go out for an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import Record, Request, Route, crud, store_money
from plugins.api.data import new_id
from plugins.api.values import store_quantity
from plugins.inventory.orders.lines import add_up
from plugins.inventory.orders.records import DELIVERIES, RECEIPTS
from plugins.inventory.record_types import Warehouse
from plugins.inventory.stock.stock import Movements, Origin


@dataclass(frozen=True)
class Part:
    """What is shipped of a product: `net` is the amount without tax."""

    product_id: Any
    quantity: Decimal
    amount: Decimal
    net: Decimal


async def ship_lines(
    req: Request, warehouse: Warehouse, shipment: Record, parts: Sequence[Part], incoming: bool
) -> Record:
    """Move the parts in or out. Returns `_id`, `lines`, `amount` and `cost`.

    Goods that come in cost their net: the tax on them adds no value to the stock.
    """
    id = new_id()
    origin = Origin("receipt" if incoming else "delivery", id, shipment["number"], shipment["day"])
    moves, lines = Movements(req, warehouse, origin), []
    await moves.read(part.product_id for part in parts)
    for part in sorted(parts, key=lambda part: str(part.product_id)):
        cost = part.net
        if incoming:
            await moves.put(part.product_id, part.quantity, cost)
        else:
            cost = await moves.take(part.product_id, part.quantity)
        lines.append(
            {
                "product_id": part.product_id,
                "quantity": store_quantity(part.quantity),
                "amount": store_money(part.amount),
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
