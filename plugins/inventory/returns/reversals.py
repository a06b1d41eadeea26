"""Reversal of returns that were entered by mistake. The goods move as if they had not come back, and are owed again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plugins.api import CONFLICT, ApiError, Handler, Record, Request, exact, store_money
from plugins.api.data import new_id
from plugins.api.values import store_quantity
from plugins.inventory.messages import SHIPMENT_REVERSED
from plugins.inventory.orders.lines import add_up, date_movement
from plugins.inventory.orders.owed import find_live, publish
from plugins.inventory.orders.trades import Trade
from plugins.inventory.record_types import Warehouse
from plugins.inventory.returns.orders import count_returned
from plugins.inventory.returns.parts import find_credited
from plugins.inventory.returns.returns import mark_returned
from plugins.inventory.reversing import find_place, lock_document
from plugins.inventory.stock.stock import Origin, put, take_at

_COPIED = ("order_id", "order_number", "warehouse_id", "refund", "restock")


def make_return_reverse_handler(trade: Trade) -> Handler:
    """Return the handler that reverses a return by another one, whose quantities and amounts are below zero.

    Stock moves at the cost at which the return moved it, and what the return brought back can be returned again.
    The handler raises 40901 for a return that is a reversal or was reversed, and after the reversal of the whole
    shipment.
    """

    async def reverse_return(req: Request) -> Record:
        async def work() -> Record:
            found = await lock_document(req, trade.returns)
            shipment = await _lock_shipment(req, trade, found)
            made = await _book(req, trade, found)
            await req.system_store(trade.returns).update(found["id"], {"reversed_by_id": made["id"]})
            changed = await mark_returned(req, trade, shipment, made)
            order = await count_returned(req, trade, made)
            await publish(trade, req.service, req, order, await find_live(req, trade, order), made["day"])
            await req.emit(trade.return_reversed, record=order, shipment=changed, goods_return=found, reversal=made)
            return made

        return await req.transaction(work)

    return reverse_return


async def _lock_shipment(req: Request, trade: Trade, found: Record) -> Record:
    """Return the delivery or receipt of a return, locked until the transaction ends; 40901 if it was reversed."""
    id = found[trade.shipment_id]
    await req.service.database.lock(trade.shipments, id)
    shipment = await req.system_store(trade.shipments).get(id)
    if shipment["reversed_by_id"] is not None:
        raise ApiError(CONFLICT, SHIPMENT_REVERSED)
    return shipment


async def _book(req: Request, trade: Trade, found: Record) -> Record:
    """Move the goods of a return back, and create its reversal."""
    warehouse = await find_place(req, found["warehouse_id"])
    id, day = new_id(), await date_movement(req, found["day"])
    origin = Origin(trade.return_kind, id, await trade.return_numbers.take(req), day)
    lines = [await _move(req, trade, warehouse, line, origin, found) for line in found["lines"]]
    return await req.store(trade.returns).create(
        {
            **{name: found[name] for name in _COPIED if name in trade.returns.fields},
            trade.shipment_id: found[trade.shipment_id],
            "number": origin.number,
            "day": day,
            "lines": lines,
            "shares": _negate(found["shares"] or found["lines"]),
            "amount": store_money(-exact(found["amount"])),
            "cost": add_up(lines, "cost"),
            **({"difference": add_up(lines, "difference")} if trade.incoming else {}),
            "reason": (req.body or {}).get("reason"),
            "reverses_return_id": found["id"],
        },
        id=id,
    )


async def _move(
    req: Request, trade: Trade, warehouse: Warehouse, line: Record, origin: Origin, found: Record
) -> dict[str, Any]:
    """Move the goods of a line of `found` back where they were before, and return the line of the reversal."""
    product_id, quantity, cost = line["product_id"], exact(line["quantity"]), exact(line["cost"])
    priced = {}
    if trade.incoming:
        credited = find_credited(found, line)
        await put(req, warehouse, product_id, quantity, cost, origin, -credited)
        priced = {"difference": store_money(credited - cost)}
    elif found["restock"] is not False:
        cost = await take_at(req, warehouse, product_id, quantity, cost, origin)
    return {
        "product_id": product_id,
        "quantity": store_quantity(-quantity),
        "amount": store_money(-exact(line["amount"])),
        "cost": store_money(-cost),
        **priced,
    }


def _negate(shares: Sequence[Record]) -> list[Record]:
    return [
        {
            "product_id": one["product_id"],
            "amount": store_money(-exact(one["amount"])),
            "cost": store_money(-exact(one["cost"])),
        }
        for one in shares
    ]
