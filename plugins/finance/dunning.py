"""The dunning list: what customers have not paid in time, with whom to call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

from plugins.api import (
    CONTACTS_ASKED,
    Request,
    Route,
    array,
    day,
    exact,
    integer,
    money,
    obj,
    object_id,
    rounded,
    route,
    shape,
    text,
)
from plugins.finance.ageing import (
    PAGE_FIELDS,
    PAGE_QUERY,
    PARTY,
    day_asked,
    open_entries,
    page_fields,
    page_stages,
    party_of,
)
from plugins.finance.documents import OPEN_ITEMS
from plugins.finance.entries import ENTRIES, PARTY_FIELDS

Record = dict[str, Any]
_Key = tuple[Any, ...]
_SHOWN_ITEMS = 100
_OVERDUE: Mapping[str, Any] = {
    "oldest_due_on": day(
        label=("最早到期日", "Oldest due day"), nullable=False, description="Since when something is past due."
    ),
    "days_overdue": integer(
        label=("逾期天数", "Days overdue"), minimum=1, nullable=False, description="Of the oldest."
    ),
    "amount": money(label=("逾期金额", "Overdue"), nullable=False, description="What is past due."),
}
_ITEM = obj(
    "DunningItem",
    {
        "open_item_id": object_id(nullable=False, ref=OPEN_ITEMS.name),
        "biz_type": text(label=("业务类型", "Business type")),
        "resource_id": text(label=("来源单据", "Source record")),
        "number": text(label=("单据编号", "Document number")),
        **_OVERDUE,
    },
    nullable=False,
)
_CONTACT = obj("DunningContact", {"name": text(), "phone": text(), "email": text()})
_ROW = obj(
    "DunningRow",
    {
        **{name: PARTY[name] for name in ("customer_id", "counterparty")},
        **_OVERDUE,
        "count": integer(
            label=("逾期笔数", "Items overdue"), minimum=1, nullable=False, description="How many items are past due."
        ),
        "contact": _CONTACT.but(description="Null where the caller does not see the customer."),
        "items": array(
            _ITEM,
            max_items=_SHOWN_ITEMS,
            nullable=False,
            description=f"The oldest {_SHOWN_ITEMS} of them.",
            label=("逾期明细", "Items"),
        ),
    },
    nullable=False,
)


async def list_overdue(req: Request) -> Record:
    """Return the customers with something past due on the day, the longest past due first."""
    on = day_asked(req)
    found, overdue = await req.service.database.snapshot(partial(_read, req, on))
    rows = found["items"]
    items = await _find_items(req, overdue.values())
    contacts = await _find_contacts(req, rows)
    totals = found["totals"][0] if found["totals"] else {}
    return {
        "day": on,
        "amount": rounded(exact(totals.get("amount"))),
        "items": [
            {
                "customer_id": row["_id"]["customer_id"],
                "counterparty": row["name"],
                **_count_days(row, on),
                "count": of_party["count"],
                "contact": contacts.get(row["_id"]["customer_id"]),
                "items": [
                    {**items.get(one["open_item_id"], {}), **one, **_count_days(one, on)} for one in of_party["items"]
                ],
            }
            for row in rows
            for of_party in (overdue[_key(row)],)
        ],
        **page_fields(req, totals.get("count", 0)),
    }


async def _read(req: Request, on: str) -> tuple[Record, dict[_Key, Record]]:
    """The page of parties and the totals of all, and what is past due of each party of the page, at one moment."""
    entries = req.store(ENTRIES)
    (found,) = await entries.aggregate(_sum_parties(req, on))
    items = await entries.aggregate(_sum_items(req, on, found["items"])) if found["items"] else []
    return found, {_key(row): row for row in items}


def _key(row: Mapping[str, Any]) -> _Key:
    """The party of a row, to look it up by."""
    return tuple(row["_id"].get(name) for name in PARTY_FIELDS)


def _sum_due_days(req: Request, on: str, among: Mapping[str, Any] | None = None) -> list[Record]:
    """The stages that sum up what of each item is open for each day that has passed; all its entries have its party."""
    return [
        {"$match": {**open_entries(req, "out", on), "due_on": {"$lt": on}}},
        *([{"$match": among}] if among else []),
        {
            "$group": {
                "_id": {"open_item_id": "$open_item_id", "due_on": "$due_on"},
                "amount": {"$sum": "$amount"},
                **{name: {"$first": f"${name}"} for name in PARTY_FIELDS},
            }
        },
    ]


def _sum_parties(req: Request, on: str) -> Sequence[Record]:
    is_open = {"$gt": ["$amount", 0]}
    return [
        *_sum_due_days(req, on),
        # a condition in place of a stage that leaves them out: so MongoDB groups twice without documents in between
        {
            "$group": {
                "_id": {name: f"${name}" for name in PARTY_FIELDS},
                "amount": {"$sum": {"$cond": [is_open, "$amount", 0]}},
                "oldest_due_on": {"$min": {"$cond": [is_open, "$_id.due_on", None]}},
            }
        },
        {"$match": {"oldest_due_on": {"$ne": None}}},
        {
            "$group": {
                "_id": party_of("$_id."),
                "amount": {"$sum": "$amount"},
                "oldest_due_on": {"$min": "$oldest_due_on"},
                "name": {"$max": "$_id.counterparty"},
            }
        },
        {"$sort": {"oldest_due_on": 1, "_id": 1}},
        {
            "$facet": {
                "items": page_stages(req),
                "totals": [{"$group": {"_id": None, "count": {"$sum": 1}, "amount": {"$sum": "$amount"}}}],
            }
        },
    ]


def _sum_items(req: Request, on: str, rows: Sequence[Mapping[str, Any]]) -> Sequence[Record]:
    item = {"open_item_id": "$_id", "oldest_due_on": "$oldest_due_on", "amount": "$amount"}
    return [
        *_sum_due_days(req, on, _among(rows)),
        {"$match": {"amount": {"$gt": 0}}},
        {
            "$group": {
                "_id": "$_id.open_item_id",
                "amount": {"$sum": "$amount"},
                "oldest_due_on": {"$min": "$_id.due_on"},
                **{name: {"$first": f"${name}"} for name in PARTY_FIELDS},
            }
        },
        {
            "$group": {
                "_id": party_of("$"),
                "count": {"$sum": 1},
                "items": {"$topN": {"n": _SHOWN_ITEMS, "sortBy": {"oldest_due_on": 1, "_id": 1}, "output": item}},
            }
        },
    ]


def _among(rows: Sequence[Mapping[str, Any]]) -> Record:
    """The filter on the entries of the parties of these rows, and perhaps of a few others.

    It compares with no null: then MongoDB would read the documents of all entries beside the index.
    """
    named: dict[str, list[Any]] = {}
    for row in rows:
        name = next((name for name in PARTY_FIELDS if row["_id"].get(name) is not None), None)
        if name is None:
            return {}
        named.setdefault(name, []).append(row["_id"][name])
    parts = [{name: {"$in": values}} for name, values in named.items()]
    return parts[0] if len(parts) == 1 else {"$or": parts}


async def _find_items(req: Request, rows: Iterable[Mapping[str, Any]]) -> Mapping[Any, Record]:
    """The documents of the items of these parties."""
    ids = [one["open_item_id"] for row in rows for one in row["items"]]
    fields = ("biz_type", "resource_id", "number")
    found = await req.store(OPEN_ITEMS).find({"_id": {"$in": ids}}, fields=fields) if ids else []
    return {item["id"]: {name: item[name] for name in fields} for item in found}


async def _find_contacts(req: Request, rows: Sequence[Mapping[str, Any]]) -> Mapping[Any, Record]:
    """Whom to call at these customers, from the plugin that keeps them."""
    found: dict[Any, Record] = {}
    ids = [row["_id"]["customer_id"] for row in rows if row["_id"]["customer_id"] is not None]
    if ids:
        await req.emit(CONTACTS_ASKED, customer_ids=ids, found=found)
    return found


def _count_days(row: Mapping[str, Any], on: str) -> Record:
    since = date.fromisoformat(row["oldest_due_on"])
    return {
        "oldest_due_on": row["oldest_due_on"],
        "days_overdue": (date.fromisoformat(on) - since).days,
        "amount": row["amount"],
    }


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/finance/dunning",
        list_overdue,
        summary="List the customers who have not paid in time",
        access="finance:dunning:read",
        query={
            "day": day(label=("截止日期", "As of"), nullable=False, description="Today unless given."),
            "customer_id": object_id(label=("客户", "Customer"), nullable=False, description="Of this customer only."),
            **PAGE_QUERY,
            "page_size": integer(minimum=1, maximum=200, default=100, nullable=False, example=100),
        },
        returns=shape(
            "Dunning",
            day=day(label=("截止日期", "As of"), nullable=False),
            amount=money(label=("逾期金额", "Overdue"), nullable=False, description="What is past due in all."),
            items=array(_ROW, max_items=200, nullable=False),
            **PAGE_FIELDS,
        ),
        collection=ENTRIES.name,
    ),
)
