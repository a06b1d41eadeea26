"""The connection of a WebSocket's handshake that was read already: what Tornado's handler answers on, and goes on with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from tornado import httputil
from tornado.iostream import IOStream, StreamClosedError

from handlers.http.response_head import field_lines, status_line

if TYPE_CHECKING:
    from handlers.http.fast_connection import Peer

_SWITCHING = 101


class TakenConnection(httputil.HTTPConnection):
    """One response on `stream`. `declined` is called behind one that is no WebSocket: the client may ask for more."""

    def __init__(self, stream: IOStream, context: Peer, declined: Callable[[], None]) -> None:
        self.context = context
        self._stream = stream
        self._declined = declined
        self._status = 0

    def write_headers(
        self,
        start_line: httputil.RequestStartLine | httputil.ResponseStartLine,
        headers: httputil.HTTPHeaders,
        chunk: bytes | None = None,
    ) -> asyncio.Future[None]:
        """Send the head of the response, and `chunk` with it."""
        if not isinstance(start_line, httputil.ResponseStartLine):
            raise TypeError("a server writes responses")
        self._status = start_line.code
        head = f"{status_line(start_line.code)}{field_lines(dict(headers.get_all()))}\r\n".encode("latin-1")
        return self.write(head + chunk if chunk else head)

    def write(self, chunk: bytes) -> asyncio.Future[None]:
        """Send bytes; fails where the client is gone."""
        try:
            return self._stream.write(chunk)
        except StreamClosedError as error:
            lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            lost.set_exception(error)
            lost.exception()  # Tornado does not look at it
            return lost

    def finish(self) -> None:
        """The response is complete."""
        if self._status != _SWITCHING and not self._stream.closed():
            self._declined()

    def detach(self) -> IOStream:
        """The stream, which nothing else uses from now on."""
        return self._stream

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Tornado: call this when the client goes away."""
        self._stream.set_close_callback(callback)
