"""Locks by document: transactions of this process that write the same document take turns.

MongoDB aborts the later of two transactions that write a document, and the driver starts it again. When many do so at
once, they abort each other until most of them have used up their time limit. With these locks, an aborted transaction
starts again once it holds the lock of the document, and a transaction that comes to a document with a queue joins the
queue before it calls the database. Correctness does not depend on these locks: other processes have their own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Hashable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from pymongo.errors import OperationFailure

from config.database.commands import Filter
from config.database.errors import DatabaseUnavailable
from config.database.operations import Operations

_WRITE_CONFLICT = 112  # src/mongo/base/error_codes.yml
DocumentKey = tuple[str, Hashable]  # a collection and an `_id`


@dataclass(frozen=True)
class _Held:
    """The locks that a transaction holds, and the stack that releases them."""

    keys: set[DocumentKey]
    stack: AsyncExitStack


_held: ContextVar[_Held | None] = ContextVar("held_document_locks", default=None)


class WriteConflict(DatabaseUnavailable):
    """Another transaction writes one of the documents `keys`: this one has to start again with their locks."""

    def __init__(self, *keys: DocumentKey) -> None:
        super().__init__(f"another transaction changes the same document of {keys[0][0]}")
        self.keys = frozenset(keys)


class KeyedLocks:
    """A lock for each document that transactions have been in conflict over; it exists only while somebody needs it."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._locks: WeakValueDictionary[DocumentKey, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, keys: set[DocumentKey], until: float) -> AsyncIterator[None]:
        """Hold the locks of all documents in `keys`; `take_turn` adds to them.

        Raises TimeoutError at `until`, a monotonic time, and `DatabaseUnavailable` at the deadline of the request.
        """
        # everybody takes them in the same order, which prevents deadlocks
        locks = [self._locks.setdefault(key, asyncio.Lock()) for key in sorted(keys, key=str)]
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(until - time.monotonic()):
                with self._operations.shared():
                    for lock in locks:
                        await stack.enter_async_context(lock)
            token = _held.set(_Held(keys, stack))
            try:
                yield
            finally:
                _held.reset(token)

    async def take_turn(self, *keys: DocumentKey) -> None:
        """Take the locks of these documents for the transaction; raises `WriteConflict` if it must wait for one.

        It never waits itself: a transaction that holds other locks could then wait for one that waits for it.
        """
        held = _held.get()
        if held is None:
            raise RuntimeError("only transactions take turns")
        wanted = [key for key in keys if key not in held.keys]
        if any(key in self._locks for key in wanted):
            raise WriteConflict(*wanted)
        for key in wanted:
            lock = self._locks[key] = asyncio.Lock()
            await held.stack.enter_async_context(lock)  # does not wait, as nobody else knows the lock
            held.keys.add(key)

    @contextmanager
    def guard_write(self, collection: str, *filters: Filter) -> Iterator[None]:
        """Guard a write of a transaction, which changes a document for each filter.

        Raises `WriteConflict` if the transaction needs the locks of the documents. After a conflict in a command that
        changes several documents it names all of them, as the server does not say which one it was.
        """
        keys = [key for filter in filters if (key := _document_key(collection, filter)) is not None]
        held = _held.get()
        ours = held.keys if held is not None else set()
        queued = [key for key in keys if key in self._locks and key not in ours]
        if queued:
            raise WriteConflict(*queued)
        try:
            yield
        except OperationFailure as error:
            if not keys or error.code != _WRITE_CONFLICT:
                raise
            raise WriteConflict(*keys) from error


def _document_key(collection: str, filter: Filter) -> DocumentKey | None:
    """Return the key of the document that a filter names by its `_id`; None if it may match several."""
    for clause in (filter, *filter.get("$and", ())):
        id: Any = clause.get("_id")
        if id is not None and not isinstance(id, Mapping):
            return collection, id
    return None
