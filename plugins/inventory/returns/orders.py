"""What changes in an order when goods come back."""

from __future__ import annotations

from decimal import Decimal

from plugins.api import Record, Request, exact, store_money
from plugins.api.records import change_state
from plugins.api.values import store_quantity
from plugins.inventory.orders.changes import book_later
from plugins.inventory.orders.lines import add_up
from plugins.inventory.orders.owed import find_live
from plugins.inventory.orders.trades import Trade


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
    shipped = {line["product_id"]: exact(line["quantity"]) for line in shipment["lines"]}
    lines = [
        {
            **line,
            trade.shipped: store_quantity(exact(line[trade.shipped]) - shipped.get(line["product_id"], Decimal(0))),
        }
        for line in order["lines"]
    ]
    # what was returned of the shipment earlier can be shipped again too
    amount = exact(order["returned_amount"]) - exact(shipment["returned_amount"])
    values = {"lines": lines, "shipped_amount": add_up(left, "amount"), "returned_amount": store_money(amount)}
    action = "unship-part" if any(exact(line[trade.shipped]) for line in lines) else "unship"
    reopens = trade.orders.machine.permits(order, action)
    state = {"status": trade.orders.machine.after(action)} if reopens else {}
    values |= await book_later(req.service, trade, order, {**order, **values, **state}, day)
    if reopens:
        return await change_state(orders, order["id"], action, values), left
    return await orders.update(order["id"], values), left
