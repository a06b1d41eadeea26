"""Receiving and delivering the goods of an order, at once or in parts, and the documents of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Record, Request, Route, Step, crud, exact, store_money
from plugins.api.business import compute_part, in_base
from plugins.api.data import new_id
from plugins.api.records import Hook
from plugins.api.values import store_quantity
from plugins.inventory.lines import (
    Line,
    copy_line,
    count_tolerated,
    count_unfinished,
    in_own_unit,
    in_stock,
    key_of,
    pick_lines,
)
from plugins.inventory.order_records import DELIVERIES, RECEIPTS
from plugins.inventory.record_types import Warehouse
from plugins.inventory.stock import Movements, Origin, take_turns
from plugins.inventory.texts import MORE_THAN_OPEN, MORE_THAN_TOLERATED, NOTHING_OPEN, TOO_MUCH_MISSING
from plugins.inventory.trades import (
    Shipped,
    Trade,
    add_up,
    book_later,
    date_movement,
    find_live,
    find_products,
    find_warehouse,
    store_difference,
)

SHIP_REFUSALS = (NOTHING_OPEN, MORE_THAN_OPEN, MORE_THAN_TOLERATED, TOO_MUCH_MISSING)
_SMALLEST = Decimal("0.0001")


@dataclass(frozen=True)
class Part:
    """What is shipped of a line of an order: `complete`: no more of it follows.

    `net` is the amount without tax, in the company's currency, in which stock is valued.
    """

    line: Line
    quantity: Decimal
    amount: Decimal
    net: Decimal
    complete: bool


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
                "complete": part.complete or None,
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
            "delivery_address": req.body.get("delivery_address") or order.get("delivery_address"),
            "currency": order.get("currency"),
            "remark": req.body.get("remark"),
        }
        live = await find_live(req, trade, order)
        parts = _price_parts(trade, order, wanted, live, _choose_completed(trade, order, req.body.get("lines") or ()))
        shipment |= await ship_lines(req, warehouse, shipment, parts, trade.incoming)
        shipment |= _add_freight(order, live, shipment)
        shipment = await req.store(trade.shipments).create(shipment, id=shipment.pop("_id"))
        step.keep(Shipped(shipment, live))

    return ship


async def _choose_quantities(req: Request, trade: Trade, order: Record) -> dict[Any, Decimal]:
    """Return the quantity of each line that is shipped now, by its key.

    Raises 40901 if it is more than is open and tolerated.
    """
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
        if quantity > unfinished + count_tolerated(line):
            shown, most = _show(unfinished), _show(unfinished + count_tolerated(line))
            message = MORE_THAN_OPEN if shown == most else MORE_THAN_TOLERATED
            raise ApiError(CONFLICT, message.filled(open=shown, most=most), data={"open": shown, "field": field})
        wanted[key_of(line)] = quantity
    return wanted


def _choose_completed(trade: Trade, order: Record, given: Sequence[Line]) -> set[Any]:
    """Return the keys of the lines that are complete with what is shipped now.

    Raises 40901 for one of which more would be missing than is tolerated.
    """
    completed = set()
    for number, (one, line) in enumerate(zip(given, pick_lines(order["lines"], given), strict=True)):
        missing = count_unfinished(line, trade.shipped) - exact(one["quantity"])
        if not one.get("complete") or missing <= 0:
            continue
        if missing > count_tolerated(line):
            data = {"open": _show(missing), "field": f"lines[{number}].complete"}
            raise ApiError(CONFLICT, TOO_MUCH_MISSING.filled(line=number + 1, open=data["open"]), data=data)
        completed.add(key_of(line))
    return completed


def _show(quantity: Decimal) -> str:
    return format(quantity.quantize(_SMALLEST, ROUND_DOWN).normalize(), "f")


def _price_parts(
    trade: Trade, order: Record, wanted: dict[Any, Decimal], live: Sequence[Record], completed: Set[Any]
) -> list[Part]:
    """Return the parts with their amounts. The parts of a line add up to its sums, to the cent.

    `live` are the shipments of the order that were not reversed. A part gets what they have left of the sums so far.
    `completed` are the keys of lines of which no more follows.
    """
    shipped: defaultdict[Any, list[Record]] = defaultdict(list)
    for part in (part for one in live for part in one["lines"]):
        shipped[key_of(part)].append(part)
    parts = []
    for line in order["lines"]:
        key = key_of(line)
        if key in wanted:
            after = exact(line[trade.shipped]) + wanted[key]
            amount = max(compute_part(line, after) - _add_up(shipped[key], "amount"), Decimal(0))
            # goods come in at their net, so the `cost` of earlier receipts is their part of it
            net = max(in_base(compute_part(line, after, "net"), order) - _add_up(shipped[key], "cost"), Decimal(0))
            parts.append(Part(line, wanted[key], amount, net, key in completed))
    return parts


def _add_freight(order: Record, live: Sequence[Record], shipment: Record) -> Record:
    """Return `freight` and `amount` of a shipment. The freight of an order is owed with its first shipment."""
    freight = exact(order["freight"]) - _add_up(live, "freight")
    return {"freight": store_money(freight), "amount": store_money(exact(shipment["amount"]) + freight)}


def _add_up(records: Sequence[Record], field: str) -> Decimal:
    return sum((exact(one[field]) for one in records), Decimal(0))


async def add_shipment(trade: Trade, step: Step) -> Record:
    """Return the update of the order for the shipment of the step."""
    made, lines = step.kept[Shipped], _list_lines(trade, step)
    values = {
        "lines": lines,
        "shipped_amount": add_up([*made.live, made.shipment], "amount"),
        "shipped_difference": store_difference(trade, lines),
    }
    after = {**step.record, **values, "status": trade.orders.machine.after(step.action)}
    later = await book_later(step.service, trade, step.record, after, made.shipment["day"])
    # with `$set`, so that no product is looked up: the lines keep theirs
    return {"$set": {**values, **later}}


def _list_lines(trade: Trade, step: Step) -> list[Record]:
    moved = {key_of(line): line for line in step.kept[Shipped].shipment["lines"]}
    return [_add(trade, line, moved.get(key_of(line))) for line in step.record["lines"]]


def _add(trade: Trade, line: Record, part: Line | None) -> Record:
    """Return a line of an order with a part of it shipped."""
    if part is None:
        return line
    shipped = store_quantity(exact(line[trade.shipped]) + exact(part["quantity"]))
    return {**line, trade.shipped: shipped, "completed": part["complete"]}


def choose_shipping(trade: Trade, step: Step) -> str:
    """Return the action: `ship` if everything that was ordered is then shipped, else `ship-part`."""
    lines = _list_lines(trade, step)
    return "ship-part" if any(count_unfinished(line, trade.shipped) for line in lines) else "ship"


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
