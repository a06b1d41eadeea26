"""Stock counts: documents that set the stock to what was counted."""

from __future__ import annotations

from decimal import Decimal

from plugins.api import Record, Request, Route, conflicts, crud, exact, route, store_money
from plugins.api.business import DATED
from plugins.api.data import new_id
from plugins.api.values import share, store_quantity, times
from plugins.inventory.messages import NOT_ENOUGH, NOT_ENOUGH_THEN, WAREHOUSE_GONE
from plugins.inventory.numbers import STOCK_COUNT_NUMBERS
from plugins.inventory.orders.amounts import check_amounts
from plugins.inventory.orders.lines import add_up, date_movement, find_products, find_warehouse
from plugins.inventory.record_types import Product, StockCount, Warehouse
from plugins.inventory.returns.records import REVERSE_BODY
from plugins.inventory.reversing import REVERSE_REFUSALS, find_place, lock_document
from plugins.inventory.stock.records import STOCK_COUNTS
from plugins.inventory.stock.stock import Holding, Origin, get_holding, put, sort_by_product, take, take_at


async def count(req: Request) -> StockCount:
    """Set the stock to what was counted. Opening stock, losses and finds are ledger entries like any other."""
    body = dict(req.body)
    check_amounts([times(exact(line["counted"]), exact(line.get("cost"))) for line in body["lines"]], "cost")

    async def work() -> StockCount:
        warehouse = await find_warehouse(req, body["warehouse_id"])
        products = await find_products(req, body["lines"])
        document = {
            "document_id": new_id(),
            "number": await STOCK_COUNT_NUMBERS.take(req),
            "day": await date_movement(req),
        }
        lines = [
            await _count_line(req, warehouse, line, products[line["product_id"]], document)
            for line in sort_by_product(body["lines"])
        ]
        values = {**body, "number": document["number"], "day": document["day"], "lines": lines}
        return await req.store(STOCK_COUNTS).create(
            {**values, "value": add_up(lines, "value")}, id=document["document_id"]
        )

    return await req.transaction(work)


async def _count_line(req: Request, warehouse: Warehouse, line: Record, product: Product, document: Record) -> Record:
    held = await get_holding(req, warehouse, product["id"])
    difference = exact(line["counted"]) - held.quantity
    origin = Origin("count", **document)
    value = Decimal(0)
    if difference < 0:
        value = -await take(req, warehouse, product["id"], -difference, origin)
    elif difference > 0:
        value = _value_found(difference, line, held, product)
        await put(req, warehouse, product["id"], difference, value, origin)
    return {
        "product_id": product["id"],
        "counted": line["counted"],
        "cost": line.get("cost"),
        "expected": store_quantity(held.quantity),
        "difference": store_quantity(difference),
        "value": store_money(value),
    }


def _value_found(found: Decimal, line: Record, held: Holding, product: Product) -> Decimal:
    if line.get("cost") is not None:
        return times(found, exact(line["cost"]))
    if held.quantity:
        return share(held.value, found, held.quantity)
    return times(found, exact(product["cost"]))


async def reverse(req: Request) -> StockCount:
    """Take back the differences that a count booked, at the values that they had, and link the two counts."""

    async def work() -> StockCount:
        found = await lock_document(req, STOCK_COUNTS)
        warehouse = await find_place(req, found["warehouse_id"])
        document = {
            "document_id": new_id(),
            "day": await date_movement(req, since=found["day"]),
            "number": await STOCK_COUNT_NUMBERS.take(req),
        }
        lines = [await _take_back(req, warehouse, line, document) for line in found["lines"]]
        reversal = await req.store(STOCK_COUNTS).create(
            {
                "number": document["number"],
                "warehouse_id": warehouse["id"],
                "day": document["day"],
                "lines": lines,
                "value": add_up(lines, "value"),
                "reverses_id": found["id"],
                "reason": (req.body or {}).get("reason"),
            },
            id=document["document_id"],
        )
        await req.store(STOCK_COUNTS).update(found["id"], {"reversed_by_id": reversal["id"]})
        return reversal

    return await req.transaction(work)


async def _take_back(req: Request, warehouse: Warehouse, line: Record, document: Record) -> Record:
    """Undo the difference of a line of a count, and return the line of its reversal."""
    id, difference, value = line["product_id"], exact(line["difference"]), exact(line["value"])
    held, origin = await get_holding(req, warehouse, id), Origin("count", **document)
    if difference > 0:
        value = await take_at(req, warehouse, id, difference, value, origin)
    elif difference < 0:
        await put(req, warehouse, id, -difference, -value, origin)
    return {
        "product_id": id,
        "counted": store_quantity(held.quantity - difference),
        "cost": None,
        "expected": store_quantity(held.quantity),
        "difference": store_quantity(-difference),
        "value": store_money(-value),
    }


ROUTES: tuple[Route, ...] = (
    *crud(
        STOCK_COUNTS,
        at="/api/v1/inventory/stock-counts",
        resource="inventory:stock-count",
        only=("list", "read", "create"),
        create=count,
        events=(DATED,),
        refusals_of={"create": conflicts(NOT_ENOUGH_THEN, WAREHOUSE_GONE)},
    ),
    route(
        "POST /api/v1/inventory/stock-counts/{id}/reverse",
        reverse,
        summary="Reverse the differences of a stock count",
        access="inventory:stock-count:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        record=STOCK_COUNTS,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN)),
    ),
)
