"""The parts of the dashboards that inventory computes: the value of the stock, sales and purchases."""

from __future__ import annotations

import asyncio
from typing import Any

from plugins.api import Collection, Request
from plugins.api.business import base_expression, cents_expression
from plugins.api.data import Filter
from plugins.api.reports import ByTime, ByValue, Dashboard, Figures, Period, period_of, summed
from plugins.inventory.order_records import PURCHASE_ORDER_CHANGES, PURCHASE_ORDERS, SALES_ORDER_CHANGES, SALES_ORDERS
from plugins.inventory.records import STOCK, WAREHOUSES

Part = dict[str, Any]


async def stock_value_by_warehouse(req: Request) -> Part:
    """Return quantity and value of the stock by warehouse, for all whose stock the caller may see, also empty ones."""
    rows, warehouses = await asyncio.gather(
        req.store(STOCK).aggregate(STOCK_VALUE.stages(period_of(req), "$warehouse_id"), collection_scan=True),
        req.store(WAREHOUSES).find({"_id": {"$nin": sorted(req.scope.withheld)}}, sort="name", fields=["name"]),
    )
    held = {row["_id"]: row for row in rows}
    return {
        "items": [
            {"warehouse_id": warehouse["id"], "name": warehouse["name"], **held.get(warehouse["id"], {})}
            for warehouse in warehouses
        ]
    }


def _sum_shipped(done: str) -> Part:
    """Return the expression for the shipped amount of an order of an earlier version, by the rules of `amounts.py`."""
    value, whole = _line_value(f"$$line.{done}"), _line_value("$$line.quantity")
    part = cents_expression({"$divide": [{"$multiply": ["$$line.amount", value]}, whole]})
    parts = {"$cond": [{"$eq": [whole, 0]}, 0, part]}
    return {"$sum": {"$map": {"input": "$lines", "as": "line", "in": parts}}}


def _line_value(quantity: str) -> Part:
    kept = {"$subtract": [1, {"$ifNull": ["$$line.discount", 0]}]}
    return cents_expression({"$multiply": [quantity, "$$line.price", kept]})


def _not_closed(period: Period) -> Filter:
    return {"status": {"$nin": ["draft", "pending", "cancelled", "closed"]}}


def _closed(period: Period) -> Filter:
    return {"status": "closed"}


def _cancelled_later(period: Period) -> Filter:
    return {"status": "cancelled", "booked_later": {"$ne": None}}


def _ordered(orders: Collection, name: str, done: str) -> tuple[Figures, ...]:
    """Return the figures of confirmed orders that were not cancelled: their amounts, less returns.

    An order that was closed early counts with what was shipped. What changed after the month of an order was closed is not
    taken off it: that is counted by the collections of changes. All is in the company's currency. There are several figures, because an index has the amounts
    of most orders, but those of the few closed ones are read from the records.
    """
    shipped = {"$ifNull": ["$shipped_amount", _sum_shipped(done)]}
    amount = {"$add": ["$amount", {"$ifNull": ["$shipped_difference", 0]}]}
    less_returns = ((_not_closed, _less_returns(amount)), (_closed, _less_returns(shipped)))
    live = (*((where, base_expression(one)) for where, one in less_returns), (_cancelled_later, 0))
    by = ByTime("ordered_on", "month")
    return tuple(Figures(orders, {name: _as_booked(amount)}, where=where, by=by) for where, amount in live)


def _less_returns(amount: object) -> Part:
    return {"$subtract": [amount, {"$ifNull": ["$returned_amount", 0]}]}


def _as_booked(amount: object) -> Part:
    return {"$subtract": [amount, {"$ifNull": ["$booked_later", 0]}]}


STOCK_VALUE = Figures(STOCK, {"quantity": "$quantity", "value": "$value"}, by=ByValue("warehouse_id", "warehouse_id"))
ORDERED = (
    *_ordered(SALES_ORDERS, "sales", "delivered"),
    *_ordered(PURCHASE_ORDERS, "purchase", "received"),
    Figures(SALES_ORDER_CHANGES, {"sales": "$amount"}, by=ByTime("day", "month")),
    Figures(PURCHASE_ORDER_CHANGES, {"purchase": "$amount"}, by=ByTime("day", "month")),
)
DASHBOARDS = (
    Dashboard("stock-value-by-warehouse", stock_value_by_warehouse, figures=(STOCK_VALUE,)),
    summed("sales-vs-purchase", *ORDERED),
)
