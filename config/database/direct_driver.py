"""`direct`: operations that stand alone go over the wire without a driver library between; all else as Motor does it.

Transactions, bulk writes, long lists, indexes and change streams are Motor's. So is whatever the wire cannot do: TLS,
compression, log-ins other than SCRAM-SHA-256, `mongodb+srv`; and the wait for a primary while there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pymongo.errors import AutoReconnect, DuplicateKeyError, OperationFailure, WriteConcernError, WTimeoutError
from pymongo.uri_parser import parse_uri

from config.database.driver import MARGIN_SECONDS, NATURAL_ORDER, Document, Filter, Sort, count_command, find_options
from config.database.drivers import MotorDriver
from config.database.errors import DatabaseUnavailable, translated
from config.database.wire import NotSent, Target, WirePool
from config.time_limits import TimeLimit

_MOST_ROWS = 500  # longer lists are decoded in Motor's threads
_LASTING: Mapping[str, Any] = {"writeConcern": {"w": "majority"}}
_FOLLOWED: Mapping[str, Any] = {"writeConcern": {"w": 1, "j": False}}
_DUPLICATE = 11000
_LATE = 64  # WriteConcernTimeout: src/mongo/base/error_codes.yml
# NotWritablePrimary, NotPrimaryNoSecondaryOk: what answers so has done nothing
_NOT_DONE = frozenset({10107, 13435})
_SPOKEN = frozenset({
    "authsource", "directconnection", "replicaset", "appname", "retrywrites", "retryreads", "w", "journal",
    "readconcernlevel", "maxpoolsize", "connecttimeoutms", "serverselectiontimeoutms", "authmechanism",
})  # fmt: skip


class DirectDriver(MotorDriver):
    """Single commands over the wire, all else as Motor does it."""

    def __init__(self, uri: str, database: str, timeout_ms: int) -> None:
        super().__init__(uri, database, timeout_ms)
        target = target_of(uri, database)
        self._wire = WirePool(target, connect_seconds=self._seconds / 2) if target is not None else None
        self._time = TimeLimit(self._seconds + MARGIN_SECONDS)
        self._limit: dict[str, Any] = {"maxTimeMS": timeout_ms}
        self._reading: dict[str, Any] = {"readConcern": {"level": "majority"}, **self._limit}

    async def find(
        self, collection: str, filter: Filter, *, sort: Sort = (), skip: int = 0, limit: int = 0,
        fields: Sequence[str] | None = None, without: Sequence[str] = (),
    ) -> list[Document]:  # fmt: skip
        """As the seam says."""
        found = None
        if 0 < limit <= _MOST_ROWS:
            found = await self._rows(
                collection, self._find_command(collection, filter, sort, skip, limit, fields, without)
            )
        if found is None:
            return await super().find(
                collection, filter, sort=sort, skip=skip, limit=limit, fields=fields, without=without
            )
        return found

    async def find_one(
        self, collection: str, filter: Filter, *, sort: Sort = (), without: Sequence[str] = ()
    ) -> Document | None:
        """As the seam says."""
        found = await self._rows(collection, self._find_command(collection, filter, sort, 0, 1, None, without))
        if found is None:
            return await super().find_one(collection, filter, sort=sort, without=without)
        return found[0] if found else None

    def _find_command(
        self, collection: str, filter: Filter, sort: Sort, skip: int, limit: int, fields: Sequence[str] | None,
        without: Sequence[str],
    ) -> dict[str, Any]:  # fmt: skip
        options = find_options(sort, skip, limit, fields, without)
        return {"find": collection, "filter": filter, "batchSize": limit, **options, **self._reading}

    async def count(self, collection: str, filter: Filter) -> int:
        """As the seam says."""
        command = count_command(collection, filter) if filter else {"count": collection}
        answer = await self._answer({**command, **self._limit}, reads=True)
        return await super().count(collection, filter) if answer is None else int(answer["n"])

    async def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """As the seam says."""
        command = {"insert": collection, "documents": list(documents), **_LASTING, **self._limit}
        if len(documents) != 1 or await self._answer(command) is None:
            await super().insert(collection, documents)

    async def update_one(
        self, collection: str, filter: Filter, update: Mapping[str, Any] | Sequence[Mapping[str, Any]], *,
        upsert: bool = False, apart: bool = False, followed: bool = False, sort: Sort = (),
    ) -> Document | None:  # fmt: skip
        """As the seam says."""
        command = {
            "findAndModify": collection, "query": filter, "update": update, "new": True, "upsert": upsert,
            **(_FOLLOWED if followed else _LASTING), **self._limit,
        }  # fmt: skip
        if sort:
            command["sort"] = dict(sort)
        answer = await self._answer(command, apart=apart)
        if answer is None:
            return await super().update_one(
                collection, filter, update, upsert=upsert, apart=apart, followed=followed, sort=sort
            )
        changed: Document | None = answer["value"]
        return changed

    async def update_many(self, collection: str, filter: Filter, update: Mapping[str, Any]) -> int:
        """As the seam says."""
        change = {"q": filter, "u": update, "multi": True}
        answer = await self._answer({"update": collection, "updates": [change], **_LASTING, **self._limit})
        return await super().update_many(collection, filter, update) if answer is None else int(answer["nModified"])

    async def delete_many(self, collection: str, filter: Filter) -> int:
        """As the seam says."""
        deletion = {"q": filter, "limit": 0}
        answer = await self._answer({"delete": collection, "deletes": [deletion], **_LASTING, **self._limit})
        return await super().delete_many(collection, filter) if answer is None else int(answer["n"])

    async def aggregate(
        self, collection: str, pipeline: Sequence[Mapping[str, Any]], *, whole: bool = False
    ) -> list[Document]:
        """As the seam says."""
        command = {
            "aggregate": collection, "pipeline": list(pipeline), "cursor": {"batchSize": _MOST_ROWS},
            **(NATURAL_ORDER if whole else {}), **self._reading,
        }  # fmt: skip
        writes = any({"$merge", "$out"} & stage.keys() for stage in pipeline)
        found = None if writes else await self._rows(collection, command)
        return await super().aggregate(collection, pipeline, whole=whole) if found is None else found

    async def close(self) -> None:
        """Close every connection."""
        if self._wire is not None:
            self._wire.close()
        await super().close()

    async def _rows(self, collection: str, command: Mapping[str, Any]) -> list[Document] | None:
        """All documents that a command's cursor gives; None as `_answer`."""
        answer = await self._answer(command, reads=True)
        if answer is None:
            return None
        rows: list[Document] = answer["cursor"]["firstBatch"]
        while answer["cursor"]["id"]:
            answer = await self._answer({"getMore": answer["cursor"]["id"], "collection": collection})
            if answer is None:
                raise DatabaseUnavailable("the server of a list is gone")
            rows += answer["cursor"]["nextBatch"]
        return rows

    async def _answer(self, command: Mapping[str, Any], *, reads: bool = False, apart: bool = False) -> Document | None:
        """The answer to a command; None when Motor is to do it: in a transaction, and when it was not executed.

        One that only `reads` may be executed twice. Errors are those of the seam.
        """
        if self._wire is None or (self.in_transaction and not apart):
            return None
        with translated:
            try:
                with self._time():
                    answer = await self._wire.run(command)
            except NotSent:
                return None
            except AutoReconnect:
                self._wire.forget()
                if reads:
                    return None
                raise
            if not answer["ok"] and answer.get("code") in _NOT_DONE:
                self._wire.forget()
                return None
            if not answer["ok"] or "writeErrors" in answer or "writeConcernError" in answer:
                raise _error(answer)
        return answer


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


def _error(answer: Document) -> OperationFailure:
    """What PyMongo would raise for this answer."""
    told = answer if not answer["ok"] else (answer.get("writeErrors") or [answer["writeConcernError"]])[0]
    words, code = str(told.get("errmsg", "")), int(told.get("code", 0))
    if code == _DUPLICATE:
        return DuplicateKeyError(words, code, answer)
    if told is answer or "writeErrors" in answer:
        return OperationFailure(words, code, answer)
    return (WTimeoutError if code == _LATE else WriteConcernError)(words, code, answer)
