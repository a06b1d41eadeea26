"""Receiving and delivering the goods of an order, at once or in parts, and the documents of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, Request, Route, Step, crud, exact, store_money
from plugins.api.business import compute_part
from plugins.api.data import new_id
from plugins.api.records import Hook
from plugins.api.values import store_quantity
from plugins.inventory.lines import Line, copy_line, count_unfinished, in_own_unit, in_stock, key_of, pick_lines
from plugins.inventory.order_records import DELIVERIES, RECEIPTS
from plugins.inventory.record_types import Warehouse
from plugins.inventory.stock import Movements, Origin, take_turns
from plugins.inventory.texts import MORE_THAN_OPEN, NOTHING_OPEN
from plugins.inventory.trades import Shipped, Trade, add_up, date_movement, find_live, find_products, find_warehouse


@dataclass(frozen=True)
class Part:
    """What is shipped of a line of an order: `net` is the amount without tax."""

    line: Line
    quantity: Decimal
    amount: Decimal
    net: Decimal


async def ship_lines(
    req: Request, warehouse: Warehouse, shipment: Record, parts: Sequence[Part], incoming: bool
) -> Record:
    """Move the parts in or out. Returns `_id`, `lines`, `amount` and `cost`.

    Goods that come in cost their net: the tax on them adds no value to the stock. A service moves nothing.
    """
    id = new_id()
    origin = Origin("receipt" if incoming else "delivery", id, shipment["number"], shipment["day"])
    moves, lines = Movements(req, warehouse, origin), []
    await moves.read(part.line["product_id"] for part in parts if in_stock(part.line))
    for part in parts:
        cost = Decimal(0)
        if in_stock(part.line) and incoming:
            cost = part.net
            await moves.put(part.line["product_id"], in_own_unit(part.line, part.quantity), cost)
        elif in_stock(part.line):
            cost = await moves.take(part.line["product_id"], in_own_unit(part.line, part.quantity))
        lines.append(
            {
                **copy_line(part.line),
                "quantity": store_quantity(part.quantity),
                "amount": store_money(part.amount),
                "cost": store_money(cost),
                "returned": store_quantity(Decimal(0)),
            }
        )
    await moves.enter()
    return {"_id": id, "lines": lines, "amount": add_up(lines, "amount"), "cost": add_up(lines, "cost")}


def ship_with(trade: Trade) -> Hook:
    """Return the hook that receives or delivers goods of an order.

    Stock, ledger, the receipt or delivery, and the order change in one transaction.
    """

    async def ship(step: Step) -> None:
        req, order = step.req, step.record
        # a disabled warehouse takes no goods in; its stock may leave
        warehouse_id = req.body.get("warehouse_id") or order["warehouse_id"]
        wanted = await _choose_quantities(req, trade, order)
        moved = {line["product_id"] for line in order["lines"] if key_of(line) in wanted and in_stock(line)}
        await take_turns(req, warehouse_id, moved)
        warehouse = await find_warehouse(req, warehouse_id, where=trade.filter_orderable())
        shipment = {
            "number": await trade.shipment_numbers.take(req),
            "order_id": order["id"],
            "order_number": order["number"],
            "warehouse_id": warehouse["id"],
            "day": await date_movement(req),
            "remark": req.body.get("remark"),
        }
        live = await find_live(req, trade, order)
        parts = _price_parts(trade, order, wanted, live)
        shipment |= await ship_lines(req, warehouse, shipment, parts, trade.incoming)
        shipment |= _add_freight(order, live, shipment)
        shipment = await req.store(trade.shipments).create(shipment, id=shipment.pop("_id"))
        step.keep(Shipped(shipment, live))

    return ship


async def _choose_quantities(req: Request, trade: Trade, order: Record) -> dict[Any, Decimal]:
    """Return the quantity of each line that is shipped now, by its key. Raises 40901 if it is more than is open."""
    given = req.body.get("lines")
    if given is None:
        left = {key_of(line): count_unfinished(line, trade.shipped) for line in order["lines"]}
        return {key: quantity for key, quantity in left.items() if quantity}
    ordered = {line["product_id"] for line in order["lines"]}
    for number, one in enumerate(given):
        if one.get("line") is None and one.get("product_id") not in {None, *ordered}:
            await find_products(req, given)
            raise ApiError(CONFLICT, NOTHING_OPEN, data={"open": "0", "field": f"lines[{number}].quantity"})
    wanted = {}
    for number, (one, line) in enumerate(zip(given, pick_lines(order["lines"], given), strict=True)):
        quantity, unfinished = exact(one["quantity"]), count_unfinished(line, trade.shipped)
        field = f"lines[{number}].quantity"
        if not unfinished:
            raise ApiError(CONFLICT, NOTHING_OPEN, data={"open": "0", "field": field})
        if quantity > unfinished:
            shown = format(store_quantity(unfinished).to_decimal(), "f")
            raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=shown), data={"open": shown, "field": field})
        wanted[key_of(line)] = quantity
    return wanted


def _price_parts(trade: Trade, order: Record, wanted: dict[Any, Decimal], live: Sequence[Record]) -> list[Part]:
    """Return the parts with their amounts. The parts of a line add up to its sums, to the cent.

    `live` are the shipments of the order that were not reversed. A part gets what they have left of the sums so far.
    """
    shipped: defaultdict[Any, list[Record]] = defaultdict(list)
    for part in (part for one in live for part in one["lines"]):
        shipped[key_of(part)].append(part)
    parts = []
    for line in order["lines"]:
        key = key_of(line)
        if key in wanted:
            after = exact(line[trade.shipped]) + wanted[key]
            # goods come in at their net, so the `cost` of earlier receipts is their part of it
            amount, net = (
                max(compute_part(line, after, field) - _add_up(shipped[key], stored), Decimal(0))
                for field, stored in (("amount", "amount"), ("net", "cost"))
            )
            parts.append(Part(line, wanted[key], amount, net))
    return parts


def _add_freight(order: Record, live: Sequence[Record], shipment: Record) -> Record:
    """Return `freight` and `amount` of a shipment. The freight of an order is owed with its first shipment."""
    freight = exact(order["freight"]) - _add_up(live, "freight")
    return {"freight": store_money(freight), "amount": store_money(exact(shipment["amount"]) + freight)}


def _add_up(records: Sequence[Record], field: str) -> Decimal:
    return sum((exact(one[field]) for one in records), Decimal(0))


def add_shipment(trade: Trade, step: Step) -> Record:
    """Return the update of the order for the shipment of the step."""
    made = step.kept[Shipped]
    shipped = add_up([*made.live, made.shipment], "amount")
    # with `$set`, so that no product is looked up: the lines keep theirs
    return {"$set": {"lines": _list_lines(trade, step), "shipped_amount": shipped}}


def _list_lines(trade: Trade, step: Step) -> list[Record]:
    moved = {key_of(line): exact(line["quantity"]) for line in step.kept[Shipped].shipment["lines"]}
    return [
        {**line, trade.shipped: store_quantity(exact(line[trade.shipped]) + moved.get(key_of(line), Decimal(0)))}
        for line in step.record["lines"]
    ]


def choose_shipping(trade: Trade, step: Step) -> str:
    """Return the action: `ship` if everything that was ordered is then shipped, else `ship-part`."""
    lines = _list_lines(trade, step)
    return "ship" if all(exact(line[trade.shipped]) == exact(line["quantity"]) for line in lines) else "ship-part"


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
