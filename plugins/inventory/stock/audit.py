"""The audit of stock: a stock row is the sum of its ledger entries, and each entry starts where another one ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from decimal import Decimal
from typing import Any

from plugins.api import Message, Record, exact
from plugins.api.reports import Difference, Piece, difference
from plugins.api.values import ReadOnlyRecord
from plugins.inventory.records import PRODUCTS, STOCK, STOCK_ENTRIES, WAREHOUSES

Place = tuple[Any, Any]
_FIELDS = ("quantity", "value")
_SUM = Message(
    "商品 {product} 在仓库 {warehouse} 的{label}为 {found}，库存流水合计为 {expected}",
    "stock of product {product} ({product_id}) in warehouse {warehouse} ({warehouse_id}): the {field} is {found}, but "
    "its entries add up to {expected}",
)
_NEGATIVE = Message(
    "商品 {product} 在仓库 {warehouse} 的{label}为负数：{found}",
    "stock of product {product} ({product_id}) in warehouse {warehouse} ({warehouse_id}): the {field} is below zero: "
    "{found}",
)
_BROKEN = Message(
    "商品 {product} 在仓库 {warehouse} 的库存流水不连续：{documents}",
    "stock of product {product} ({product_id}) in warehouse {warehouse} ({warehouse_id}): the chain of its entries "
    "is broken at {documents}",
)
# whatever the order of the entries, the squares before and after each cancel out, except for the first and the last
_SQUARES = {
    "$sum": {
        "$multiply": ["$quantity", {"$subtract": [{"$multiply": [2, "$quantity_after"]}, "$quantity"]}],
    }
}
_VALUES = {
    "$sum": {
        "$subtract": [
            {"$multiply": ["$quantity_after", "$value_after"]},
            {
                "$multiply": [
                    {"$subtract": ["$quantity_after", "$quantity"]},
                    {"$subtract": ["$value_after", "$value"]},
                ]
            },
        ]
    }
}
_NAMED = 5


async def check_stock(piece: Piece) -> AsyncIterator[Difference]:
    """Check that the quantity and value of each row are the sums of its entries, and that the entries form a chain.

    The quantity must not be below zero.
    """
    ledger = await _read_ledger(piece)
    for row in piece.records:
        entered = ledger.get((row["product_id"], row["warehouse_id"]), {})
        wrong = [name for name in _FIELDS if exact(row[name]) != exact(entered.get(name))]
        for name in wrong:
            yield await _differ(piece, row, name, _SUM, expected=f"{exact(entered.get(name)):f}")
        if exact(row["quantity"]) < 0:
            yield await _differ(piece, row, "quantity", _NEGATIVE)
        if not wrong and not _cancels_out(row, entered):
            # the server may round amounts of many digits, so only the entries themselves decide
            documents = await _find_breaks(piece, row)
            if documents:
                yield await _differ(piece, row, "entries", _BROKEN, documents=", ".join(documents))


async def _read_ledger(piece: Piece) -> Mapping[Place, Record]:
    """Return the sums of the entries by product and warehouse."""
    place = {"product_id": "$product_id", "warehouse_id": "$warehouse_id"}
    sums = {name: {"$sum": f"${name}"} for name in _FIELDS}
    rows = await piece.store(STOCK_ENTRIES).aggregate(
        [
            {"$match": {"product_id": {"$in": list({row["product_id"] for row in piece.records})}}},
            {"$group": {"_id": place, **sums, "squares": _SQUARES, "products": _VALUES}},
        ]
    )
    return {(row["_id"]["product_id"], row["_id"]["warehouse_id"]): row for row in rows}


def _cancels_out(row: Record, entered: Mapping[str, Any]) -> bool:
    quantity, value = exact(row["quantity"]), exact(row["value"])
    return (exact(entered.get("squares")), exact(entered.get("products"))) == (quantity * quantity, quantity * value)


async def _find_breaks(piece: Piece, row: Record) -> list[str]:
    """Return the documents of entries that start where no other entry of the row ends, or end where none starts."""
    after = {"quantity": "$quantity_after", "value": "$value_after"}
    before = {name: {"$subtract": [f"${name}_after", f"${name}"]} for name in _FIELDS}
    ends = [{**after, "count": 1}, {**before, "count": -1}]
    found = await piece.store(STOCK_ENTRIES).aggregate(
        [
            {"$match": {name: row[name] for name in ("product_id", "warehouse_id")}},
            {"$project": {"document_number": 1, "ends": ends}},
            {"$unwind": "$ends"},
            {
                "$group": {
                    "_id": {name: f"$ends.{name}" for name in _FIELDS},
                    "count": {"$sum": "$ends.count"},
                    "document": {"$min": "$document_number"},
                }
            },
            {"$match": {"count": {"$ne": 0}}},
            {"$limit": 2 * _NAMED + 2},
        ]
    )
    final = tuple(exact(row[name]) for name in _FIELDS)
    expected = {final: 1, (Decimal(0), Decimal(0)): -1} if any(final) else {}
    breaks = [
        one["document"]
        for one in found
        if one["count"] != expected.get((exact(one["_id"]["quantity"]), exact(one["_id"]["value"])))
    ]
    return sorted(set(breaks))[:_NAMED]


async def _differ(piece: Piece, row: Record, field: str, sentence: Message, **values: str) -> Difference:
    """Return a difference of a row, with the codes of its product and warehouse."""
    named: dict[str, str] = {}
    for name, collection, code in (("product", PRODUCTS, "sku"), ("warehouse", WAREHOUSES, "code")):
        store, id = piece.store(collection), row[f"{name}_id"]
        found: ReadOnlyRecord | None = await store.find_one({"_id": id}) or await store.deleted.find_one({"_id": id})
        named |= {name: found[code] if found else str(id), f"{name}_id": str(id)}
    label = STOCK.fields[field].label if field in STOCK.fields else None
    known = {"found": f"{exact(row[field]):f}"} if field in _FIELDS else {}
    number = f"{named['product']} {named['warehouse']}"
    given = {**named, **known, **values, "field": field, "label": label.zh if label else field}
    return difference(STOCK, row, field, sentence, number=number, **given)
