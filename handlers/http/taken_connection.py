"""The connection of a WebSocket whose handshake was already read: Tornado's handler responds and continues on it."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable

from tornado import httputil
from tornado.iostream import IOStream, StreamClosedError

from handlers.http.connection import Peer
from handlers.http.relay import relay
from handlers.http.replayed_stream import ReplayedStream
from handlers.http.response_head import field_lines, status_line

_SWITCHING = 101


def take_connection(
    transport: asyncio.Transport, peer_address: str, rest: bytes, serve: Callable[[IOStream, Peer], None]
) -> TakenConnection:
    """Take the socket from `transport`, which is closed, with the bytes that it has already read (`rest`).

    `serve` continues with what follows a refused handshake. With TLS, a socket of our own stands in for the client's.
    """
    plain = transport.get_extra_info("sslcontext") is None
    peer = Peer(peer_address, "http" if plain else "https")
    if plain:
        given = transport.get_extra_info("socket")
        taken = socket.socket(given.family, given.type, given.proto, os.dup(given.fileno()))
        transport.abort()
    else:
        taken = relay(transport)
    stream = ReplayedStream(taken, rest)
    return TakenConnection(stream, peer, lambda: serve(stream, peer))


class TakenConnection(httputil.HTTPConnection):
    """One response on `stream`. `declined` is called after it if it opens no WebSocket: more requests may follow."""

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
        """Send bytes; the future fails if the client is gone."""
        try:
            return self._stream.write(chunk)
        except StreamClosedError as error:
            lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            lost.set_exception(error)
            lost.exception()  # marks it as retrieved, as Tornado does not look at it
            return lost

    def finish(self) -> None:
        """Tornado: the response is complete."""
        if self._status != _SWITCHING and not self._stream.closed():
            self._declined()

    def detach(self) -> IOStream:
        """Return the stream, which nothing else uses from now on."""
        return self._stream

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Tornado: call this when the client goes away."""
        self._stream.set_close_callback(callback)
