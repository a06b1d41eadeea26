"""Open items of older databases: records that owe and have none get theirs, and items get their party and entries.

It runs in the background, a piece at a time, on one instance; another goes on from the place that was reached. A day
later it looks through all records once more, because instances of an older version may have run meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from plugins.api import (
    DEBT_ASKED,
    Catalogue,
    Collection,
    DatabaseUnavailable,
    Debt,
    Job,
    Piece,
    Service,
    integer,
    text,
    timestamp,
    utc_now,
)
from plugins.finance.documents import OPEN_ITEMS
from plugins.finance.entries import adopt

Record = dict[str, Any]
log = logging.getLogger("tradewind.finance")
_SIZE = 100
_PASSES, _BETWEEN = 2, timedelta(days=1)

# how far the open items, and the records of each business type, were looked through
FILLED = Collection(
    name="finance_filled",
    title="FilledRecord",
    plain=True,
    ids="text",
    default_sort="id",
    fields={"after": text(), "passes": integer(), "again_at": timestamp()},
)


async def fill(service: Service) -> None:
    """Complete the items that an older version has stored, and write those that are missing."""
    await _look_through(service, OPEN_ITEMS.name, partial(_complete_piece, service))
    for debt in service.part(Catalogue).debts:
        await _look_through(service, debt.biz_type, partial(_fill_piece, service, debt))


FILLING = Job("finance.filling", 60, fill)


async def _look_through(service: Service, name: str, work: Callable[[Any], Awaitable[Any]]) -> None:
    """Do the work from the place that was reached. It gets the last id, and returns the next; None at the end."""
    places = service.database.store(FILLED)
    place = await places.find_one({"_id": name}) or {"after": None, "passes": 0, "again_at": None}
    passes, after = place["passes"] or 0, place["after"]
    if passes >= _PASSES or (place["again_at"] is not None and utc_now() < place["again_at"]):
        return
    while True:
        began = time.monotonic()
        after = await work(after)
        if after is None:
            done = {"after": None, "passes": passes + 1, "again_at": utc_now() + _BETWEEN}
            await places.upsert(name, done)
            return
        await places.upsert(name, {"after": after, "passes": passes, "again_at": None})
        # as long as the piece took, so that people's requests come first
        await asyncio.sleep(time.monotonic() - began)


async def _complete_piece(service: Service, after: Any) -> Any:
    """Give the next items without a day, which an older version has stored, their party, their day and their entries."""
    further: Record = {"_id": {"$gt": after}} if after is not None else {}
    found = await service.database.store(OPEN_ITEMS).find(
        {"day": None, **further}, sort="id", limit=_SIZE, fields=("biz_type", "resource_id")
    )
    for item in found:
        await _try(service, partial(_report_known, service, item), item)
        await _try(service, partial(_adopt, service, item["id"]), item)
    return found[-1]["id"] if len(found) == _SIZE else None


async def _report_known(service: Service, item: Mapping[str, Any]) -> None:
    """Have the plugin of an item report it again: its customer or supplier is new."""
    await service.events.emit(DEBT_ASKED, {**_name(item["biz_type"], item["resource_id"]), "known": True})


async def _adopt(service: Service, id: Any) -> None:
    item = await service.database.store(OPEN_ITEMS).find_one({"_id": id, "day": None})
    if item is not None:
        await adopt(service, item)


async def _fill_piece(service: Service, debt: Debt, after: Any) -> Any:
    """Write the missing items of the next records after an id. Returns the last id; None after the last record."""
    biz_types, database = service.part(Catalogue).biz_types, service.database

    async def read() -> tuple[list[Record], list[str]]:
        further = {"_id": {"$gt": after}} if after is not None else {}
        records = await database.store(biz_types[debt.biz_type]).find(further, sort="id", limit=_SIZE)
        owed = await debt.compute(Piece(database, biz_types, records)) if records else {}
        return records, [str(id) for id, due in owed.items() if due.amount or due.paid]

    records, owing = await database.transaction(read)
    theirs = {"biz_type": debt.biz_type, "resource_id": {"$in": owing}}
    known = {item["resource_id"] for item in await database.store(OPEN_ITEMS).find(theirs, fields=["resource_id"])}
    for id in owing:
        if id not in known:
            unknown = _name(debt.biz_type, id)
            await _try(service, partial(_report_unknown, service, unknown), unknown)
    return records[-1]["id"] if len(records) == _SIZE else None


async def _report_unknown(service: Service, of_record: Record) -> None:
    if await service.database.store(OPEN_ITEMS).find_one(of_record) is None:
        await service.events.emit(DEBT_ASKED, {**of_record, "known": False})


async def _try(service: Service, work: Callable[[], Awaitable[None]], what: Mapping[str, Any]) -> None:
    """Do work in a transaction. What fails is logged and left as it is, so that the others follow."""
    try:
        await service.database.transaction(work)
    except DatabaseUnavailable:
        raise
    except Exception:
        log.exception("open item of an older version stays incomplete", extra={"record": dict(what)})


def _name(biz_type: str, resource_id: str) -> Record:
    return {"biz_type": biz_type, "resource_id": resource_id}
