"""Turns: transactions of one process that want to change the same document queue for it, first come, first served.

MongoDB ends the later one of two transactions that change a document, and has it begin again. Many at once so end each
other until the time of most is over. Here the one that was ended begins again when it is its turn, and who meets a
document that others queue for joins them before asking the database. Correctness never rests on it: other processes
have queues of their own.
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

_WRITE_CONFLICT = 112  # src/mongo/base/error_codes.yml
Turn = tuple[str, Hashable]  # a collection and an `_id`
_held: ContextVar[Set[Turn]] = ContextVar("turns_held", default=frozenset())


class Contested(DatabaseUnavailable):
    """Another transaction changes the document: this one is to begin again when it has its `turn`."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(f"another transaction changes the same document of {turn[0]}")
        self.turn = turn


class Turns:
    """The queues: one for every document that transactions have met at, as long as somebody stands in it."""

    def __init__(self) -> None:
        self._queues: WeakValueDictionary[Turn, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, turns: Set[Turn], until: float) -> AsyncIterator[None]:
        """Be alone with all of these documents; raises TimeoutError when that is not so by `until`, monotonic."""
        # in one order for everybody, so that no two wait for each other
        queues = [self._queues.setdefault(turn, asyncio.Lock()) for turn in sorted(turns, key=str)]
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(until - time.monotonic()):
                for queue in queues:
                    await stack.enter_async_context(queue)
            token = _held.set(frozenset(turns))
            try:
                yield
            finally:
                _held.reset(token)

    @contextmanager
    def writing(self, collection: str, filter: Filter) -> Iterator[None]:
        """A write of a transaction; raises `Contested` where it is to wait for its turn."""
        turn = _turn(collection, filter)
        if turn is not None and turn in self._queues and turn not in _held.get():
            raise Contested(turn)
        try:
            yield
        except OperationFailure as error:
            if turn is None or error.code != _WRITE_CONFLICT:
                raise
            raise Contested(turn) from error


def _turn(collection: str, filter: Filter) -> Turn | None:
    """The document that a filter names; None where it may match several."""
    for clause in (filter, *filter.get("$and", ())):
        id: Any = clause.get("_id")
        if id is not None and not isinstance(id, Mapping):
            return collection, id
    return None
