"""What documents of goods have in common, how they are reversed, and the documents that need no order."""

from __future__ import annotations

from typing import Any

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    ApiError,
    Collection,
    Field,
    Index,
    Message,
    Record,
    Refusal,
    Request,
    array,
    conflicts,
    day,
    money,
    obj,
    object_id,
    quantity,
    service_fields,
    text,
)
from plugins.api.business import MAX_QUANTITY, price
from plugins.inventory.record_types import StockCount, Transfer, Warehouse
from plugins.inventory.records import PRODUCTS, WAREHOUSES
from plugins.inventory.texts import ALREADY_REVERSED, NOT_KEEPER, WAREHOUSE_GONE

MAX_LINES = 200  # of a document that needs no order

PRODUCT = object_id(label=("商品", "Product"), required=True, ref=PRODUCTS.name, on_delete="keep")

WAREHOUSE = object_id(label=("仓库", "Warehouse"), ref=WAREHOUSES.name, on_delete="keep", filter=True)

POSITIVE = quantity(label=("数量", "Quantity"), minimum="0.0001", maximum=MAX_QUANTITY, required=True, example="2.5")

AMOUNT = money(label=("金额", "Amount"), read_only=True, nullable=False)

REMARK = text(label=("备注", "Remarks"), max_length=2000)


def document_number(example: str) -> Field:
    """Return the field for the number of a document."""
    return text(
        label=("单据编号", "Document number"),
        max_length=32,
        read_only=True,
        nullable=False,
        sort=True,
        filter=True,
        search=True,
        example=example,
    )


def lines_of(name: str, fields: dict[str, Field], most: int = MAX_LINES) -> Field:
    """Return the field for the lines of a document, at `most` so many, each an object `name` with these fields."""
    return array(obj(name, fields), label=("商品明细", "Lines"), min_items=1, max_items=most, required=True)


def reversal_fields(of: str) -> dict[str, Field]:
    """Return the fields that link a document and its reversal, which is a document of the same kind."""
    return {
        "reverses_id": object_id(label=("被冲销单据", "Reverses"), read_only=True, filter=True, ref=of),
        "reversed_by_id": object_id(label=("冲销单据", "Reversed by"), read_only=True, ref=of),
        "reason": text(
            label=("原因", "Reason"), max_length=1000, read_only=True, description="Why it reverses another document."
        ),
    }


REVERSAL_INDEX = Index("reverses_id", where={"reverses_id": {"$type": "objectId"}})


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


_LINKS = ("reversed_by_id", "reverses_id", "reverses_return_id")
REVERSE_REFUSALS = (
    Refusal(FORBIDDEN, NOT_KEEPER, exempt_super=True),
    *conflicts(ALREADY_REVERSED, WAREHOUSE_GONE),
)


async def lock_document(req: Request, collection: Collection) -> Record:
    """Return the document of the path, locked until the transaction ends.

    Raises 40901 if it was already reversed, or is itself a reversal.
    """
    document = await req.lock(collection, req.path["id"])
    if any(document.get(link) is not None for link in _LINKS):
        raise ApiError(CONFLICT, ALREADY_REVERSED)
    return document


async def find_place(req: Request, id: Any) -> Warehouse:
    """Return the warehouse of a document, even a disabled one. Raises 40300 if others keep it, 40901 if it is gone."""
    if id in req.scope.withheld:
        raise ApiError(FORBIDDEN, NOT_KEEPER)
    warehouse = await req.system_store(WAREHOUSES).find_one({"_id": id})
    if warehouse is None:
        raise ApiError(CONFLICT, WAREHOUSE_GONE)
    return warehouse
