"""Fields that all documents of inventory have: numbers, lines, a warehouse, and what reverses them."""

from __future__ import annotations

from plugins.api import (
    Field,
    Index,
    array,
    money,
    obj,
    object_id,
    quantity,
    text,
)
from plugins.inventory.records import MAX_QUANTITY, PRODUCTS, WAREHOUSES

MAX_LINES = 200

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


def lines_of(name: str, fields: dict[str, Field]) -> Field:
    """Return the field for the lines of a document, each an object `name` with these fields."""
    return array(obj(name, fields), label=("商品明细", "Lines"), min_items=1, max_items=MAX_LINES, required=True)


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
