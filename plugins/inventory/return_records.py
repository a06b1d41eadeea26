"""The collections of sales returns and purchase returns, which include reversals of deliveries and receipts."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from plugins.api import (
    Collection,
    Field,
    Index,
    Message,
    boolean,
    day,
    money,
    object_id,
    quantity,
    service_fields,
    shape,
    text,
)
from plugins.api.business import MOST_LINES
from plugins.inventory.documents import AMOUNT, document_number, lines_of
from plugins.inventory.lines import asked_lines, moved_line
from plugins.inventory.order_records import CURRENCY, DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.record_types import PurchaseReturn, SalesReturn
from plugins.inventory.records import WAREHOUSES

_REASON = text(label=("原因", "Reason"), max_length=1000, example="包装破损")
_REFUND = boolean(
    label=("退款", "Refund"), description="Whether the amount is no longer owed; otherwise only the goods come back."
)
_RESTOCK = boolean(
    label=("重新入库", "Restock"), description="Whether the goods go back into stock; otherwise they are written off."
)

_DIFFERENCE = money(
    label=("退货差价", "Price difference"),
    read_only=True,
    description="`cost`, less what the supplier credits for the goods without tax: what they cost when they came, or "
    "nothing without a refund. Above zero a loss, below zero a gain.",
)


def _return(
    name: str,
    title: str,
    example: str,
    shipment: dict[str, Field],
    order: Collection,
    cost: str,
    own: Mapping[str, Field] = MappingProxyType({}),
) -> dict[str, Field]:
    line = moved_line(
        quantity=quantity(label=("数量", "Quantity"), description="Negative in the reversal of a return."),
        amount=AMOUNT.but(description="What is no longer owed."),
        cost=AMOUNT.but(label=("成本", "Cost"), description=cost),
        **own,
    )
    ((shipment_id, of),) = shipment.items()
    return {
        "number": document_number(example),
        **service_fields(
            **shipment,
            order_id=object_id(label=("订单", "Order"), filter=True, ref=order.name),
            order_number=text(label=("订单编号", "Order number"), max_length=32, search=True),
            warehouse_id=object_id(label=("仓库", "Warehouse"), filter=True, ref=WAREHOUSES.name),
            day=day(label=("业务日期", "Date"), filter=True, sort=True),
            refund=_REFUND,
        ),
        "currency": CURRENCY,
        "lines": lines_of(f"{title}Line", line, MOST_LINES).but(read_only=True),
        "amount": AMOUNT.but(sort=True, description="How much less is owed, at the prices of the order."),
        "cost": AMOUNT.but(label=("成本", "Cost"), description=cost),
        **own,
        "reason": _REASON.but(read_only=True, search=True),
        "reverses_id": of.but(
            label=("被冲销单据", "Reverses"),
            read_only=True,
            description=f"The same as `{shipment_id}` if the return reverses the whole shipment.",
        ),
        "reverses_return_id": object_id(
            label=("被冲销退货单", "Reverses the return"),
            read_only=True,
            ref=name,
            description="The return that this one reverses; its quantities and amounts are then negative.",
        ),
        "reversed_by_id": object_id(label=("冲销退货单", "Reversed by"), read_only=True, ref=name),
    }


_DELIVERY = object_id(label=("出库单", "Delivery"), ref=DELIVERIES.name, filter=True)
_RECEIPT = object_id(label=("入库单", "Receipt"), ref=RECEIPTS.name, filter=True)

SALES_RETURNS: Collection[SalesReturn] = Collection(
    name="inventory_sales_returns",
    title="SalesReturn",
    noun=Message("销售退货单", "sales return"),
    scoped=True,
    fields={
        **_return(
            "inventory_sales_returns",
            "SalesReturn",
            "SR-00000001",
            {"delivery_id": _DELIVERY},
            SALES_ORDERS,
            "What the goods cost when they left: how much the stock gained in value, or what was written off.",
        ),
        **service_fields(restock=_RESTOCK),
    },
    indexes=(
        Index("number", unique=True),
        Index("delivery_id"),
        Index("order_id"),
        Index("day"),
        Index("reverses_id", where={"reverses_id": {"$type": "objectId"}}),
    ),
    internal=("shares",),
)

PURCHASE_RETURNS: Collection[PurchaseReturn] = Collection(
    name="inventory_purchase_returns",
    title="PurchaseReturn",
    noun=Message("采购退货单", "purchase return"),
    scoped=True,
    fields=_return(
        "inventory_purchase_returns",
        "PurchaseReturn",
        "PR-00000001",
        {"receipt_id": _RECEIPT},
        PURCHASE_ORDERS,
        "How much the stock lost in value: the average cost of the goods; in the reversal of a receipt what they cost "
        "when they came, or all that the stock is worth if that is less or nothing is left.",
        {"difference": _DIFFERENCE},
    ),
    indexes=(
        Index("number", unique=True),
        Index("receipt_id"),
        Index("order_id"),
        Index("day"),
        Index("reverses_id", where={"reverses_id": {"$type": "objectId"}}),
    ),
    internal=("shares",),
)

_WHEN_AND_WHY = {"day": day(past=True, description="Today unless given."), "reason": _REASON}
_RETURNED = {
    "lines": asked_lines("ReturnLine", "All that is left unless given."),
    **_WHEN_AND_WHY,
    "refund": _REFUND.but(default=True),
    "warehouse_id": object_id(ref=WAREHOUSES.name, description="That of the shipment unless given."),
}

RETURN_DELIVERY_BODY = shape("ReturnDeliveryBody", **_RETURNED, restock=_RESTOCK.but(default=True))
RETURN_RECEIPT_BODY = shape("ReturnReceiptBody", **_RETURNED)
REVERSE_BODY = shape("ReverseDocumentBody", **_WHEN_AND_WHY)
