"""Marks entries that are settled by others of their document, so that sums of what is open need not read them.

Entries of one document and due day that add up to zero are left out of every sum from the last of their days on. If
they do not, one of them gets the sum as its `rest`, and the others get zero. Sums are the same without the marks, so
the marks may be written later than the entries; entries that belong together are marked in one transaction, and sums
are read from a snapshot. Entries that are added to a document have no `rest` at first, nor have those that an
older version of the service writes, which may mark them as settled itself.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from plugins.api import Job, Message, Service, Store, exact, store_money
from plugins.finance.open_items.entries import ADVANCE, ENTRIES, ZERO
from plugins.finance.record_types import OpenItemEntry

_DOCUMENTS = 100  # how many are looked at together
_READ = ("open_item_id", "resource_id", "due_on", "day", "amount")
_ZERO = store_money(ZERO)
Row = Mapping[str, Any]


def unsettled(on: str) -> Mapping[str, Any]:
    """Return the filter on the entries that count on a day: those that are not settled by then."""
    return {"settled_on": {"$not": {"$lte": on}}}


async def mark_settled(service: Service) -> None:
    """Mark the entries of all documents that have entries without a `rest`, some documents at a time."""
    entries = service.database.store(ENTRIES)
    new = {"rest": None, "settled_on": None}
    while found := await entries.find(new, limit=_DOCUMENTS, fields=_READ):
        started = time.monotonic()
        if not await service.database.transaction(partial(_mark, entries, found)):
            return
        await asyncio.sleep(time.monotonic() - started)  # so that it works at most half of the time


MARKING = Job("finance.settled", 60, mark_settled, Message("标记已结清的往来明细", "Mark settled open item entries"))


async def _find_unsettled(entries: Store[OpenItemEntry], found: Iterable[Row]) -> list[Row]:
    """Return the unsettled entries of the open items and advances to which the `found` entries belong."""
    items = {row["open_item_id"] for row in found if row["open_item_id"] is not None}
    advances = {row["resource_id"] for row in found if row["open_item_id"] is None}
    of_items = {"open_item_id": {"$in": list(items)}}
    of_advances = {"kind": ADVANCE, "open_item_id": None, "resource_id": {"$in": list(advances)}}
    rows: list[Row] = []
    for documents, order in ((of_items, "open_item_id"), (of_advances, "resource_id")):
        # sorted as the index of the documents: else MongoDB might read all of another index whose first keys match
        stages: list[Row] = [
            {"$match": {**documents, "settled_on": None}},
            {"$sort": {order: 1, "_id": 1}},
            {"$project": dict.fromkeys(_READ, 1)},
        ]
        read = await entries.aggregate(stages)
        rows += [{"id": row["_id"], **{name: row.get(name) for name in _READ}} for row in read]
    return rows


async def _mark(entries: Store[OpenItemEntry], found: Iterable[Row]) -> int:
    """Mark the entries of the documents of `found`, in a transaction; return how many entries were looked at."""
    rows = await _find_unsettled(entries, found)
    settled: dict[str, list[Any]] = defaultdict(list)
    others: list[Any] = []
    for group in _group(rows):
        rest = sum((exact(row["amount"]) for row in group), ZERO)
        if rest:
            await _set(entries, [group[0]["id"]], {"rest": store_money(rest)})
            others += [row["id"] for row in group[1:]]
        else:
            settled[max(row["day"] for row in group)] += [row["id"] for row in group]
    await _set(entries, others, {"rest": _ZERO})
    for day, ids in settled.items():
        await _set(entries, ids, {"rest": _ZERO, "settled_on": day})
    return len(rows)


async def _set(entries: Store[OpenItemEntry], ids: Sequence[Any], values: Mapping[str, Any]) -> None:
    if ids:
        change = {"$set": {**values, "settles": False}}
        await entries.update_many({"_id": {"$in": list(ids)}}, change, unversioned=True)


def _group(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows of each document and due day together."""
    groups: dict[tuple[Any, Any, Any], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["open_item_id"], row["resource_id"], row["due_on"]].append(row)
    yield from groups.values()
