"""Turns: within one process, work on the same thing queues rather than running into write conflicts.

Correctness never rests on it: other processes take no turns here. It saves transactions that would have to run again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary


class Turns:
    """Locks by key, each of which lives as long as somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def taken(self, keys: Iterable[Hashable]) -> AsyncIterator[None]:
        """Be alone with all of `keys` in this process."""
        # in one order for everybody, so that no two wait for each other
        locks = [self._locks.setdefault(key, asyncio.Lock()) for key in sorted(set(keys), key=str)]
        async with AsyncExitStack() as stack:
            for lock in locks:
                await stack.enter_async_context(lock)
            yield
