"""Transfers and stock counts: the documents that move stock without an order."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    day,
    money,
    quantity,
    service_fields,
)
from plugins.inventory.document_fields import (
    AMOUNT,
    POSITIVE,
    PRODUCT,
    REMARK,
    REVERSAL_INDEX,
    WAREHOUSE,
    document_number,
    lines_of,
    reversal_fields,
)
from plugins.inventory.record_types import StockCount, Transfer
from plugins.inventory.records import MAX_QUANTITY, price

TRANSFERS: Collection[Transfer] = Collection(
    name="inventory_transfers",
    title="Transfer",
    noun=Message("调拨单", "transfer"),
    scoped=True,
    fields={
        "number": document_number("TR-00000001"),
        "from_warehouse_id": WAREHOUSE.but(label=("调出仓库", "From warehouse"), required=True, nullable=False),
        "to_warehouse_id": WAREHOUSE.but(label=("调入仓库", "To warehouse"), required=True, nullable=False),
        "day": day(
            label=("调拨日期", "Transfer date"), past=True, filter=True, sort=True, description="Today unless given."
        ),
        "lines": lines_of(
            "TransferLine", {"product_id": PRODUCT, "quantity": POSITIVE, "cost": AMOUNT.but(label=("成本", "Cost"))}
        ),
        "cost": AMOUNT.but(label=("成本", "Cost"), description="The value that moved."),
        **reversal_fields("inventory_transfers"),
        "remark": REMARK,
    },
    indexes=(Index("number", unique=True), Index("day"), REVERSAL_INDEX),
)

_COUNT_LINE = {
    "product_id": PRODUCT,
    "counted": quantity(
        label=("盘点数量", "Counted"),
        minimum="0",
        maximum=MAX_QUANTITY,
        required=True,
        description="The quantity on hand, as counted.",
        example="12",
    ),
    "cost": price(
        label=("单位成本", "Unit cost"),
        description="Per unit of a surplus. Unless given, the average cost, or without stock the purchase price.",
    ),
    **service_fields(
        expected=quantity(label=("账面数量", "Expected"), description="The quantity on hand before the count."),
        difference=quantity(label=("盈亏数量", "Difference")),
        value=money(label=("盈亏金额", "Value of the difference"), description="The value of the difference."),
    ),
}

STOCK_COUNTS: Collection[StockCount] = Collection(
    name="inventory_stock_counts",
    title="StockCount",
    noun=Message("盘点单", "stock count"),
    scoped=True,
    fields={
        "number": document_number("SC-00000001"),
        "warehouse_id": WAREHOUSE.but(required=True, nullable=False),
        "day": day(
            label=("盘点日期", "Count date"), past=True, filter=True, sort=True, description="Today unless given."
        ),
        "lines": lines_of("StockCountLine", _COUNT_LINE),
        "value": money(
            label=("盈亏金额", "Value of the difference"),
            read_only=True,
            nullable=False,
            description="By how much the value of the stock changed.",
        ),
        **reversal_fields("inventory_stock_counts"),
        "remark": REMARK,
    },
    indexes=(Index("number", unique=True), Index("day"), REVERSAL_INDEX),
)
