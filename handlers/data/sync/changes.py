"""Notifies listeners of changes to the watched collections, made by this process or by another instance.

A change stream reports the writes of other instances. The writes of this process are reported at once, so that a caller
reads its own writes. When the stream is lost, everything may have changed: listeners are called with `None`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from config.database import DatabaseRefused, DatabaseUnavailable, Driver
from handlers.schema.values import RecordId
from handlers.tasks import end

Listener = Callable[[Any], None]
log = logging.getLogger("tradewind.changes")
_RETRY_SECONDS = 0.5
_START_SECONDS = 15.0  # longer than an election takes


class Changes:
    """Listeners by collection, served by one change stream."""

    def __init__(self, driver: Driver, collections: Sequence[str]) -> None:
        self._driver = driver
        self._collections = list(collections)
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        self._task: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[None] | None = None
        self.is_open = False
        self.losses = 0

    def listen(self, collection: str, listener: Listener) -> None:
        """Call `listener` with the `_id` of every document that changes, or with None when any may have changed."""
        if collection not in self._collections:
            raise ValueError(f"collection {collection} is not declared watched")
        self._listeners[collection].append(listener)

    def tell(self, collection: str, id: RecordId) -> None:
        """Notify the listeners that this process wrote a document."""
        for listener in self._listeners.get(collection, ()):
            listener(id)

    async def start(self) -> None:
        """Start watching and return once the stream is open; raise the error if it cannot be opened.

        The caller must call `stop`, even if this raises.
        """
        if self._collections:
            self._opened = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(), name="changes")
            await self._opened

    async def stop(self) -> None:
        """Stop watching."""
        if self._task:
            await end([self._task])

    async def _run(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while True:
            try:
                await self._watch()
            except DatabaseUnavailable as error:
                self.losses += 1
                if isinstance(error, DatabaseRefused) or time.monotonic() > until:
                    self._report_opened(error)
                log.warning("change stream lost", extra={"reason": str(error)[:200]})
            except Exception as error:
                self.losses += 1
                self._report_opened(error)
                log.exception("change stream failed")
            self._notify_everything_changed()
            await asyncio.sleep(_RETRY_SECONDS)

    async def _watch(self) -> None:
        async with self._driver.watch(self._collections) as changes:
            self.is_open = True
            try:
                self._notify_everything_changed()
                self._report_opened()
                async for change in changes:
                    self.tell(change.collection, change.id)
            finally:
                self.is_open = False

    def _report_opened(self, error: Exception | None = None) -> None:
        """Let `start` return because the stream is open, or raise `error`."""
        if self._opened is None or self._opened.done():
            return
        if error is None:
            self._opened.set_result(None)
        else:
            self._opened.set_exception(error)

    def _notify_everything_changed(self) -> None:
        for listeners in self._listeners.values():
            for listener in listeners:
                listener(None)
