"""Marks the entries that others of their document have settled, so that sums of what is open need not read them.

Entries of one document and one due day that add up to zero are left out of every sum from the last of their days on.
The sums are the same with them, so the marks may come later than the entries; those that belong together are marked in
one transaction, and sums are read from a snapshot.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from plugins.api import Job, Service, Store, exact
from plugins.finance.entries import ADVANCE, ENTRIES, ZERO

_DOCUMENTS = 100  # that are looked at together
_READ = ("open_item_id", "resource_id", "due_on", "day", "amount")
Row = Mapping[str, Any]


def unsettled(on: str) -> Mapping[str, Any]:
    """The filter on the entries that count on a day: those that are not settled until then."""
    return {"settled_on": {"$not": {"$lte": on}}}


async def mark_settled(service: Service) -> None:
    """Mark the entries of all documents that may be settled, and those of an older version, some at a time."""
    entries = service.database.store(ENTRIES)
    new = {"settles": {"$in": [None, True]}}
    while found := await entries.find(new, limit=_DOCUMENTS, fields=_READ):
        started = time.monotonic()
        if not await service.database.transaction(partial(_mark, entries, _of_documents(found))):
            return
        await asyncio.sleep(time.monotonic() - started)  # uses at most half of the time


MARKING = Job("finance.settled", 60, mark_settled)


def _of_documents(rows: Iterable[Row]) -> Mapping[str, Any]:
    """The filter on the entries of the same open items and advances."""
    items = {row["open_item_id"] for row in rows if row["open_item_id"] is not None}
    advances = {row["resource_id"] for row in rows if row["open_item_id"] is None}
    of_advances = {"kind": ADVANCE, "open_item_id": None, "resource_id": {"$in": list(advances)}}
    return {"$or": [{"open_item_id": {"$in": list(items)}}, of_advances]}


async def _mark(entries: Store, documents: Mapping[str, Any]) -> int:
    """Mark the entries of these documents that are settled, in a transaction; return how many were looked at."""
    rows = await entries.find({"$and": [documents, {"settled_on": None}]}, fields=_READ)
    ids: dict[str | None, list[Any]] = defaultdict(list)
    for group in _group(rows):
        settled = not sum((exact(row["amount"]) for row in group), ZERO)
        ids[max(row["day"] for row in group) if settled else None] += [row["id"] for row in group]
    for day, marked in ids.items():
        values = {"settles": False, **({"settled_on": day} if day is not None else {})}
        await entries.update_many({"_id": {"$in": marked}}, {"$set": values}, unversioned=True)
    return len(rows)


def _group(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows of each document and due day."""
    groups: dict[tuple[Any, Any, Any], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["open_item_id"], row["resource_id"], row["due_on"]].append(row)
    yield from groups.values()
