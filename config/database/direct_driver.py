"""`direct`: sends single commands over the wire protocol without a driver library, which does everything else.

The library keeps transactions, bulk writes, long lists, changes of indexes and change streams. It also serves whatever
the wire cannot: compression, authentication other than SCRAM-SHA-256 and X.509, and the wait for a primary while there is
none.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import Enum, auto
from typing import Any, TypeVar, Unpack

from bson import decode, encode
from pymongo.errors import AutoReconnect, OperationFailure
from pymongo.uri_parser import parse_uri

from config.database.batcher import Batcher
from config.database.commands import (
    CODEC,
    NATURAL_ORDER,
    CountOptions,
    Document,
    Filter,
    FindOneOptions,
    FindOptions,
    ReadOptions,
    Sort,
    Update,
    UpdateOptions,
    count_command,
    find_options,
    has_failed,
    without_existing_ids,
    writes,
)
from config.database.document_loader import DocumentLoader
from config.database.driver import Change, Driver
from config.database.errors import REPEATED_CODES, DatabaseUnavailable, DuplicateKey, translate_errors
from config.database.indexes import IndexSpec, are_in_place
from config.database.library_driver import LibraryDriver
from config.database.operations import SILENT_CODES, Operation
from config.database.replies import failure, has_expired, number, required
from config.database.scram import MECHANISM
from config.database.slow_operations import SLOW_SECONDS, SlowOperations
from config.database.transactions import SESSION
from config.database.wire import NO_PRIMARY_CODES, X509, NotSent, Target, WirePool
from config.database.wire_tls import TLS_OPTIONS, tls_context

Result = TypeVar("Result")
_MOST_ROWS = 500  # the library decodes longer lists in its threads
_DURABLE: Mapping[str, Any] = {"writeConcern": {"w": "majority"}}
_NOT_DURABLE: Mapping[str, Any] = {"writeConcern": {"w": 1, "j": False}}
_MOST_INSERTS = 16  # several commands of a burst run at once: larger ones take no less of mongod's time
_MOST_BATCHED_BYTES = 256 << 10  # of one document: a larger one is inserted alone, so that no command is too long
_MOST_BYTES = 16 << 20
# commands that may take seconds although the database is well: all but those on single documents
_BULK_COMMANDS = frozenset({"aggregate", "count", "delete", "getMore", "update"})
_NO_COLLECTION = 26  # NamespaceNotFound: src/mongo/base/error_codes.yml
_SUPPORTED_OPTIONS = frozenset(
    {
        "authsource",
        "directconnection",
        "replicaset",
        "appname",
        "retrywrites",
        "retryreads",
        "w",
        "journal",
        "readconcernlevel",
        "maxpoolsize",
        "connecttimeoutms",
        "serverselectiontimeoutms",
        "authmechanism",
        *TLS_OPTIONS,
    }
)


class _Outcome(Enum):
    """What happened to a document of a batch of inserts."""

    INSERTED = auto()
    NOT_EXECUTED = auto()
    UNKNOWN = auto()  # the time limit ended, or the batch failed as a whole


class DirectDriver(Driver):
    """Sends single commands over the wire to `target`; `library` does everything else, under the same time limits."""

    def __init__(self, library: LibraryDriver, target: Target, timeout_ms: int) -> None:
        self.library = library
        self._wire = WirePool(target, connect_seconds=timeout_ms / 2000, elections=library.elections)
        self._operations = library.operations
        self.slow = SlowOperations(self._wire.run)
        self._limit: dict[str, Any] = {"maxTimeMS": timeout_ms}
        # a document that waits for another transaction must not use up the time of the rest of its batch
        self._batch_limit: dict[str, Any] = {"maxTimeMS": max(timeout_ms // 2, 1)}
        self._reading: dict[str, Any] = {"readConcern": {"level": "majority"}, **self._limit}
        self._inserts = Batcher(self._insert_batch, _MOST_INSERTS)
        self._loader = DocumentLoader(self, self._operations)

    def connections(self) -> dict[str, float]:
        return self._wire.figures

    @property
    def slow_operations(self) -> int:
        return self.slow.count

    # -- over the wire, where that can do it

    async def find(self, collection: str, filter: Filter, **options: Unpack[FindOptions]) -> list[Document]:
        found = None
        if 0 < options.get("limit", 0) <= _MOST_ROWS:
            found = await self._fetch(collection, self._find_command(collection, filter, options))
        return await self.library.find(collection, filter, **options) if found is None else found

    async def find_one(self, collection: str, filter: Filter, **options: Unpack[FindOneOptions]) -> Document | None:
        first: FindOptions = {"limit": 1, "sort": options.get("sort", ()), "without": options.get("without", ())}
        found = await self._fetch(collection, self._find_command(collection, filter, first))
        if found is None:
            return await self.library.find_one(collection, filter, **options)
        return found[0] if found else None

    def _find_command(self, collection: str, filter: Filter, options: FindOptions) -> dict[str, Any]:
        given = find_options(options)
        return {"find": collection, "filter": filter, "batchSize": given["limit"], **given, **self._reading}

    async def find_by_id(self, collection: str, id: Hashable, **options: Unpack[ReadOptions]) -> Document | None:
        return await self._loader.load(collection, id, options)

    async def count(self, collection: str, filter: Filter, **options: Unpack[CountOptions]) -> int:
        command = count_command(collection, filter, options) if filter else {"count": collection}
        reply = await self._run({**command, **self._limit}, reads=True)
        return await self.library.count(collection, filter, **options) if reply is None else number(reply, "n")

    async def insert(self, collection: str, documents: Sequence[Document]) -> None:
        if len(documents) != 1 or "_id" not in documents[0] or SESSION.get() is not None:
            return await self.library.insert(collection, documents)
        raw = encode(documents[0])
        if len(raw) > _MOST_BATCHED_BYTES:
            return await self.library.insert(collection, documents)
        with self._operations() as operation:
            outcome = await self._inserts.submit(collection, raw)
            operation.unanswered = outcome is not _Outcome.INSERTED
        if outcome is _Outcome.UNKNOWN:
            return await self._insert_again(collection, documents[0], raw)
        if outcome is _Outcome.NOT_EXECUTED:
            return await self.library.insert(collection, documents)
        return None

    async def _insert_batch(self, collection: str, documents: Sequence[bytes]) -> Sequence[_Outcome | OperationFailure]:
        """Insert the documents of several callers; each gets an outcome of its own."""
        limit = self._batch_limit if len(documents) > 1 else self._limit
        reply = await self._send({"insert": collection, "ordered": False, **_DURABLE, **limit}, documents)
        if reply is None:
            return [_Outcome.NOT_EXECUTED] * len(documents)
        # one document made the whole batch fail, or made it wait until the time limit
        if len(documents) > 1 and (not reply["ok"] or has_expired(reply)):
            return [_Outcome.UNKNOWN] * len(documents)
        if not reply["ok"] or "writeConcernError" in reply:
            raise failure(reply)
        faults = {fault["index"]: fault for fault in reply.get("writeErrors", ())}
        if number(reply, "n") != len(documents) - len(faults):
            raise DatabaseUnavailable("the server does not report for each document whether it was inserted")
        return [_outcome(faults[at]) if at in faults else _Outcome.INSERTED for at in range(len(documents))]

    async def _insert_again(self, collection: str, document: Document, raw: bytes) -> None:
        """Insert a document alone after its batch failed, which may have stored it already."""
        try:
            await self.library.insert(collection, [document])
        except DuplicateKey:
            if await self.find_one(collection, {"_id": document["_id"]}) != decode(raw, CODEC):
                raise

    async def insert_missing(self, collection: str, documents: Sequence[Document]) -> None:
        encoded = [encode(document) for document in documents]
        reply = None
        if sum(map(len, encoded)) < _MOST_BYTES and SESSION.get() is None:
            with translate_errors:
                command = {"insert": collection, "ordered": False, **_DURABLE, **self._limit}
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
            **(_DURABLE if options.get("wait_for_durability", True) else _NOT_DURABLE),
            **self._limit,
        }
        if sort := options.get("sort"):
            command["sort"] = dict(sort)
        reply = await self._run(command, outside_transaction=options.get("outside_transaction", False))
        if reply is None:
            return await self.library.update_one(collection, filter, update, **options)
        if "value" in reply and reply["value"] is None:
            return None
        changed: Document = required(reply, "value", dict)
        return changed

    async def update_many(self, collection: str, filter: Filter, update: Update) -> int:
        change = {"q": filter, "u": update, "multi": True}
        reply = await self._run({"update": collection, "updates": [change], **_DURABLE, **self._limit})
        if reply is None:
            return await self.library.update_many(collection, filter, update)
        return number(reply, "nModified")

    async def delete_many(self, collection: str, filter: Filter) -> int:
        deletion = {"q": filter, "limit": 0}
        reply = await self._run({"delete": collection, "deletes": [deletion], **_DURABLE, **self._limit})
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
        by_library = self.library.spreads_reads or writes(pipeline)
        found = None if by_library else await self._fetch(collection, command)
        if found is None:
            return await self.library.aggregate(collection, pipeline, collection_scan=collection_scan)
        return found

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

    async def _fetch(self, collection: str, command: Mapping[str, Any]) -> list[Document] | None:
        """All documents of a command's cursor; None as `_run`, and where the cursor was lost meanwhile."""
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
        self, command: Mapping[str, Any], *, reads: bool = False, outside_transaction: bool = False
    ) -> Document | None:
        """The reply to a command; None where the library has to run it: in a transaction, or as it was not executed.

        A command that only `reads` may be executed twice. Raises the errors of `Driver`.
        """
        if SESSION.get() is not None and not outside_transaction:
            return None
        with translate_errors:
            reply = await self._send(command, reads=reads)
            if reply is not None and has_failed(reply):
                raise failure(reply)
        return reply

    async def _send(
        self, command: Mapping[str, Any], documents: Sequence[bytes] = (), *, reads: bool = False
    ) -> Document | None:
        """The reply to a command, even one with a failure; None where it was not executed or may be repeated."""
        with self._operations(long=not _BULK_COMMANDS.isdisjoint(command)) as operation:
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

    # -- by the library

    async def update_each(self, collection: str, changes: Sequence[tuple[Filter, Update]]) -> int:
        return await self.library.update_each(collection, changes)

    def stream(self, collection: str, filter: Filter, *, sort: Sort = (), batch: int = 1000) -> AsyncIterator[Document]:
        return self.library.stream(collection, filter, sort=sort, batch=batch)

    async def command(self, command: Mapping[str, Any]) -> Document:
        return await self.library.command(command)

    async def end_orphans(self) -> int:
        return await self.library.end_orphans()

    async def synchronise_indexes(self, collection: str, specs: Sequence[IndexSpec]) -> None:
        await self.library.synchronise_indexes(collection, specs)

    async def transaction(self, work: Callable[[], Awaitable[Result]]) -> Result:
        return await self.library.transaction(work)

    async def take_turn(self, collection: str, *ids: Hashable) -> None:
        await self.library.take_turn(collection, *ids)

    async def snapshot(self, work: Callable[[], Awaitable[Result]]) -> Result:
        return await self.library.snapshot(work)

    @property
    def in_transaction(self) -> bool:
        return SESSION.get() is not None

    @property
    def open_sessions(self) -> list[bytes]:
        return self.library.open_sessions

    def watch(self, collections: Sequence[str]) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        return self.library.watch(collections)

    def time_limit(self) -> Operation:
        return self._operations()

    async def close(self) -> None:
        self._wire.close()
        await self.library.close()


def target_of(uri: str, database: str) -> Target | None:
    """The target of the wire for this address; None for an address that the wire cannot speak to.

    The names of `mongodb+srv` are looked up here. Raises `OSError` for files of TLS that cannot be used.
    """
    parsed = parse_uri(uri)
    if any(port is None for _, port in parsed["nodelist"]):
        return None
    options = {name.lower(): value for name, value in parsed["options"].items()}
    mechanism = options.get("authmechanism", MECHANISM)
    if not _SUPPORTED_OPTIONS.issuperset(options) or mechanism not in (MECHANISM, X509):
        return None
    tls = tls_context(options)
    if mechanism == X509 and tls is None:
        return None
    return Target(
        hosts=tuple(parsed["nodelist"]),
        database=database,
        user=parsed["username"] or "",
        password=parsed["password"] or "",
        source=options.get("authsource") or parsed["database"] or "admin",
        direct=bool(options.get("directconnection")),
        mechanism=mechanism,
        tls=tls,
    )


def _outcome(fault: Document) -> _Outcome | OperationFailure:
    """The outcome of a document that the server reports a write error for."""
    if fault.get("code") in NO_PRIMARY_CODES:
        return _Outcome.NOT_EXECUTED
    return failure({"ok": 1, "writeErrors": [fault]})
