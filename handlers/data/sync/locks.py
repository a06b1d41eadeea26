"""Locks of records: a transaction that locks a record excludes others that lock the same one, in every process.

A lock is a document of `core_locks` that every holder changes, so that MongoDB aborts one of two such transactions,
which runs again after the other. The record itself stays as it is: no new version, no audit stamp, no notification.

Writes that refer to a record share its lock: each of them locks one of the record's places, and a deletion locks all
places.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from config.database import Driver, DuplicateKey, WriteConflict
from handlers.data.collection import Collection
from handlers.data.index import Index
from handlers.schema.fields import integer, timestamp
from handlers.schema.values import RecordId

_KEPT_SECONDS = 86_400  # longer than any transaction
_PLACES = 8  # two writes that refer to the same record happen to choose the same place once in so many times
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

    If another transaction holds one of them, this one starts again after it. Raises `DatabaseUnavailable` if that takes
    longer than the time limit, and RuntimeError outside a transaction.
    """
    await _lock(driver, [_key(record) for record in records])


async def share_records(driver: Driver, records: Iterable[tuple[str, RecordId]]) -> None:
    """Protect records from deletion until the transaction ends; others may do so too. Raises as `lock_records` does."""
    place, held = _choose_place(), held_locks.get() or set()
    # one place is enough: a record that the transaction already shares or locks needs no other
    missing = [key for key in map(_key, records) if held.isdisjoint((key, *_places_of(key)))]
    await _lock(driver, [f"{key}/{place}" for key in missing])


async def exclude_sharers(driver: Driver, records: Iterable[tuple[str, RecordId]]) -> None:
    """Lock records, also against transactions that share them. Raises as `lock_records` does."""
    keys = [_key(record) for record in records]
    await _lock(driver, [*keys, *(place for key in keys for place in _places_of(key))])


def _key(record: tuple[str, RecordId]) -> str:
    collection, id = record
    return f"{collection}:{id}"


def _places_of(key: str) -> Iterator[str]:
    return (f"{key}/{place}" for place in range(_PLACES))


def _choose_place() -> int:
    return secrets.randbelow(_PLACES)


async def _lock(driver: Driver, keys: Iterable[str]) -> None:
    if not driver.in_transaction:
        raise RuntimeError("a record can be locked within a transaction only")
    held = held_locks.get()
    # sorted, so that transactions that lock the same records conflict at the first of them
    wanted = sorted(set(keys) - (held or set()))
    if len(wanted) == 1:
        await _lock_one(driver, wanted[0])
    elif wanted:
        await _lock_several(driver, wanted)
    if held is not None:
        held.update(wanted)


async def _lock_one(driver: Driver, key: str) -> None:
    try:
        await driver.update_one(LOCKS.name, {"_id": key}, _CHANGE, upsert=True)
    except DuplicateKey as error:  # another transaction has created the lock meanwhile
        raise WriteConflict((LOCKS.name, key)) from error


async def _lock_several(driver: Driver, keys: list[str]) -> None:
    changes = [{"q": {"_id": key}, "u": _CHANGE, "upsert": True} for key in keys]
    reply = await driver.command({"update": LOCKS.name, "updates": changes})
    if faults := reply.get("writeErrors"):  # another transaction has created a lock meanwhile
        raise WriteConflict((LOCKS.name, keys[faults[0]["index"]]))


# MongoDB sees no conflict in a change that leaves the document as it is
_CHANGE: dict[str, Any] = {"$inc": {"count": 1}, "$currentDate": {"at": True}}
