"""What changed in the watched collections, here or on another instance.

A change stream tells of other instances' writes; this process's own writes are told at once, so that who wrote a
thing reads it. When the stream is lost, everything may have changed: listeners hear `None`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from config.database import DatabaseRefused, DatabaseUnavailable, Driver
from handlers.tasks import end

Listener = Callable[[Any], None]
log = logging.getLogger("tradewind.changes")
_RETRY_SECONDS = 0.5
_START_SECONDS = 15.0  # an election is over by then


class Changes:
    """Listeners by collection, fed by one change stream."""

    def __init__(self, driver: Driver, collections: Sequence[str]) -> None:
        self._driver = driver
        self._collections = list(collections)
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        self._task: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[None] | None = None

    def listen(self, collection: str, listener: Listener) -> None:
        """Call `listener` with the `_id` of every document that changes, or None when any may have."""
        if collection not in self._collections:
            raise ValueError(f"collection {collection} is not declared watched")
        self._listeners[collection].append(listener)

    def tell(self, collection: str, id: Any) -> None:
        """A document was written by this process."""
        for listener in self._listeners.get(collection, ()):
            listener(id)

    async def start(self) -> None:
        """Begin to watch; returns once the stream is open. Raises what keeps the first one from opening.

        Whoever calls it calls `stop` too, also where it raises.
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
                if isinstance(error, DatabaseRefused) or time.monotonic() > until:
                    self._open(error)
                log.warning("change stream lost", extra={"reason": str(error)[:200]})
            except Exception as error:
                self._open(error)
                log.exception("change stream failed")
            self._everything_changed()
            await asyncio.sleep(_RETRY_SECONDS)

    async def _watch(self) -> None:
        async with self._driver.watch(self._collections) as changes:
            self._everything_changed()
            self._open()
            async for change in changes:
                self.tell(change.collection, change.id)

    def _open(self, error: Exception | None = None) -> None:
        """Tell who waits for the first stream that it is open, or why it will not be."""
        if self._opened is None or self._opened.done():
            return
        if error is None:
            self._opened.set_result(None)
        else:
            self._opened.set_exception(error)

    def _everything_changed(self) -> None:
        for listeners in self._listeners.values():
            for listener in listeners:
                listener(None)
