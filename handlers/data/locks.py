"""Locks of records: a transaction that locks a record excludes others that lock the same one, in every process.

A lock is a document of `core_locks` that every holder changes, so that MongoDB aborts one of two transactions, which
runs again after the other. The record itself stays as it is: no new version, no audit stamp, no notification.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from config.database import Driver, DuplicateKey, WriteConflict
from handlers.data.collection import Collection
from handlers.data.index import Index
from handlers.schema.fields import integer, timestamp
from handlers.schema.values import RecordId

_KEPT_SECONDS = 86_400  # longer than any transaction
LOCKS = Collection(
    name="core_locks",
    title="Lock",
    plain=True,
    ids="text",
    default_sort="id",
    fields={"count": integer(nullable=False), "at": timestamp(nullable=False)},
    indexes=(Index("at", expire_seconds=_KEPT_SECONDS),),
)
# the locks of the current transaction
held_locks: ContextVar[set[str] | None] = ContextVar("held_record_locks", default=None)


async def lock_records(driver: Driver, records: Iterable[tuple[str, RecordId]]) -> None:
    """Lock records, each given by its collection and `_id`, until the transaction ends.

    Where another transaction holds one of them, this one starts again after it; `DatabaseUnavailable` where that takes
    longer than the time limit. Raises RuntimeError outside a transaction.
    """
    if not driver.in_transaction:
        raise RuntimeError("a record can be locked within a transaction only")
    held = held_locks.get()
    # in one order, so that transactions of the same records conflict at the first of them
    wanted = sorted({f"{collection}:{id}" for collection, id in records} - (held or set()))
    if len(wanted) > 1:
        changed = await driver.update_many(LOCKS.name, {"_id": {"$in": wanted}}, _CHANGE)
        missing = wanted if changed < len(wanted) else []
    else:
        missing = wanted
    for key in missing:
        try:
            await driver.update_one(LOCKS.name, {"_id": key}, _CHANGE, upsert=True)
        except DuplicateKey as error:  # another transaction has made it meanwhile
            raise WriteConflict((LOCKS.name, key)) from error
    if held is not None:
        held.update(wanted)


# MongoDB sees no conflict in a change that leaves the document as it is
_CHANGE: dict[str, Any] = {"$inc": {"count": 1}, "$currentDate": {"at": True}}
