"""What is owed for the goods of an order, sent to the plugin that keeps the books in the transaction of the change.

It is the amounts of its shipments, less what was returned of them, at the prices of the order.

Each shipment is due `terms_days` of the order after its own day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import Record, Request, Service, Step, day_of, exact, store_money
from plugins.api.business import due_after
from plugins.api.records import Announced
from plugins.inventory.orders.trades import Trade
from plugins.inventory.records import SUPPLIERS

_ZERO = store_money(Decimal(0))


async def publish(
    trade: Trade,
    service: Service,
    request: Request | None,
    order: Record,
    shipments: Sequence[Record],
    day: str,
    *,
    new: bool = False,
) -> None:
    """Emit what is owed for these shipments of an order as of `day`, unless they are owed for its contract.

    `new`: nothing was emitted for the order before.
    """
    if order.get("contract_id") is None:
        origin = {"request": request, "biz_type": trade.biz_type, "day": day, "new": new}
        party = await _describe_party(service, trade, order)
        await service.events.emit(trade.owed, {**origin, **party, **_describe_owed(trade, order, shipments)})


async def _describe_party(service: Service, trade: Trade, order: Record) -> Record:
    if not trade.incoming:
        return {"counterparty": order["customer_name"], "customer_id": order["customer_id"]}
    supplier = await service.database.store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
    return {"counterparty": supplier["name"] if supplier else "", "supplier_id": order["supplier_id"]}


async def announce_confirmed(trade: Trade, step: Step) -> None:
    """Emit that nothing is owed yet after the confirmation of an order, and what may be invoiced."""
    await publish(trade, step.service, step.req, step.record, [], step.today, new=True)


@dataclass(frozen=True)
class Shipped(Announced):
    """The delivery or receipt that an action makes, and the `live` ones before it: those that were not reversed."""

    shipment: Record
    live: Sequence[Record]


async def announce_shipped(trade: Trade, step: Step) -> None:
    """Emit what is owed after a delivery or a receipt."""
    made = step.kept[Shipped]
    await publish(trade, step.service, step.req, step.record, [*made.live, made.shipment], made.shipment["day"])


async def announce_ended(trade: Trade, step: Step) -> None:
    """Emit that no more goods follow after an order was cancelled or closed."""
    if step.record["confirmed_at"] is not None:
        live = await find_live(step.req, trade, step.record)
        await publish(trade, step.service, step.req, step.record, live, step.today)


async def find_live(req: Request, trade: Trade, order: Record) -> list[Record]:
    """Return the deliveries or receipts of an order that were not reversed."""
    if not _has_shipped(trade, order):
        return []
    return await req.system_store(trade.shipments).find({"order_id": order["id"], "reversed_by_id": None})


def _has_shipped(trade: Trade, order: Record) -> bool:
    return any(exact(line[trade.shipped]) for line in order["lines"])


def _describe_owed(trade: Trade, order: Record, shipments: Sequence[Record]) -> Record:
    """Return the payload of receivable and payable events that describes an order with these live shipments.

    It has the number and the creator of the order, the amount that is owed, when it is due, and what is still to come.
    """
    owed = sum(map(_get_owed, shipments), Decimal(0))
    shipped = sum((exact(one["amount"]) for one in shipments), Decimal(0))
    return {
        "resource_id": str(order["id"]),
        "number": order["number"],
        "amount": store_money(owed),
        "net": order["net_amount"],
        "tax": order["tax_amount"],
        "undelivered": store_money(count_undelivered(trade, order, shipped)),
        **_describe_due(order, shipments),
        "creator_id": order["creator_id"],
        "creator_department_id": order["creator_department_id"],
    }


def count_undelivered(trade: Trade, order: Record, shipped: Decimal) -> Decimal:
    """Return what is still to be shipped of an order, of which `shipped` is; nothing if no more will be."""
    # orders of earlier versions without `net_amount` do not say what may be invoiced
    open_to = trade.orders.machine.permits(order, "ship") and order["net_amount"] is not None
    return max(exact(order["amount"]) - shipped, Decimal(0)) if open_to else Decimal(0)


def _get_owed(shipment: Record) -> Decimal:
    return exact(shipment["amount"]) - exact(shipment["returned_amount"])


def _describe_due(order: Record, shipments: Sequence[Record]) -> Record:
    """Return `due_on` by the terms of the order, and a `schedule` if its shipments are due on several days."""
    terms = order.get("terms_days")
    if terms is None:
        return {}
    due: defaultdict[str, Decimal] = defaultdict(Decimal)
    for one in shipments:
        due[due_after(one["day"], terms)] += _get_owed(one)
    parts = [{"due_on": day, "amount": store_money(due[day]), "paid": _ZERO} for day in sorted(due)]
    return {
        "terms_days": terms,
        "due_on": min(due, default=None),
        "schedule": parts if len(parts) > 1 else None,
    }


async def find_history(service: Service, trade: Trade, order: Record) -> list[tuple[str, list[Record]]]:
    """Return each day on which goods of an order were shipped or returned, with all shipments as they were then.

    Before them comes the day on which the order was confirmed, with none.
    """
    shipments = await service.database.store(trade.shipments).find({"order_id": order["id"]})
    returns = await service.database.store(trade.returns).find({"order_id": order["id"]})
    days = sorted({one["day"] for one in (*shipments, *returns)})
    confirmed = order["confirmed_at"]
    history = [(day, list(_rewind(trade, shipments, returns, day))) for day in days]
    return history if confirmed is None else [(day_of(confirmed, service.settings.zone).isoformat(), []), *history]


def _rewind(trade: Trade, shipments: Sequence[Record], returns: Sequence[Record], day: str) -> Iterator[Record]:
    for shipment in shipments:
        if shipment["day"] <= day:
            ours = [one for one in returns if one[trade.shipment_id] == shipment["id"] and one["day"] <= day]
            returned = sum((exact(one["amount"]) for one in ours), Decimal(0))
            yield {**shipment, "returned_amount": store_money(returned)}


async def find_order(service: Service, trade: Trade, id: Any) -> Record | None:
    """Return the order with this id, given as text, or None."""
    return await service.database.store(trade.orders).find_one({"_id": trade.orders.parse_id(id)})
