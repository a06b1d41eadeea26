"""Transfers: goods move from one warehouse to another, in one document."""

from __future__ import annotations

from plugins.api import DATED, Request, Route, conflicts, crud, exact, invalid, new_id, store_money
from plugins.inventory.documents import TRANSFERS
from plugins.inventory.lines import (
    ENABLED,
    Record,
    add_up,
    date_movement,
    find_products,
    find_warehouse,
    take_number,
)
from plugins.inventory.messages import NOT_ENOUGH, WAREHOUSE_GONE
from plugins.inventory.stock import Origin, put, sort_by_product, take


async def transfer(req: Request) -> Record:
    """Move goods from one warehouse to another at their cost. Raises 40901 if there are not enough."""
    body = dict(req.body)
    if body["from_warehouse_id"] == body["to_warehouse_id"]:
        raise invalid("to_warehouse_id", "invalid")

    async def work() -> Record:
        source = await find_warehouse(req, body["from_warehouse_id"], "from_warehouse_id")
        target = await find_warehouse(req, body["to_warehouse_id"], "to_warehouse_id", ENABLED)
        await find_products(req, body["lines"])
        document = {"document_id": new_id(), "number": await take_number(req, "TR"), "day": await date_movement(req)}
        lines = [await _move(req, source, target, line, document) for line in sort_by_product(body["lines"])]
        values = {**body, "number": document["number"], "day": document["day"], "lines": lines}
        return await req.store(TRANSFERS).create({**values, "cost": add_up(lines, "cost")}, id=document["document_id"])

    return await req.transaction(work)


async def _move(req: Request, source: Record, target: Record, line: Record, document: Record) -> Record:
    id, quantity = line["product_id"], exact(line["quantity"])
    cost = await take(req, source, id, quantity, Origin("transfer_out", **document))
    await put(req, target, id, quantity, cost, Origin("transfer_in", **document))
    return {"product_id": id, "quantity": line["quantity"], "cost": store_money(cost)}


ROUTES: tuple[Route, ...] = crud(
    TRANSFERS,
    at="/api/v1/inventory/transfers",
    resource="inventory:transfer",
    only=("list", "read", "create"),
    create=transfer,
    events=(DATED,),
    refusals_of={"create": conflicts(NOT_ENOUGH, WAREHOUSE_GONE)},
)
