"""What changes in the figures of orders whose month is closed: the month stays as it was, and the change has its own day.

`sales-vs-purchase` counts an order by its date. If goods come back, or an order is cancelled or closed, while that month
is open, the order counts less there. Later the order keeps what it counted, and the difference is entered here.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from plugins.api import Actor, Page, Record, Request, Route, Service, Step, exact, route, store_money
from plugins.api.business import DATED, find_booked_on
from plugins.inventory.orders.amounts import compute_part
from plugins.inventory.orders.change_records import PURCHASE_ORDER_CHANGES, SALES_ORDER_CHANGES
from plugins.inventory.orders.trades import Trade

UNCOUNTED = ("draft", "pending", "cancelled")


async def book_later(service: Service, trade: Trade, order: Record, after: Record, on: str) -> Record:
    """Enter what an order counts more or less on the day `on`, in the transaction that makes it `after`.

    Returns what else changes in the order; nothing is entered or changed while the month of the order is open.
    """
    ordered_on = order["ordered_on"]
    change = _count(trade, after) - _count(trade, order)
    if not change or ordered_on is None or await find_booked_on(service, ordered_on) == ordered_on:
        return {}
    creator = Actor(user_id=order["creator_id"], department_id=order["creator_department_id"])
    values = {"order_id": order["id"], "order_number": order["number"], "day": on, "amount": store_money(change)}
    await service.database.store(trade.changes, creator).create(values)
    return {"booked_later": store_money(exact(order["booked_later"]) + change)}


def _count(trade: Trade, order: Record) -> Decimal:
    """Return what the figures count of an order as it is: its amount, or what was shipped of a closed one, less returns."""
    if order["status"] in UNCOUNTED:
        return Decimal(0)
    amount = order["amount"]
    if order["status"] == "closed":
        amount = order["shipped_amount"]
        if amount is None:  # an earlier version stored the order
            parts = (compute_part(line, exact(line[trade.shipped])) for line in order["lines"])
            amount = store_money(sum(parts, Decimal(0)))
    return exact(amount) - exact(order["returned_amount"])


async def refuse_closed_month(step: Step[Any]) -> None:
    """Let the plugin that keeps the books refuse an order that figures would count in a closed month."""
    await step.emit(DATED, day=step.record["ordered_on"] or step.today)


async def end(trade: Trade, step: Step) -> Record:
    """Return what else changes in an order that is cancelled or closed."""
    after = {**step.record, "status": trade.orders.machine.after(step.action)}
    return await book_later(step.service, trade, step.record, after, step.today)


async def list_sales(req: Request) -> Page:
    """List the changes of sales orders."""
    return await req.store(SALES_ORDER_CHANGES).page(req.query)


async def list_purchases(req: Request) -> Page:
    """List the changes of purchase orders."""
    return await req.store(PURCHASE_ORDER_CHANGES).page(req.query)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/inventory/sales-order-changes",
        list_sales,
        summary="List what sales orders became more or less after their month was closed",
        access="inventory:sales-order:list",
        paged=True,
        query=SALES_ORDER_CHANGES.list_query,
        record=SALES_ORDER_CHANGES,
    ),
    route(
        "GET /api/v1/inventory/purchase-order-changes",
        list_purchases,
        summary="List what purchase orders became more or less after their month was closed",
        access="inventory:purchase-order:list",
        paged=True,
        query=PURCHASE_ORDER_CHANGES.list_query,
        record=PURCHASE_ORDER_CHANGES,
    ),
)
