"""Returns of the goods of deliveries and receipts, and reversals of those that were entered by mistake.

Stock, ledger, the return, the delivery or receipt, the order and what is owed for it change in one transaction. The
goods of a line that have come back have a share of its amount and cost in proportion to their quantity, rounded to the
cent. A part gets what it adds to that share, so the parts of a line that came back completely add up to the line. When
a return is reversed, the goods move as if they had not come back, and are owed again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, ApiError, Handler, Record, Request, Route, conflicts, crud, exact, route, store_money
from plugins.api.business import DATED
from plugins.api.data import new_id
from plugins.api.records import change_state
from plugins.api.values import share, store_quantity
from plugins.inventory.documents import REVERSE_REFUSALS, find_place, lock_document
from plugins.inventory.lines import Line, copy_line, in_own_unit, in_stock, key_of, number_lines, pick_lines
from plugins.inventory.order_records import DELIVERIES, RECEIPTS
from plugins.inventory.record_types import Warehouse
from plugins.inventory.return_records import (
    PURCHASE_RETURNS,
    RETURN_DELIVERY_BODY,
    RETURN_RECEIPT_BODY,
    REVERSE_BODY,
    SALES_RETURNS,
)
from plugins.inventory.stock import Movements, Origin
from plugins.inventory.texts import (
    ALREADY_REVERSED,
    MORE_THAN_LEFT,
    NOT_ENOUGH,
    NOT_ENOUGH_THEN,
    NOTHING_LEFT,
    SHIPMENT_REVERSED,
    WAREHOUSE_GONE,
)
from plugins.inventory.trades import (
    ENABLED,
    PURCHASE,
    SALE,
    Trade,
    add_up,
    book_later,
    date_movement,
    find_live,
    find_warehouse,
    publish,
    store_difference,
)


@dataclass(frozen=True)
class Part:
    """Some of the goods of a line of a delivery or receipt, with their shares of its amount and cost."""

    line: Line
    quantity: Decimal
    amount: Decimal
    cost: Decimal


def choose_parts(shipment: Record, given: Sequence[Line] | None, returns: Sequence[Record]) -> list[Part]:
    """Return the parts that come back: those of the lines `given`, or all that are left.

    `returns` are all returns of the shipment so far, including their reversals. Raises 40001 for each line that repeats
    another or has a product that was not shipped, and 40901 for the first line with more than is left.
    """
    lines: Sequence[Line] = shipment["lines"]
    wanted = {key_of(line): _count_left(line) for line in lines}
    if given is not None:
        picked = pick_lines(lines, given)
        wanted = {key_of(line): exact(one["quantity"]) for line, one in zip(picked, given, strict=True)}
        for number, line in enumerate(picked):
            _check_quantity(number, wanted[key_of(line)], _count_left(line))
    before: defaultdict[Any, list[Line]] = defaultdict(list)
    for part in (part for made in returns for part in made["shares"] or made["lines"]):
        before[key_of(part)].append(part)
    asked = [(line, wanted.get(key_of(line))) for line in lines]
    return [_cut(line, quantity, before[key_of(line)]) for line, quantity in asked if quantity]


def _count_left(line: Line) -> Decimal:
    return exact(line["quantity"]) - exact(line.get("returned"))


def _check_quantity(number: int, quantity: Decimal, left: Decimal) -> None:
    if quantity > left:
        shown = format(store_quantity(left).to_decimal(), "f")
        data = {"open": shown, "field": f"lines[{number}].quantity"}
        raise ApiError(CONFLICT, MORE_THAN_LEFT.filled(line=number + 1, open=shown), data=data)


def _cut(line: Line, quantity: Decimal, before: Sequence[Line]) -> Part:
    """Return a part of a line; `before` are the shares of what came back of it earlier."""
    after = exact(line.get("returned")) + quantity
    amount, cost = (
        max(share(exact(line[field]), after, exact(line["quantity"])) - _add_up(before, field), Decimal(0))
        for field in ("amount", "cost")
    )
    return Part(line, quantity, amount, cost)


def _add_up(parts: Sequence[Line], field: str) -> Decimal:
    return sum((exact(part[field]) for part in parts), Decimal(0))


def find_credited(made: Record, line: Line) -> Decimal:
    """Return what the supplier credits, without tax, for a line of the return `made`: nothing without a refund."""
    if made.get("refund") is False:
        return Decimal(0)
    shares = [one for one in made.get("shares") or () if key_of(one) == key_of(line)]
    return _add_up(shares or [line], "cost")


def describe_shares(parts: Sequence[Part]) -> list[Record]:
    """Return the shares of the parts as a return stores them, regardless of what was refunded and moved."""
    return [{**_name(part.line), "amount": store_money(part.amount), "cost": store_money(part.cost)} for part in parts]


async def count_returned(req: Request, trade: Trade, made: Record) -> Record:
    """Add the amount of the return `made` to the returned amount of its order, and return the order.

    Nothing else changes in the order: returned goods are not open for shipping again.
    """
    orders = req.system_store(trade.orders)
    order = await orders.get(made["order_id"])
    values = {"returned_amount": store_money(exact(order["returned_amount"]) + exact(made["amount"]))}
    later = await book_later(req.service, trade, order, {**order, **values}, made["day"])
    return await orders.update(order["id"], {**values, **later})


async def take_off_order(req: Request, trade: Trade, shipment: Record, day: str) -> tuple[Record, list[Record]]:
    """Take a delivery or receipt off its order on `day`, so that the order is as before it. A closed order stays closed.

    `shipment` is the record as it was before its reversal, which is already stored. Returns the order and its other
    shipments that were not reversed.
    """
    orders = req.system_store(trade.orders)
    order = await orders.get(shipment["order_id"])
    left = await find_live(req, trade, order)
    moved = number_lines(shipment["lines"], order["lines"])
    shipped = {key_of(line): exact(line["quantity"]) for line in moved}
    lines = [
        {
            **line,
            trade.shipped: store_quantity(exact(line[trade.shipped]) - shipped[key_of(line)]),
            "completed": None,
        }
        if key_of(line) in shipped
        else line
        for line in order["lines"]
    ]
    # what was returned of the shipment earlier can be shipped again too
    amount = exact(order["returned_amount"]) - exact(shipment["returned_amount"])
    values = {
        "lines": lines,
        "shipped_amount": add_up(left, "amount"),
        "shipped_difference": store_difference(trade, lines),
        "returned_amount": store_money(amount),
    }
    action = "unship-part" if any(exact(line[trade.shipped]) for line in lines) else "unship"
    reopens = trade.orders.machine.permits(order, action)
    state = {"status": trade.orders.machine.after(action)} if reopens else {}
    values |= await book_later(req.service, trade, order, {**order, **values, **state}, day)
    if reopens:
        return await change_state(orders, order["id"], action, values), left
    return await orders.update(order["id"], values), left


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
    moves = Movements(req, warehouse, origin)
    await moves.read(part.line["product_id"] for part in parts if in_stock(part.line))
    lines = [await _move(trade, moves, part, given) for part in parts]
    await moves.enter()
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
            "currency": shipment.get("currency"),
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


async def _move(trade: Trade, moves: Movements, part: Part, given: Record) -> dict[str, Any]:
    """Move a part of the goods, and return the line of the return. A service moves nothing."""
    product_id, cost, quantity = part.line["product_id"], part.cost, in_own_unit(part.line, part.quantity)
    credited = part.cost if given["refund"] else Decimal(0)
    if not in_stock(part.line):
        cost = credited = Decimal(0)
    elif trade.incoming and given.get("reverses_id") is not None:  # as if the goods had never come
        cost = await moves.take_at(product_id, quantity, part.cost, credited)
    elif trade.incoming:
        cost = await moves.take(product_id, quantity, credited)
    elif given["restock"]:
        await moves.put(product_id, quantity, cost)
    return {
        **copy_line(part.line),
        "quantity": store_quantity(part.quantity),
        "amount": store_money(part.amount) if given["refund"] else _ZERO,
        "cost": store_money(cost),
        **({"difference": store_money(cost - credited)} if trade.incoming else {}),
    }


async def find_returns(req: Request, trade: Trade, shipment: Record) -> Sequence[Record]:
    """Return all returns of a delivery or receipt, including their reversals."""
    return await req.system_store(trade.returns).find({trade.shipment_id: shipment["id"]})


async def mark_returned(req: Request, trade: Trade, shipment: Record, made: Record) -> Record:
    """Add what a return brought back to its delivery or receipt. The reversal of a return takes it off again."""
    came_back = {key_of(line): exact(line["quantity"]) for line in made["lines"]}
    lines = [
        {**line, "returned": store_quantity(exact(line.get("returned")) + came_back.get(key_of(line), Decimal(0)))}
        for line in shipment["lines"]
    ]
    returned_amount = store_money(exact(shipment["returned_amount"]) + exact(made["amount"]))
    reversal = {"reversed_by_id": made["id"]} if made["reverses_id"] is not None else {}
    values = {"lines": lines, "returned_amount": returned_amount, **reversal}
    return await req.system_store(trade.shipments).update(shipment["id"], values)


_COPIED = ("order_id", "order_number", "warehouse_id", "currency", "refund", "restock")


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
            made = await _book_reversal(req, trade, found)
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


async def _book_reversal(req: Request, trade: Trade, found: Record) -> Record:
    """Move the goods of a return back, and create its reversal."""
    warehouse = await find_place(req, found["warehouse_id"])
    id, day = new_id(), await date_movement(req, found["day"])
    origin = Origin(trade.return_kind, id, await trade.return_numbers.take(req), day)
    moves = Movements(req, warehouse, origin)
    await moves.read(line["product_id"] for line in found["lines"] if in_stock(line))
    lines = [await _move_back(trade, moves, line, found) for line in found["lines"]]
    await moves.enter()
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


async def _move_back(trade: Trade, moves: Movements, line: Record, found: Record) -> dict[str, Any]:
    """Move the goods of a line of `found` back where they were before, and return the line of the reversal."""
    product_id, quantity, cost = line["product_id"], exact(line["quantity"]), exact(line["cost"])
    credited = find_credited(found, line) if in_stock(line) else Decimal(0)
    if trade.incoming and in_stock(line):
        await moves.put(product_id, in_own_unit(line, quantity), cost, -credited)
    elif in_stock(line) and found["restock"] is not False:
        cost = await moves.take_at(product_id, in_own_unit(line, quantity), cost)
    return {
        **copy_line(line),
        "quantity": store_quantity(-quantity),
        "amount": store_money(-exact(line["amount"])),
        "cost": store_money(-cost),
        **({"difference": store_money(credited - cost)} if trade.incoming else {}),
    }


def _negate(shares: Sequence[Record]) -> list[Record]:
    return [
        {**_name(one), "amount": store_money(-exact(one["amount"])), "cost": store_money(-exact(one["cost"]))}
        for one in shares
    ]


def _name(line: Line) -> Record:
    return {"line": line.get("line"), "product_id": line["product_id"]}


ROUTES: tuple[Route, ...] = (
    *crud(
        PURCHASE_RETURNS,
        at="/api/v1/inventory/purchase-returns",
        resource="inventory:purchase-return",
        only=("list", "read"),
    ),
    route(
        "POST /api/v1/inventory/receipts/{id}/returns",
        make_return_handler(PURCHASE),
        summary="Return goods of a receipt",
        access="inventory:receipt:return",
        body=RETURN_RECEIPT_BODY,
        returns=PURCHASE_RETURNS.read,
        collection=RECEIPTS.name,
        events=(DATED,),
        refusals=conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN, MORE_THAN_LEFT, NOTHING_LEFT, ALREADY_REVERSED, WAREHOUSE_GONE),
    ),
    route(
        "POST /api/v1/inventory/receipts/{id}/reverse",
        make_reverse_handler(PURCHASE),
        summary="Reverse a receipt that was entered by mistake",
        effect=(
            "商品将全部退出库存，原入库单保留。",
            "All of its goods leave the stock again; the receipt itself is kept.",
        ),
        access="inventory:receipt:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        returns=PURCHASE_RETURNS.read,
        collection=RECEIPTS.name,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN, NOTHING_LEFT)),
    ),
    route(
        "POST /api/v1/inventory/purchase-returns/{id}/reverse",
        make_return_reverse_handler(PURCHASE),
        summary="Reverse a purchase return that was entered by mistake",
        effect=("商品将重新入库，原退货单保留。", "Its goods are in stock again; the return itself is kept."),
        access="inventory:purchase-return:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        record=PURCHASE_RETURNS,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(SHIPMENT_REVERSED)),
    ),
    *crud(
        SALES_RETURNS,
        at="/api/v1/inventory/sales-returns",
        resource="inventory:sales-return",
        only=("list", "read"),
    ),
    route(
        "POST /api/v1/inventory/deliveries/{id}/returns",
        make_return_handler(SALE),
        summary="Return goods of a delivery",
        access="inventory:delivery:return",
        body=RETURN_DELIVERY_BODY,
        returns=SALES_RETURNS.read,
        collection=DELIVERIES.name,
        events=(DATED,),
        refusals=conflicts(MORE_THAN_LEFT, NOTHING_LEFT, ALREADY_REVERSED, WAREHOUSE_GONE),
    ),
    route(
        "POST /api/v1/inventory/deliveries/{id}/reverse",
        make_reverse_handler(SALE),
        summary="Reverse a delivery that was entered by mistake",
        effect=(
            "商品将全部回到库存，原出库单保留。",
            "All of its goods are in stock again; the delivery itself is kept.",
        ),
        access="inventory:delivery:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        returns=SALES_RETURNS.read,
        collection=DELIVERIES.name,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(NOTHING_LEFT)),
    ),
    route(
        "POST /api/v1/inventory/sales-returns/{id}/reverse",
        make_return_reverse_handler(SALE),
        summary="Reverse a sales return that was entered by mistake",
        effect=("商品将重新出库，原退货单保留。", "Its goods leave the stock again; the return itself is kept."),
        access="inventory:sales-return:reverse",
        fits={"reversed_by_id": False},
        body=REVERSE_BODY,
        record=SALES_RETURNS,
        events=(DATED,),
        refusals=(*REVERSE_REFUSALS, *conflicts(NOT_ENOUGH, NOT_ENOUGH_THEN, SHIPMENT_REVERSED)),
    ),
)
