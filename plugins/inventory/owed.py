"""What is owed for the goods of an order: the amounts of its shipments, less what was returned of them."""

from __future__ import annotations

from decimal import Decimal

from plugins.api import Request, exact, store_money
from plugins.inventory.lines import Record
from plugins.inventory.trades import Trade


async def find_live(req: Request, trade: Trade, order: Record) -> list[Record]:
    """Return the deliveries or receipts of an order that were not reversed."""
    if not any(exact(line[trade.shipped]) for line in order["lines"]):
        return []
    return await req.system_store(trade.shipments).find({"order_id": order["id"], "reversed_by_id": None})


async def describe_owed(req: Request, trade: Trade, order: Record) -> Record:
    """Return what the events of receivables and payables say of an order: its number, its creator, and the amount."""
    shipments = await find_live(req, trade, order)
    owed = sum((exact(one["amount"]) - exact(one["returned_amount"]) for one in shipments), Decimal(0))
    return {
        "resource_id": str(order["id"]),
        "number": order["number"],
        "amount": store_money(owed),
        "creator_id": order["creator_id"],
        "creator_department_id": order["creator_department_id"],
    }
