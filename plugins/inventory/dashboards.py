"""The parts of the dashboards that inventory computes: the value of the stock, sales and purchases."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

from plugins.api import Collection, Dashboard, Request, exact, period_of
from plugins.inventory.documents import PURCHASE_ORDERS, SALES_ORDERS
from plugins.inventory.records import STOCK, WAREHOUSES

Part = dict[str, Any]
_ZERO = Decimal(0)


async def stock_value_by_warehouse(req: Request) -> Part:
    """Return quantity and value of the stock in each warehouse whose stock the caller sees, by name; empty ones too."""
    sums = {"quantity": {"$sum": "$quantity"}, "value": {"$sum": "$value"}}
    rows, warehouses = await asyncio.gather(
        req.store(STOCK).aggregate([{"$group": {"_id": "$warehouse_id", **sums}}], collection_scan=True),
        req.store(WAREHOUSES).find({"_id": {"$nin": sorted(req.scope.withheld)}}, sort="name", fields=["name"]),
    )
    held = {row["_id"]: row for row in rows}
    return {
        "items": [
            {"warehouse_id": warehouse["id"], "name": warehouse["name"], **held.get(warehouse["id"], {})}
            for warehouse in warehouses
        ]
    }


async def sales_vs_purchase(req: Request) -> Part:
    """Return the amounts of confirmed orders that were not cancelled, less returns, by the month of `ordered_on`."""
    sales, purchases = await asyncio.gather(
        _sum_orders(req, SALES_ORDERS, "delivered"), _sum_orders(req, PURCHASE_ORDERS, "received")
    )
    return {
        "items": [
            *({"month": month, "sales": amount} for month, amount in sales.items()),
            *({"month": month, "purchase": amount} for month, amount in purchases.items()),
        ]
    }


async def _sum_orders(req: Request, orders: Collection, done: str) -> dict[str, Any]:
    """Map each month to an amount. Of an order that was closed early, the shipped part counts.

    Two queries: an index has the amounts of most orders, but those of the few closed ones are read from the records.
    """
    whole, closed = await asyncio.gather(
        _sum_by_month(req, orders, {"$nin": ["draft", "pending", "cancelled", "closed"]}, "$amount"),
        _sum_by_month(req, orders, "closed", {"$ifNull": ["$shipped_amount", _sum_shipped(done)]}),
    )
    return {month: whole.get(month, _ZERO) + closed.get(month, _ZERO) for month in {**whole, **closed}}


async def _sum_by_month(req: Request, orders: Collection, status: Any, amount: Any) -> dict[str, Decimal]:
    sums = {"amount": {"$sum": amount}, "returned": {"$sum": "$returned_amount"}}
    rows = await req.store(orders).aggregate(
        [
            {"$match": {**period_of(req).days("ordered_on"), "status": status}},
            {"$group": {"_id": {"$substrBytes": ["$ordered_on", 0, 7]}, **sums}},
        ]
    )
    return {row["_id"]: exact(row["amount"]) - exact(row["returned"]) for row in rows}


def _sum_shipped(done: str) -> Part:
    """The expression of what was shipped of an order of an earlier version, by the rule of `amounts.py`."""
    value, whole = _line_value(f"$$line.{done}"), _line_value("$$line.quantity")
    part = _to_cents({"$divide": [{"$multiply": ["$$line.amount", value]}, whole]})
    parts = {"$cond": [{"$eq": [whole, 0]}, 0, part]}
    return {"$sum": {"$map": {"input": "$lines", "as": "line", "in": parts}}}


def _line_value(quantity: str) -> Part:
    kept = {"$subtract": [1, {"$ifNull": ["$$line.discount", 0]}]}
    return _to_cents({"$multiply": [quantity, "$$line.price", kept]})


def _to_cents(amount: Part) -> Part:
    # half a cent up, as shipments are priced; `$round` rounds half to even
    return {"$trunc": [{"$add": [amount, {"$toDecimal": "0.005"}]}, 2]}


DASHBOARDS = (
    Dashboard("stock-value-by-warehouse", stock_value_by_warehouse),
    Dashboard("sales-vs-purchase", sales_vs_purchase),
)
