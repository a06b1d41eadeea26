"""The changes of a database since a moment, in their order: written into backups, and applied again.

The events are those of a change stream, as BSON. All events of a transaction have the same `clusterTime`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from bson import ObjectId, Timestamp
from bson.raw_bson import DEFAULT_RAW_BSON_OPTIONS, RawBSONDocument
from pymongo import AsyncMongoClient, DeleteOne, ReplaceOne, UpdateOne, WriteConcern
from pymongo.errors import OperationFailure

from config.database.raw_documents import PAGE_BYTES, RawDatabase, SnapshotLost, translated

Event = RawBSONDocument
Write = ReplaceOne[Any] | UpdateOne | DeleteOne
_BATCH = 200
_WAIT_MS = 500
_HISTORY_LOST = (286, 280)  # ChangeStreamHistoryLost, ChangeStreamFatalError: src/mongo/base/error_codes.yml
_ENDS = frozenset({"invalidate", "dropDatabase"})
_FAST, _DURABLE = WriteConcern(w=1), WriteConcern(w="majority", j=True)


class ChangesLost(SnapshotLost):
    """MongoDB no longer has all changes since the moment; the message is a sentence that says what to do."""


class CannotApply(Exception):
    """An event does not describe a change of documents; the message is a sentence."""


class RawChanges:
    """The changes of one database."""

    def __init__(self, database: RawDatabase) -> None:
        self._client: AsyncMongoClient[dict[str, Any]] = database.client
        self._name = database.name

    async def since(self, moment: Timestamp, until: Timestamp, marks: str) -> AsyncIterator[list[Event]]:
        """Iterate over the events after `moment` up to `until`, about a megabyte at a time.

        One document of the collection `marks` is written, so that there is an event after the last one. Raises
        `ChangesLost`.
        """
        raw = self._client.get_database(self._name, codec_options=DEFAULT_RAW_BSON_OPTIONS)
        page: list[Event] = []
        size = 0
        with translated(), _lost():
            async with await raw.watch(
                start_at_operation_time=moment, batch_size=_BATCH, max_await_time_ms=_WAIT_MS
            ) as stream:
                await self.mark(marks)
                while (event := cast(Event | None, await stream.try_next())) is None or event["clusterTime"] <= until:
                    if event is None or event["clusterTime"] <= moment:
                        continue
                    page.append(event)
                    size += len(event.raw)
                    if size >= PAGE_BYTES:
                        yield page
                        page, size = [], 0
        if page:
            yield page

    async def mark(self, marks: str) -> None:
        """Write a document of the collection `marks`, so that the latest change in the database is from now."""
        target = self._client[self._name].get_collection(marks, write_concern=_DURABLE)
        with translated():
            await target.update_one({"_id": "changes"}, {"$set": {"mark": ObjectId()}}, upsert=True)

    async def apply(self, events: Sequence[Event]) -> None:
        """Apply events in order. Events of a page that belong to different collections do not depend on each other.

        Raises `CannotApply`.
        """
        waiting: dict[str, list[Write]] = defaultdict(list)
        for event in events:
            kind = event["operationType"]
            if kind in _ENDS:
                raise CannotApply("The database was dropped meanwhile: restore up to a moment before that.")
            collection = event["ns"]["coll"]
            if kind in ("drop", "rename"):
                await self._write(waiting)
                await self._move(collection, event["to"]["coll"] if kind == "rename" else None)
            else:
                waiting[collection] += writes_of(event)
        await self._write(waiting)

    async def _write(self, waiting: dict[str, list[Write]]) -> None:
        for collection, writes in waiting.items():
            target = self._client[self._name].get_collection(collection, write_concern=_FAST)
            with translated():
                await target.bulk_write(writes, ordered=True)
        waiting.clear()

    async def _move(self, collection: str, to: str | None) -> None:
        target = self._client[self._name][collection]
        with translated():
            if to is None:
                await target.drop()
            else:
                await target.rename(to, dropTarget=True)


@contextmanager
def _lost() -> Iterator[None]:
    try:
        yield
    except OperationFailure as error:
        if error.code not in _HISTORY_LOST:
            raise
        raise ChangesLost(
            "MongoDB's oplog no longer has all changes since the last backup: take a whole one, and let the oplog be "
            "longer, with db.adminCommand({replSetResizeOplog: 1, minRetentionHours: 48}) on every member."
        ) from error


def writes_of(event: Mapping[str, Any]) -> Iterator[Write]:
    """Yield the writes that repeat the change of an event. Raises `CannotApply`."""
    kind = event["operationType"]
    if kind not in ("insert", "replace", "delete", "update"):
        raise CannotApply(f"A change of the kind {kind} cannot be applied: restore up to a moment before that.")
    key = {"_id": event["documentKey"]["_id"]}
    if kind == "delete":
        yield DeleteOne(key)
    elif kind != "update":
        yield ReplaceOne(key, event["fullDocument"], upsert=True)
    else:
        described = event["updateDescription"]
        # first, because the array that was cut may also have got other elements
        if cut := described.get("truncatedArrays"):
            yield UpdateOne(key, {"$push": {one["field"]: {"$each": [], "$slice": one["newSize"]} for one in cut}})
        change: dict[str, Any] = {}
        if set_fields := described["updatedFields"]:
            change["$set"] = set_fields
        if gone := described["removedFields"]:
            change["$unset"] = dict.fromkeys(gone, "")
        if change:
            yield UpdateOne(key, change)
