"""Bodies that are not held in memory: uploads as they arrive, downloads as they are read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from handlers.schema.errors import BAD_REQUEST, REQUEST_TIMEOUT, ApiError

FIRST_BYTES = (
    64 << 10
)  # bytes that may wait until the handler begins to read: a client without the permission sends no more
LEAST_RATE = 16 << 10  # bytes a second by which a long upload earns further time
HIGH_WATER = 1 << 20  # bytes that may wait for the handler before the sender is held back; less slows fast senders


class BodyStream:
    """The body of an upload; iterate over it once. The sender is held back while the handler lags behind.

    Raises 40800 when the handler has waited for the client for `seconds`, and for what it has received at `LEAST_RATE`;
    also when nothing arrives for `seconds`. Raises 40000 when the client goes away.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._left = seconds
        self._chunks: deque[bytes] = deque()
        self._waiting = 0
        self._most = FIRST_BYTES
        self._arrived = asyncio.Event()
        self._room: asyncio.Future[None] | None = None
        self._gone = False
        self.complete = False
        self.late = False
        self.abandoned = False

    def feed(self, chunk: bytes) -> asyncio.Future[None] | None:
        """Add a piece that arrived; the future, if any, is done when there is room for the next."""
        if self.abandoned:
            return None
        self._chunks.append(chunk)
        self._waiting += len(chunk)
        self._left += len(chunk) / LEAST_RATE
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
            await self._wait()

    async def _wait(self) -> None:
        """Wait until something arrives; 40800 if that takes too long."""
        clock = asyncio.get_running_loop().time
        began = clock()
        self._arrived.clear()
        try:
            async with asyncio.timeout(min(self._seconds, self._left)):
                await self._arrived.wait()
        except TimeoutError as error:
            self.late = True
            raise ApiError(REQUEST_TIMEOUT) from error
        self._left -= clock() - began

    def _make_room(self) -> None:
        if self._room is not None and (self._waiting < self._most or self.abandoned):
            if not self._room.done():
                self._room.set_result(None)
            self._room = None
