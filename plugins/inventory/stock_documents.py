"""Transfers between warehouses, and stock counts, which set the stock to what was counted."""

from __future__ import annotations

from decimal import Decimal

from plugins.api import Record, Request, Route, conflicts, crud, exact, invalid, route, store_money
from plugins.api.business import DATED, check_amounts
from plugins.api.data import new_id
from plugins.api.values import share, store_quantity, times
from plugins.inventory.documents import REVERSE_REFUSALS, STOCK_COUNTS, TRANSFERS, find_place, lock_document
from plugins.inventory.numbers import STOCK_COUNT_NUMBERS, TRANSFER_NUMBERS
from plugins.inventory.record_types import Product, StockCount, Transfer, Warehouse
from plugins.inventory.return_records import REVERSE_BODY
from plugins.inventory.stock import Holding, Origin, get_holding, put, sort_by_product, take, take_at
from plugins.inventory.texts import NOT_ENOUGH, NOT_ENOUGH_THEN, WAREHOUSE_GONE
from plugins.inventory.trades import ENABLED, STOCKED, add_up, date_movement, find_products, find_warehouse


async def transfer(req: Request) -> Transfer:
    """Move goods from one warehouse to another at their cost. Raises 40901 if there are not enough."""
    body = dict(req.body)
    if body["from_warehouse_id"] == body["to_warehouse_id"]:
        raise invalid("to_warehouse_id", "invalid")

    async def work() -> Transfer:
        source = await find_warehouse(req, body["from_warehouse_id"], "from_warehouse_id")
        target = await find_warehouse(req, body["to_warehouse_id"], "to_warehouse_id", ENABLED)
        await find_products(req, body["lines"], STOCKED)
        document = {
            "document_id": new_id(),
            "number": await TRANSFER_NUMBERS.take(req),
            "day": await date_movement(req),
        }
        lines = [await _move(req, source, target, line, document) for line in sort_by_product(body["lines"])]
        values = {**body, "number": document["number"], "day": document["day"], "lines": lines}
        return await req.store(TRANSFERS).create({**values, "cost": add_up(lines, "cost")}, id=document["document_id"])

    return await req.transaction(work)


async def _move(req: Request, source: Warehouse, target: Warehouse, line: Record, document: Record) -> Record:
    id, quantity = line["product_id"], exact(line["quantity"])
    cost = await take(req, source, id, quantity, Origin("transfer_out", **document))
    await put(req, target, id, quantity, cost, Origin("transfer_in", **document))
    return {"product_id": id, "quantity": line["quantity"], "cost": store_money(cost)}


async def reverse_transfer(req: Request) -> Transfer:
    """Move the goods of a transfer back at the cost at which they moved, and link the two transfers."""

    async def work() -> Transfer:
        found = await lock_document(req, TRANSFERS)
        source = await find_place(req, found["to_warehouse_id"])
        target = await find_place(req, found["from_warehouse_id"])
        document = {
            "document_id": new_id(),
            "day": await date_movement(req, since=found["day"]),
            "number": await TRANSFER_NUMBERS.take(req),
        }
        lines = [await _move_back(req, source, target, line, document) for line in found["lines"]]
        reversal = await req.store(TRANSFERS).create(
            {
                "number": document["number"],
                "from_warehouse_id": source["id"],
                "to_warehouse_id": target["id"],
                "day": document["day"],
                "lines": lines,
                "cost": add_up(lines, "cost"),
                "reverses_id": found["id"],
                "reason": (req.body or {}).get("reason"),
            },
            id=document["document_id"],
        )
        await req.store(TRANSFERS).update(found["id"], {"reversed_by_id": reversal["id"]})
        return reversal

    return await req.transaction(work)


async def _move_back(req: Request, source: Warehouse, target: Warehouse, line: Record, document: Record) -> Record:
    id, quantity = line["product_id"], exact(line["quantity"])
    cost = await take_at(req, source, id, quantity, exact(line["cost"]), Origin("transfer_out", **document))
    await put(req, target, id, quantity, cost, Origin("transfer_in", **document))
    return {"product_id": id, "quantity": line["quantity"], "cost": store_money(cost)}


async def count(req: Request) -> StockCount:
    """Set the stock to what was counted. Opening stock, losses and finds are ledger entries like any other."""
    body = dict(req.body)
    check_amounts([times(exact(line["counted"]), exact(line.get("cost"))) for line in body["lines"]], "cost")

    async def work() -> StockCount:
        warehouse = await find_warehouse(req, body["warehouse_id"])
        products = await find_products(req, body["lines"], STOCKED)
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


async def reverse_count(req: Request) -> StockCount:
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
        TRANSFERS,
        at="/api/v1/inventory/transfers",
        resource="inventory:transfer",
        only=("list", "read", "create"),
        create=transfer,
        events=(DATED,),
        refusals_of={"create": conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN, WAREHOUSE_GONE)},
    ),
    route(
        "POST /api/v1/inventory/transfers/{id}/reverse",
        reverse_transfer,
        summary="Reverse a transfer by moving the goods back",
        effect=("商品将调回原仓库，原调拨单保留。", "The goods are moved back; the transfer itself is kept."),
        access="inventory:transfer:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        record=TRANSFERS,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN)),
    ),
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
        reverse_count,
        summary="Reverse the differences of a stock count",
        effect=(
            "盘点的差异将被撤回，原盘点单保留。",
            "The differences that it booked are taken back; the count itself is kept.",
        ),
        access="inventory:stock-count:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        record=STOCK_COUNTS,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN)),
    ),
)
