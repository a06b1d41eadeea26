"""Receiving and delivering the goods of an order, whole or in parts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plugins.api import CONFLICT, STALE, ApiError, Handler, Request, exact, store_quantity
from plugins.inventory import payables
from plugins.inventory.lines import Record, compute_cost, date_movement, find_products, find_warehouse, take_number
from plugins.inventory.messages import MORE_THAN_OPEN, NOT_IN_STATE, NOTHING_OPEN
from plugins.inventory.shipments import ship_lines
from plugins.inventory.states import after
from plugins.inventory.trades import PURCHASE, Trade


def make_shipping_handler(trade: Trade) -> Handler:
    """Return the handler that receives or delivers goods of an order.

    Stock, ledger, the receipt or delivery, and the order change in one transaction.
    """

    async def ship(req: Request) -> Record:
        async def work() -> Record:
            return await _ship(req, trade, await store.get(req.path["id"]))

        store = req.store(trade.orders)
        await store.get(req.path["id"])
        return await req.transaction(work)

    return ship


async def _ship(req: Request, trade: Trade, order: Record) -> Record:
    _check_shippable(req, trade, order)
    # a disabled warehouse takes no goods in; its stock may leave
    warehouse_id = req.body.get("warehouse_id") or order["warehouse_id"]
    warehouse = await find_warehouse(req, warehouse_id, where=trade.filter_orderable())
    wanted = await _choose_quantities(req, trade, order)
    shipment = {
        "number": await take_number(req, trade.shipment_prefix),
        "order_id": order["id"],
        "order_number": order["number"],
        "warehouse_id": warehouse["id"],
        "day": await date_movement(req),
        "remark": req.body.get("remark"),
    }
    shipment |= await ship_lines(req, warehouse, shipment, _price_parts(trade, order, wanted), trade.incoming)
    shipped = await req.store(trade.shipments).create(shipment, id=shipment.pop("_id"))
    changed = await _update_order(req, trade, order, wanted)
    await req.emit(trade.events["ship"], record=changed, shipment=shipped)
    if trade is PURCHASE:
        await payables.announce(req, changed)
    return changed


def _check_shippable(req: Request, trade: Trade, order: Record) -> None:
    version = req.body.get("version")
    if version is not None and version != order["version"]:
        raise ApiError(STALE)
    if order["status"] not in trade.states.transitions["ship"][0]:
        raise ApiError(CONFLICT, NOT_IN_STATE)


async def _choose_quantities(req: Request, trade: Trade, order: Record) -> dict[Any, Decimal]:
    """Map each product to the quantity that is shipped now. Raises 40901 for more than is open."""
    unfinished = {line["product_id"]: exact(line["quantity"]) - exact(line[trade.shipped]) for line in order["lines"]}
    given = req.body.get("lines")
    if given is None:
        return {id: quantity for id, quantity in unfinished.items() if quantity > 0}
    await find_products(req, given)
    wanted = {line["product_id"]: exact(line["quantity"]) for line in given}
    for id, quantity in wanted.items():
        if not unfinished.get(id):
            raise ApiError(CONFLICT, NOTHING_OPEN)
        if quantity > unfinished[id]:
            shown = format(store_quantity(unfinished[id]).to_decimal(), "f")
            raise ApiError(CONFLICT, MORE_THAN_OPEN.filled(open=shown), data={"open": shown})
    return wanted


def _price_parts(trade: Trade, order: Record, wanted: dict[Any, Decimal]) -> list[tuple[Any, Decimal, Decimal]]:
    """Return product, quantity and amount of each part. The parts of a line add up to its amount, to the cent."""
    parts = []
    for line in order["lines"]:
        quantity = wanted.get(line["product_id"])
        if quantity is not None:
            before = exact(line[trade.shipped])
            amount = compute_cost(line, before + quantity) - compute_cost(line, before)
            parts.append((line["product_id"], quantity, amount))
    return parts


async def _update_order(req: Request, trade: Trade, order: Record, wanted: dict[Any, Decimal]) -> Record:
    zero = Decimal(0)
    lines = [
        {**line, trade.shipped: store_quantity(exact(line[trade.shipped]) + wanted.get(line["product_id"], zero))}
        for line in order["lines"]
    ]
    finished = all(exact(line[trade.shipped]) == exact(line["quantity"]) for line in lines)
    values = {"lines": lines, "status": after(trade.states, "ship" if finished else "ship-part")}
    return await req.store(trade.orders).update(order["id"], values, version=order["version"])
