"""What was shipped of the lines of orders and what came back, by day, and what so many units of a line come to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import Request, exact
from plugins.api.business import compute_part
from plugins.api.values import ReadOnlyRecord
from plugins.inventory.lines import Line, key_of, number_lines
from plugins.inventory.trades import Trade

FREIGHT = 0  # the number of the line that stands for the freight of an order
_ZERO, _ONE = Decimal(0), Decimal(1)


@dataclass(frozen=True)
class Movement:
    """Units of a line of an order that were shipped or, below zero, came back on a day.

    `owed` are those that the order comes to more by: goods that come back without a refund are owed all the same. `cost` is
    what the stock lost in value; what is written off stays a cost.
    """

    day: str
    units: Decimal
    owed: Decimal
    cost: Decimal


Movements = Mapping[tuple[Any, Any], Sequence[Movement]]  # by the id of the order and the key of the line


async def read_movements(req: Request, trade: Trade, orders: Sequence[ReadOnlyRecord], until: str) -> Movements:
    """Return what moved of the lines of these orders until a day, whoever may see the deliveries, receipts and returns."""
    lines = {order["id"]: order["lines"] for order in orders}
    of_orders = {"order_id": {"$in": [*lines]}}
    shipments = await req.system_store(trade.shipments).find({**of_orders, "day": {"$lte": until}})
    # also of later days: what a reversal takes back depends on all that came back before it was entered
    returns = await req.system_store(trade.returns).find(of_orders)
    found: defaultdict[tuple[Any, Any], list[Movement]] = defaultdict(list)
    freights = {one["id"]: exact(one["freight"]) for one in shipments}
    for one in shipments:
        if freights[one["id"]]:
            found[one["order_id"], FREIGHT].append(Movement(one["day"], _ONE, _ONE, _ZERO))
        for line in number_lines(one["lines"], lines[one["order_id"]]):
            units = exact(line["quantity"])
            found[one["order_id"], key_of(line)].append(Movement(one["day"], units, units, exact(line["cost"])))
    unrefunded: defaultdict[Any, defaultdict[Any, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for one in returns:
        for line in number_lines(one["lines"], lines[one["order_id"]]) if one["refund"] is False else ():
            unrefunded[one[trade.shipment_id]][key_of(line)] += exact(line["quantity"])
    for one in (each for each in returns if each["day"] <= until):
        order_id, day = one["order_id"], one["day"]
        for line in number_lines(one["lines"], lines[order_id]):
            units = exact(line["quantity"])
            cost = exact(line["cost"]) if trade.incoming or one["restock"] is not False else _ZERO
            owed = _ZERO if one["refund"] is False else units
            found[order_id, key_of(line)].append(Movement(day, -units, -owed, -cost))
        if one["reverses_id"] is not None:  # also takes back the freight, and what was returned without a refund
            if freights.get(one["reverses_id"]):
                found[order_id, FREIGHT].append(Movement(day, -_ONE, -_ONE, _ZERO))
            for key, units in unrefunded[one[trade.shipment_id]].items():
                found[order_id, key].append(Movement(day, _ZERO, -units, _ZERO))
    return found


def compute_net(line: Line, units: Decimal) -> Decimal:
    """Return what some units of a line come to without tax, as the invoices that bill them do."""
    if not units or not exact(line["amount"]):
        return _ZERO
    tax = _ZERO if line.get("tax") is None else compute_part(line, units, "tax")
    return compute_part(line, units) - tax
