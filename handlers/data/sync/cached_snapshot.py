"""Caches that are invalidated by changes: one value computed from a small collection, or single records."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Generic, TypeVar

from lru import LRU

from handlers.data.sync.detached import join, start_detached
from handlers.schema.values import RecordId

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)


class CachedSnapshot(Generic[Value]):
    """One value that `load` computes from the database, and computes again after `invalidate`.

    `latest` is the value if it is up to date, otherwise None; it spares a caller the coroutine of `current`.
    """

    def __init__(self, load: Callable[[], Awaitable[Value]]) -> None:
        self._load = load
        self._wanted = 1
        self._loaded = 0
        self._loading: asyncio.Task[None] | None = None
        self._value: Value
        self.latest: Value | None = None

    def invalidate(self, _id: RecordId = None) -> None:
        """Make later readers load the value again; they do not get the result of a load that is already running."""
        self._wanted += 1
        self.latest = None

    async def current(self) -> Value:
        """Return the value, no older than the last `invalidate`. If a load fails, all callers waiting for it fail."""
        wanted = self._wanted
        while self._loaded < wanted:
            if self._loading is None or self._loading.done():
                self._loading = start_detached(self._reload())
            await join(self._loading)
        return self._value

    async def _reload(self) -> None:
        wanted = self._wanted
        self._value = await self._load()
        self._loaded = wanted
        if wanted == self._wanted:
            self.latest = self._value


class RecordCache(Generic[Key, Value]):
    """A cache of up to `size` single records; None, for a record that does not exist, is not cached."""

    def __init__(self, load: Callable[[Key], Coroutine[object, object, Value | None]], size: int = 10_000) -> None:
        self._load = load
        self._cached: LRU[Key, Value] = LRU(size)
        self._loading: dict[Key, asyncio.Future[Value | None]] = {}

    def invalidate(self, key: Key | None = None) -> None:
        """Forget `key`, or everything if it is None; the results of loads that are running are not cached."""
        if key is None:
            self._cached.clear()
            self._loading.clear()
        else:
            self._cached.pop(key, None)
            self._loading.pop(key, None)

    def cached(self, key: Key) -> Value | None:
        """Return the record if it is in the cache; spares the caller the coroutine of `get`."""
        found: Value | None = self._cached.get(key)
        return found

    async def get(self, key: Key) -> Value | None:
        """Return the record from the cache, or load it; concurrent readers share one load."""
        cached = self._cached.get(key)
        if cached is not None:
            return cached
        loading = self._loading.get(key)
        if loading is None:
            loading = self._loading[key] = start_detached(self._load(key))
            loading.add_done_callback(lambda done: self._finish(key, done))
        return await join(loading)

    def _finish(self, key: Key, done: asyncio.Future[Value | None]) -> None:
        # a key that was invalidated meanwhile is no longer in `_loading`
        if self._loading.get(key) is done:
            del self._loading[key]
            if not done.cancelled() and done.exception() is None and (value := done.result()) is not None:
                self._cached[key] = value
