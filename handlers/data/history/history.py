"""The history of records: who changed which fields from what to what, in which request.

Every write of a store adds a note of its changes to the record itself, in the same command (`recorded_change.py`). A
note has the number `n` of the change and only the former values: the new values are those that the next note has as
former ones, or those of the record.
When a record has many notes, they move to the collection `core_history`, with both former and new values. They are
inserted there before they are removed from the record, and a reader reads the record first, so no change is ever
missing or shown twice. The creation, change 0, costs nothing: it follows from the record and its notes, and moves with
the first of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, NamedTuple

from bson import encode

from config.database import DatabaseUnavailable, Document, Driver
from handlers.access.actor import Actor
from handlers.data.collection import HISTORY, UNSENT, Collection
from handlers.data.sync.detached import start_detached
from handlers.schema.errors import NOT_FOUND, STALE, ApiError, invalid
from handlers.schema.fields import anything, integer, text, timestamp
from handlers.schema.values import Operators, RecordId, Values
from handlers.tasks import end


class Cause(NamedTuple):
    """The id of a request, and the name of its action if that is not simply to create, change or delete a record."""

    request_id: str | None = None
    action: str | None = None


CAUSE: ContextVar[Cause] = ContextVar("cause_of_writes", default=Cause())  # noqa: B039 - a tuple


@contextmanager
def caused_by(request_id: str, action: str) -> Iterator[None]:
    """Attribute the writes within the block to this action of a request, for work that outlives the request."""
    token = CAUSE.set(Cause(request_id, action))
    try:
        yield
    finally:
        CAUSE.reset(token)


log = logging.getLogger("tradewind.database")

# the number and bytes of a record's notes from which they are moved: in the background, or before its writer goes on
_MANY, _MANY_BYTES = 16, 32 << 10
_TOO_MANY, _TOO_MANY_BYTES = 64, 4 << 20
_FEW = 4  # fewer notes than this are not worth measuring
_MOST_WAITING = 10_000
_ROWS_AT_ONCE = 10  # of moved changes, which may be large
_MOST_BYTES = 8 << 20  # of the changes on a page

CHANGES = Collection(
    name="core_history",
    title="Change",
    plain=True,
    ids="text",
    default_sort="-at",
    fields={
        "at": timestamp(nullable=False, sort=True),
        "user_id": integer(minimum=0, nullable=False),
        "request_id": text(),
        "action": text(),
        "version": integer(minimum=1, nullable=False),
        "before": anything(),
        "after": anything(),
    },
)


class Change(NamedTuple):
    """Change number `n` of a record: who made it, when and why, and the changed values `before` and `after`."""

    n: int
    at: datetime
    user_id: int
    request_id: str | None
    action: str
    version: int
    before: Values
    after: Values


def note(
    actor: Actor, now: datetime, values: Values, operators: Operators | None = None, *, wanted: bool = False
) -> Values:
    """Return the part of a note that says who writes, when and why; an update has the request's action, if named.

    `wanted`: the change is marked for the outbox.
    """
    cause = CAUSE.get()
    deleted = {**(operators or {}).get("$set", {}), **values}.get("deleted")
    action = (cause.action or "update") if deleted is None else "delete" if deleted else "restore"
    mark = {UNSENT: True} if wanted else {}
    return {"at": now, "user_id": actor.user_id, "request_id": cause.request_id, "action": action, **mark}


def changes_in(collection: Collection, document: Document) -> list[Change]:
    """Return the changes whose notes are still in a stored record, newest first, and its creation last.

    The creation is left out if earlier notes have moved.
    """
    kept: Mapping[str, Any] = document.get(HISTORY) or {}
    state = {name: document.get(name) for name in collection.recorded}
    changes = []
    for entry in reversed(kept.get("pending", ())):
        before = {name: old for name, old in entry["before"].items() if name in state and old != state[name]}
        changes.append(_change(entry, before, {name: state[name] for name in before}))
        state |= before
    if len(changes) == kept.get("n", 0):
        values = {name: value for name, value in state.items() if value is not None}
        creation = {"at": document["created_at"], "user_id": document["creator_id"], "action": "create", "version": 1}
        changes.append(
            _change({**creation, "n": 0, "request_id": kept.get("request_id")}, dict.fromkeys(values), values)
        )
    return changes


def _change(entry: Mapping[str, Any], before: Values, after: Values) -> Change:
    return Change(**{**entry, "before": before, "after": after})


class History:
    """The history of all records of one database."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._waiting: dict[tuple[str, RecordId], Collection] = {}
        self._moving: asyncio.Task[None] | None = None

    async def read(self, collection: Collection, document: Document, skip: int, limit: int) -> list[Change]:
        """Return up to `limit` changes of a record after the newest `skip`; `document` is the whole stored record."""
        held = changes_in(collection, document)
        found = held[skip : skip + limit]
        newest = total_changes(document) - 1
        # the numbers of those changes of this page that have moved
        last = newest - max(skip, len(held))
        first = max(newest - skip - limit + 1, 0)
        if last < first:
            return found
        id = document["_id"]
        wanted = {"_id": {"$gte": _id_of(collection, id, first), "$lte": _id_of(collection, id, last)}}
        size = 0
        async for row in self._driver.stream(CHANGES.name, wanted, sort=[("_id", -1)], batch=_ROWS_AT_ONCE):
            found.append(_moved(row))
            size += len(encode(row))
            if size > _MOST_BYTES and len(found) > 1:
                raise invalid("page_size", "maximum")
        return found

    async def page(
        self, collection: Collection, id: RecordId, size: int, skip: int = 0, newest: int | None = None
    ) -> tuple[list[Change], int]:
        """Return `size` changes of a record, which may be deleted, and how many it has had in all.

        The page begins after the newest `skip` changes or, if `newest` is given, with the change of that number.

        Raises 40400 for a record that does not exist, and 40001 for a page of more than 8 MiB with several changes.
        """
        document = await self._driver.find_one(collection.name, {"_id": id})
        if document is None:
            raise ApiError(NOT_FOUND)
        total = total_changes(document)
        start = skip if newest is None else max(total - 1 - newest, 0)
        return await self.read(collection, document, start, size), total

    async def stale(self, collection: Collection, filter: Values, version: int) -> ApiError:
        """Return the 40902 with the current version, and what changed since `version`; 40400 if no record matches."""
        document = await self._driver.find_one(collection.name, filter)
        if document is None:
            return ApiError(NOT_FOUND)
        changed = _changed_since(collection, document, version)
        return ApiError(STALE, data={"version": document["version"], "changed": changed})

    async def look_after(self, collection: Collection, document: Document) -> None:
        """Have the notes of a record that was just written moved if there are many of them."""
        pending = (document.get(HISTORY) or {}).get("pending", ())
        if len(pending) < _FEW:
            return
        size = len(encode({"": pending}))
        if len(pending) < _MANY and size < _MANY_BYTES:
            return
        if (len(pending) >= _TOO_MANY or size >= _TOO_MANY_BYTES) and not self._driver.in_transaction:
            await self.move(collection, document["_id"])
        else:
            self._move_soon(collection, document["_id"])

    def look_after_version(self, collection: Collection, id: RecordId, version: int) -> None:
        """Do as `look_after` for a record that was not read; its `version` shows how many notes have been made."""
        if version % _MANY == 0:
            self._move_soon(collection, id)

    def _move_soon(self, collection: Collection, id: RecordId) -> None:
        # a record that is left out now is noticed at its next write
        if len(self._waiting) < _MOST_WAITING:
            self._waiting[collection.name, id] = collection
        if self._moving is None or self._moving.done():
            self._moving = start_detached(self._move_waiting())

    async def _move_waiting(self) -> None:
        while self._waiting:
            (_, id), collection = self._waiting.popitem()
            try:
                await self.move(collection, id)
            except DatabaseUnavailable as error:
                log.warning("history waits in a record", extra={"collection": collection.name, "reason": str(error)})
            except Exception:
                log.exception("history not moved", extra={"collection": collection.name})

    async def move(self, collection: Collection, id: RecordId) -> None:
        """Move the notes of a record to `core_history`. May be repeated after a failure at any point."""
        document = await self._driver.find_one(collection.name, {"_id": id})
        changes = changes_in(collection, document) if document is not None else []
        if len(changes) < 2:  # nothing but the creation
            return
        await self._driver.insert_missing(CHANGES.name, [_document(collection, id, change) for change in changes])
        moved = {"$pull": {f"{HISTORY}.pending": {"n": {"$lte": changes[0].n}}}}

        async def remove() -> None:
            await self._driver.take_turn(collection.name, HISTORY)
            await self._driver.update_one(collection.name, {"_id": id}, moved)

        await self._driver.transaction(remove)

    async def make_room(self, collection: Collection, filter: Values) -> None:
        """Move the notes of matching records that have many, before one command writes several records.

        In a transaction they are moved once it has ended: it would otherwise start again after each of them.
        """
        crowded = {"$and": [filter, {f"{HISTORY}.pending.{_MANY - 1}": {"$exists": True}}]}
        rows = await self._driver.find(collection.name, crowded, fields=[f"{HISTORY}.pending.n"])
        if rows and self._driver.in_transaction:
            await self._driver.take_turn(collection.name, HISTORY)
        for row in rows:
            if len(row[HISTORY]["pending"]) >= _TOO_MANY and not self._driver.in_transaction:
                await self.move(collection, row["_id"])
            else:
                self._move_soon(collection, row["_id"])

    async def forget(self, collection: Collection) -> None:
        """Delete the history of a collection whose records were all deleted permanently."""
        name = collection.name
        await self._driver.delete_many(CHANGES.name, {"_id": {"$gte": f"{name}/", "$lt": f"{name}0"}})

    async def stop(self) -> None:
        """Stop moving notes; the next process continues."""
        if self._moving is not None:
            await end([self._moving])


def _changed_since(collection: Collection, document: Document, version: int) -> list[str] | None:
    """Return which fields of a stored record changed after `version`; None if its notes do not reach back so far."""
    later = [change for change in changes_in(collection, document) if change.version > version]
    wanted = range(version + 1, document["version"] + 1)
    if not wanted or {change.version for change in later} != set(wanted):
        return None
    return sorted({name for change in later for name in change.after})


def total_changes(document: Document) -> int:
    """Return how many changes a stored record has had, its creation included."""
    return int((document.get(HISTORY) or {}).get("n", 0)) + 1


def _id_of(collection: Collection, id: RecordId, n: int) -> str:
    # padded with zeros, so that the ids of a record's changes sort in their order
    return f"{collection.name}/{id}/{n:012}"


def _document(collection: Collection, id: RecordId, change: Change) -> Document:
    values = change._asdict()
    return {"_id": _id_of(collection, id, values.pop("n")), **values}


def _moved(row: Mapping[str, Any]) -> Change:
    values = {name: row[name] for name in Change._fields if name != "n"}
    return Change(n=int(row["_id"].rpartition("/")[2]), **values)
