"""What confirmed sales orders reserve of the stock, and what is available: on hand, less what is reserved.

None of it is stored. Whenever it is shown it is counted from the orders that are still to be delivered, so it is right
whatever was delivered, cancelled, closed or reversed meanwhile.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_DOWN, Decimal
from typing import Any

from plugins.api import Collection, Page, Record, Request, exact
from plugins.api.business import GOODS
from plugins.api.data import Filter
from plugins.api.values import ReadOnlyRecord, RecordId, store_quantity
from plugins.inventory.lines import Line, count_unfinished, in_stock
from plugins.inventory.order_records import SALES_ORDERS, SALES_STATES
from plugins.inventory.record_types import Product, SalesOrder
from plugins.inventory.records import PRODUCTS, STOCK
from plugins.rbac.api import Policy

Place = tuple[RecordId, RecordId | None]  # a product and a warehouse; None: the order names no warehouse
_OPEN, _SEES_STOCK = SALES_STATES.allows("ship"), "inventory:stock:list"
_NOTHING, _SMALLEST = Decimal(0), Decimal("0.0001")


async def find_open(
    req: Request, orders: Collection[Any], done: str, product_ids: Sequence[RecordId], where: Filter
) -> dict[Place, Decimal]:
    """Return how much of these products is still to be shipped of the orders that match, in the products' own units.

    `done` names the field of a line with what was shipped. Whoever asks, all orders count.
    """
    wanted = {"lines.product_id": {"$in": list(product_ids)}}
    place = {"product_id": "$lines.product_id", "warehouse_id": "$warehouse_id"}
    left = {"$max": [{"$subtract": ["$lines.quantity", f"$lines.{done}"]}, 0]}
    quantity = {"$multiply": [{"$cond": ["$lines.completed", 0, left]}, {"$ifNull": ["$lines.unit_factor", 1]}]}
    found = await req.system_store(orders).aggregate(
        [
            {"$match": {**wanted, **where}},
            {"$unwind": "$lines"},
            {"$match": {**wanted, "lines.kind": {"$in": [None, GOODS]}}},
            {"$group": {"_id": place, "quantity": {"$sum": quantity}}},
        ]
    )
    return {(one["_id"]["product_id"], one["_id"].get("warehouse_id")): exact(one["quantity"]) for one in found}


async def find_reserved(
    req: Request, product_ids: Sequence[RecordId], where: Filter | None = None
) -> dict[Place, Decimal]:
    """Return how much of these products open sales orders have still to get; `where` restricts the orders."""
    return await find_open(req, SALES_ORDERS, "delivered", product_ids, {**_OPEN, **(where or {})})


async def add_to_stock(req: Request, page: Page) -> Page:
    """Return a page of stock with what is reserved and available in each row."""
    reserved = await find_reserved(req, list({row["product_id"] for row in page.items}))
    rows = [
        {**row, **_describe(exact(row["quantity"]), reserved.get((row["product_id"], row["warehouse_id"]), _NOTHING))}
        for row in page.items
    ]
    return replace(page, items=rows)


def _describe(held: Decimal, reserved: Decimal) -> Record:
    return {"reserved": store_quantity(reserved), "available": store_quantity(held - reserved)}


async def list_products(req: Request) -> Page:
    """List the products with their stock in all warehouses that the caller sees."""
    page: Page[Any] = await req.store(PRODUCTS).page(req.query)
    return replace(page, items=await _add_sums(req, page.items))


async def read_product(req: Request) -> Record:
    """Return a product with its stock in all warehouses that the caller sees."""
    (shown,) = await _add_sums(req, [await req.store(PRODUCTS).get(req.path["id"])])
    return shown


async def _add_sums(req: Request, products: Sequence[Product]) -> list[Record]:
    goods = [one["id"] for one in products if one["kind"] in (None, GOODS)]
    if not goods or not await req.part(Policy).holds(req.actor, _SEES_STOCK):
        return [{**one} for one in products]
    held, reserved = defaultdict[Any, Decimal](Decimal), defaultdict[Any, Decimal](Decimal)
    seen = {"product_id": {"$in": goods}}
    for row in await req.store(STOCK).find(seen, fields=("product_id", "warehouse_id", "quantity")):
        held[row["product_id"]] += exact(row["quantity"])
    for (product_id, warehouse_id), quantity in (await find_reserved(req, goods)).items():
        if warehouse_id not in req.scope.withheld:
            reserved[product_id] += quantity
    return [
        {**one, "on_hand": store_quantity(held[one["id"]]), **_describe(held[one["id"]], reserved[one["id"]])}
        if one["id"] in goods
        else {**one}
        for one in products
    ]


async def read_sales_order(req: Request) -> Record:
    """Return a sales order whose open lines say what there is for them."""
    return await add_available(req, await req.store(SALES_ORDERS).get(req.path["id"]))


async def add_available(req: Request, order: SalesOrder) -> Record:
    """Return a sales order whose lines say what its warehouse has for them, and what is missing.

    Orders that were confirmed before it come first, and of its own lines the earlier ones. A draft comes last. Lines
    say nothing without a warehouse, where only others keep the warehouse, or when nothing more is delivered.
    """
    place, goods = order["warehouse_id"], {line["product_id"] for line in order["lines"] if in_stock(line)}
    is_open = order["status"] == SALES_STATES.initial or SALES_STATES.permits(order, "ship")
    if not is_open or not goods or place is None or place in req.scope.withheld:
        return {**order}
    here = {"product_id": {"$in": list(goods)}, "warehouse_id": place}
    left = {row["product_id"]: exact(row["quantity"]) for row in await req.system_store(STOCK).find(here)}
    for (product_id, _), quantity in (await find_reserved(req, list(goods), _before(order))).items():
        left[product_id] = left.get(product_id, _NOTHING) - quantity
    return {**order, "lines": [_share(line, left) if in_stock(line) else line for line in order["lines"]]}


def _before(order: ReadOnlyRecord) -> Filter:
    """Return the filter for the orders in its warehouse whose goods are reserved before those of an order."""
    others: Record = {"warehouse_id": order["warehouse_id"], "_id": {"$ne": order["id"]}}
    at = order["confirmed_at"]
    if at is None:
        return others
    return {**others, "$or": [{"confirmed_at": {"$lt": at}}, {"confirmed_at": at, "_id": {"$lt": order["id"]}}]}


def _share(line: Line, left: dict[Any, Decimal]) -> Record:
    """Return a line with what is there for it of what is `left` of its product, which becomes less by that."""
    product_id, factor = line["product_id"], exact(line.get("unit_factor")) or Decimal(1)
    wanted = count_unfinished(line, "delivered")
    there = max(left.get(product_id, _NOTHING), _NOTHING)
    available = (there / factor).quantize(_SMALLEST, ROUND_DOWN)
    left[product_id] = there - min(wanted * factor, there)
    missing = store_quantity(max(wanted - available, _NOTHING))
    return {**line, "available": store_quantity(available), "backordered": missing}
