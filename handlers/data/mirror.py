"""Copies in memory that a change invalidates: of a small collection whole, and of single records."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from lru import LRU

from handlers.data.detached import start_detached

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)


class Mirror(Generic[Value]):
    """One value made from the database, made again after `invalidate`."""

    def __init__(self, load: Callable[[], Awaitable[Value]]) -> None:
        self._load = load
        self._wanted = 1
        self._loaded = 0
        self._loading: asyncio.Task[None] | None = None
        self._value: Value

    def invalidate(self, _id: Any = None) -> None:
        """The next reader loads again; a load under way does not count."""
        self._wanted += 1

    async def current(self) -> Value:
        """The value, no older than the last change that was heard of. A load that fails fails for all who wait."""
        wanted = self._wanted
        while self._loaded < wanted:
            if self._loading is None or self._loading.done():
                self._loading = start_detached(self._reload())
            await asyncio.shield(self._loading)
        return self._value

    async def _reload(self) -> None:
        wanted = self._wanted
        self._value = await self._load()
        self._loaded = wanted


class RecordCache(Generic[Key, Value]):
    """A bounded cache of single records; None (no such record) is not kept."""

    def __init__(self, load: Callable[[Key], Coroutine[Any, Any, Value | None]], size: int = 10_000) -> None:
        self._load = load
        self._kept: LRU[Key, Value] = LRU(size)
        self._loading: dict[Key, asyncio.Future[Value | None]] = {}

    def invalidate(self, key: Key | None = None) -> None:
        """Forget `key`, or everything; loads under way are not kept."""
        if key is None:
            self._kept.clear()
            self._loading.clear()
        else:
            self._kept.pop(key, None)
            self._loading.pop(key, None)

    async def get(self, key: Key) -> Value | None:
        """The record, from memory or loaded; simultaneous readers share one load."""
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        loading = self._loading.get(key)
        if loading is None:
            loading = self._loading[key] = start_detached(self._load(key))
            loading.add_done_callback(lambda done: self._keep(key, done))
        return await asyncio.shield(loading)

    def _keep(self, key: Key, done: asyncio.Future[Value | None]) -> None:
        # what was invalidated meanwhile is no longer in `_loading`
        if self._loading.get(key) is done:
            del self._loading[key]
            if not done.cancelled() and done.exception() is None and (value := done.result()) is not None:
                self._kept[key] = value
