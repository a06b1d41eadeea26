"""Transfers: documents that move goods from one warehouse to another."""

from __future__ import annotations

from plugins.api import Record, Request, Route, conflicts, crud, exact, invalid, route, store_money
from plugins.api.business import DATED
from plugins.api.data import new_id
from plugins.inventory.messages import NOT_ENOUGH, NOT_ENOUGH_THEN, WAREHOUSE_GONE
from plugins.inventory.numbers import TRANSFER_NUMBERS
from plugins.inventory.orders.lines import ENABLED, add_up, date_movement, find_products, find_warehouse
from plugins.inventory.record_types import Transfer, Warehouse
from plugins.inventory.returns.records import REVERSE_BODY
from plugins.inventory.reversing import REVERSE_REFUSALS, find_place, lock_document
from plugins.inventory.stock.records import TRANSFERS
from plugins.inventory.stock.stock import Origin, put, sort_by_product, take, take_at


async def transfer(req: Request) -> Transfer:
    """Move goods from one warehouse to another at their cost. Raises 40901 if there are not enough."""
    body = dict(req.body)
    if body["from_warehouse_id"] == body["to_warehouse_id"]:
        raise invalid("to_warehouse_id", "invalid")

    async def work() -> Transfer:
        source = await find_warehouse(req, body["from_warehouse_id"], "from_warehouse_id")
        target = await find_warehouse(req, body["to_warehouse_id"], "to_warehouse_id", ENABLED)
        await find_products(req, body["lines"])
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


async def reverse(req: Request) -> Transfer:
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
        reverse,
        summary="Reverse a transfer by moving the goods back",
        access="inventory:transfer:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        record=TRANSFERS,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN)),
    ),
)
