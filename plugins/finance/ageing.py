"""Ageing: what is open on a day for each customer or supplier, by how long it is past due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import (
    Collection,
    Field,
    Message,
    Page,
    Request,
    Route,
    Service,
    array,
    choice,
    day,
    day_of,
    exact,
    integer,
    money,
    obj,
    object_id,
    route,
    shape,
    tables,
    text,
    utc_now,
)
from plugins.api.business import in_base, value_all_for_limits
from plugins.api.data import rows_before
from plugins.api.values import ReadOnlyRecord, rounded
from plugins.finance.entries import ADVANCE, ENTRIES, FOREIGN, PARTY_FIELDS, unsettled
from plugins.finance.open_items import UNPAID
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.finance.record_types import OpenItem
from plugins.finance.records import COUNTERPARTY, CUSTOMER, SUPPLIER

DIRECTIONS = {"receivable": "out", "payable": "in"}
# each bucket and the most days by which something in it is past due; the last bucket takes the rest
_LIMITS = {"current": 0, "days_1_30": 30, "days_31_60": 60, "days_61_90": 90}
_LAST = "over_90"
BUCKETS = (*_LIMITS, _LAST)
ADVANCES = "advances"
_ZERO = Decimal("0.00")
_LAST_DAY = date.max.isoformat()
_SUMS = (*BUCKETS, "total", ADVANCES)
_AMOUNTS = ("amount", "paid", "billed_ahead")
_COUNTED = (*_AMOUNTS, "currency", "rate")

PAGE_QUERY: Mapping[str, Field] = {
    "page": integer(minimum=1, default=1, nullable=False, example=1),
    "page_size": integer(minimum=1, maximum=5000, default=1000, nullable=False, example=1000),
    "cursor": text(max_length=20, nullable=False, description="`next_cursor` of the page before.", example="1000"),
}
PAGE_FIELDS: Mapping[str, Field] = {
    "total": integer(minimum=0, nullable=False, description="How many there are on all pages."),
    "page": integer(minimum=1, nullable=False),
    "page_size": integer(minimum=1, nullable=False),
    "next_cursor": text(max_length=20, description="Give it as `cursor` for the next page; null at the end."),
}
PARTY: Mapping[str, Field] = {
    "customer_id": CUSTOMER.but(filter=False, description=None),
    "supplier_id": SUPPLIER.but(filter=False, description=None),
    "counterparty": COUNTERPARTY.but(filter=False, search=False, description="The name on the documents."),
}
AMOUNTS: Mapping[str, Field] = {
    "current": money(
        label=("未到期", "Not past due"), nullable=False, description="Not past due on the day, or without a due date."
    ),
    "days_1_30": money(label=("逾期1-30天", "1–30 days"), nullable=False, description="Past due by 1 to 30 days."),
    "days_31_60": money(label=("逾期31-60天", "31–60 days"), nullable=False, description="Past due by 31 to 60 days."),
    "days_61_90": money(label=("逾期61-90天", "61–90 days"), nullable=False, description="Past due by 61 to 90 days."),
    "over_90": money(
        label=("逾期90天以上", "Over 90 days"), nullable=False, description="Past due by more than 90 days."
    ),
    "total": money(
        label=("合计", "Total"), nullable=False, description="All that is open; advances are not taken off."
    ),
    "advances": money(
        label=("预收预付", "Advances"), nullable=False, description="Paid, and not allocated to any document."
    ),
}


def undescribed(fields: Mapping[str, Field]) -> dict[str, Field]:
    """Return fields that another shape describes."""
    return {name: field.but(description=None) for name, field in fields.items()}


# a row as tables have it; nothing is stored in this shape
_ROWS = Collection(
    name=ENTRIES.name,
    title="AgeingTableRow",
    noun=Message("账龄", "ageing"),
    plain=True,
    ids="text",
    default_sort="id",
    fields={name: field.but(read_only=True) for name, field in {**PARTY, **AMOUNTS}.items()},
)
ON_A_DAY: Mapping[str, Field] = {
    "day": day(label=("截止日期", "As of"), nullable=False, description="Today unless given."),
    "customer_id": object_id(label=("客户", "Customer"), nullable=False, description="Only this customer."),
    "supplier_id": object_id(label=("供应商", "Supplier"), nullable=False, description="Only this supplier."),
}
_QUERY: Mapping[str, Field] = {
    "kind": choice(*DIRECTIONS, required=True, nullable=False, example="receivable", label=("方向", "Side")),
    **ON_A_DAY,
}


def party_of(row: str) -> Mapping[str, Any]:
    """Return the expression for the key of the party of a row: its ids, or its name if it has none.

    `row` is the path to the fields of the party: `$` or `$_id.`.
    """
    nameless = {"$and": [{"$eq": [{"$ifNull": [f"{row}{name}", None]}, None]} for name in PARTY_FIELDS[:2]]}
    ids = {name: {"$ifNull": [f"{row}{name}", None]} for name in PARTY_FIELDS[:2]}
    return {**ids, "counterparty": {"$cond": [nameless, {"$ifNull": [f"{row}counterparty", None]}, None]}}


def signed_amount(direction: str, amount: Any = "$amount") -> Mapping[str, Any]:
    """Return the expression for what an entry adds to the open amount of a direction; the other one is set off."""
    return {"$cond": [{"$eq": ["$direction", direction]}, amount, {"$multiply": [amount, -1]}]}


def day_asked(req: Request) -> str:
    """Return the `day` of the query, or today."""
    return req.query.get("day") or day_of(req.now, req.service.settings.zone).isoformat()


def open_entries(req: Request, direction: str, until: str) -> dict[str, Any]:
    """Return the filter on the entries of a direction that count on a day, for the party of the query if it has one."""
    return {"direction": direction, "day": {"$lte": until}, **unsettled(until), **party_asked(req)}


def party_asked(req: Request) -> dict[str, Any]:
    """Return the filter on the entries of the customer or supplier in the query; empty if it names none."""
    return {name: req.query[name] for name in PARTY_FIELDS[:2] if req.query.get(name) is not None}


def page_stages(req: Request) -> list[dict[str, Any]]:
    """Return the stages that end a pipeline with one page of its rows."""
    return [{"$skip": rows_before(req.query)}, {"$limit": req.query["page_size"]}]


def page_fields(req: Request, total: int) -> dict[str, Any]:
    """Return the fields by which a response describes its page."""
    query, end = req.query, rows_before(req.query) + req.query["page_size"]
    return {
        "total": total,
        "page": query["page"],
        "page_size": query["page_size"],
        "next_cursor": str(end) if end < total else None,
    }


async def sum_in_snapshot(req: Request, pipeline: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the one row that a pipeline makes of the entries as of one moment, while entries are being marked.

    The read concern `snapshot` alone is not enough: a server that keeps no history, such as the embedded one, could not
    read for long with it.
    """
    (found,) = await req.service.database.snapshot(partial(req.store(ENTRIES).aggregate, pipeline))
    return found


async def read_ageing(req: Request) -> dict[str, Any]:
    """Return what is open on the day for each party, the largest sums first, and the totals of all."""
    on = day_asked(req)
    found = await sum_in_snapshot(req, _pipeline(req, DIRECTIONS[req.query["kind"]], on))
    totals = found["totals"][0] if found["totals"] else {}
    return {
        "kind": req.query["kind"],
        "day": on,
        "items": [_shown(row) for row in found["items"]],
        "totals": {name: rounded(exact(totals.get(name))) for name in _SUMS},
        **page_fields(req, totals.get("count", 0)),
    }


async def list_rows(req: Request) -> Page:
    """Return a page of the rows, for tables."""
    found = await read_ageing(req)
    rows = [{**row, "id": str(next((row[name] for name in PARTY_FIELDS if row[name]), ""))} for row in found["items"]]
    return Page(rows, found["total"], found["page"], found["page_size"], found["next_cursor"])


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    # MongoDB's sums of amounts have two decimals as the amounts do; without any amount a sum is the integer 0
    return {**row["_id"], "counterparty": row["name"], **{name: row[name] or _ZERO for name in _SUMS}}


async def find_owed(service: Service, customer_id: Any) -> Decimal:
    """Return what a customer owes now. What was paid too much is taken off.

    So is what is billed ahead of a delivery: whoever asks counts the whole order. What is open in a currency counts as
    `value_all_for_limits` says.
    """
    # entries that are settled on any day add up to zero
    counted = {"customer_id": customer_id, **unsettled(_LAST_DAY)}
    # grouped by the stored value: an expression would take longer than the sum itself
    total = [{"$match": counted}, {"$group": {"_id": "$direction", "amount": {"$sum": "$amount"}}}]
    found = await service.database.store(ENTRIES).aggregate(total)
    sums = {row["_id"]: exact(row["amount"]) for row in found}
    owed = sums.get("out", Decimal(0)) - sums.get("in", Decimal(0))
    return owed + await _sum_corrections(service, customer_id)


async def _sum_corrections(service: Service, customer_id: Any) -> Decimal:
    """Return by how much more a customer owes than entries say, which are at the rates of the items; below zero, less."""
    of, today = {"customer_id": customer_id}, day_of(utc_now(), service.settings.zone).isoformat()
    items, corrected = service.database.store(OPEN_ITEMS), dict[Any, OpenItem]()
    # two reads, each by an index of only those
    for which in ({"billed_ahead": {"$gt": 0}}, {"direction": "out", **UNPAID, **FOREIGN}):
        corrected |= {one["id"]: one for one in await items.find({**of, **which}, fields=_COUNTED)}
    found = [*corrected.values()]
    return sum(map(_correct, found, await value_all_for_limits(service, found, today)), Decimal(0))


def _correct(item: ReadOnlyRecord, valued: ReadOnlyRecord) -> Decimal:
    amount, paid, ahead = (exact(item[name]) for name in _AMOUNTS)
    return in_base(amount - paid - ahead, valued) - in_base(amount, item) + in_base(paid, item)


def _pipeline(req: Request, direction: str, on: str) -> Sequence[Mapping[str, Any]]:
    sums = {name: {"$sum": {"$cond": [{"$eq": ["$_id.bucket", name]}, "$amount", 0]}} for name in BUCKETS}
    is_advance = {"$eq": ["$_id.bucket", ADVANCES]}
    none_open = dict.fromkeys((*BUCKETS, ADVANCES), 0)
    return [
        {"$match": open_entries(req, direction, on)},
        {
            "$group": {
                # grouped by stored values: expressions would take longer than the sum itself
                "_id": {**{name: f"${name}" for name in PARTY_FIELDS}, "bucket": bucket_of_entry(on)},
                "amount": {"$sum": "$amount"},
            }
        },
        {"$match": {"amount": {"$ne": 0}}},
        {
            "$group": {
                "_id": party_of("$_id."),
                **sums,
                ADVANCES: {"$sum": {"$cond": [is_advance, {"$multiply": ["$amount", -1]}, 0]}},
                "name": {"$max": "$_id.counterparty"},
            }
        },
        {"$match": {"$nor": [none_open]}},
        {"$set": {"total": {"$add": [f"${name}" for name in BUCKETS]}}},
        {"$sort": {"total": -1, "_id": 1}},
        {
            "$facet": {
                "items": page_stages(req),
                "totals": [
                    {"$group": {"_id": None, "count": {"$sum": 1}, **{name: {"$sum": f"${name}"} for name in _SUMS}}}
                ],
            }
        },
    ]


def bucket_of_entry(on: str) -> Mapping[str, Any]:
    """Return the expression for the bucket of an entry: by its due day, or the bucket of advances."""
    today = date.fromisoformat(on)
    since = {name: (today - timedelta(days=days)).isoformat() for name, days in _LIMITS.items()}
    cases: list[tuple[Any, str]] = [
        ({"$eq": ["$kind", ADVANCE]}, ADVANCES),
        # null is less than any text: without a due day nothing is past due
        ({"$lte": ["$due_on", None]}, "current"),
        *(({"$gte": ["$due_on", day]}, name) for name, day in since.items()),
    ]
    return {"$switch": {"branches": [{"case": case, "then": name} for case, name in cases], "default": _LAST}}


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/finance/ageing",
        read_ageing,
        summary="Show open amounts by how long they are past due",
        access="finance:ageing:read",
        query={**_QUERY, **PAGE_QUERY},
        returns=shape(
            "Ageing",
            kind=choice(*DIRECTIONS, nullable=False, label=("方向", "Side")),
            day=day(label=("截止日期", "As of"), nullable=False),
            items=array(obj("AgeingRow", {**PARTY, **AMOUNTS}, nullable=False), max_items=5000, nullable=False),
            totals=obj("AgeingTotals", undescribed(AMOUNTS), nullable=False, label=("合计", "Totals")),
            **PAGE_FIELDS,
        ),
        collection=ENTRIES.name,
    ),
    *tables(
        _ROWS, at="/api/v1/finance/ageing", resource="finance:ageing", only=("export",), lister=list_rows, query=_QUERY
    ),
)
