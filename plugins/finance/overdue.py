"""What is past due on a day: how much of each party, the longest past due first, and the items of the parties of a page.

On a day after which nothing is entered, it is the `rest` that one entry of each document and due day has. On an earlier
day all entries are added up, and on any day those of parties that have one which is not added up yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from plugins.api import Request, Store, exact, rows_before
from plugins.finance.ageing import open_entries, party_asked, party_of
from plugins.finance.entries import ENTRIES, PARTY_FIELDS
from plugins.finance.held_items import find_held_items
from plugins.finance.settled_entries import unsettled

Record = dict[str, Any]
PartyKey = tuple[Any, ...]
SHOWN_ITEMS = 100
_MOST_UNSUMMED = 1000  # entries that are not added up yet; with more of them everything is added up
_PARTY: Mapping[str, str] = {name: f"${name}" for name in PARTY_FIELDS}
_FIRST_PARTY = {name: {"$first": field} for name, field in _PARTY.items()}
_IS_OPEN = {"$gt": ["$amount", 0]}


class Overdue(NamedTuple):
    """A page of parties, and how many there are and what is past due of all; the items by `key_of` these rows."""

    rows: Sequence[Record]
    total: int
    amount: Decimal
    items: Mapping[PartyKey, Record]


async def read_overdue(req: Request, on: str) -> Overdue:
    """Return the page of the query, as it is at one moment: call it in a snapshot."""
    entries = req.store(ENTRIES)
    first, end = rows_before(req.query), rows_before(req.query) + req.query["page_size"]
    held = await find_held_items(req) if req.query.get("without_held") else ()
    left_out = {"open_item_id": {"$nin": [item["id"] for item in held]}} if held else {}
    unsummed = await _find_unsummed(req, entries, on)
    if unsummed is not None:
        # the rests of their parties have what is left out
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
    # those that are added up last: they may be among the parties of the others
    for stages in (*_list_rest_items(req, on, kept), *_list_all_items(req, on, added_up, left_out)):
        items |= {key_of(row): row for row in await entries.aggregate(stages)}
    return overdue._replace(items=items)


def key_of(row: Mapping[str, Any]) -> PartyKey:
    """The party of a row, to look it up by."""
    return tuple(row["_id"].get(name) for name in PARTY_FIELDS)


async def _find_unsummed(req: Request, entries: Store, on: str) -> dict[PartyKey, Record] | None:
    """The parties with entries that are not added up yet; None where all entries are to be added up for this day."""
    if await entries.find({"day": {"$gt": on}, "direction": "out"}, limit=1, fields=("day",)):
        return None
    late = {"direction": "out", "due_on": {"$lt": on}, **party_asked(req)}
    unsummed = {"rest": None, "settled_on": None, **late}
    found = await entries.find(unsummed, limit=_MOST_UNSUMMED + 1, fields=PARTY_FIELDS)
    if len(found) > _MOST_UNSUMMED:
        return None
    return _parties_of(found)


def _parties_of(rows: Iterable[Record]) -> dict[PartyKey, Record]:
    parties = [{"_id": _party_of_entry(row)} for row in rows]
    return {key_of(party): party["_id"] for party in parties}


def _party_of_entry(entry: Mapping[str, Any]) -> Record:
    """The key of the party of an entry, as `party_of` makes it."""
    nameless = entry["customer_id"] is None and entry["supplier_id"] is None
    return {**{name: entry[name] for name in PARTY_FIELDS}, "counterparty": entry["counterparty"] if nameless else None}


async def _read_parties(entries: Store, stages: Sequence[Record], first: int, end: int) -> Overdue:
    """The rows of a page of all parties that the stages sum up."""
    page = {
        "items": [{"$skip": first}, {"$limit": end - first}],
        "totals": [{"$group": {"_id": None, "count": {"$sum": 1}, "amount": {"$sum": "$amount"}}}],
    }
    (found,) = await entries.aggregate([*stages, {"$sort": {"oldest_due_on": 1, "_id": 1}}, {"$facet": page}])
    totals = found["totals"][0] if found["totals"] else {}
    return Overdue(found["items"], totals.get("count", 0), exact(totals.get("amount")), {})


async def _read_mixed(
    req: Request, entries: Store, on: str, unsummed: Sequence[Record], left_out: Mapping[str, Any], end: int
) -> Overdue:
    """The first rows of all parties: these are added up, the others have their rests."""
    others = await _read_parties(entries, [*_sum_rests(req, on), {"$match": {"_id": {"$nin": unsummed}}}], 0, end)
    those = {**_among([{"_id": party} for party in unsummed]), **left_out}
    added_up = await entries.aggregate([*_sum_all(req, on, those), {"$match": {"_id": {"$in": unsummed}}}])
    amount = sum((exact(row["amount"]) for row in added_up), others.amount)
    rows = sorted([*others.rows, *added_up], key=_place)
    return Overdue(rows[:end], others.total + len(added_up), amount, {})


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """The place of a row in the order in which MongoDB sorts rows: what is null comes first."""
    return row["oldest_due_on"], *((part is not None, part or "") for part in key_of(row))


def _sum_all(req: Request, on: str, among: Mapping[str, Any] | None = None) -> list[Record]:
    """The stages that sum up what is past due by party, from all entries."""
    return [
        *_sum_due_days(req, on, among),
        # a condition in place of a stage that leaves them out: so MongoDB groups twice without documents in between
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
    """The stages that sum up what is past due by party, where all entries are added up."""
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
    # not by `day`, which the index does not hold: none is later
    return {"direction": "out", "rest": {"$gt": 0}, "due_on": {"$lt": on}, **unsettled(on), **party_asked(req)}


def _sum_due_days(req: Request, on: str, among: Mapping[str, Any] | None = None) -> list[Record]:
    """The stages that sum up what of each item is open for each day that has passed; all its entries have its party."""
    by_due_day = {"open_item_id": "$open_item_id", "due_on": "$due_on"}
    return [
        {"$match": {**open_entries(req, "out", on), "due_on": {"$lt": on}}},
        *([{"$match": among}] if among else []),
        {"$group": {"_id": by_due_day, "amount": {"$sum": "$amount"}, **_FIRST_PARTY}},
    ]


def _list_all_items(
    req: Request, on: str, rows: Sequence[Mapping[str, Any]], left_out: Mapping[str, Any]
) -> Iterator[list[Record]]:
    """The stages that list the items of the parties of these rows, from all entries."""
    sums = {"amount": {"$sum": "$amount"}, "oldest_due_on": {"$min": "$_id.due_on"}, **_FIRST_PARTY}
    by_item: Record = {"$group": {"_id": "$_id.open_item_id", **sums}}
    if rows:
        late = _sum_due_days(req, on, {**_among(rows), **left_out})
        yield [*late, {"$match": {"amount": {"$gt": 0}}}, by_item, _OLDEST_ITEMS]


def _list_rest_items(req: Request, on: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[list[Record]]:
    """The stages that list the items of the parties of these rows, where all their entries are added up.

    Apart for customers: their index holds all but the name of the party, which they do not need.
    """
    late = _late_rests(req, on)
    receivable = {"direction": late.pop("direction")}  # another index begins with it, and would be read from end to end
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
