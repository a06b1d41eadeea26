"""What is owed for goods received, sent to the plugin that keeps the books in the transaction of the change."""

from __future__ import annotations

from collections.abc import Sequence

from plugins.api import PAYABLE_CHANGED, Request, Service, Step
from plugins.inventory.lines import Record
from plugins.inventory.owed import describe_owed, find_live
from plugins.inventory.records import SUPPLIERS
from plugins.inventory.trades import PURCHASE

BIZ_TYPE = "PURCHASE_ORDER"


async def publish(
    service: Service,
    request: Request | None,
    order: Record,
    shipments: Sequence[Record],
    day: str,
    *,
    new: bool = False,
) -> None:
    """Emit what is owed for these receipts of a purchase order as of `day`, at the prices of the order.

    `new`: nothing was emitted for the order before.
    """
    supplier = await service.database.store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
    await service.events.emit(
        PAYABLE_CHANGED,
        {
            "request": request,
            "biz_type": BIZ_TYPE,
            "counterparty": supplier["name"] if supplier else "",
            "supplier_id": order["supplier_id"],
            "day": day,
            "new": new,
            **describe_owed(PURCHASE, order, shipments),
        },
    )


async def announce_received(step: Step) -> None:
    """Emit what is owed after a receipt."""
    shipped = step.payload
    live, day = [*shipped["live"], shipped["shipment"]], shipped["shipment"]["day"]
    await publish(step.service, step.req, step.record, live, day)


async def announce_confirmed(step: Step) -> None:
    """Emit that nothing is owed yet after the confirmation of an order, and what may be invoiced."""
    await publish(step.service, step.req, step.record, [], step.today, new=True)


async def announce_ended(step: Step) -> None:
    """Emit that no more goods follow after an order was cancelled or closed."""
    if step.record["confirmed_at"] is not None:
        live = await find_live(step.req, PURCHASE, step.record)
        await publish(step.service, step.req, step.record, live, step.today)
