"""Migrates open items of older databases: writes missing items, and gives items their party and entries."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from plugins.api import Record, Service
from plugins.api.business import DEBT_ASKED, Debt
from plugins.api.data import Migration, Stage
from plugins.api.errors import DatabaseUnavailable
from plugins.api.records import Catalogue
from plugins.api.reports import Piece
from plugins.finance.open_items.entries import adopt
from plugins.finance.open_items.records import OPEN_ITEMS

log = logging.getLogger("tradewind.finance")


def _stages(service: Service) -> Iterator[Stage]:
    """Yield a stage for the items that an older version has stored, then one for each kind of record that may owe."""
    yield Stage(OPEN_ITEMS, partial(_complete, service), {"day": None, "deleted": False})
    catalogue = service.part(Catalogue)
    for debt in catalogue.of_kind(Debt):
        yield Stage(catalogue.biz_types[debt.biz_type], partial(_fill, service, debt))


FILLING = Migration(
    "2026-11-open-items",
    "Gives open items their customer or supplier, their day and their entries, and adds those that are missing.",
    _stages,
)


async def _complete(service: Service, rows: Sequence[Record]) -> int:
    """Give items without a day their party, their day and their entries."""
    for item in rows:
        known = _name(item["biz_type"], item["resource_id"])
        await _try(service, partial(_report_known, service, known), known)
        await _try(service, partial(_adopt, service, item["_id"]), known)
    return len(rows)


async def _report_known(service: Service, of_record: Record) -> None:
    """Have the plugin of an item report it again, now with its customer or supplier."""
    await service.events.emit(DEBT_ASKED, {**of_record, "known": True})


async def _adopt(service: Service, id: Any) -> None:
    item = await service.database.store(OPEN_ITEMS).find_one({"_id": id, "day": None})
    if item is not None:
        await adopt(service, item)


async def _fill(service: Service, debt: Debt, rows: Sequence[Record]) -> int:
    """Write the missing items of these records; return how many were missing."""
    biz_types, database, ids = service.part(Catalogue).biz_types, service.database, [row["_id"] for row in rows]

    async def read() -> list[str]:
        records = await database.store(biz_types[debt.biz_type]).find({"_id": {"$in": ids}}, sort="id")
        owed = await debt.compute(Piece(database, biz_types, records)) if records else {}
        return [str(id) for id, due in owed.items() if due.amount or due.paid]

    owing = await database.transaction(read)
    theirs = {"biz_type": debt.biz_type, "resource_id": {"$in": owing}}
    known = {item["resource_id"] for item in await database.store(OPEN_ITEMS).find(theirs, fields=["resource_id"])}
    missing = [id for id in owing if id not in known]
    for id in missing:
        unknown = _name(debt.biz_type, id)
        await _try(service, partial(_report_unknown, service, unknown), unknown)
    return len(missing)


async def _report_unknown(service: Service, of_record: Record) -> None:
    if await service.database.store(OPEN_ITEMS).find_one(of_record) is None:
        await service.events.emit(DEBT_ASKED, {**of_record, "known": False})


async def _try(service: Service, work: Callable[[], Awaitable[None]], what: Mapping[str, Any]) -> None:
    """Run `work` in a transaction. An item that fails is logged and left as it is, so that the others follow."""
    try:
        await service.database.transaction(work)
    except DatabaseUnavailable:
        raise
    except Exception:
        log.exception("open item of an older version stays incomplete", extra={"record": dict(what)})


def _name(biz_type: str, resource_id: str) -> Record:
    return {"biz_type": biz_type, "resource_id": resource_id}
