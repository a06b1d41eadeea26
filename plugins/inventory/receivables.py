"""What is owed for goods delivered, sent to the plugin that keeps the books in the transaction of the change."""

from __future__ import annotations

from collections.abc import Sequence

from plugins.api import RECEIVABLE_CHANGED, Request, Service, Step
from plugins.inventory.lines import Record
from plugins.inventory.owed import describe_owed, find_live
from plugins.inventory.trades import SALE

BIZ_TYPE = "SALES_ORDER"


async def publish(
    service: Service,
    request: Request | None,
    order: Record,
    shipments: Sequence[Record],
    day: str,
    *,
    new: bool = False,
) -> None:
    """Emit what is owed for these deliveries of a sales order as of `day`, unless they are owed for its contract.

    `new`: nothing was emitted for the order before.
    """
    if order.get("contract_id") is not None:
        return
    await service.events.emit(
        RECEIVABLE_CHANGED,
        {
            "request": request,
            "biz_type": BIZ_TYPE,
            "counterparty": order["customer_name"],
            "customer_id": order["customer_id"],
            "day": day,
            "new": new,
            **describe_owed(SALE, order, shipments),
        },
    )


async def announce_delivered(step: Step) -> None:
    """Emit what is owed after a delivery."""
    shipped = step.payload
    live, day = [*shipped["live"], shipped["shipment"]], shipped["shipment"]["day"]
    await publish(step.service, step.req, step.record, live, day)


async def announce_confirmed(step: Step) -> None:
    """Emit that nothing is owed yet after the confirmation of an order, and what may be invoiced."""
    await publish(step.service, step.req, step.record, [], step.today, new=True)


async def announce_ended(step: Step) -> None:
    """Emit that no more goods follow after an order was cancelled or closed."""
    if step.record["confirmed_at"] is not None:
        live = await find_live(step.req, SALE, step.record)
        await publish(step.service, step.req, step.record, live, step.today)
