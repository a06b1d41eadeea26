"""What of purchasing and sales is printed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from plugins.api import Collection, Field, Message, Record, Request
from plugins.api.business import TAX_TABLE, PaymentTerms, state_lines, stated_reader, stated_shape
from plugins.api.reports import Printable
from plugins.inventory.order_records import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.quotation_records import QUOTATIONS

_AT = "/api/v1/inventory"
_SELLER, _BUYER = Message("供方", "Seller"), Message("需方", "Buyer")
_ORDER_COLUMNS = (
    *("product_id", "description", "reference", "quantity", "unit", "price", "price_per"),
    *("discount", "discount_amount", "tax_rate", "amount"),
)
_AGREED = ("expected_on", *vars(PaymentTerms()))
_ORDER_TOTALS = ("order_discount", "freight", "net_amount", "tax_amount", "amount")
_MOVED = ("product_id", "description", "quantity", "unit")


def _shape_with(shipments: Collection[Any], orders: Collection[Any], party: str) -> Field:
    """Return the shape of a shipment with the party of its order."""
    return stated_shape(shipments.read, **{party: orders.fields[party]})


def _reader_with(
    shipments: Collection[Any], orders: Collection[Any], party: str
) -> Callable[[Request], Awaitable[Record]]:
    """Return the reader of a shipment with the party of its order, which its readers may know."""

    async def read(req: Request) -> Record:
        shipment = await state_lines(req, await req.store(shipments).get(req.path["id"]))
        order: Record | None = await req.system_store(orders).find_one({"_id": shipment["order_id"]})
        return {**shipment, party: order[party] if order is not None else None}

    return read


PRINTS = (
    Printable(
        "quotation",
        Message("报价单", "Quotation"),
        f"{_AT}/quotations/{{id}}",
        "inventory:quotation:read",
        QUOTATIONS,
        number="number",
        total="amount",
        party=("customer_name",),
        facts=(
            "quoted_on",
            "valid_until",
            "currency",
            *_AGREED,
            "salesperson_id",
            "prices_include_tax",
            "delivery_address",
        ),
        lines="lines",
        columns=_ORDER_COLUMNS,
        totals=_ORDER_TOTALS,
        notes=("remark",),
        signed_by=(Message("报价人", "Quoted by"), Message("客户确认", "Accepted by")),
        tables=(TAX_TABLE,),
        shape=stated_shape(QUOTATIONS.read),
        read=stated_reader(QUOTATIONS),
    ),
    Printable(
        "sales-order",
        Message("销售订单", "Sales order"),
        f"{_AT}/sales-orders/{{id}}",
        "inventory:sales-order:read",
        SALES_ORDERS,
        number="number",
        total="amount",
        party=("customer_name",),
        facts=(
            "ordered_on",
            "currency",
            "revision",
            *_AGREED,
            "reference",
            "salesperson_id",
            "prices_include_tax",
            "delivery_address",
        ),
        lines="lines",
        columns=_ORDER_COLUMNS,
        totals=_ORDER_TOTALS,
        notes=("remark",),
        signed_by=(_SELLER, _BUYER),
        tables=(TAX_TABLE,),
        shape=stated_shape(SALES_ORDERS.read),
        read=stated_reader(SALES_ORDERS),
    ),
    Printable(
        "purchase-order",
        Message("采购订单", "Purchase order"),
        f"{_AT}/purchase-orders/{{id}}",
        "inventory:purchase-order:read",
        PURCHASE_ORDERS,
        number="number",
        total="amount",
        party=("supplier_id",),
        facts=(
            "ordered_on",
            "currency",
            "revision",
            *_AGREED,
            "reference",
            "warehouse_id",
            "prices_include_tax",
            "delivery_address",
        ),
        lines="lines",
        columns=_ORDER_COLUMNS,
        totals=_ORDER_TOTALS,
        notes=("remark",),
        signed_by=(_BUYER, _SELLER),
        tables=(TAX_TABLE,),
        shape=stated_shape(PURCHASE_ORDERS.read),
        read=stated_reader(PURCHASE_ORDERS),
    ),
    Printable(
        "delivery-note",
        Message("送货单", "Delivery note"),
        f"{_AT}/deliveries/{{id}}",
        "inventory:delivery:read",
        DELIVERIES,
        number="number",
        party=("customer_name", "delivery_address"),
        facts=("order_number", "day", "warehouse_id"),
        lines="lines",
        columns=_MOVED,
        notes=("remark",),
        signed_by=(Message("发货人", "Delivered by"), Message("收货人", "Received by")),
        shape=_shape_with(DELIVERIES, SALES_ORDERS, "customer_name"),
        read=_reader_with(DELIVERIES, SALES_ORDERS, "customer_name"),
    ),
    Printable(
        "goods-receipt",
        Message("入库单", "Goods receipt"),
        f"{_AT}/receipts/{{id}}",
        "inventory:receipt:read",
        RECEIPTS,
        number="number",
        total="amount",
        party=("supplier_id",),
        facts=("order_number", "day", "warehouse_id", "currency"),
        lines="lines",
        columns=(*_MOVED, "amount"),
        totals=("freight", "amount"),
        notes=("remark",),
        signed_by=(Message("收货人", "Received by"),),
        shape=_shape_with(RECEIPTS, PURCHASE_ORDERS, "supplier_id"),
        read=_reader_with(RECEIPTS, PURCHASE_ORDERS, "supplier_id"),
    ),
)
