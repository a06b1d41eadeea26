"""Bodies that are not held in memory: uploads as they arrive, downloads as they are read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from handlers.schema.errors import BAD_REQUEST, REQUEST_TIMEOUT, ApiError

FIRST_BYTES = (
    64 << 10
)  # bytes that may wait until the handler begins to read: a client without the permission sends no more
HIGH_WATER = 1 << 20  # bytes that may wait for the handler before the sender is held back; less slows fast senders


class BodyStream:
    """The body of an upload; iterate over it once. The sender is held back while the handler lags behind.

    Raises 40800 when nothing arrives for `idle_seconds`, 40000 when the client goes away.
    """

    def __init__(self, idle_seconds: float) -> None:
        self._idle_seconds = idle_seconds
        self._chunks: deque[bytes] = deque()
        self._waiting = 0
        self._most = FIRST_BYTES
        self._arrived = asyncio.Event()
        self._room: asyncio.Future[None] | None = None
        self._gone = False
        self.complete = False
        self.abandoned = False

    def feed(self, chunk: bytes) -> asyncio.Future[None] | None:
        """Add a piece that arrived; the future, if any, is done when there is room for the next."""
        if self.abandoned:
            return None
        self._chunks.append(chunk)
        self._waiting += len(chunk)
        self._arrived.set()
        if self._waiting < self._most:
            return None
        self._room = self._room or asyncio.get_running_loop().create_future()
        return self._room

    def end(self) -> None:
        """Note that the body is complete."""
        self.complete = True
        self._arrived.set()

    def lose(self) -> None:
        """Note that the client went away."""
        self._gone = True
        self._arrived.set()

    def abandon(self) -> None:
        """Note that the handler reads no more: drop what has arrived and what still arrives."""
        self.abandoned = True
        self._chunks.clear()
        self._make_room()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the pieces, in order."""
        self._most = HIGH_WATER
        self._make_room()
        while True:
            while self._chunks:
                chunk = self._chunks.popleft()
                self._waiting -= len(chunk)
                self._make_room()
                yield chunk
            if self._gone:
                raise ApiError(BAD_REQUEST)
            if self.complete:
                return
            self._arrived.clear()
            try:
                async with asyncio.timeout(self._idle_seconds):
                    await self._arrived.wait()
            except TimeoutError as error:
                raise ApiError(REQUEST_TIMEOUT) from error

    def _make_room(self) -> None:
        if self._room is not None and (self._waiting < self._most or self.abandoned):
            if not self._room.done():
                self._room.set_result(None)
            self._room = None
