"""What was delivered or received and is not invoiced yet, on any day: the lines of the orders, in units and without tax.

A line counts what was shipped of it by the day, less what came back, and less what invoices of that day or before bill of it,
less their credit notes. What an invoice without lines bills of an order is a row of its own below zero.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from plugins.api import (
    Collection,
    Field,
    Message,
    Page,
    Record,
    Request,
    Route,
    choice,
    exact,
    integer,
    money,
    quantity,
    service_fields,
    store_money,
    text,
)
from plugins.api.business import LINE_DESCRIPTION, PricedLines, ShippedLine, in_base
from plugins.api.data import page_of_rows, query_of_rows
from plugins.api.reports import report_list
from plugins.api.values import StoredAmount, store_quantity
from plugins.finance.ageing import DIRECTIONS, ON_A_DAY, day_asked, party_asked
from plugins.finance.bills import billing, find_item_ids, list_lines
from plugins.finance.entries import ENTRIES, PARTY_FIELDS
from plugins.finance.open_items import BILLING
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.finance.record_types import OpenItem
from plugins.finance.records import CREDIT_NOTES, INVOICES, PRODUCT

_ITEMS_AT_ONCE = 500
_ZERO = Decimal(0)
Lines = Sequence[Mapping[str, Any]]
# nothing more is to come, and all of it is invoiced
_DONE = [
    {"$lte": [{"$ifNull": ["$undelivered", 0]}, 0]},
    {"$gte": [{"$subtract": ["$invoiced", {"$ifNull": ["$credited", 0]}]}, "$document_amount"]},
]
_PARTY = {name: ENTRIES.fields[name].but(description=None) for name in PARTY_FIELDS}
# a row as responses and tables have it; nothing is stored in this shape
UNBILLED = Collection(
    name=OPEN_ITEMS.name,
    title="UnbilledLine",
    noun=Message("未开票明细", "line that is not invoiced"),
    plain=True,
    ids="text",
    default_sort="id",
    fields={
        "number": OPEN_ITEMS.fields["number"].but(
            sort=False, filter=False, search=False, label=Message("订单编号", "Order number")
        ),
        "counterparty": _PARTY["counterparty"],
        "product_id": PRODUCT.but(read_only=True),
        "description": LINE_DESCRIPTION.but(read_only=True, description=None),
        "shipped": quantity(
            label=("已交付数量", "Delivered"), read_only=True, description="Delivered or received, less what came back."
        ),
        "billed": quantity(label=("已开票数量", "Invoiced"), read_only=True),
        "quantity": quantity(label=("未开票数量", "Not invoiced"), read_only=True),
        **service_fields(
            net=money(
                label=("未开票金额（不含税）", "Net not invoiced"), sort=True, description="In the company's currency."
            )
        ),
        "line": integer(
            label=("行号", "Line"),
            minimum=0,
            read_only=True,
            description="Of the order; 0: the freight; null: invoices without lines, and orders of earlier versions.",
        ),
        "unit": text(label=("单位", "Unit"), max_length=32, read_only=True, labelled_by="inventory_unit"),
        "open_item_id": ENTRIES.fields["open_item_id"],
        **_PARTY,
    },
)
QUERY: Mapping[str, Field] = {
    **query_of_rows(UNBILLED),
    "kind": choice(
        *DIRECTIONS,
        nullable=False,
        label=("方向", "Side"),
        description="`receivable`: delivered to customers, unless a supplier is given; `payable`: received from suppliers.",
    ),
    **ON_A_DAY,
}


@dataclass
class _Billed:
    """What invoices bill of an item on a day: units and net by the line of the order, and what they bill without lines."""

    units: defaultdict[int | None, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    nets: defaultdict[int | None, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    whole: Decimal = _ZERO

    def add(self, of: Lines | None, lines: Lines | None, amount: Decimal, sign: int) -> None:
        """Add the `lines` of an invoice, or of a credit note on one with the lines `of`; or the amount of one without."""
        if of is None:
            self.whole += sign * amount
            return
        for line in lines or ():
            number = of[line["line"] - 1]["order_line"]
            if number is not None:  # others ask for a prepayment, or take one off
                self.units[number] += sign * exact(line["quantity"])
                self.nets[number] += sign * exact(line["net"])


async def list_unbilled(req: Request) -> Page:
    """Return a page of the lines, by the numbers of the orders."""
    rows = [row async for row in _read_rows(req)]
    rows.sort(key=lambda one: (one["number"] or "", one["line"] is None, one["line"] or 0))
    return page_of_rows(req.query, rows)


async def _read_rows(req: Request) -> AsyncIterator[Record]:
    on = day_asked(req)
    items = await _find_items(req, on)
    by_type: defaultdict[str, list[OpenItem]] = defaultdict(list)
    for item in items:
        by_type[item["biz_type"]].append(item)
    for biz_type, of_type in by_type.items():
        for start in range(0, len(of_type), _ITEMS_AT_ONCE):
            some = of_type[start : start + _ITEMS_AT_ONCE]
            ids = [item["resource_id"] for item in some]
            shipped = await req.part(PricedLines).find_shipped(req, biz_type, ids, on)
            billed = await _read_billed(req, some, on)
            for item in some:
                for row in _compare(item, shipped.get(item["resource_id"], ()), billed[item["id"]]):
                    yield row


async def _find_items(req: Request, on: str) -> list[OpenItem]:
    """Return the visible items of which something can be open on a day: it is now, or has changed since."""
    kind = req.query.get("kind") or ("receivable" if req.query.get("supplier_id") is None else "payable")
    direction = DIRECTIONS[kind]
    later = {"day": {"$gt": on}}
    changed = set[Any]()
    for collection, name in ((ENTRIES, "open_item_id"), (INVOICES, "_id"), (CREDIT_NOTES, "invoice_id")):
        found = await req.system_store(collection).aggregate(
            [{"$match": {**later, "direction": direction}}, {"$group": {"_id": f"${name}"}}]
        )
        changed |= {row["_id"] for row in found}
    bills = await req.system_store(INVOICES).find({"_id": {"$in": [*changed]}}, fields=["open_item_id", "billed_items"])
    changed |= {id for one in bills for id in find_item_ids(one)}
    open_now = {"$expr": {"$not": [{"$and": _DONE}]}}
    # what invoices may bill is known of orders only
    of_orders = {"direction": direction, "net": {"$ne": None}, **party_asked(req)}
    return await req.store(OPEN_ITEMS).find({**of_orders, "$or": [open_now, {"_id": {"$in": [*(changed - {None})]}}]})


async def _read_billed(req: Request, items: Sequence[OpenItem], on: str) -> Mapping[Any, _Billed]:
    """Return what invoices until a day bill of each item, less their credit notes, whoever may see these."""
    found: defaultdict[Any, _Billed] = defaultdict(_Billed)
    bills = {**billing([item["id"] for item in items]), "day": {"$lte": on}, **BILLING}
    invoices = {one["id"]: one for one in await req.system_store(INVOICES).find(bills)}
    notes = await req.system_store(CREDIT_NOTES).find({"invoice_id": {"$in": [*invoices]}, "day": {"$lte": on}})
    for invoice in invoices.values():
        for id in find_item_ids(invoice):
            found[id].add(invoice["lines"], list_lines(invoice, id), exact(invoice["amount"]), 1)
    for note in notes:
        invoice = invoices[note["invoice_id"]]
        for id in find_item_ids(invoice):
            ours = {line["line"] for line in list_lines(invoice, id)}
            noted = [line for line in note["lines"] or () if line["line"] in ours]
            found[id].add(invoice["lines"], noted, exact(note["amount"]), -1)
    return found


def _compare(item: OpenItem, shipped: Sequence[ShippedLine], billed: _Billed) -> Iterator[Record]:
    """Yield the lines of an order of which more was shipped than is invoiced, and what is invoiced without lines."""
    about = {"number": item["number"], "open_item_id": item["id"], **{name: item.get(name) for name in PARTY_FIELDS}}
    rows: list[Record] = []
    left = _ZERO
    for one in shipped:
        number = one.line.get("line")
        units = one.units - billed.units[number]
        net = one.net - billed.nets[number]
        if units > 0:
            left += net
            words = {name: one.line.get(name) for name in ("line", "product_id", "description", "unit")}
            amounts = {"shipped": one.units, "billed": one.units - units, "quantity": units}
            stored = {name: store_quantity(value) for name, value in amounts.items()}
            rows.append({**about, "id": f"{item['id']}-{len(rows)}", **words, **stored, "net": _worth(net, item)})
    whole = min(billed.whole, left)
    if whole < left:
        yield from rows
        if whole > 0:
            yield {**UNBILLED.blank, **about, "id": f"{item['id']}-whole", "net": _worth(-whole, item)}


def _worth(net: Decimal, item: OpenItem) -> StoredAmount:
    return store_money(in_base(net, item))


ROUTES: tuple[Route, ...] = (
    *report_list(
        UNBILLED,
        list_unbilled,
        at="/api/v1/finance/unbilled",
        resource="finance:unbilled",
        summary="List what was delivered or received and is not invoiced",
        title=("未开票明细", "Not invoiced"),
        query=QUERY,
    ),
)
