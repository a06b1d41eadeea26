"""Inserts of the direct driver: those of several callers in one command, and many documents in several."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Any

from pymongo.errors import OperationFailure

from config.database.batcher import Batcher
from config.database.commands import Document
from config.database.direct.wire import NO_PRIMARY_CODES
from config.database.errors import DatabaseUnavailable
from config.database.replies import failure, has_expired, number

DURABLE: Mapping[str, Any] = {"writeConcern": {"w": "majority"}}
MOST_BYTES = 16 << 20  # of the documents of one command
_MOST_DOCUMENTS = 10_000
_MOST_INSERTS = 16  # the commands of a burst run at once: larger ones would not take less of mongod's time
Send = Callable[[Mapping[str, Any], Sequence[bytes]], Awaitable[Document | None]]


class Outcome(Enum):
    """What happened to a document of a batch of inserts."""

    INSERTED = auto()
    NOT_EXECUTED = auto()
    UNKNOWN = auto()  # the time limit ended, or the batch failed as a whole


class InsertBatches:
    """Inserts documents of several callers by one command; `send` sends it, and returns None if it was not executed."""

    def __init__(self, send: Send, timeout_ms: int) -> None:
        self._send = send
        self._batches = Batcher(self._insert_batch, _MOST_INSERTS)
        self._limit = {"maxTimeMS": timeout_ms}
        # a document that waits for another transaction must not use up the time of the rest of its batch
        self._batch_limit = {"maxTimeMS": max(timeout_ms // 2, 1)}

    def insert(self, collection: str, document: bytes) -> Awaitable[Outcome]:
        """Insert an encoded document; return what happened to it. Raises `OperationFailure`."""
        return self._batches.submit(collection, document)

    async def _insert_batch(self, collection: str, documents: Sequence[bytes]) -> Sequence[Outcome | OperationFailure]:
        """Insert the documents of several callers; return an outcome for each."""
        limit = self._batch_limit if len(documents) > 1 else self._limit
        reply = await self._send({"insert": collection, "ordered": False, **DURABLE, **limit}, documents)
        if reply is None:
            return [Outcome.NOT_EXECUTED] * len(documents)
        # one document made the whole batch fail, or made it wait until the time limit
        if len(documents) > 1 and (not reply["ok"] or has_expired(reply)):
            return [Outcome.UNKNOWN] * len(documents)
        if not reply["ok"] or "writeConcernError" in reply:
            raise failure(reply)
        faults = {fault["index"]: fault for fault in reply.get("writeErrors", ())}
        if number(reply, "n") != len(documents) - len(faults):
            raise DatabaseUnavailable("the server does not report for each document whether it was inserted")
        return [_outcome(faults[at]) if at in faults else Outcome.INSERTED for at in range(len(documents))]


def split(documents: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield the documents in parts that fit into one command."""
    part: list[bytes] = []
    size = 0
    for document in documents:
        if part and (size + len(document) > MOST_BYTES or len(part) == _MOST_DOCUMENTS):
            yield part
            part, size = [], 0
        part.append(document)
        size += len(document)
    if part:
        yield part


def _outcome(fault: Document) -> Outcome | OperationFailure:
    """Return the outcome of a document for which the server reports a write error."""
    if fault.get("code") in NO_PRIMARY_CODES:
        return Outcome.NOT_EXECUTED
    return failure({"ok": 1, "writeErrors": [fault]})
