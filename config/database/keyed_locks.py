"""Locks by document: transactions of this process that write the same document take turns.

MongoDB aborts the later of two transactions that write a document, and the driver starts it again. When many do so at
once, they abort each other until the time limit of most has ended. Here an aborted transaction starts again when it
holds the lock of the document, and one that comes to a document with a queue joins the queue before it calls the
database. Correctness does not depend on these locks: other processes have locks of their own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Hashable, Iterator, Mapping, Set
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakValueDictionary

from pymongo.errors import OperationFailure

from config.database.commands import Filter
from config.database.errors import DatabaseUnavailable
from config.database.operations import Operations

_WRITE_CONFLICT = 112  # src/mongo/base/error_codes.yml
DocumentKey = tuple[str, Hashable]  # a collection and an `_id`
_held: ContextVar[Set[DocumentKey]] = ContextVar("held_document_locks", default=frozenset())


class WriteConflict(DatabaseUnavailable):
    """Another transaction writes the document `key`: this one has to start again with the lock of that document."""

    def __init__(self, key: DocumentKey) -> None:
        super().__init__(f"another transaction changes the same document of {key[0]}")
        self.key = key


class KeyedLocks:
    """A lock for each document that transactions have been in conflict over; it exists while somebody needs it."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._locks: WeakValueDictionary[DocumentKey, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, keys: Set[DocumentKey], until: float) -> AsyncIterator[None]:
        """Hold the locks of all these documents.

        Raises TimeoutError at `until`, a monotonic time, or when the request has spent its time limit in silence.
        """
        # everybody takes them in the same order, which excludes a deadlock
        locks = [self._locks.setdefault(key, asyncio.Lock()) for key in sorted(keys, key=str)]
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(until - time.monotonic()):
                with self._operations.wait_for_others():
                    for lock in locks:
                        await stack.enter_async_context(lock)
            token = _held.set(frozenset(keys))
            try:
                yield
            finally:
                _held.reset(token)

    @contextmanager
    def guard_write(self, collection: str, filter: Filter) -> Iterator[None]:
        """Guard a write of a transaction; raises `WriteConflict` where the transaction needs the document's lock."""
        key = _document_key(collection, filter)
        if key is not None and key in self._locks and key not in _held.get():
            raise WriteConflict(key)
        try:
            yield
        except OperationFailure as error:
            if key is None or error.code != _WRITE_CONFLICT:
                raise
            raise WriteConflict(key) from error


def _document_key(collection: str, filter: Filter) -> DocumentKey | None:
    """The document that a filter names by its `_id`; None where it may match several."""
    for clause in (filter, *filter.get("$and", ())):
        id: Any = clause.get("_id")
        if id is not None and not isinstance(id, Mapping):
            return collection, id
    return None
