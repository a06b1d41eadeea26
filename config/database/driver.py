"""The driver seam: the dozen operations that the data layer uses, as Motor and PyMongo do them.

Writes are acknowledged by a majority, every operation has a time limit, and driver exceptions never leave the seam:
callers see `DatabaseUnavailable` and `DuplicateKey`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import pymongo
from bson import decode, encode
from pymongo import ReturnDocument, WriteConcern
from pymongo.errors import BulkWriteError, OperationFailure

from config.database.commands import (
    CODEC,
    NATURAL_ORDER,
    Document,
    Filter,
    Sort,
    count_command,
    only_there_already,
    projection,
)
from config.database.errors import REPEATED_CODES, DatabaseUnavailable, translated
from config.database.indexes import IndexPlan, IndexSpec, index_model, plan
from config.database.operations import Operation, Operations
from config.database.orphans import APP_NAME, end_orphans
from config.database.together import Together
from config.database.transactions import SESSION, Transactions

log = logging.getLogger("tradewind.database")
Result = TypeVar("Result")
# a collection, and what is read of a document of it: `fields` or all but `without`
_Reading = tuple[str, tuple[str, ...] | None, tuple[str, ...]]

_INDEX_SECONDS = 600.0  # a new index on a large collection takes its time
_SAME_INDEX = frozenset({85, 86})  # IndexOptionsConflict, IndexKeySpecsConflict: src/mongo/base/error_codes.yml
_CLOSE_SECONDS = 0.5
_WATCH_WAIT_MS = 500
_WATCH_SILENCE_MS = 2000
_CONNECT_MS = 2000
_UNWAITED = WriteConcern(w=1, j=False)
_TOGETHER = 100
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class Change:
    """A document that changed: where, and its `_id`."""

    collection: str
    id: Any


class Driver:
    """The seam. One instance serves one database; its operations join the transaction they are called in."""

    def __init__(self, uri: str, database: str, timeout_ms: int) -> None:
        self._seconds = timeout_ms / 1000
        self._client = self._connect(uri, timeoutMS=timeout_ms)
        # a change stream waits longer than any operation may; a connection that died without a word is given up
        self._watcher = self._connect(uri, socketTimeoutMS=_WATCH_SILENCE_MS)
        self._database = self._client[database]
        self._watched = self._watcher[database]
        self._by_id = Together(self._find_together, _TOGETHER)
        self._operation = Operations(self._seconds)
        self._transactions = Transactions(self._operation, self._start_session, self._begin)

    def _connect(self, uri: str, **options: Any) -> Any:
        return self._client_class()(uri, **_options(), **options)

    def _client_class(self) -> Any:
        raise NotImplementedError

    async def _cursor(self, opened: Any) -> Any:
        """The cursor of an `aggregate` or `watch` call."""
        raise NotImplementedError

    async def _close_client(self, client: Any) -> None:
        """Close a client of the library, which ends its sessions on the server."""
        raise NotImplementedError

    async def _start_session(self) -> Any:
        raise NotImplementedError

    async def _begin(self, session: Any) -> None:
        """Start a transaction in the session."""
        raise NotImplementedError

    def waits(self) -> Operation:
        """`with driver.waits(): …` around the wait for an operation that runs for several callers."""
        return self._operation()

    def note_wait(self, since: float) -> None:
        """The caller has waited since then, monotonic, for what others asked of the database."""
        self._operation.note_wait(since)

    @property
    def in_transaction(self) -> bool:
        """Whether the caller runs inside `transaction`."""
        return SESSION.get() is not None

    async def find(
        self,
        collection: str,
        filter: Filter,
        *,
        sort: Sort = (),
        skip: int = 0,
        limit: int = 0,
        fields: Sequence[str] | None = None,
        without: Sequence[str] = (),
        hint: str | None = None,
    ) -> list[Document]:
        """The documents that match, in order; `limit` 0 is no limit. `fields` are read alone, or all but `without`.

        `hint` names the index to use. Raises `NoSuchIndex` where there is none.
        """
        options = {
            "projection": projection(fields, without),
            "skip": skip,
            "limit": limit,
            "sort": list(sort) or None,
            "hint": hint,
        }
        with self._operation():
            try:
                return await self._found(collection, filter, options)
            except OperationFailure as error:
                # PyMongo repeats no `getMore`, and nothing whose index was dropped
                if self.in_transaction or error.code not in REPEATED_CODES:
                    raise
            return await self._found(collection, filter, options)

    async def _found(self, collection: str, filter: Filter, options: Mapping[str, Any]) -> list[Document]:
        # in one reply: what is dropped meanwhile kills no cursor then
        cursor = self._database[collection].find(filter, batch_size=_ROWS_AT_ONCE, session=SESSION.get(), **options)
        found: list[Document] = await cursor.to_list(None)
        return found

    async def find_one(
        self, collection: str, filter: Filter, *, sort: Sort = (), without: Sequence[str] = ()
    ) -> Document | None:
        """The first document that matches, all of it but `without`."""
        with self._operation():
            found: Document | None = await self._database[collection].find_one(
                filter, projection(None, without), sort=list(sort) or None, session=SESSION.get()
            )
            return found

    async def find_by_id(
        self, collection: str, id: Hashable, *, fields: Sequence[str] | None = None, without: Sequence[str] = ()
    ) -> Document | None:
        """The document with this `_id`: `fields` of it alone, or all but `without`.

        Outside a transaction those that are asked for at once are read together.
        """
        if self.in_transaction:
            found = await self.find(collection, {"_id": id}, limit=1, fields=fields, without=without)
            return found[0] if found else None
        with self._operation():
            return await self._by_id.ask((collection, None if fields is None else tuple(fields), tuple(without)), id)

    async def _find_together(self, place: _Reading, ids: Sequence[Hashable]) -> list[Document | None]:
        collection, fields, without = place
        wanted = list(dict.fromkeys(ids))
        matching = {"_id": wanted[0] if len(wanted) == 1 else {"$in": wanted}}
        rows = await self.find(collection, matching, limit=len(wanted), fields=fields, without=without)
        found = {row["_id"]: row for row in rows}
        # each their own copy: a record is its reader's to change
        stored = {id: encode(row) for id, row in found.items()} if len(wanted) < len(ids) else {}
        return [found.pop(id, None) or (decode(stored[id], CODEC) if id in stored else None) for id in ids]

    async def stream(
        self, collection: str, filter: Filter, *, sort: Sort = (), batch: int = 1000
    ) -> AsyncIterator[Document]:
        """The documents that match, one after the other, fetched `batch` at a time."""
        cursor = self._database[collection].find(filter, batch_size=batch, session=SESSION.get())
        if sort:
            cursor = cursor.sort(list(sort))
        rows: list[Document] = []
        try:
            while True:
                with self._operation():
                    rows = await cursor.to_list(batch)
                if not rows:
                    return
                for row in rows:
                    yield row
        finally:
            await cursor.close()

    async def count(self, collection: str, filter: Filter, *, limit: int = 0, hint: str | None = None) -> int:
        """How many documents match; all of them are known without reading any. `limit` and `hint` as in `find`."""
        target = self._database[collection]
        with self._operation():
            if not filter and not self.in_transaction:
                return int(await target.estimated_document_count())
            if self.in_transaction:
                options = {name: value for name, value in {"limit": limit, "hint": hint}.items() if value}
                return int(await target.count_documents(filter, session=SESSION.get(), **options))
            # no aggregation, which counts half as fast
            return int((await self._database.command(count_command(collection, filter, limit, hint)))["n"])

    async def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """Insert documents, all or up to the first that fails."""
        with self._operation():
            target = self._database[collection]
            if len(documents) == 1:
                await target.insert_one(documents[0], session=SESSION.get())
            elif documents:
                await target.insert_many(list(documents), session=SESSION.get())

    async def insert_missing(self, collection: str, documents: Sequence[Document]) -> None:
        """Insert those documents whose `_id` is not there yet."""
        with self._operation():
            try:
                await self._database[collection].insert_many(list(documents), ordered=False)
            except BulkWriteError as error:
                if not only_there_already(error.details):
                    raise

    async def update_one(
        self,
        collection: str,
        filter: Filter,
        update: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        upsert: bool = False,
        apart: bool = False,
        followed: bool = False,
        sort: Sort = (),
    ) -> Document | None:
        """Change one document atomically and answer it as it is afterwards; None where none matches.

        `apart` keeps the change out of the transaction that it is called in. `followed` does not wait until it is
        durable: a write that follows and is durable makes it so (the oplog and the journal are in order).
        """
        target = self._database[collection]
        if followed:
            target = target.with_options(write_concern=_UNWAITED)
        session = None if apart else SESSION.get()
        with self._operation():
            with self._transactions.turns.writing(collection, filter) if session else nullcontext():
                changed: Document | None = await target.find_one_and_update(
                    filter,
                    update,
                    upsert=upsert,
                    sort=list(sort) or None,
                    return_document=ReturnDocument.AFTER,
                    session=session,
                )
            return changed

    async def update_many(self, collection: str, filter: Filter, update: Mapping[str, Any]) -> int:
        """Change every document that matches; answers how many changed."""
        with self._operation():
            result = await self._database[collection].update_many(filter, update, session=SESSION.get())
            return int(result.modified_count)

    async def delete_many(self, collection: str, filter: Filter) -> int:
        """Remove every document that matches for good; answers how many."""
        with self._operation():
            result = await self._database[collection].delete_many(filter, session=SESSION.get())
            return int(result.deleted_count)

    async def aggregate(
        self, collection: str, pipeline: Sequence[Mapping[str, Any]], *, whole: bool = False
    ) -> list[Document]:
        """All results of an aggregation; `whole`: it reads the collection as it lies, past every index."""
        with self._operation():
            hint = NATURAL_ORDER if whole else {}
            # in one answer rather than in the first 101 rows and the rest
            opened = self._database[collection].aggregate(
                list(pipeline), session=SESSION.get(), batchSize=_ROWS_AT_ONCE, **hint
            )
            found: list[Document] = await (await self._cursor(opened)).to_list(None)
            return found

    async def command(self, command: Mapping[str, Any]) -> Document:
        """Run a database command."""
        with self._operation():
            answer: Document = await self._database.command(command, session=SESSION.get())
            return answer

    async def end_orphans(self) -> int:
        """End the transactions whose process was killed; how many there were."""
        with self._operation():
            return await end_orphans(self._client.admin.command)

    async def has_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> bool:
        """Whether the collection's indexes are exactly those of `specs`."""
        steps = plan(specs, await self._indexes_by_name(collection))
        return not (steps.create or steps.expire or steps.drop)

    async def synchronise_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> None:
        """Make the collection's indexes exactly those of `specs`; one that is there in another shape is made anew.

        New ones are there before old ones go, so that other instances find an index for their queries and no duplicate
        of a unique key meanwhile. Where the new one cannot be made, the old one stays.
        """
        with translated, pymongo.timeout(_INDEX_SECONDS):
            steps = plan(specs, await self._indexes_by_name(collection))
            for name, parts in steps.changed.items():
                log.warning("index made anew", extra={"collection": collection, "index": name, "differed_in": parts})
            for name, seconds in steps.expire:
                await self._database.command(
                    {"collMod": collection, "index": {"name": name, "expireAfterSeconds": seconds}}
                )
            dropped = await self._create_indexes(collection, steps)
            for name in steps.drop if not dropped else ():
                await self._database[collection].drop_index(name)

    async def _create_indexes(self, collection: str, steps: IndexPlan) -> bool:
        """Create what is missing; whether the old indexes had to go first, as MongoDB takes a new one for the same."""
        missing, target = [index_model(spec) for spec in steps.create], self._database[collection]
        if not missing:
            return False
        try:
            await target.create_indexes(missing)
        except OperationFailure as error:
            if error.code not in _SAME_INDEX:
                raise
            for name in steps.drop:
                await target.drop_index(name)
            await target.create_indexes(missing)
            return True
        return False

    async def _indexes_by_name(self, collection: str) -> dict[str, Document]:
        return {index["name"]: index for index in await self._indexes(collection) if index["name"] != "_id_"}

    async def _indexes(self, collection: str) -> list[Document]:
        with translated:
            opened = self._database[collection].list_indexes()
            found: list[Document] = await (await self._cursor(opened)).to_list(None)
            return found

    async def index_names(self, collection: str) -> set[str]:
        """The names of the collection's indexes."""
        return {str(index["name"]) for index in await self._indexes(collection)}

    async def transaction(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` so that all its writes happen or none; it runs again on a write conflict.

        Inside a transaction it joins that one.
        """
        return await work() if self.in_transaction else await self._transactions.run(work)

    @property
    def open_sessions(self) -> list[bytes]:
        """The `lsid.id` of each session in which this process has a transaction: a UUID, as `killSessions` takes it."""
        return self._transactions.sessions.ids

    @asynccontextmanager
    async def watch(self, collections: Sequence[str]) -> AsyncIterator[AsyncIterator[Change]]:
        """Changes to `collections` from now on, until the block is left. Raises `DatabaseUnavailable`."""
        pipeline = [
            {"$match": {"ns.coll": {"$in": list(collections)}}},
            {"$project": {"ns": 1, "documentKey": 1, "operationType": 1}},
        ]
        with translated:
            stream = await self._cursor(self._watched.watch(pipeline, max_await_time_ms=_WATCH_WAIT_MS))
            async with stream:  # its cursor is open on the server now: what is written from here on is seen
                yield _changes(stream)

    async def close(self) -> None:
        """Close every connection; a server that is gone is not waited for."""
        await self._transactions.sessions.close(_CLOSE_SECONDS)
        with pymongo.timeout(_CLOSE_SECONDS):
            for client in (self._client, self._watcher):
                await self._close_client(client)


def _options() -> dict[str, Any]:
    return {
        "w": "majority",
        "readConcernLevel": "majority",
        "connectTimeoutMS": _CONNECT_MS,
        "serverSelectionTimeoutMS": 5000,
        "appname": APP_NAME,
        "tz_aware": True,
        "maxPoolSize": 100,
    }


async def _changes(stream: Any) -> AsyncIterator[Change]:
    with translated:
        while stream.alive:
            event = await stream.try_next()
            if event is not None and "documentKey" in event:
                yield Change(event["ns"]["coll"], event["documentKey"]["_id"])
    raise DatabaseUnavailable("the change stream ended")
