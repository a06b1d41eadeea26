"""What purchase and sales orders became more or less after the month of their date was closed, for the figures."""

from __future__ import annotations

from plugins.api import Collection, Index, Message, day, money, object_id, service_fields, text
from plugins.inventory.orders.records import PURCHASE_ORDERS, SALES_ORDERS


def _changes(orders: Collection, name: str, title: str, noun: Message) -> Collection:
    return Collection(
        name=name,
        title=title,
        noun=noun,
        scoped=True,
        fields=service_fields(
            order_id=object_id(label=("订单", "Order"), filter=True, ref=orders.name),
            order_number=text(label=("订单编号", "Order number"), max_length=32, search=True),
            day=day(label=("业务日期", "Date"), filter=True, sort=True),
            amount=money(
                label=("金额", "Amount"), description="How much more the order counts; negative: how much less."
            ),
        ),
        indexes=(Index("day", "amount"), Index("order_id")),
    )


SALES_ORDER_CHANGES = _changes(
    SALES_ORDERS, "inventory_sales_order_changes", "SalesOrderChange", Message("销售订单变动", "sales order change")
)
PURCHASE_ORDER_CHANGES = _changes(
    PURCHASE_ORDERS,
    "inventory_purchase_order_changes",
    "PurchaseOrderChange",
    Message("采购订单变动", "purchase order change"),
)
