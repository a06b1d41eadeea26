"""The driver `direct`: sends single commands over the wire protocol itself and leaves everything else to a library.

Outside transactions, the library performs bulk writes, long lists, changes of indexes and change streams. It also does
whatever the wire modules cannot: compression, authentication other than SCRAM-SHA-256 and X.509, and the wait for a
primary while there is none. In a transaction, everything is sent over the wire, as the two cannot share a session.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, TypeVar, Unpack

from bson import decode, encode
from pymongo.errors import AutoReconnect

from config.database.batcher import DocumentLoader
from config.database.commands import (
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
    count_pipeline,
    find_command,
    has_failed,
    without_existing_ids,
    writes,
)
from config.database.direct.inserts import DURABLE, MOST_BYTES, InsertBatches, Outcome, split
from config.database.direct.sessions import WireSession, WireSessions
from config.database.direct.wire import NO_PRIMARY_CODES, NotSent, Target, WirePool
from config.database.driver import Change, Driver
from config.database.errors import REPEATED_CODES, DuplicateKey, translate_errors
from config.database.indexes import IndexSpec, are_in_place
from config.database.library_driver import CLOSE_SECONDS, LibraryDriver
from config.database.operations import SILENT_CODES
from config.database.replies import failure, number, required
from config.database.sessions import OpenSession
from config.database.slow_operations import SLOW_SECONDS, SlowOperations
from config.database.transactions import SESSION, Transactions

Result = TypeVar("Result")
_MOST_ROWS = 500  # longer lists are read by the library, which decodes them in threads

_NOT_DURABLE: Mapping[str, Any] = {"writeConcern": {"w": 1, "j": False}}
_MOST_BATCHED_BYTES = 256 << 10  # of one document: a larger one is inserted alone, so that no command is too long
_NO_COLLECTION = 26  # NamespaceNotFound: src/mongo/base/error_codes.yml


class DirectDriver(Driver):
    """Sends single commands over the wire to `target`; `library` does everything else, under the same time limits."""

    def __init__(self, library: LibraryDriver, target: Target, timeout_ms: int) -> None:
        self.library = library
        self._wire = WirePool(target, connect_seconds=timeout_ms / 2000, elections=library.elections)
        self.operations = library.operations
        self.slow = SlowOperations(self._wire.run)
        self._limit: dict[str, Any] = {"maxTimeMS": timeout_ms}
        self._reading: dict[str, Any] = {"readConcern": {"level": "majority"}, **self._limit}
        self._inserts = InsertBatches(self._send, timeout_ms)
        self._loader = DocumentLoader(self, self.operations)
        sessions = WireSessions(self._wire, library.find_primary, timeout_ms)
        self._transactions = Transactions(
            self.operations, sessions.open, WireSession.start_transaction, library.kill_sessions
        )

    def connections(self) -> dict[str, float]:
        return self._wire.figures

    @property
    def slow_operations(self) -> int:
        return self.slow.count

    # -- over the wire, if possible

    async def find(self, collection: str, filter: Filter, **options: Unpack[FindOptions]) -> list[Document]:
        found = None
        if self.in_transaction or 0 < options.get("limit", 0) <= _MOST_ROWS:
            found = await self._fetch(collection, find_command(collection, filter, options, _MOST_ROWS) | self._reading)
        return await self.library.find(collection, filter, **options) if found is None else found

    async def find_one(self, collection: str, filter: Filter, **options: Unpack[FindOneOptions]) -> Document | None:
        first: FindOptions = {"limit": 1, "sort": options.get("sort", ()), "without": options.get("without", ())}
        found = await self._fetch(collection, find_command(collection, filter, first, 1) | self._reading)
        if found is None:
            return await self.library.find_one(collection, filter, **options)
        return found[0] if found else None

    def find_by_id(
        self, collection: str, id: Hashable, fields: Sequence[str] | None = None, without: Sequence[str] = ()
    ) -> Coroutine[Any, Any, Document | None]:
        return self._loader.load(collection, id, fields, without)

    async def count(self, collection: str, filter: Filter, **options: Unpack[CountOptions]) -> int:
        if self.in_transaction:
            rows = await self._fetch(collection, {**count_pipeline(collection, filter, options), **self._limit})
            return number(rows[0], "n") if rows else 0
        command = count_command(collection, filter, options) if filter else {"count": collection}
        reply = await self._run({**command, **self._limit}, reads=True)
        return await self.library.count(collection, filter, **options) if reply is None else number(reply, "n")

    async def insert(self, collection: str, documents: Sequence[Document]) -> None:
        if (session := SESSION.get()) is not None:
            return await self._insert_in(session, collection, documents)
        if len(documents) != 1 or "_id" not in documents[0]:
            return await self.library.insert(collection, documents)
        raw = encode(documents[0])
        if len(raw) > _MOST_BATCHED_BYTES:
            return await self.library.insert(collection, documents)
        with self.operations.shared() as operation:
            outcome = await self._inserts.insert(collection, raw)
            operation.unanswered = outcome is not Outcome.INSERTED
        if outcome is Outcome.UNKNOWN:
            return await self._insert_again(collection, documents[0], raw)
        if outcome is Outcome.NOT_EXECUTED:
            return await self.library.insert(collection, documents)
        return None

    async def _insert_in(self, session: OpenSession, collection: str, documents: Sequence[Document]) -> None:
        for part in split([encode(document) for document in documents]):
            await self._run_in(session, {"insert": collection, **self._limit}, part)

    async def _insert_again(self, collection: str, document: Document, raw: bytes) -> None:
        """Insert a document alone after its batch failed; the batch may have stored it already."""
        try:
            await self.library.insert(collection, [document])
        except DuplicateKey:
            if await self.find_one(collection, {"_id": document["_id"]}) != decode(raw, CODEC):
                raise

    async def insert_missing(self, collection: str, documents: Sequence[Document]) -> None:
        encoded = [encode(document) for document in documents]
        reply = None
        if sum(map(len, encoded)) < MOST_BYTES:
            with translate_errors:
                command = {"insert": collection, "ordered": False, **DURABLE, **self._limit}
                reply = await self._send(command, encoded, reads=True)
                if reply is not None and has_failed(remaining := without_existing_ids(reply)):
                    raise failure(remaining)
        if reply is None:
            await self.library.insert_missing(collection, documents)

    async def update_one(
        self,
        collection: str,
        filter: Filter,
        update: Update,
        **options: Unpack[UpdateOptions],
    ) -> Document | None:
        command = {
            "findAndModify": collection,
            "query": filter,
            "update": update,
            "new": True,
            "upsert": options.get("upsert", False),
            **(DURABLE if options.get("wait_for_durability", True) else _NOT_DURABLE),
            **self._limit,
        }
        if sort := options.get("sort"):
            command["sort"] = dict(sort)
        outside = options.get("outside_transaction", False)
        reply = await self._run(command, outside_transaction=outside, guarded=(filter,))
        if reply is None:
            return await self.library.update_one(collection, filter, update, **options)
        if "value" in reply and reply["value"] is None:
            return None
        changed: Document = required(reply, "value", dict)
        return changed

    async def update_many(self, collection: str, filter: Filter, update: Update) -> int:
        change = {"q": filter, "u": update, "multi": True}
        reply = await self._run({"update": collection, "updates": [change], **DURABLE, **self._limit})
        if reply is None:
            return await self.library.update_many(collection, filter, update)
        return number(reply, "nModified")

    async def update_each(self, collection: str, changes: Sequence[tuple[Filter, Update]]) -> int:
        if (session := SESSION.get()) is None:
            raise RuntimeError("several changes are made by one command within a transaction only")
        updates = [{"q": filter, "u": change} for filter, change in changes]
        command = {"update": collection, "updates": updates, **self._limit}
        return number(await self._run_in(session, command, guarded=[filter for filter, _ in changes]), "n")

    async def delete_many(self, collection: str, filter: Filter) -> int:
        deletion = {"q": filter, "limit": 0}
        reply = await self._run({"delete": collection, "deletes": [deletion], **DURABLE, **self._limit})
        return await self.library.delete_many(collection, filter) if reply is None else number(reply, "n")

    async def aggregate(
        self, collection: str, pipeline: Sequence[Mapping[str, Any]], *, collection_scan: bool = False
    ) -> list[Document]:
        command = {
            "aggregate": collection,
            "pipeline": list(pipeline),
            "cursor": {"batchSize": _MOST_ROWS},
            **(NATURAL_ORDER if collection_scan else {}),
            **self._reading,
        }
        by_library = not self.in_transaction and (self.library.spreads_reads or writes(pipeline))
        found = None if by_library else await self._fetch(collection, command)
        if found is None:
            return await self.library.aggregate(collection, pipeline, collection_scan=collection_scan)
        return found

    async def run_on_admin(self, command: Mapping[str, Any]) -> Document:
        reply = await self._run({**command, "$db": "admin"}, reads=True, outside_transaction=True)
        return await self.library.run_on_admin(command) if reply is None else reply

    async def list_indexes(self, collection: str) -> list[Document]:
        command = {"listIndexes": collection, "cursor": {"batchSize": _MOST_ROWS}, **self._limit}
        with translate_errors:
            reply = await self._send(command, reads=True)
            if reply is None:
                return await self.library.list_indexes(collection)
            if reply.get("code") == _NO_COLLECTION:
                return []
            if has_failed(reply):
                raise failure(reply)
        return required(required(reply, "cursor", dict), "firstBatch", list)

    async def has_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> bool:
        return are_in_place(specs, await self.list_indexes(collection))

    def stream(self, collection: str, filter: Filter, *, sort: Sort = (), batch: int = 1000) -> AsyncIterator[Document]:
        if not self.in_transaction:
            return self.library.stream(collection, filter, sort=sort, batch=batch)
        return self._rows(collection, find_command(collection, filter, {"sort": sort}, batch) | self._limit)

    async def _rows(self, collection: str, command: Mapping[str, Any]) -> AsyncIterator[Document]:
        """Yield the documents of a command's cursor in a transaction; the end of the transaction closes the cursor."""
        name = "firstBatch"
        while True:
            cursor = required(await self._run(command) or {}, "cursor", dict)
            for row in required(cursor, name, list):
                yield row
            if not (following := required(cursor, "id", int)):
                return
            command, name = {"getMore": following, "collection": collection, "batchSize": _MOST_ROWS}, "nextBatch"

    async def _fetch(self, collection: str, command: Mapping[str, Any]) -> list[Document] | None:
        """Return all documents of a command's cursor; None as in `_run`, and if the cursor was lost meanwhile."""
        reply = await self._run(command, reads=True)
        if reply is None:
            return None
        cursor = required(reply, "cursor", dict)
        rows: list[Document] = required(cursor, "firstBatch", list)
        while following := required(cursor, "id", int):
            reply = await self._run({"getMore": following, "collection": collection}, reads=True)
            if reply is None:
                return None
            cursor = required(reply, "cursor", dict)
            rows += required(cursor, "nextBatch", list)
        return rows

    async def _run(
        self,
        command: Mapping[str, Any],
        *,
        reads: bool = False,
        outside_transaction: bool = False,
        guarded: Sequence[Filter] = (),
    ) -> Document | None:
        """Return the reply to a command; None if the library has to run it, as it was not executed.

        A command that only `reads` may be executed twice. In a transaction, commands that write the documents of the
        `guarded` filters take turns. Raises the errors of `Driver`.
        """
        if not outside_transaction and (session := SESSION.get()) is not None:
            return await self._run_in(session, command, guarded=guarded)
        with translate_errors:
            reply = await self._send(command, reads=reads)
            if reply is not None and has_failed(reply):
                raise failure(reply)
        return reply

    async def _run_in(
        self,
        session: OpenSession,
        command: Mapping[str, Any],
        documents: Sequence[bytes] = (),
        guarded: Sequence[Filter] = (),
    ) -> Document:
        """Return the reply to a command of the transaction in `session`."""
        guard = self._transactions.locks.guard_write(command[next(iter(command))], *guarded)
        with self.operations() as operation, guard if guarded else nullcontext():
            # a cancelled command would still reach the server, maybe after the end of its transaction
            reply: Document = await session.run(session.handle.run(command, documents))
            if has_failed(reply):
                raise failure(reply)
        if operation.took >= SLOW_SECONDS:
            self.slow.note(command, operation.took)
        return reply

    async def _send(
        self, command: Mapping[str, Any], documents: Sequence[bytes] = (), *, reads: bool = False
    ) -> Document | None:
        """Return the reply to a command, even one with a failure; None if it was not executed or may be repeated."""
        with self.operations() as operation:
            reply = None
            try:
                reply = await self._wire.run(command, documents)
            except NotSent:
                pass
            except AutoReconnect:
                if not reads:
                    raise
            code = reply.get("code") if reply is not None and not reply["ok"] else None
            operation.unanswered = reply is None or code in SILENT_CODES
        if operation.took >= SLOW_SECONDS:
            self.slow.note(command, operation.took)
        if code in NO_PRIMARY_CODES:
            return None
        return None if reads and code in REPEATED_CODES else reply

    # -- by the library, except in a transaction

    async def command(self, command: Mapping[str, Any]) -> Document:
        session = SESSION.get()
        return await (self.library.command(command) if session is None else self._run_in(session, command))

    async def synchronise_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> None:
        await self.library.synchronise_indexes(collection, specs)

    async def transaction(self, work: Callable[[], Awaitable[Result]]) -> Result:
        return await work() if self.in_transaction else await self._transactions.run(work)

    async def snapshot(self, work: Callable[[], Awaitable[Result]]) -> Result:
        return await work() if self.in_transaction else await self._transactions.run(work, commit=False)

    async def take_turn(self, collection: str, *ids: Hashable) -> None:
        await self._transactions.locks.take_turn(*((collection, id) for id in ids))

    @property
    def open_sessions(self) -> list[bytes]:
        return self._transactions.sessions.ids

    def watch(self, collections: Sequence[str]) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        return self.library.watch(collections)

    async def close(self) -> None:
        await self._transactions.sessions.close(CLOSE_SECONDS)
        self._wire.close()
        await self.library.close()
