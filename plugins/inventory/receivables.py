"""What customers owe for goods delivered: an event for the plugin that keeps the books, in the transaction of the change."""

from __future__ import annotations

from plugins.api import RECEIVABLE_CHANGED, Request, Step
from plugins.inventory.lines import Record
from plugins.inventory.owed import describe_owed
from plugins.inventory.trades import SALE

BIZ_TYPE = "SALES_ORDER"


async def announce(req: Request, order: Record, day: str) -> None:
    """Emit what is owed for all that was delivered of a sales order by `day`, unless its contract owes it."""
    if order.get("contract_id") is not None:
        return
    await req.emit(
        RECEIVABLE_CHANGED,
        biz_type=BIZ_TYPE,
        counterparty=order["customer_name"],
        customer_id=order["customer_id"],
        day=day,
        **await describe_owed(req, SALE, order),
    )


async def announce_delivered(step: Step) -> None:
    """Announce what is owed after a delivery."""
    await announce(step.req, step.record, step.payload["shipment"]["day"])
