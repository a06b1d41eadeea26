"""The dunning list: what customers have not paid in time, and whom to call about it.

If nothing is entered after the day, amounts are the `rest` that one entry of each document and due day has; only for
parties with an entry that has no `rest` yet, all entries are added up. For an earlier day this is done for all.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from plugins.api import (
    Field,
    Record,
    Request,
    Route,
    Store,
    array,
    boolean,
    day,
    exact,
    integer,
    money,
    obj,
    object_id,
    route,
    shape,
    text,
)
from plugins.api.business import RATES_TABLE, Customers, Rates, currency
from plugins.api.data import rows_before
from plugins.api.values import rounded
from plugins.finance.ageing import (
    PAGE_FIELDS,
    PAGE_QUERY,
    PARTY,
    day_asked,
    open_entries,
    page_fields,
    party_asked,
    party_of,
    undescribed,
)
from plugins.finance.entries import ENTRIES, FOREIGN, PARTY_FIELDS, find_held_items, unsettled
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.finance.record_types import OpenItem, OpenItemEntry

PartyKey = tuple[Any, ...]
SHOWN_ITEMS = 100
_MOST_UNSUMMED = 1000  # entries without a `rest`; if there are more, all entries are added up
_PARTY: Mapping[str, str] = {name: f"${name}" for name in PARTY_FIELDS}
_FIRST_PARTY = {name: {"$first": field} for name, field in _PARTY.items()}
_THEIRS = ("currency", "currency_amount")
_IS_OPEN = {"$gt": ["$amount", 0]}


class Overdue(NamedTuple):
    """A page of parties, and the number of all parties and the amount that they have past due.

    `items`: the items of each row, by its `key_of`. `foreign`: all items in other currencies.
    """

    rows: Sequence[Record]
    total: int
    amount: Decimal
    items: Mapping[PartyKey, Record]
    foreign: Sequence[Record] = ()


async def read_overdue(req: Request, on: str) -> Overdue:
    """Return the page that the query asks for. Call it in a snapshot, so that all its reads are of one moment."""
    entries = req.store(ENTRIES)
    first, end = rows_before(req.query), rows_before(req.query) + req.query["page_size"]
    held = await find_held_items(req) if req.query.get("without_held") else ()
    left_out = {"open_item_id": {"$nin": [item["id"] for item in held]}} if held else {}
    unsummed = await _find_unsummed(req, entries, on)
    if unsummed is not None:
        # the rests of these parties include what is to be left out
        unsummed |= _parties_of(held)
    if unsummed is None:
        overdue = await _read_parties(entries, _sum_all(req, on, left_out), first, end)
    elif not unsummed:
        overdue = await _read_parties(entries, _sum_rests(req, on), first, end)
    else:
        overdue = await _read_mixed(req, entries, on, list(unsummed.values()), left_out, end)
        overdue = overdue._replace(rows=overdue.rows[first:])
    added_up = [row for row in overdue.rows if unsummed is None or key_of(row) in unsummed]
    kept = [row for row in overdue.rows if unsummed is not None and key_of(row) not in unsummed]
    items: dict[PartyKey, Record] = {}
    # the sums of all entries come last and win: the filter on rests may match some of their parties too
    for stages in (*_list_rest_items(req, on, kept), *_list_all_items(req, on, added_up, left_out)):
        items |= {key_of(row): row for row in await entries.aggregate(stages)}
    foreign = [
        row for stages in _list_foreign(req, on, overdue.rows, left_out) for row in await entries.aggregate(stages)
    ]
    return overdue._replace(items=items, foreign=foreign)


def key_of(row: Mapping[str, Any]) -> PartyKey:
    """Return the key by which the party of a row is looked up."""
    return tuple(row["_id"].get(name) for name in PARTY_FIELDS)


async def _find_unsummed(req: Request, entries: Store[OpenItemEntry], on: str) -> dict[PartyKey, Record] | None:
    """Return the parties with entries that have no `rest` yet, or None if all entries must be added up for this day."""
    if await entries.find({"day": {"$gt": on}, "direction": "out"}, limit=1, fields=("day",)):
        return None
    late = {"direction": "out", "due_on": {"$lt": on}, **party_asked(req)}
    unsummed = {"rest": None, "settled_on": None, **late}
    found = await entries.find(unsummed, limit=_MOST_UNSUMMED + 1, fields=PARTY_FIELDS)
    if len(found) > _MOST_UNSUMMED:
        return None
    return _parties_of(found)


def _parties_of(rows: Iterable[OpenItem | OpenItemEntry]) -> dict[PartyKey, Record]:
    parties = [{"_id": _party_of_entry(row)} for row in rows]
    return {key_of(party): party["_id"] for party in parties}


def _party_of_entry(entry: OpenItem | OpenItemEntry) -> Record:
    """Return the key of the party of an entry, as `party_of` makes it."""
    nameless = entry["customer_id"] is None and entry["supplier_id"] is None
    return {
        **{name: entry.get(name) for name in PARTY_FIELDS},
        "counterparty": entry["counterparty"] if nameless else None,
    }


async def _read_parties(entries: Store[OpenItemEntry], stages: Sequence[Record], first: int, end: int) -> Overdue:
    """Return a page of the parties that the stages sum up, and the totals of all of them."""
    page = {
        "items": [{"$skip": first}, {"$limit": end - first}],
        "totals": [{"$group": {"_id": None, "count": {"$sum": 1}, "amount": {"$sum": "$amount"}}}],
    }
    (found,) = await entries.aggregate([*stages, {"$sort": {"oldest_due_on": 1, "_id": 1}}, {"$facet": page}])
    totals = found["totals"][0] if found["totals"] else {}
    return Overdue(found["items"], totals.get("count", 0), exact(totals.get("amount")), {})


async def _read_mixed(
    req: Request,
    entries: Store[OpenItemEntry],
    on: str,
    unsummed: Sequence[Record],
    left_out: Mapping[str, Any],
    end: int,
) -> Overdue:
    """Return the first rows of all parties: `unsummed` ones from all their entries, the others from their rests."""
    others = await _read_parties(entries, [*_sum_rests(req, on), {"$match": {"_id": {"$nin": unsummed}}}], 0, end)
    those = {**_among([{"_id": party} for party in unsummed]), **left_out}
    added_up = await entries.aggregate([*_sum_all(req, on, those), {"$match": {"_id": {"$in": unsummed}}}])
    amount = sum((exact(row["amount"]) for row in added_up), others.amount)
    rows = sorted([*others.rows, *added_up], key=_place)
    return Overdue(rows[:end], others.total + len(added_up), amount, {})


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the sort key of a row, which gives the same order as MongoDB: null comes first."""
    return row["oldest_due_on"], *((part is not None, part or "") for part in key_of(row))


def _sum_all(req: Request, on: str, among: Mapping[str, Any] | None = None) -> list[Record]:
    """Return the stages that sum up what is past due by party, from all entries."""
    return [
        *_sum_due_days(req, on, among),
        # `$cond` instead of a `$match` stage: MongoDB then groups twice without building documents in between
        {
            "$group": {
                "_id": _PARTY,
                "amount": {"$sum": {"$cond": [_IS_OPEN, "$amount", 0]}},
                "oldest_due_on": {"$min": {"$cond": [_IS_OPEN, "$_id.due_on", None]}},
            }
        },
        {"$match": {"oldest_due_on": {"$ne": None}}},
        _BY_PARTY,
    ]


def _sum_rests(req: Request, on: str) -> list[Record]:
    """Return the stages that sum up what is past due by party from the rests, if every entry has one."""
    sums = {"amount": {"$sum": "$rest"}, "oldest_due_on": {"$min": "$due_on"}}
    return [{"$match": _late_rests(req, on)}, {"$group": {"_id": _PARTY, **sums}}, _BY_PARTY]


_BY_PARTY: Record = {
    "$group": {
        "_id": party_of("$_id."),
        "amount": {"$sum": "$amount"},
        "oldest_due_on": {"$min": "$oldest_due_on"},
        "name": {"$max": "$_id.counterparty"},
    }
}


def _late_rests(req: Request, on: str) -> Record:
    # without `day`, which the index does not hold: no entry is later
    return {"direction": "out", "rest": {"$gt": 0}, "due_on": {"$lt": on}, **unsettled(on), **party_asked(req)}


def _sum_due_days(req: Request, on: str, among: Mapping[str, Any] | None = None, **further: Record) -> list[Record]:
    """Return the stages that sum up what is open of each item for each due day that has passed; `further`: what else.

    All entries of an item have the same party, so that of the first one is taken.
    """
    by_due_day = {"open_item_id": "$open_item_id", "due_on": "$due_on"}
    return [
        {"$match": {**open_entries(req, "out", on), "due_on": {"$lt": on}}},
        *([{"$match": among}] if among else []),
        {"$group": {"_id": by_due_day, "amount": {"$sum": "$amount"}, **_FIRST_PARTY, **further}},
    ]


def _list_foreign(
    req: Request, on: str, rows: Sequence[Mapping[str, Any]], left_out: Mapping[str, Any]
) -> Iterator[list[Record]]:
    """Yield the stages that list the items in other currencies of the parties of these rows, which few indexes hold."""
    sums = {name: {"$sum": f"${name}"} for name in ("amount", "currency_amount")}
    code: Record = {"currency": {"$first": "$currency"}}
    by_item: Record = {"$group": {"_id": "$_id.open_item_id", **code, **sums, **_FIRST_PARTY}}
    if rows:
        among = {**_among(rows), **left_out, **FOREIGN}
        late = _sum_due_days(req, on, among, **code, currency_amount=sums["currency_amount"])
        yield [
            *late,
            {"$match": {"amount": {"$gt": 0}}},
            by_item,
            {"$set": {"_id": party_of("$"), "open_item_id": "$_id"}},
        ]


def _list_all_items(
    req: Request, on: str, rows: Sequence[Mapping[str, Any]], left_out: Mapping[str, Any]
) -> Iterator[list[Record]]:
    """Yield the stages that list the items of the parties of these rows, from all entries."""
    sums = {"amount": {"$sum": "$amount"}, "oldest_due_on": {"$min": "$_id.due_on"}, **_FIRST_PARTY}
    by_item: Record = {"$group": {"_id": "$_id.open_item_id", **sums}}
    if rows:
        late = _sum_due_days(req, on, {**_among(rows), **left_out})
        yield [*late, {"$match": {"amount": {"$gt": 0}}}, by_item, _OLDEST_ITEMS]


def _list_rest_items(req: Request, on: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[list[Record]]:
    """Yield the stages that list the items of the parties of these rows from the rests, if all their entries have one.

    Customers have a pipeline of their own: their index holds all but the name of the party, which they do not need.
    """
    late = _late_rests(req, on)
    receivable = {"direction": late.pop("direction")}  # matched later: else an index that begins with it is read whole
    first = {"direction": {"$first": "$direction"}, **_FIRST_PARTY}
    sums = {"amount": {"$sum": "$rest"}, "oldest_due_on": {"$min": "$due_on"}}
    for named in (False, True):
        those = [row for row in rows if (row["_id"]["customer_id"] is None) == named]
        kept = {name: taken for name, taken in first.items() if named or name != "counterparty"}
        by_item: Record = {"$group": {"_id": "$open_item_id", **sums, **kept}}
        if those:
            yield [{"$match": {**late, **_among(those)}}, by_item, {"$match": receivable}, _OLDEST_ITEMS]


_OLDEST_ITEMS: Record = {
    "$group": {
        "_id": party_of("$"),
        "count": {"$sum": 1},
        "items": {
            "$topN": {
                "n": SHOWN_ITEMS,
                "sortBy": {"oldest_due_on": 1, "_id": 1},
                "output": {"open_item_id": "$_id", "oldest_due_on": "$oldest_due_on", "amount": "$amount"},
            }
        },
    }
}


def _among(rows: Sequence[Mapping[str, Any]]) -> Record:
    """Return the filter on the entries of the parties of these rows; it may match a few other parties too.

    It never compares with null: MongoDB would then read the documents of all entries in addition to the index.
    """
    named: dict[str, list[Any]] = {}
    for row in rows:
        name = next((name for name in PARTY_FIELDS if row["_id"].get(name) is not None), None)
        if name is None:
            return {}
        named.setdefault(name, []).append(row["_id"][name])
    parts = [{name: {"$in": values}} for name, values in named.items()]
    return parts[0] if len(parts) == 1 else {"$or": parts}


_OVERDUE: Mapping[str, Any] = {
    "oldest_due_on": day(
        label=("最早到期日", "Oldest due date"), nullable=False, description="The due date of what is longest past due."
    ),
    "days_overdue": integer(
        label=("逾期天数", "Days overdue"), minimum=1, nullable=False, description="How long the oldest is past due."
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
        "currency": currency().but(filter=False, description=None),
        "currency_amount": ENTRIES.fields["currency_amount"].but(description="`amount` in this currency."),
    },
    nullable=False,
)
_IN_A_CURRENCY = {"currency": currency().but(filter=False), "amount": _OVERDUE["amount"]}
_CONTACT = obj("DunningContact", {"name": text(), "phone": text(), "email": text()})
ROW = obj(
    "DunningRow",
    {
        **{name: PARTY[name] for name in ("customer_id", "counterparty")},
        **_OVERDUE,
        "count": integer(
            label=("逾期笔数", "Items overdue"), minimum=1, nullable=False, description="How many items are past due."
        ),
        "currencies": array(
            obj("DunningCurrency", undescribed(_IN_A_CURRENCY)),
            max_items=200,
            label=("按币种", "By currency"),
            only_with=RATES_TABLE,
            description="Null: all is in the company's own.",
        ),
        "contact": _CONTACT.but(description="Whom to call; null if the caller may not see the customer."),
        "items": array(
            _ITEM,
            max_items=SHOWN_ITEMS,
            nullable=False,
            description=f"The {SHOWN_ITEMS} oldest of them.",
            label=("逾期明细", "Items"),
        ),
    },
    nullable=False,
)


async def list_overdue(req: Request) -> Record:
    """Return the customers with something past due on the day, the longest past due first."""
    on = day_asked(req)
    overdue = await req.service.database.snapshot(partial(read_overdue, req, on))
    items, contacts = await asyncio.gather(_find_items(req, overdue.items.values()), _find_contacts(req, overdue.rows))
    base = await req.part(Rates).find_base()
    foreign = defaultdict[PartyKey, dict[Any, Record]](dict)
    for one in overdue.foreign:
        foreign[key_of(one)][one["open_item_id"]] = one
    return {
        "day": on,
        "amount": rounded(overdue.amount),
        "items": [
            {
                "customer_id": row["_id"]["customer_id"],
                "counterparty": row["name"],
                **_count_days(row, on),
                "count": of_party["count"],
                "currencies": _sum_currencies(row, theirs.values(), base),
                "contact": contacts.get(row["_id"]["customer_id"]),
                "items": [
                    {
                        **items.get(one["open_item_id"], {}),
                        **one,
                        **_count_days(one, on),
                        **{name: theirs.get(one["open_item_id"], {}).get(name) for name in _THEIRS},
                    }
                    for one in of_party["items"]
                ],
            }
            for row in overdue.rows
            for of_party, theirs in ((overdue.items[key_of(row)], foreign[key_of(row)]),)
        ],
        **page_fields(req, overdue.total),
    }


def _sum_currencies(row: Mapping[str, Any], foreign: Iterable[Record], base: str | None) -> list[Record] | None:
    """Return what a party has past due in each currency, the company's own first; None if all is in that."""
    own, sums = exact(row["amount"]), defaultdict[str, Decimal](Decimal)
    for one in foreign:
        own -= exact(one["amount"])
        sums[one["currency"]] += exact(one["currency_amount"])
    others = [{"currency": code, "amount": sums[code]} for code in sorted(sums)]
    return [*([{"currency": base, "amount": own}] if own else ()), *others] if others else None


async def _find_items(req: Request, rows: Iterable[Mapping[str, Any]]) -> Mapping[Any, Record]:
    """Return business type, source record and number of the items of these rows, by the id of the item."""
    ids = [one["open_item_id"] for row in rows for one in row["items"]]
    fields = ("biz_type", "resource_id", "number")
    found = await req.store(OPEN_ITEMS).find({"_id": {"$in": ids}}, fields=fields) if ids else []
    req.note_names({OPEN_ITEMS.name: {item["id"]: item["number"] for item in found if item["number"]}})
    return {item["id"]: {name: item.get(name) for name in fields} for item in found}


async def _find_contacts(req: Request, rows: Sequence[Mapping[str, Any]]) -> Mapping[Any, Record]:
    """Return whom to call at the customers of these rows, by customer id, as the plugin that keeps customers says."""
    ids = [row["_id"]["customer_id"] for row in rows if row["_id"]["customer_id"] is not None]
    found = await req.part(Customers).find_contacts(req, ids) if ids else {}
    return {id: vars(contact) for id, contact in found.items()}


def _count_days(row: Mapping[str, Any], on: str) -> Record:
    since = date.fromisoformat(row["oldest_due_on"])
    return {
        "oldest_due_on": row["oldest_due_on"],
        "days_overdue": (date.fromisoformat(on) - since).days,
        "amount": row["amount"],
    }


QUERY: Mapping[str, Field] = {
    "day": day(label=("截止日期", "As of"), nullable=False, description="Today unless given."),
    "customer_id": object_id(label=("客户", "Customer"), nullable=False, description="Only this customer."),
    "without_held": boolean(
        label=("不含挂起单据", "Without documents on hold"),
        nullable=False,
        description="Leaves out what is on hold, such as orders that the customer disputes.",
    ),
    **PAGE_QUERY,
    "page_size": integer(minimum=1, maximum=200, default=100, nullable=False, example=100),
}

ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/finance/dunning",
        list_overdue,
        summary="List the customers who have not paid in time",
        access="finance:dunning:read",
        query=QUERY,
        returns=shape(
            "Dunning",
            day=day(label=("截止日期", "As of"), nullable=False),
            amount=money(label=("逾期金额", "Overdue"), nullable=False, description="What is past due in all."),
            items=array(ROW, max_items=200, nullable=False),
            **PAGE_FIELDS,
        ),
        collection=ENTRIES.name,
    ),
)
