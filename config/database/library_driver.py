"""`LibraryDriver`: performs every operation with Motor or with PyMongo's asynchronous client."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, Unpack

import pymongo
from pymongo import ReadPreference, ReturnDocument, WriteConcern
from pymongo.errors import BulkWriteError, OperationFailure

from config.database.barrier import Barrier, Elections, barrier_command
from config.database.batcher import DocumentLoader
from config.database.commands import (
    APP_NAME,
    CODEC,
    NATURAL_ORDER,
    CountOptions,
    Document,
    Filter,
    FindOneOptions,
    FindOptions,
    Sort,
    Update,
    UpdateOptions,
    count_command,
    has_failed,
    projection,
    without_existing_ids,
    writes,
)
from config.database.driver import Change, Driver
from config.database.errors import REPEATED_CODES, DatabaseUnavailable, translate_errors
from config.database.indexes import IndexPlan, IndexSpec, are_in_place, index_model, plan
from config.database.libraries import MOST_CONNECTIONS, Library, opened
from config.database.members import may_read_from_secondaries
from config.database.operations import Operations
from config.database.orphans import kill_sessions
from config.database.replies import failure, number
from config.database.transactions import SESSION, Transactions

log = logging.getLogger("tradewind.database")
Result = TypeVar("Result")
Given = ParamSpec("Given")

_INDEX_SECONDS = 600.0  # building an index on a large collection takes long
_SAME_INDEX = frozenset({85, 86})  # IndexOptionsConflict, IndexKeySpecsConflict: src/mongo/base/error_codes.yml
CLOSE_SECONDS = 0.5
_MOST_CLOSE_SECONDS = 2.0
_WATCH_WAIT_MS = 500
_OF_A_CHANGE: Mapping[str, Any] = {"$project": {"ns": 1, "documentKey": 1, "operationType": 1}}
_WATCH_SILENCE_MS = 2000
_NOT_DURABLE = WriteConcern(w=1, j=False)
_ROWS_AT_ONCE = 10_000
_PREFERENCES = {"secondaryPreferred": ReadPreference.SECONDARY_PREFERRED, "nearest": ReadPreference.NEAREST}
_CLIENT_OPTIONS: Mapping[str, Any] = {
    "w": "majority",
    "readConcernLevel": "majority",
    "connectTimeoutMS": 2000,
    "serverSelectionTimeoutMS": 5000,
    # after the report of a shutdown that does not take place, PyMongo waits for the next one to use the server again
    "heartbeatFrequencyMS": 1000,
    "appname": APP_NAME,
    "tz_aware": True,
    "maxPoolSize": MOST_CONNECTIONS,
}


def _in_turn(operation: Callable[Given, Coroutine[Any, Any, Result]]) -> Callable[Given, Coroutine[Any, Any, Result]]:
    """Let the operations of a transaction wait for each other: a session of the libraries bears one at a time."""

    @wraps(operation)
    async def wait(*args: Given.args, **options: Given.kwargs) -> Result:
        session = SESSION.get()
        async with session.turn if session is not None else nullcontext():
            return await operation(*args, **options)

    return wait


class LibraryDriver(Driver):
    """Performs every operation with `library`; a driver on top of it shares its time limits, `operations`."""

    def __init__(self, library: Library, uri: str, database: str, timeout_ms: int, figures: str = "primary") -> None:
        self._library = library
        self._run = library.run
        self._client = library.connect(uri, **_CLIENT_OPTIONS, timeoutMS=timeout_ms)
        # a change stream waits longer than any operation may; a connection that dies silently is given up
        self._watcher = library.connect(uri, **_CLIENT_OPTIONS, socketTimeoutMS=_WATCH_SILENCE_MS)
        self._database = self._client[database]
        self._watched = self._watcher[database]
        self._collections: dict[str, Any] = {}
        self.elections = Elections(lambda: self._client.topology_description)
        self._barrier = Barrier(self.elections, lambda: self._run(self._database.command(barrier_command())))
        self.operations = Operations(timeout_ms / 1000)
        self._loader = DocumentLoader(self, self.operations)
        self._figures = None if figures == "primary" else _PREFERENCES[figures]
        start_session = partial(library.start_session, self._client)
        self.kill_sessions = partial(kill_sessions, self._run, self._client.admin.command, self.operations)
        self._transactions = Transactions(self.operations, start_session, library.start_transaction, self.kill_sessions)

    def _collection(self, name: str) -> Any:
        """Return the library's collection; it is kept, as creating one takes as long as encoding a small query."""
        found = self._collections.get(name)
        if found is None:
            found = self._collections[name] = self._database[name]
        return found

    @_in_turn
    async def find(self, collection: str, filter: Filter, **options: Unpack[FindOptions]) -> list[Document]:
        fetch = partial(self._fetch, collection, filter, options)
        with self.operations():
            try:
                return await self._barrier.read(fetch)
            except OperationFailure as error:
                # PyMongo repeats neither `getMore` nor a query whose index was dropped
                if self.in_transaction or error.code not in REPEATED_CODES:
                    raise
            return await self._barrier.read(fetch)

    async def _fetch(self, collection: str, filter: Filter, options: FindOptions) -> list[Document]:
        # in one reply: a query without an open cursor survives a dropped index
        cursor = self._collection(collection).find(
            filter,
            projection=projection(options),
            skip=options.get("skip", 0),
            limit=options.get("limit", 0),
            sort=list(options.get("sort", ())) or None,
            hint=options.get("hint"),
            batch_size=_ROWS_AT_ONCE,
            session=_session(),
        )
        return list(await self._run(cursor.to_list(None)))

    @_in_turn
    async def find_one(self, collection: str, filter: Filter, **options: Unpack[FindOneOptions]) -> Document | None:
        with self.operations():
            target, sort = self._collection(collection), list(options.get("sort", ())) or None
            found: Document | None = await self._barrier.read(
                lambda: self._run(target.find_one(filter, projection(options), sort=sort, session=_session()))
            )
            return found

    async def find_by_id(
        self, collection: str, id: Hashable, fields: Sequence[str] | None = None, without: Sequence[str] = ()
    ) -> Document | None:
        return await self._loader.load(collection, id, fields, without)

    async def stream(
        self, collection: str, filter: Filter, *, sort: Sort = (), batch: int = 1000
    ) -> AsyncIterator[Document]:
        cursor: Any = None

        async def begin() -> list[Document]:
            nonlocal cursor
            order = list(sort) or None
            cursor = self._collection(collection).find(filter, batch_size=batch, sort=order, session=_session())
            return list(await self._run(cursor.to_list(batch)))

        try:
            with self.operations():
                rows = await self._barrier.read(begin)
            while rows:
                for row in rows:
                    yield row
                with self.operations():
                    rows = await self._run(cursor.to_list(batch))
        finally:
            if cursor is not None:
                await self._run(cursor.close())

    @_in_turn
    async def count(self, collection: str, filter: Filter, **options: Unpack[CountOptions]) -> int:
        target = self._collection(collection)
        with self.operations():
            if not filter and not self.in_transaction:
                return int(await self._barrier.read(lambda: self._run(target.estimated_document_count())))
            if self.in_transaction:
                given = {name: value for name, value in options.items() if value}
                return int(await self._run(target.count_documents(filter, session=_session(), **given)))
            # the library would use an aggregation, which counts half as fast
            command = count_command(collection, filter, options)
            reply = await self._barrier.read(lambda: self._run(self._database.command(command)))
            return int(reply["n"])

    @_in_turn
    async def insert(self, collection: str, documents: Sequence[Document]) -> None:
        with self.operations():
            target = self._collection(collection)
            if len(documents) == 1:
                await self._run(target.insert_one(documents[0], session=_session()))
            elif documents:
                await self._run(target.insert_many(list(documents), session=_session()))

    async def insert_missing(self, collection: str, documents: Sequence[Document]) -> None:
        with self.operations():
            try:
                await self._run(self._collection(collection).insert_many(list(documents), ordered=False))
            except BulkWriteError as error:
                remaining = without_existing_ids(error.details)
                if durability := remaining.get("writeConcernErrors"):
                    raise failure({"ok": 1, "writeConcernError": durability[0]}) from error
                if "writeErrors" in remaining:
                    raise

    @_in_turn
    async def update_one(
        self,
        collection: str,
        filter: Filter,
        update: Update,
        **options: Unpack[UpdateOptions],
    ) -> Document | None:
        target = self._collection(collection)
        if not options.get("wait_for_durability", True):
            target = target.with_options(write_concern=_NOT_DURABLE)
        session = None if options.get("outside_transaction") else _session()
        with self.operations():
            with self._transactions.locks.guard_write(collection, filter) if session else nullcontext():
                changed: Document | None = await self._run(
                    target.find_one_and_update(
                        filter,
                        update,
                        upsert=options.get("upsert", False),
                        sort=list(options.get("sort", ())) or None,
                        return_document=ReturnDocument.AFTER,
                        session=session,
                    )
                )
            return changed

    @_in_turn
    async def update_many(self, collection: str, filter: Filter, update: Update) -> int:
        with self.operations():
            result = await self._run(self._collection(collection).update_many(filter, update, session=_session()))
            return int(result.modified_count)

    @_in_turn
    async def update_each(self, collection: str, changes: Sequence[tuple[Filter, Update]]) -> int:
        if not self.in_transaction:
            raise RuntimeError("several changes are made by one command within a transaction only")
        updates = [{"q": filter, "u": change} for filter, change in changes]
        guard = self._transactions.locks.guard_write(collection, *(filter for filter, _ in changes))
        with self.operations(), guard:
            command = {"update": collection, "updates": updates}
            reply: Document = await self._run(self._database.command(command, session=_session()))
            if has_failed(reply):
                raise failure(reply)
            return number(reply, "n")

    @_in_turn
    async def delete_many(self, collection: str, filter: Filter) -> int:
        with self.operations():
            result = await self._run(self._collection(collection).delete_many(filter, session=_session()))
            return int(result.deleted_count)

    @_in_turn
    async def aggregate(
        self, collection: str, pipeline: Sequence[Mapping[str, Any]], *, collection_scan: bool = False
    ) -> list[Document]:
        with self.operations():
            hint = NATURAL_ORDER if collection_scan else {}
            # with one call, whereas the library's cursors need one call to open and one to read
            if self.in_transaction and (rows := await self._first_batch(collection, pipeline, hint)) is not None:
                return rows
            if self.spreads_reads and not self.in_transaction:
                return await self._aggregate_elsewhere(collection, pipeline, hint)
            aggregate = partial(self._aggregate, self._collection(collection), pipeline, _session(), hint)
            return await (aggregate() if writes(pipeline) else self._barrier.read(aggregate))

    async def _first_batch(
        self, collection: str, pipeline: Sequence[Mapping[str, Any]], hint: Mapping[str, Any]
    ) -> list[Document] | None:
        """Return all results of an aggregation in a transaction if they fit into one reply, otherwise None."""
        command = {"aggregate": collection, "pipeline": list(pipeline), "cursor": {"batchSize": _ROWS_AT_ONCE}, **hint}
        # a command does not use the codec options of the database unless they are given
        reply = await self._run(self._database.command(command, session=_session(), codec_options=CODEC))
        return None if reply["cursor"]["id"] else list(reply["cursor"]["firstBatch"])

    async def _aggregate(
        self, collection: Any, pipeline: Sequence[Mapping[str, Any]], session: Any, hint: Mapping[str, Any]
    ) -> list[Document]:
        # in one reply rather than the first 101 rows and then the rest
        opening = partial(collection.aggregate, list(pipeline), session=session, batchSize=_ROWS_AT_ONCE, **hint)
        found: list[Document] = await self._run(self._library.rows(opening))
        return found

    @property
    def spreads_reads(self) -> bool:
        """Whether the caller's aggregations may be read from a secondary."""
        return self._figures is not None and may_read_from_secondaries()

    async def _aggregate_elsewhere(
        self, collection: str, pipeline: Sequence[Mapping[str, Any]], hint: Mapping[str, Any]
    ) -> list[Document]:
        """Aggregate on a secondary, which first waits until it has what the primary has now."""
        spread = self._collection(collection).with_options(read_preference=self._figures)
        session = await self._library.start_session(self._client)
        try:
            # its reply has the time of the primary, for which the session makes the secondary wait (causal consistency)
            await self._run(self._database.command("ping", session=session))
            return await self._aggregate(spread, pipeline, session, hint)
        finally:
            await session.end_session()

    @_in_turn
    async def command(self, command: Mapping[str, Any]) -> Document:
        with self.operations():
            reply: Document = await self._run(self._database.command(command, session=_session()))
            return reply

    async def run_on_admin(self, command: Mapping[str, Any]) -> Document:
        with self.operations():
            reply: Document = await self._run(self._client.admin.command(command))
            return reply

    async def list_indexes(self, collection: str) -> list[Document]:
        with translate_errors:
            found: list[Document] = await self._run(self._library.rows(self._collection(collection).list_indexes))
            return found

    async def has_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> bool:
        return are_in_place(specs, await self.list_indexes(collection))

    async def synchronise_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> None:
        with translate_errors, pymongo.timeout(_INDEX_SECONDS):
            steps = plan(specs, await self.list_indexes(collection))
            for name, parts in steps.changed.items():
                log.warning("index replaced", extra={"collection": collection, "index": name, "differed_in": parts})
            for name, seconds in steps.expire:
                expiry = {"name": name, "expireAfterSeconds": seconds}
                await self._run(self._database.command({"collMod": collection, "index": expiry}))
            dropped = await _create_indexes(self._run, self._collection(collection), steps)
            for name in steps.drop if not dropped else ():
                await self._run(self._collection(collection).drop_index(name))

    async def find_primary(self) -> None:
        """Return once there is a primary, or raise after the time limit of an operation."""
        await self._run(self._client.admin.command("ping"))

    async def transaction(self, work: Callable[[], Awaitable[Result]]) -> Result:
        return await work() if self.in_transaction else await self._transactions.run(work)

    async def snapshot(self, work: Callable[[], Awaitable[Result]]) -> Result:
        return await work() if self.in_transaction else await self._transactions.run(work, commit=False)

    async def take_turn(self, collection: str, *ids: Hashable) -> None:
        await self._transactions.locks.take_turn(*((collection, id) for id in ids))

    @property
    def open_sessions(self) -> list[bytes]:
        return self._transactions.sessions.ids

    @asynccontextmanager
    async def watch(self, collections: Sequence[str]) -> AsyncIterator[AsyncIterator[Change]]:
        named = {"$match": {"ns.coll": {"$in": list(collections)}}}
        with translate_errors:
            watching = self._watched.watch([named, _OF_A_CHANGE], max_await_time_ms=_WATCH_WAIT_MS)
            stream = await opened(watching)
            async with stream:  # the cursor is open on the server: every later write is seen
                yield _changes(stream)

    async def close(self) -> None:
        await self._transactions.sessions.close(CLOSE_SECONDS)
        with pymongo.timeout(CLOSE_SECONDS):
            closing = [asyncio.create_task(self._library.close(client)) for client in (self._client, self._watcher)]
            # limited: PyMongo's asynchronous client may have lost the lock of a pool when a change stream ended
            await asyncio.wait(closing, timeout=_MOST_CLOSE_SECONDS)


def _session() -> Any:
    """Return the library's session of the current transaction; None outside a transaction."""
    session = SESSION.get()
    return None if session is None else session.handle


async def _changes(stream: Any) -> AsyncIterator[Change]:
    with translate_errors:
        while stream.alive:
            event = await stream.try_next()
            if event is not None and "documentKey" in event:
                yield Change(event["ns"]["coll"], event["documentKey"]["_id"])
    raise DatabaseUnavailable("the change stream ended")


async def _create_indexes(run: Callable[[Any], Awaitable[Any]], target: Any, steps: IndexPlan) -> bool:
    """Create the missing indexes; return whether the old ones had to be dropped first.

    MongoDB refuses a new index that it considers the same as an existing one.
    """
    missing = [index_model(spec) for spec in steps.create]
    if not missing:
        return False
    try:
        await run(target.create_indexes(missing))
    except OperationFailure as error:
        if error.code not in _SAME_INDEX:
            raise
        for name in steps.drop:
            await run(target.drop_index(name))
        await run(target.create_indexes(missing))
        return True
    return False
