"""What moves stock: receipts, deliveries, transfers and counts. Each is one document, its entries and the stock."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from plugins.api import Request, exact, invalid, new_id, share, store_money, store_quantity, times
from plugins.inventory.documents import STOCK_COUNTS, TRANSFERS
from plugins.inventory.lines import ENABLED, Record, moved_on, numbered, products_of, total, warehouse_of
from plugins.inventory.stock import Holding, Origin, holding, put, take

Part = tuple[Any, Decimal, Decimal]


async def ship_lines(
    req: Request, warehouse: Record, shipment: Record, parts: Sequence[Part], incoming: bool
) -> Record:
    """Move the parts (product, quantity, amount) in or out; answers `_id`, `lines`, `amount` and `cost`."""
    id = new_id()
    origin = Origin("receipt" if incoming else "delivery", id, shipment["number"], shipment["day"])
    lines = []
    for product_id, quantity, amount in sorted(parts, key=lambda part: str(part[0])):
        cost = amount
        if incoming:
            await put(req, warehouse, product_id, quantity, amount, origin)
        else:
            cost = await take(req, warehouse, product_id, quantity, origin)
        lines.append(
            {
                "product_id": product_id,
                "quantity": store_quantity(quantity),
                "amount": store_money(amount),
                "cost": store_money(cost),
            }
        )
    return {"_id": id, "lines": lines, "amount": total(lines, "amount"), "cost": total(lines, "cost")}


async def transfer(req: Request) -> Record:
    """Move goods from one warehouse to another at what they cost; 40901 where there are not enough."""
    body = dict(req.body)
    if body["from_warehouse_id"] == body["to_warehouse_id"]:
        raise invalid("to_warehouse_id", "invalid")

    async def work() -> Record:
        source = await warehouse_of(req, body["from_warehouse_id"], "from_warehouse_id")
        target = await warehouse_of(req, body["to_warehouse_id"], "to_warehouse_id", ENABLED)
        await products_of(req, body["lines"])
        document = {"id": new_id(), "number": await numbered(req, "TR"), "day": await moved_on(req)}
        lines = [await _moved(req, source, target, line, document) for line in _in_order(body["lines"])]
        values = {**body, "number": document["number"], "day": document["day"], "lines": lines}
        return await req.store(TRANSFERS).create({**values, "cost": total(lines, "cost")}, id=document["id"])

    return await req.transaction(work)


async def _moved(req: Request, source: Record, target: Record, line: Record, document: Record) -> Record:
    id, quantity = line["product_id"], exact(line["quantity"])
    cost = await take(req, source, id, quantity, _origin("transfer_out", document))
    await put(req, target, id, quantity, cost, _origin("transfer_in", document))
    return {"product_id": id, "quantity": line["quantity"], "cost": store_money(cost)}


async def count(req: Request) -> Record:
    """Make the stock what was counted: opening stock, losses and finds are entries like any other."""
    body = dict(req.body)

    async def work() -> Record:
        warehouse = await warehouse_of(req, body["warehouse_id"])
        products = await products_of(req, body["lines"])
        document = {"id": new_id(), "number": await numbered(req, "SC"), "day": await moved_on(req)}
        lines = [
            await _counted(req, warehouse, line, products[line["product_id"]], document)
            for line in _in_order(body["lines"])
        ]
        values = {**body, "number": document["number"], "day": document["day"], "lines": lines}
        return await req.store(STOCK_COUNTS).create({**values, "value": total(lines, "value")}, id=document["id"])

    return await req.transaction(work)


async def _counted(req: Request, warehouse: Record, line: Record, product: Record, document: Record) -> Record:
    held = await holding(req, warehouse, product["id"])
    difference = exact(line["counted"]) - held.quantity
    origin = _origin("count", document)
    value = Decimal(0)
    if difference < 0:
        value = -await take(req, warehouse, product["id"], -difference, origin)
    elif difference > 0:
        value = _found_value(difference, line, held, product)
        await put(req, warehouse, product["id"], difference, value, origin)
    return {
        "product_id": product["id"],
        "counted": line["counted"],
        "cost": line.get("cost"),
        "expected": store_quantity(held.quantity),
        "difference": store_quantity(difference),
        "value": store_money(value),
    }


def _found_value(found: Decimal, line: Record, held: Holding, product: Record) -> Decimal:
    if line.get("cost") is not None:
        return times(found, exact(line["cost"]))
    if held.quantity:
        return share(held.value, found, held.quantity)
    return times(found, exact(product["cost"]))


def _origin(kind: str, document: Record) -> Origin:
    return Origin(kind, document["id"], document["number"], document["day"])


def _in_order(lines: Sequence[Record]) -> list[Record]:
    # everybody takes products in the same order, so that two documents do not wait for each other
    return sorted(lines, key=lambda line: str(line["product_id"]))
