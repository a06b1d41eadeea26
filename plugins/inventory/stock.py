"""Stock on hand, and the ledger that says why: the only place that writes either. Called inside a transaction.

Stock never falls below zero: the change is conditional on the quantity, and a transaction that read what another
one changed runs again. Goods leave at the moving average; with the last piece leaves the last cent.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Request, exact, share, store_money, store_quantity
from plugins.inventory.messages import NOT_ENOUGH, STOCK_LEFT, WAREHOUSE_GONE
from plugins.inventory.records import PRODUCTS, STOCK, STOCK_ENTRIES, WAREHOUSES

Record = dict[str, Any]


@dataclass(frozen=True)
class Origin:
    """Why stock changes: the kind of entry, the document that causes it, and the business day."""

    kind: str
    document_id: Any
    number: str
    day: str


@dataclass(frozen=True)
class Holding:
    """What a warehouse has of a product: the stock row (None where there never was any), quantity and value."""

    row: Record | None
    quantity: Decimal
    value: Decimal


async def holding(req: Request, warehouse: Record, product_id: Any) -> Holding:
    """What is there now."""
    row = await req.system_store(STOCK).find_one({"product_id": product_id, "warehouse_id": warehouse["id"]})
    return Holding(row, exact(row["quantity"] if row else None), exact(row["value"] if row else None))


async def put(
    req: Request, warehouse: Record, product_id: Any, quantity: Decimal, value: Decimal, origin: Origin
) -> None:
    """Add goods that are worth `value`."""
    held = await holding(req, warehouse, product_id)
    await _book(req, warehouse, product_id, held, quantity, value, origin)


async def take(req: Request, warehouse: Record, product_id: Any, quantity: Decimal, origin: Origin) -> Decimal:
    """Take goods out and answer what they were worth; 40901 where there are not enough."""
    held = await holding(req, warehouse, product_id)
    if held.quantity < quantity:
        raise await _not_enough(req, product_id, held.quantity, quantity)
    value = share(held.value, quantity, held.quantity)
    await _book(req, warehouse, product_id, held, -quantity, -value, origin)
    return value


async def clear_rows(req: Request, filter: Record) -> None:
    """Delete the empty stock rows of a product or warehouse that goes; 40901 where stock is left."""
    store = req.system_store(STOCK)
    for row in await store.find(filter):
        await store.delete(row["id"], where={"quantity": store_quantity(Decimal(0))}, reason=STOCK_LEFT)


async def _book(
    req: Request, warehouse: Record, product_id: Any, held: Holding, quantity: Decimal, value: Decimal, origin: Origin
) -> None:
    after = {"quantity": held.quantity + quantity, "value": held.value + value}
    amounts = {
        "quantity": store_quantity(after["quantity"]),
        "value": store_money(after["value"]),
        "average_cost": store_money(share(after["value"], Decimal(1), after["quantity"] or Decimal(1))),
    }
    place = {
        "product_id": product_id,
        "warehouse_id": warehouse["id"],
        "warehouse_creator_id": warehouse["creator_id"],
        "warehouse_department_id": warehouse["creator_department_id"],
    }
    store = req.system_store(STOCK)
    if held.row is None:
        await _claim_place(req, warehouse["id"], product_id)
        await store.create({**place, **amounts})
    else:
        unchanged = {"quantity": store_quantity(held.quantity), "value": store_money(held.value)}
        await store.update(held.row["id"], amounts, where=unchanged)
    await req.system_store(STOCK_ENTRIES).create(
        {
            **place,
            "kind": origin.kind,
            "day": origin.day,
            "document_id": origin.document_id,
            "document_number": origin.number,
            "quantity": store_quantity(quantity),
            "value": store_money(value),
            "quantity_after": amounts["quantity"],
            "value_after": amounts["value"],
        }
    )


async def _claim_place(req: Request, warehouse_id: Any, product_id: Any) -> None:
    # touches both, so that a first row and a deletion, or two first rows, cannot happen side by side
    for collection, id in ((WAREHOUSES, warehouse_id), (PRODUCTS, product_id)):
        if await req.system_store(collection).change_quietly({"_id": id}, {"$inc": {"stock_rows": 1}}) is None:
            raise ApiError(CONFLICT, WAREHOUSE_GONE)


async def _not_enough(req: Request, product_id: Any, held: Decimal, wanted: Decimal) -> ApiError:
    product = await req.system_store(PRODUCTS).find_one({"_id": product_id})
    amounts = {"held": _shown(held), "wanted": _shown(wanted)}
    return ApiError(CONFLICT, NOT_ENOUGH.filled(sku=product["sku"] if product else product_id, **amounts))


def _shown(quantity: Decimal) -> str:
    return format(store_quantity(quantity).to_decimal(), "f")
