"""What is owed for goods received: an event for the plugin that keeps the books, in the transaction of the receipt."""

from __future__ import annotations

from typing import Any

from plugins.api import PAYABLE_CHANGED, Request, store_money
from plugins.inventory.amounts import compute_shipped
from plugins.inventory.records import SUPPLIERS

BIZ_TYPE = "PURCHASE_ORDER"


async def announce(req: Request, order: dict[str, Any], day: str) -> None:
    """Emit what is owed for all that was received of a purchase order by `day`, at the prices of the order."""
    supplier = await req.system_store(SUPPLIERS).find_one({"_id": order["supplier_id"]})
    await req.emit(
        PAYABLE_CHANGED,
        biz_type=BIZ_TYPE,
        resource_id=str(order["id"]),
        number=order["number"],
        counterparty=supplier["name"] if supplier else "",
        supplier_id=order["supplier_id"],
        day=day,
        amount=store_money(compute_shipped(order, "received")),
        creator_id=order["creator_id"],
        creator_department_id=order["creator_department_id"],
    )
