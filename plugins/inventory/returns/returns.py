"""Returns of the goods of deliveries and receipts, and reversals of those that were entered by mistake.

Stock, ledger, the return, the delivery or receipt, the order and what is owed for it change in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Handler, Record, Request, exact, store_money
from plugins.api.data import new_id
from plugins.api.values import store_quantity
from plugins.inventory.messages import NOTHING_LEFT
from plugins.inventory.orders.lines import ENABLED, add_up, date_movement, find_warehouse
from plugins.inventory.orders.owed import find_live, publish
from plugins.inventory.orders.trades import Trade
from plugins.inventory.record_types import Warehouse
from plugins.inventory.returns.orders import count_returned, take_off_order
from plugins.inventory.returns.parts import Part, choose_parts, describe_shares
from plugins.inventory.reversing import find_place, lock_document
from plugins.inventory.stock.stock import Origin, put, take, take_at

_ZERO = store_money(Decimal(0))


def make_return_handler(trade: Trade) -> Handler:
    """Return the handler that returns goods of a delivery or receipt: those in the body, or all that are left."""

    async def return_goods(req: Request) -> Record:
        body = req.body or {}

        async def work() -> Record:
            shipment = await lock_document(req, trade.shipments)
            # as with orders, a disabled warehouse takes no goods in; its stock may leave
            place = body.get("warehouse_id") or shipment["warehouse_id"]
            warehouse = await find_warehouse(req, place, where=None if trade.incoming else ENABLED)
            parts = choose_parts(shipment, body.get("lines"), await find_returns(req, trade, shipment))
            refund, restock = (body.get(name) is not False for name in ("refund", "restock"))
            made = await _book(req, trade, shipment, warehouse, parts, {"refund": refund, "restock": restock})
            changed = await mark_returned(req, trade, shipment, made)
            order = await count_returned(req, trade, made)
            await publish(trade, req.service, req, order, await find_live(req, trade, order), made["day"])
            await req.emit(trade.returned, record=order, shipment=changed, goods_return=made)
            return made

        return await req.transaction(work)

    return return_goods


def make_reverse_handler(trade: Trade) -> Handler:
    """Return the handler that reverses a delivery or receipt: all that is left of it comes back.

    Its order can be shipped again.
    """

    async def reverse_shipment(req: Request) -> Record:
        async def work() -> Record:
            shipment = await lock_document(req, trade.shipments)
            warehouse = await find_place(req, shipment["warehouse_id"])
            parts = choose_parts(shipment, None, await find_returns(req, trade, shipment))
            given = {"refund": True, "restock": True, "reverses_id": shipment["id"]}
            made = await _book(req, trade, shipment, warehouse, parts, given)
            changed = await mark_returned(req, trade, shipment, made)
            order, left = await take_off_order(req, trade, shipment, made["day"])
            await publish(trade, req.service, req, order, left, made["day"])
            await req.emit(trade.reversed, record=order, shipment=changed, goods_return=made)
            return made

        return await req.transaction(work)

    return reverse_shipment


async def _book(
    req: Request, trade: Trade, shipment: Record, warehouse: Warehouse, parts: Sequence[Part], given: Record
) -> Record:
    """Move the parts and create the return. `given` has `refund`, `restock` and, for a reversal, `reverses_id`.

    Raises 40901 if there are no parts.
    """
    if not parts:
        raise ApiError(CONFLICT, NOTHING_LEFT)
    id, day = new_id(), await date_movement(req, shipment["day"])
    origin = Origin(trade.return_kind, id, await trade.return_numbers.take(req), day)
    lines = [await _move(req, trade, warehouse, part, origin, given) for part in parts]
    amount = add_up(lines, "amount")
    if given.get("reverses_id") is not None:
        # a reversal also takes back the freight, and what was returned without a refund
        amount = store_money(exact(shipment["amount"]) - exact(shipment["returned_amount"]))
    return await req.store(trade.returns).create(
        {
            **{name: value for name, value in given.items() if name in trade.returns.fields},
            "number": origin.number,
            trade.shipment_id: shipment["id"],
            "order_id": shipment["order_id"],
            "order_number": shipment["order_number"],
            "warehouse_id": warehouse["id"],
            "day": day,
            "lines": lines,
            "shares": describe_shares(parts),
            "amount": amount,
            "cost": add_up(lines, "cost"),
            **({"difference": add_up(lines, "difference")} if trade.incoming else {}),
            "reason": (req.body or {}).get("reason"),
        },
        id=id,
    )


async def _move(
    req: Request, trade: Trade, warehouse: Warehouse, part: Part, origin: Origin, given: Record
) -> dict[str, Any]:
    """Move a part of the goods, and return the line of the return."""
    cost, priced = part.cost, {}
    if trade.incoming:
        credited = part.cost if given["refund"] else Decimal(0)
        goods = (req, warehouse, part.product_id, part.quantity)
        if given.get("reverses_id") is not None:  # as if the goods had never come
            cost = await take_at(*goods, part.cost, origin, credited)
        else:
            cost = await take(*goods, origin, credited)
        priced = {"difference": store_money(cost - credited)}
    elif given["restock"]:
        await put(req, warehouse, part.product_id, part.quantity, cost, origin)
    return {
        "product_id": part.product_id,
        "quantity": store_quantity(part.quantity),
        "amount": store_money(part.amount) if given["refund"] else _ZERO,
        "cost": store_money(cost),
        **priced,
    }


async def find_returns(req: Request, trade: Trade, shipment: Record) -> Sequence[Record]:
    """Return all returns of a delivery or receipt, including their reversals."""
    return await req.system_store(trade.returns).find({trade.shipment_id: shipment["id"]})


async def mark_returned(req: Request, trade: Trade, shipment: Record, made: Record) -> Record:
    """Add what a return brought back to its delivery or receipt. The reversal of a return takes it off again."""
    came_back = {line["product_id"]: exact(line["quantity"]) for line in made["lines"]}
    lines = [
        {
            **line,
            "returned": store_quantity(exact(line.get("returned")) + came_back.get(line["product_id"], Decimal(0))),
        }
        for line in shipment["lines"]
    ]
    returned_amount = store_money(exact(shipment["returned_amount"]) + exact(made["amount"]))
    reversal = {"reversed_by_id": made["id"]} if made["reverses_id"] is not None else {}
    values = {"lines": lines, "returned_amount": returned_amount, **reversal}
    return await req.system_store(trade.shipments).update(shipment["id"], values)
