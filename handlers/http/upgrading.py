"""A `FastConnection` as Tornado's handler of a WebSocket uses one: for the handshake, and then as its stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from tornado import httputil
from tornado.ioloop import IOLoop
from tornado.iostream import StreamClosedError

from handlers.http.connection import Connection, Peer

_SWITCHING = 101
_CLOSE_SECONDS = 1.0  # for a client that does not take what has been sent, or does not end its TLS


class Owner(Connection, Protocol):
    """The connection below."""

    def close(self) -> None:
        """Send what has been written, then close."""

    def give(self, receiver: Callable[[bytes], None]) -> None:
        """Give what arrives from now on to `receiver`, beginning with what has arrived already."""


class Upgradable(httputil.HTTPConnection):
    """Responds to one handshake. If it is accepted, `detach` returns the object itself as the stream of the WebSocket.

    At most 128 KiB that arrive wait to be read; more are left to the client.
    """

    def __init__(self, owner: Owner, transport: asyncio.Transport) -> None:
        secured = transport.get_extra_info("sslcontext") is not None
        self.context = Peer(owner.peer_address, "https" if secured else "http")
        self.io_loop = IOLoop.current()
        self._owner = owner
        self._status = 0
        self._closed = False
        self._left: Callable[[], None] | None = None
        self._reader = asyncio.StreamReader()
        self._reader.set_transport(transport)

    # -- the handshake

    def write_headers(
        self,
        start_line: httputil.RequestStartLine | httputil.ResponseStartLine,
        headers: httputil.HTTPHeaders,
        chunk: bytes | None = None,
    ) -> asyncio.Future[None]:
        """Send the head of the response, and `chunk` after it."""
        if not isinstance(start_line, httputil.ResponseStartLine):
            raise TypeError("a server writes responses")
        self._status = start_line.code
        try:
            sent = self._owner.begin_response(start_line.code, dict(headers.get_all()))
        except StreamClosedError as error:
            return _failed(error)
        return self.write(chunk) if chunk else sent

    def write(self, chunk: bytes) -> asyncio.Future[None]:
        """Send bytes; the future is done when the client keeps up, and fails if it is gone."""
        try:
            return self._owner.write(chunk)
        except StreamClosedError as error:
            return _failed(error)

    def finish(self) -> None:
        """Tornado: the response is complete; unless it opens a WebSocket, more requests may follow."""
        if self._status != _SWITCHING and not self._closed:
            self._owner.finish()

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Tornado: call this when the client goes away before the response."""
        self._left = callback

    # -- the WebSocket

    def detach(self) -> Upgradable:
        """Return the stream, which nothing else uses from now on."""
        self._owner.give(self._reader.feed_data)
        return self

    async def read_bytes(self, count: int) -> bytes:
        """Return the next `count` bytes. Raises `StreamClosedError`."""
        try:
            return await self._reader.readexactly(count)
        except asyncio.IncompleteReadError as error:
            raise StreamClosedError from error

    def closed(self) -> bool:
        """Return whether the connection is closed."""
        return self._closed

    def close(self) -> None:
        """Close the connection; a client that does not take what was sent is cut off."""
        if not self._closed:
            self.lose()
            self._owner.close()
            self.io_loop.call_later(_CLOSE_SECONDS, self._owner.abort)

    def lose(self) -> None:
        """Note that nothing can be sent any more."""
        self._closed = True
        self._reader.feed_eof()
        if self._left is not None:
            self._left()


def _failed(error: StreamClosedError) -> asyncio.Future[None]:
    lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    lost.set_exception(error)
    lost.exception()  # marks it as retrieved, as Tornado does not look at it
    return lost
