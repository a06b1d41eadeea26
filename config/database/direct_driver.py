"""`direct`: operations that stand alone go over the wire without a driver library between; all else as Motor does it.

Transactions, bulk writes, long lists, indexes and change streams are Motor's. So is whatever the wire cannot do: TLS,
compression, log-ins other than SCRAM-SHA-256, `mongodb+srv`; and the wait for a primary while there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Any, TypeVar

from bson import decode, encode
from pymongo.errors import AutoReconnect, DuplicateKeyError, OperationFailure, WriteConcernError, WTimeoutError
from pymongo.uri_parser import parse_uri

from config.database.commands import (
    CODEC,
    DUPLICATE,
    NATURAL_ORDER,
    Document,
    Filter,
    Sort,
    count_command,
    find_options,
    only_there_already,
    refuses,
)
from config.database.errors import REPEATED_CODES, DatabaseUnavailable, DuplicateKey, translated
from config.database.library_drivers import MotorDriver
from config.database.operations import SILENT_CODES
from config.database.together import Together
from config.database.wire import NotSent, Target, WirePool

Told = TypeVar("Told")
_MOST_ROWS = 500  # longer lists are decoded in Motor's threads
_LASTING: Mapping[str, Any] = {"writeConcern": {"w": "majority"}}
_FOLLOWED: Mapping[str, Any] = {"writeConcern": {"w": 1, "j": False}}
_MOST_TOGETHER = 16  # several commands of a burst are under way at once: more take no less of mongod's time
_MOST_TOGETHER_BYTES = 256 << 10  # of one document: large ones go alone, so that no command is too long
_MOST_BYTES = 16 << 20
_EXPIRED = 50  # MaxTimeMSExpired: src/mongo/base/error_codes.yml
_LATE = 64  # WriteConcernTimeout
_NO_COLLECTION = 26  # NamespaceNotFound
# NotWritablePrimary, NotPrimaryNoSecondaryOk: what answers so has done nothing
_NOT_DONE = frozenset({10107, 13435})
_SPOKEN = frozenset(
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
    }
)


class _Outcome(Enum):
    """What became of a document that was inserted with others."""

    DONE = auto()
    NOT_SENT = auto()
    LATE = auto()


class DirectDriver(MotorDriver):
    """Single commands over the wire, all else as Motor does it."""

    def __init__(self, uri: str, database: str, timeout_ms: int) -> None:
        super().__init__(uri, database, timeout_ms)
        target = target_of(uri, database)
        self._wire = WirePool(target, connect_seconds=self._seconds / 2) if target is not None else None
        self._limit: dict[str, Any] = {"maxTimeMS": timeout_ms}
        # a neighbour that waits for somebody's transaction must not use up the time of the others
        self._part: dict[str, Any] = {"maxTimeMS": max(timeout_ms // 2, 1)}
        self._inserts = Together(self._insert_together, _MOST_TOGETHER)
        self._reading: dict[str, Any] = {"readConcern": {"level": "majority"}, **self._limit}

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
        """As the seam says."""
        found = None
        if 0 < limit <= _MOST_ROWS:
            options = find_options(sort, skip, limit, fields, without, hint)
            found = await self._rows(collection, self._find_command(collection, filter, options))
        if found is None:
            return await super().find(
                collection, filter, sort=sort, skip=skip, limit=limit, fields=fields, without=without, hint=hint
            )
        return found

    async def find_one(
        self, collection: str, filter: Filter, *, sort: Sort = (), without: Sequence[str] = ()
    ) -> Document | None:
        """As the seam says."""
        found = await self._rows(
            collection, self._find_command(collection, filter, find_options(sort, 0, 1, None, without))
        )
        if found is None:
            return await super().find_one(collection, filter, sort=sort, without=without)
        return found[0] if found else None

    def _find_command(self, collection: str, filter: Filter, options: Mapping[str, Any]) -> dict[str, Any]:
        return {"find": collection, "filter": filter, "batchSize": options["limit"], **options, **self._reading}

    async def count(self, collection: str, filter: Filter, *, limit: int = 0, hint: str | None = None) -> int:
        """As the seam says."""
        command = count_command(collection, filter, limit, hint) if filter else {"count": collection}
        answer = await self._answer({**command, **self._limit}, reads=True)
        if answer is None:
            return await super().count(collection, filter, limit=limit, hint=hint)
        return _number(answer, "n")

    async def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """As the seam says; single ones that come at once are inserted in one command."""
        if self._wire is None or len(documents) != 1 or "_id" not in documents[0] or self.in_transaction:
            return await super().insert(collection, documents)
        raw = encode(documents[0])
        if len(raw) > _MOST_TOGETHER_BYTES:
            return await super().insert(collection, documents)
        with self._operation() as operation:
            outcome = await self._inserts.ask(collection, raw)
            operation.unanswered = outcome is not _Outcome.DONE
        if outcome is _Outcome.LATE:
            return await self._insert_late(collection, documents[0], raw)
        if outcome is _Outcome.NOT_SENT:
            return await super().insert(collection, documents)
        return None

    async def _insert_together(
        self, collection: str, documents: Sequence[bytes]
    ) -> Sequence[_Outcome | OperationFailure]:
        """Insert each document or say why not: a neighbour's fault is not another's."""
        limit = self._part if len(documents) > 1 else self._limit
        answer = await self._sent({"insert": collection, "ordered": False, **_LASTING, **limit}, documents)
        if answer is None:
            return [_Outcome.NOT_SENT] * len(documents)
        # as a whole it was refused for one of them, or for the wait for all
        if len(documents) > 1 and (not answer["ok"] or _expired(answer)):
            return [_Outcome.LATE] * len(documents)
        if not answer["ok"] or "writeConcernError" in answer:
            raise _error(answer)
        refused = {fault["index"]: fault for fault in answer.get("writeErrors", ())}
        if _number(answer, "n") != len(documents) - len(refused):
            raise DatabaseUnavailable("the server does not say of each document whether it was inserted")
        return [_outcome(refused[at]) if at in refused else _Outcome.DONE for at in range(len(documents))]

    async def _insert_late(self, collection: str, document: Document, raw: bytes) -> None:
        """Insert on its own what a neighbour kept waiting, and what may be there already."""
        try:
            await super().insert(collection, [document])
        except DuplicateKey:
            if await self.find_one(collection, {"_id": document["_id"]}) != decode(raw, CODEC):
                raise

    async def insert_missing(self, collection: str, documents: Sequence[Document]) -> None:
        """As the seam says."""
        encoded = [encode(document) for document in documents]
        answer = None
        if sum(map(len, encoded)) < _MOST_BYTES and not self.in_transaction:
            with translated:
                command = {"insert": collection, "ordered": False, **_LASTING, **self._limit}
                answer = await self._sent(command, encoded, reads=True)
                if answer is not None and refuses(answer) and not only_there_already(answer):
                    raise _error(answer)
        if answer is None:
            await super().insert_missing(collection, documents)

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
        """As the seam says."""
        command = {
            "findAndModify": collection,
            "query": filter,
            "update": update,
            "new": True,
            "upsert": upsert,
            **(_FOLLOWED if followed else _LASTING),
            **self._limit,
        }
        if sort:
            command["sort"] = dict(sort)
        answer = await self._answer(command, apart=apart)
        if answer is None:
            return await super().update_one(
                collection, filter, update, upsert=upsert, apart=apart, followed=followed, sort=sort
            )
        if "value" in answer and answer["value"] is None:
            return None
        changed: Document = _told(answer, "value", dict)
        return changed

    async def update_many(self, collection: str, filter: Filter, update: Mapping[str, Any]) -> int:
        """As the seam says."""
        change = {"q": filter, "u": update, "multi": True}
        answer = await self._answer({"update": collection, "updates": [change], **_LASTING, **self._limit})
        if answer is None:
            return await super().update_many(collection, filter, update)
        return _number(answer, "nModified")

    async def delete_many(self, collection: str, filter: Filter) -> int:
        """As the seam says."""
        deletion = {"q": filter, "limit": 0}
        answer = await self._answer({"delete": collection, "deletes": [deletion], **_LASTING, **self._limit})
        return await super().delete_many(collection, filter) if answer is None else _number(answer, "n")

    async def aggregate(
        self, collection: str, pipeline: Sequence[Mapping[str, Any]], *, whole: bool = False
    ) -> list[Document]:
        """As the seam says."""
        command = {
            "aggregate": collection,
            "pipeline": list(pipeline),
            "cursor": {"batchSize": _MOST_ROWS},
            **(NATURAL_ORDER if whole else {}),
            **self._reading,
        }
        writes = any({"$merge", "$out"} & stage.keys() for stage in pipeline)
        found = None if writes else await self._rows(collection, command)
        return await super().aggregate(collection, pipeline, whole=whole) if found is None else found

    async def _indexes(self, collection: str) -> list[Document]:
        """As the seam does; a start asks for those of every collection."""
        command = {"listIndexes": collection, "cursor": {"batchSize": _MOST_ROWS}, **self._limit}
        with translated:
            answer = await self._sent(command, reads=True)
            if answer is None:
                return await super()._indexes(collection)
            if answer.get("code") == _NO_COLLECTION:
                return []
            if refuses(answer):
                raise _error(answer)
        return _told(_told(answer, "cursor", dict), "firstBatch", list)

    async def close(self) -> None:
        """Close every connection."""
        if self._wire is not None:
            self._wire.close()
        await super().close()

    async def _rows(self, collection: str, command: Mapping[str, Any]) -> list[Document] | None:
        """All documents that a command's cursor gives; None as `_answer`, and when the rest of them is gone."""
        answer = await self._answer(command, reads=True)
        if answer is None:
            return None
        cursor = _told(answer, "cursor", dict)
        rows: list[Document] = _told(cursor, "firstBatch", list)
        while following := _told(cursor, "id", int):
            answer = await self._answer({"getMore": following, "collection": collection}, reads=True)
            if answer is None:
                return None
            cursor = _told(answer, "cursor", dict)
            rows += _told(cursor, "nextBatch", list)
        return rows

    async def _answer(self, command: Mapping[str, Any], *, reads: bool = False, apart: bool = False) -> Document | None:
        """The answer to a command; None when Motor is to do it: in a transaction, and when it was not executed.

        One that only `reads` may be executed twice. Errors are those of the seam.
        """
        if self._wire is None or (self.in_transaction and not apart):
            return None
        with translated:
            answer = await self._sent(command, reads=reads)
            if answer is not None and refuses(answer):
                raise _error(answer)
        return answer

    async def _sent(
        self, command: Mapping[str, Any], documents: Sequence[bytes] = (), *, reads: bool = False
    ) -> Document | None:
        """The answer to a command, a refusal too; None when it was not executed, or only `reads` and may be again."""
        if self._wire is None:
            return None
        with self._operation() as operation:
            answer = None
            try:
                answer = await self._wire.run(command, documents)
            except NotSent:
                pass
            except AutoReconnect:
                self._wire.forget()
                if not reads:
                    raise
            code = answer.get("code") if answer is not None and not answer["ok"] else None
            operation.unanswered = answer is None or code in SILENT_CODES
        if code in _NOT_DONE:
            self._wire.forget()
            return None
        return None if reads and code in REPEATED_CODES else answer


def target_of(uri: str, database: str) -> Target | None:
    """Where the wire finds the database of this address; None for one that it cannot speak to."""
    parsed = parse_uri(uri) if uri.startswith("mongodb://") else None
    if parsed is None or any(port is None for _, port in parsed["nodelist"]):
        return None
    options = {name.lower(): value for name, value in parsed["options"].items()}
    if not _SPOKEN.issuperset(options) or options.get("authmechanism", "SCRAM-SHA-256") != "SCRAM-SHA-256":
        return None
    return Target(
        hosts=tuple(parsed["nodelist"]),
        database=database,
        user=parsed["username"] or "",
        password=parsed["password"] or "",
        source=options.get("authsource") or parsed["database"] or "admin",
        direct=bool(options.get("directconnection")),
    )


def _told(answer: Mapping[str, Any], field: str, kind: type[Told]) -> Told:
    """What an answer says in a field that it must have. Raises `DatabaseUnavailable`: it may have been done."""
    value = answer.get(field)
    if not isinstance(value, kind):
        raise DatabaseUnavailable(f"an answer without {field}")
    return value


def _number(answer: Mapping[str, Any], field: str) -> int:
    """A count that an answer must have."""
    return int(_told(answer, field, float) if isinstance(answer.get(field), float) else _told(answer, field, int))


def _expired(answer: Document) -> bool:
    """Whether the time was over, for the command or for the wait until what it wrote is durable."""
    told = answer.get("writeConcernError", {}) if answer["ok"] else answer
    return bool(told.get("code") == _EXPIRED)


def _outcome(fault: Document) -> _Outcome | OperationFailure:
    """What became of one of several documents."""
    if fault.get("code") in _NOT_DONE:
        return _Outcome.NOT_SENT
    return _error({"ok": 1, "writeErrors": [fault]})


def _error(answer: Document) -> OperationFailure:
    """What PyMongo would raise for this answer."""
    told = answer if not answer["ok"] else (answer.get("writeErrors") or [answer.get("writeConcernError", {})])[0]
    words, code = str(told.get("errmsg", "")), int(told.get("code", 0))
    if code == DUPLICATE:
        return DuplicateKeyError(words, code, answer)
    if told is answer or "writeErrors" in answer:
        return OperationFailure(words, code, answer)
    return (WTimeoutError if code == _LATE else WriteConcernError)(words, code, answer)
