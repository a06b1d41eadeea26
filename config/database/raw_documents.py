"""Whole collections as BSON that is never decoded: read as of one moment of the database, and written again.

For backups. The service itself uses `Driver`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from bson import Timestamp
from bson.raw_bson import DEFAULT_RAW_BSON_OPTIONS, RawBSONDocument
from pymongo import AsyncMongoClient, UpdateOne, WriteConcern
from pymongo.errors import AutoReconnect, BulkWriteError, DuplicateKeyError, OperationFailure, PyMongoError

from config.database.commands import RESTORING
from config.database.errors import DatabaseUnavailable, translate

PAGE_BYTES = 1 << 20
_FIRST_PAGE, _LARGEST_PAGE = 8, 10_000
_ATTEMPTS, _PAUSE_SECONDS = 10, 1.0
_OPENING_SECONDS = 20.0
_SOCKET_MS = 120_000
_TOO_OLD, _UNAVAILABLE = 239, 246  # SnapshotTooOld, SnapshotUnavailable: src/mongo/base/error_codes.yml
_FAST, _DURABLE = WriteConcern(w=1), WriteConcern(w="majority", j=True)
RawDocument = bytes | memoryview


class SnapshotLost(Exception):
    """MongoDB no longer has the state of the given moment; the message is a sentence that says what to do."""


class RawDatabase:
    """The documents of one database, as pages of BSON in the order of their ids."""

    def __init__(self, uri: str, name: str) -> None:
        self.name = name
        with translated():
            self.client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(
                uri,
                connectTimeoutMS=2000,
                serverSelectionTimeoutMS=10_000,
                socketTimeoutMS=_SOCKET_MS,
                appname="tradewind-backup",
            )
        self._database = self.client[name]

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def collections(self) -> list[str]:
        """Return the names of its collections, without MongoDB's own ones, the mark of `claim`, and views."""
        with translated():
            found = await (await self._database.list_collections(filter={"type": "collection"})).to_list()
        names = (one["name"] for one in found)
        return sorted(name for name in names if not name.startswith("system.") and name != RESTORING)

    async def described(self, collection: str) -> dict[str, Any]:
        """Return the options, the UUID and the indexes of a collection, as MongoDB lists them. Raises `SnapshotLost`."""
        with translated():
            found = await (await self._database.list_collections(filter={"name": collection})).to_list()
            indexes = await (await self._database[collection].list_indexes()).to_list()
        if not found:
            raise SnapshotLost(_LOST[_UNAVAILABLE].format(collection))
        return {"options": found[0]["options"], "uuid": found[0]["info"]["uuid"], "indexes": indexes}

    async def measure(self, collection: str, moment: Timestamp) -> tuple[int, int]:
        """Return how many documents a collection had at that moment, and their bytes."""
        sums = {"_id": None, "documents": {"$sum": 1}, "bytes": {"$sum": {"$bsonSize": "$$ROOT"}}}
        concern = {"level": "snapshot", "atClusterTime": moment}
        command = {"aggregate": collection, "pipeline": [{"$group": sums}], "cursor": {}, "readConcern": concern}
        batch: Sequence[RawBSONDocument] = (await self._read(command))["cursor"]["firstBatch"]
        return (int(batch[0]["documents"]), int(batch[0]["bytes"])) if batch else (0, 0)

    async def begin(self, collections: Sequence[str]) -> Timestamp:
        """Return a moment as of which all these collections can be read; it includes all writes acknowledged before.

        A collection or an index that was created a moment ago has no past yet, so this may wait for seconds.
        """
        deadline = time.monotonic() + _OPENING_SECONDS
        while True:
            try:
                moment = await self.now(collections[0])
                for collection in collections:
                    await self._read(_page(collection, 1, moment))
                return moment
            except SnapshotLost:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.2)

    async def now(self, collection: str) -> Timestamp:
        """Return the latest moment of which a majority has everything."""
        reply = await self._read({**_page(collection, 1, None), "readConcern": {"level": "snapshot"}})
        moment: Timestamp = reply["cursor"]["atClusterTime"]
        return moment

    async def pages(self, collection: str, moment: Timestamp | None = None) -> AsyncIterator[list[RawDocument]]:
        """Iterate over the documents, about `PAGE_BYTES` at a time, as of `moment`, or as they are now.

        Each page is a separate command, which is repeated after a failure, so no cursor is lost with a primary.
        """
        wanted = _FIRST_PAGE
        command = _page(collection, wanted, moment)
        while True:
            reply = await self._read(command)
            batch: Sequence[RawBSONDocument] = reply["cursor"]["firstBatch"]
            if not batch:
                return
            page = [document.raw for document in batch]
            yield page
            wanted = max(1, min(_LARGEST_PAGE, PAGE_BYTES * len(page) // sum(map(len, page))))
            # by the bounds of the index, because ids of several types may be in one collection
            command = {**_page(collection, wanted, moment), "min": {"_id": batch[-1]["_id"]}, "skip": 1}

    async def named(self, collection: str, ids: Sequence[Any]) -> list[RawDocument]:
        """Return those of the documents with these ids that exist."""
        command = {"find": collection, "filter": {"_id": {"$in": list(ids)}}, "limit": len(ids), "singleBatch": True}
        reply = await self._read({**command, "readConcern": {"level": "majority"}})
        return [document.raw for document in reply["cursor"]["firstBatch"]]

    async def _read(self, command: Mapping[str, Any]) -> Mapping[str, Any]:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return await self._database.command(dict(command), codec_options=DEFAULT_RAW_BSON_OPTIONS)
            except OperationFailure as error:
                if error.code in (_TOO_OLD, _UNAVAILABLE):
                    raise SnapshotLost(_LOST[error.code].format(next(iter(command.values())))) from error
                if attempt == _ATTEMPTS or not isinstance(translate(error), DatabaseUnavailable):
                    raise _readable(error) from error
            except AutoReconnect as error:
                if attempt == _ATTEMPTS:
                    raise _readable(error) from error
            await asyncio.sleep(_PAUSE_SECONDS)
        raise AssertionError("the last attempt returns or raises")

    async def claim(self) -> bool:
        """Mark the database as being restored; return False if it has collections already."""
        with translated():
            if await self._database.list_collection_names():
                return False
            barrier = self._database.get_collection(RESTORING, write_concern=_DURABLE)
            try:
                await barrier.insert_one({"_id": self.name})
            except DuplicateKeyError:
                return False
        return True

    async def is_unfinished(self) -> bool:
        """Return whether a restore into this database was begun and has not ended."""
        with translated():
            return await self._database[RESTORING].find_one() is not None

    async def create(self, collection: str, options: Mapping[str, Any]) -> None:
        """Create an empty collection with these options."""
        with translated():
            await self._database.command({"create": collection, **options})

    async def insert(self, collection: str, documents: Sequence[bytes]) -> None:
        """Insert documents; `finish` waits until they are durable."""
        target = self._database.get_collection(collection, write_concern=_FAST)
        with translated():
            await target.insert_many(list(map(RawBSONDocument, documents)), ordered=False)

    async def set_field(self, collection: str, field: str, values: Mapping[Any, Any]) -> None:
        """Set one field of some documents, by their ids."""
        target = self._database.get_collection(collection, write_concern=_FAST)
        with translated():
            await target.bulk_write(
                [UpdateOne({"_id": id}, {"$set": {field: value}}) for id, value in values.items()], ordered=False
            )

    async def wait_until_durable(self) -> None:
        """Wait until a majority has everything that was inserted."""
        barrier = self._database.get_collection(RESTORING, write_concern=_DURABLE)
        with translated():
            await barrier.update_one({"_id": self.name}, {"$inc": {"written": 1}})

    async def finish(self) -> None:
        """Remove the mark of `claim`, once a majority has everything."""
        with translated():
            await self._database.get_collection(RESTORING, write_concern=_DURABLE).drop()

    async def drop(self) -> None:
        """Drop the database."""
        with translated():
            await self.client.drop_database(self.name)


_LOST = {
    _TOO_OLD: (
        "MongoDB no longer keeps the state in which the backup began (it was reading {}): let it keep more, "
        "on every member, with db.adminCommand({{setParameter: 1, minSnapshotHistoryWindowInSeconds: 3600}})."
    ),
    _UNAVAILABLE: (
        "The collection {} or its indexes were created or changed while the backup ran, as at the start of a new "
        "version: run the backup again."
    ),
}


def _page(collection: str, limit: int, moment: Timestamp | None) -> dict[str, Any]:
    concern = {"level": "majority"} if moment is None else {"level": "snapshot", "atClusterTime": moment}
    order = {"_id": 1}
    return {
        "find": collection,
        "sort": order,
        "hint": order,
        "limit": limit,
        "singleBatch": True,
        "readConcern": concern,
    }


class translated:  # noqa: N801 - reads as a function
    """`with translated(): …` turns every error of PyMongo into a `DatabaseUnavailable` that says what MongoDB said."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, PyMongoError):
            raise _readable(error) from error


def _readable(error: PyMongoError) -> DatabaseUnavailable:
    """Return an error with what MongoDB said, without the command and without the state of the driver."""
    said = str(error).partition(", Timeout:")[0]
    if isinstance(error, BulkWriteError):
        said = next((one["errmsg"] for one in error.details.get("writeErrors", ())), said)
    elif isinstance(error, OperationFailure) and error.details is not None:
        said = str(error.details.get("errmsg", said)).partition(" to execute command")[0]
    return DatabaseUnavailable(said)
