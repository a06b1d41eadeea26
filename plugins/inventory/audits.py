"""The audits of inventory: stock against its ledger, documents against the ledger, orders against their shipments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import Collection, Message, Record, exact
from plugins.api.business import Debt, Due
from plugins.api.reports import Audit, Difference, Piece, compare, difference
from plugins.api.values import ReadOnlyRecord
from plugins.inventory.documents import STOCK_COUNTS, TRANSFERS
from plugins.inventory.lines import key_of, number_lines
from plugins.inventory.order_records import DELIVERIES, PURCHASE_ORDERS, RECEIPTS, SALES_ORDERS
from plugins.inventory.records import PRODUCTS, STOCK, STOCK_ENTRIES, WAREHOUSES
from plugins.inventory.return_records import PURCHASE_RETURNS, SALES_RETURNS
from plugins.inventory.trades import PURCHASE, SALE, Trade, count_difference, count_undelivered

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


_NO_ROW = Message(
    "库存流水 {number}（{id}）：没有对应的库存记录",
    "stock entry {number} ({id}): there is no stock row for its product",
)
_NO_DOCUMENT = Message(
    "库存流水 {number}（{id}）：来源单据不存在", "stock entry {number} ({id}): its source document does not exist"
)
_MOVED = Message(
    "{noun} {number}：库存变动金额为 {found}，按单据应为 {expected}",
    "{noun} {number} ({id}): the stock changed by {found}, but should have changed by {expected} according to the "
    "document",
)
_SHIPPED = Message(
    "{noun} {number}：第 {line} 行（商品 {product}）的已收发数量为 {found}，出入库单合计为 {expected}",
    "{noun} {number} ({id}): of line {line} (product {product}) the quantity shipped is {found}, but its shipments add up to "
    "{expected}",
)
_RETURNED = Message(
    "{noun} {number}：第 {line} 行（商品 {product}）的已退数量为 {found}，退货单合计为 {expected}",
    "{noun} {number} ({id}): of line {line} (product {product}) the quantity returned is {found}, but its returns add up to "
    "{expected}",
)
_VERSIONS = Message(
    "{noun} {number}：版次为 {found}，按变更记录应为 {expected}",
    "{noun} {number} ({id}): it is revision {found}, but {expected} according to its revisions",
)
_VERSION = Message(
    "{noun} {number}：第 {revision} 版金额为 {found}，按变更记录应为 {expected}",
    "{noun} {number} ({id}): revision {revision} comes to {found}, but to {expected} as it was made",
)
# the collection of the document that an entry names, by the kind of the entry
_DOCUMENTS: Mapping[str, Collection] = {
    "receipt": RECEIPTS,
    "delivery": DELIVERIES,
    PURCHASE.return_kind: PURCHASE_RETURNS,
    SALE.return_kind: SALES_RETURNS,
    "transfer_in": TRANSFERS,
    "transfer_out": TRANSFERS,
    "count": STOCK_COUNTS,
}


async def check_entries(piece: Piece) -> AsyncIterator[Difference]:
    """Check that each ledger entry has a stock row and a document."""
    ids = list({entry["product_id"] for entry in piece.records})
    stock, rows = piece.store(STOCK), {"product_id": {"$in": ids}}
    # a product without stock can be deleted, and its stock row with it
    places = {_place(row) for store in (stock, stock.deleted) for row in await store.find(rows)}
    documents = await _existing_documents(piece)
    for entry in piece.records:
        if _place(entry) not in places:
            yield difference(STOCK_ENTRIES, entry, "product_id", _NO_ROW, number=entry["document_number"])
        if entry["kind"] in _DOCUMENTS and entry["document_id"] not in documents:
            yield difference(STOCK_ENTRIES, entry, "document_id", _NO_DOCUMENT, number=entry["document_number"])


async def _existing_documents(piece: Piece) -> set[Any]:
    wanted: dict[str, set[Any]] = defaultdict(set)
    for entry in piece.records:
        if entry["kind"] in _DOCUMENTS:
            wanted[_DOCUMENTS[entry["kind"]].name].add(entry["document_id"])
    found: set[Any] = set()
    for name, collection in {one.name: one for one in _DOCUMENTS.values()}.items():
        if ids := wanted[name]:
            rows = await piece.store(collection).find({"_id": {"$in": list(ids)}}, fields=["number"])
            found.update(row["id"] for row in rows)
    return found


async def check_movements(
    collection: Collection, moved: Callable[[Record], Decimal], piece: Piece
) -> AsyncIterator[Difference]:
    """Check that the ledger entries of each document add up to the value that `moved` returns for it."""
    entered = await piece.sums(STOCK_ENTRIES, "document_id", "value")
    for document in piece.records:
        expected, found = moved(document), entered[document["id"]]
        if expected != found:
            yield difference(collection, document, "value", _MOVED, expected=f"{expected:f}", found=f"{found:f}")


async def check_orders(trade: Trade, piece: Piece) -> AsyncIterator[Difference]:
    """Check the shipped sums of each order against its shipments, and its amount against its lines and freight."""
    shipped: dict[tuple[Any, Any], Decimal] = defaultdict(Decimal)
    amounts: dict[Any, Decimal] = defaultdict(Decimal)
    ordered = {order["id"]: order["lines"] for order in piece.records}
    for shipment in await piece.store(trade.shipments).find({"order_id": {"$in": piece.ids}, "reversed_by_id": None}):
        amounts[shipment["order_id"]] += exact(shipment["amount"])
        for line in number_lines(shipment["lines"], ordered[shipment["order_id"]]):
            shipped[shipment["order_id"], key_of(line)] += exact(line["quantity"])
    for order in piece.records:
        amount = sum((exact(line["amount"]) for line in order["lines"]), exact(order["freight"]))
        sums = {"amount": amount, "shipped_difference": count_difference(trade, order["lines"])}
        if order["shipped_amount"] is not None:  # null in orders of earlier versions
            sums["shipped_amount"] = amounts[order["id"]]
        for wrong in compare(trade.orders, order, sums):
            yield wrong
        said: dict[Any, Decimal] = defaultdict(Decimal)
        for line in order["lines"]:
            said[key_of(line)] += exact(line[trade.shipped])
        products = {key_of(line): line["product_id"] for line in order["lines"]}
        moved = {key for id, key in shipped if id == order["id"]}
        for key in sorted(moved | said.keys(), key=str):
            found, expected = said[key], shipped[order["id"], key]
            if found != expected:
                values = {"line": key, "product": products.get(key), "found": f"{found:f}", "expected": f"{expected:f}"}
                yield difference(trade.orders, order, f"{trade.shipped} {key}", _SHIPPED, **values)


async def check_revisions(trade: Trade, piece: Piece) -> AsyncIterator[Difference]:
    """Check that each order has as many versions as it says, each of which begins with what the one before came to."""
    revised = [order for order in piece.records if order["confirmed_at"] is not None]
    of_orders = {"order_id": {"$in": [order["id"] for order in revised]}, "revision": {"$ne": None}}
    made: dict[Any, dict[int, ReadOnlyRecord]] = defaultdict(dict)
    for one in await piece.store(trade.revisions).find(of_orders):
        made[one["order_id"]][one["revision"]] = one
    for order in revised:
        revisions = made[order["id"]]
        last = max(revisions, default=1)
        if (order["revision"] or 1) != last or len(revisions) != last - 1:
            values = {"found": order["revision"] or 1, "expected": len(revisions) + 1}
            yield difference(trade.orders, order, "revision", _VERSIONS, **values)
            continue
        for number, revision in revisions.items():
            following: ReadOnlyRecord = revisions[number + 1]["before"] if number < last else order
            for name in ("amount", "net_amount", "tax_amount"):
                found, expected = exact(following[name]), exact(revision[name])
                if found != expected:
                    values = {"found": f"{found:f}", "expected": f"{expected:f}", "revision": number}
                    yield difference(trade.orders, order, f"{name} {number}", _VERSION, **values)


async def check_shipments(trade: Trade, piece: Piece) -> AsyncIterator[Difference]:
    """Check that the returned sums of each delivery or receipt are the sums of its returns."""
    amounts = await piece.sums(trade.returns, trade.shipment_id, "amount")
    returned: dict[tuple[Any, Any], Decimal] = defaultdict(Decimal)
    for one in await piece.store(trade.returns).find({trade.shipment_id: {"$in": piece.ids}}):
        for line in one["lines"]:
            returned[one[trade.shipment_id], key_of(line)] += exact(line["quantity"])
    for shipment in piece.records:
        for wrong in compare(trade.shipments, shipment, {"returned_amount": amounts[shipment["id"]]}):
            yield wrong
        for line in shipment["lines"]:
            found, expected = exact(line.get("returned")), returned[shipment["id"], key_of(line)]
            if found != expected:
                values = {"line": key_of(line), "product": line["product_id"]}
                values |= {"found": f"{found:f}", "expected": f"{expected:f}"}
                yield difference(trade.shipments, shipment, f"returned {key_of(line)}", _RETURNED, **values)


async def owed_for_shipments(trade: Trade, piece: Piece) -> Mapping[Any, Due]:
    """Return what is owed for each order: its shipments less its returns. Orders of a contract are left out."""
    shipped = await piece.sums(trade.shipments, "order_id", "amount")
    returned = await piece.sums(trade.returns, "order_id", "amount")
    undone = {"order_id": {"$in": piece.ids}, "reversed_by_id": {"$ne": None}}
    gone = [one["id"] for one in await piece.store(trade.shipments).find(undone, fields=("reversed_by_id",))]
    of_live = await piece.sums(trade.returns, "order_id", "amount", {trade.shipment_id: {"$nin": gone}})
    return {
        order["id"]: Due(
            shipped[order["id"]] - returned[order["id"]],
            undelivered=count_undelivered(trade, order, _get_shipped(order, shipped[order["id"]])),
            returned=of_live[order["id"]],
        )
        for order in piece.records
        if order.get("contract_id") is None
    }


def _get_shipped(order: Record, ever_shipped: Decimal) -> Decimal:
    # orders of earlier versions do not say it, but have no reversed shipments
    return ever_shipped if order["shipped_amount"] is None else exact(order["shipped_amount"])


def _place(row: Mapping[str, Any]) -> tuple[Any, Any]:
    return row["product_id"], row["warehouse_id"]


def _moving(name: str, collection: Collection, title: tuple[str, str], sign: int, field: str) -> Audit:
    def moved(document: Record) -> Decimal:
        written_off = document.get("restock") is False
        return Decimal(0) if written_off else sign * exact(document[field])

    return Audit(name, Message(*title), collection, partial(check_movements, collection, moved))


AUDITS = (
    Audit("inventory-stock", Message("库存与库存流水", "Stock against its ledger"), STOCK, check_stock),
    Audit(
        "inventory-entries",
        Message("库存流水与库存、单据", "Stock ledger against stock and documents"),
        STOCK_ENTRIES,
        check_entries,
    ),
    _moving("inventory-receipts", RECEIPTS, ("入库单与库存流水", "Receipts against the stock ledger"), 1, "cost"),
    _moving(
        "inventory-deliveries", DELIVERIES, ("出库单与库存流水", "Deliveries against the stock ledger"), -1, "cost"
    ),
    _moving(
        "inventory-purchase-returns",
        PURCHASE_RETURNS,
        ("采购退货单与库存流水", "Purchase returns against the stock ledger"),
        -1,
        "cost",
    ),
    _moving(
        "inventory-sales-returns",
        SALES_RETURNS,
        ("销售退货单与库存流水", "Sales returns against the stock ledger"),
        1,
        "cost",
    ),
    Audit(
        "inventory-returned-receipts",
        Message("入库单与采购退货单", "Receipts against purchase returns"),
        RECEIPTS,
        partial(check_shipments, PURCHASE),
    ),
    Audit(
        "inventory-returned-deliveries",
        Message("出库单与销售退货单", "Deliveries against sales returns"),
        DELIVERIES,
        partial(check_shipments, SALE),
    ),
    _moving("inventory-transfers", TRANSFERS, ("调拨单与库存流水", "Transfers against the stock ledger"), 0, "cost"),
    _moving(
        "inventory-counts", STOCK_COUNTS, ("盘点单与库存流水", "Stock counts against the stock ledger"), 1, "value"
    ),
    Audit(
        "inventory-purchase-orders",
        Message("采购订单与入库单", "Purchase orders against receipts"),
        PURCHASE_ORDERS,
        partial(check_orders, PURCHASE),
    ),
    Audit(
        "inventory-sales-orders",
        Message("销售订单与出库单", "Sales orders against deliveries"),
        SALES_ORDERS,
        partial(check_orders, SALE),
    ),
    Audit(
        "inventory-purchase-revisions",
        Message("采购订单与变更记录", "Purchase orders against their revisions"),
        PURCHASE_ORDERS,
        partial(check_revisions, PURCHASE),
    ),
    Audit(
        "inventory-sales-revisions",
        Message("销售订单与变更记录", "Sales orders against their revisions"),
        SALES_ORDERS,
        partial(check_revisions, SALE),
    ),
)
DEBTS = tuple(Debt(trade.biz_type, partial(owed_for_shipments, trade)) for trade in (PURCHASE, SALE))
