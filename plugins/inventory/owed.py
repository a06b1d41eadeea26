"""What is owed for the goods of an order: the amounts of its shipments, less what was returned of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal

from plugins.api import Request, exact, store_money
from plugins.inventory.lines import Record
from plugins.inventory.trades import Trade


async def find_live(req: Request, trade: Trade, order: Record) -> list[Record]:
    """Return the deliveries or receipts of an order that were not reversed."""
    if not any(exact(line[trade.shipped]) for line in order["lines"]):
        return []
    return await req.system_store(trade.shipments).find({"order_id": order["id"], "reversed_by_id": None})


def describe_owed(order: Record, shipments: Sequence[Record]) -> Record:
    """Return what the events of receivables and payables say of an order with these live shipments.

    That is its number, its creator, the amount, and when it is due.
    """
    owed = sum(map(_get_owed, shipments), Decimal(0))
    return {
        "resource_id": str(order["id"]),
        "number": order["number"],
        "amount": store_money(owed),
        **_describe_due(order, shipments),
        "creator_id": order["creator_id"],
        "creator_department_id": order["creator_department_id"],
    }


def _get_owed(shipment: Record) -> Decimal:
    return exact(shipment["amount"]) - exact(shipment["returned_amount"])


def _describe_due(order: Record, shipments: Sequence[Record]) -> Record:
    """Return `due_on`, and where shipments are due on several days the `schedule`, by the terms of the order."""
    terms = order.get("terms_days")
    if terms is None:
        return {}
    due: defaultdict[str, Decimal] = defaultdict(Decimal)
    for one in shipments:
        due[(date.fromisoformat(one["day"]) + timedelta(days=terms)).isoformat()] += _get_owed(one)
    nothing = store_money(Decimal(0))
    parts = [{"due_on": day, "amount": store_money(due[day]), "paid": nothing} for day in sorted(due)]
    return {"due_on": min(due, default=None), "schedule": parts if len(parts) > 1 else None}
