"""Tornado's own HTTP connection as a `Connection`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache
from http import HTTPStatus

from tornado import httputil
from tornado.http1connection import HTTP1Connection

from handlers.http.addresses import context_address
from handlers.http.tornado_stream import StrictStream


class TornadoConnection:
    """See `Connection`."""

    head_bytes = 0

    def __init__(self, connection: HTTP1Connection, stream: StrictStream) -> None:
        self._connection = connection
        self._stream = stream
        self.peer_address = context_address(connection)

    def omits_connection_header(self) -> bool:
        """Return False: Tornado decides about the header itself."""
        return False

    @property
    def upgradable(self) -> httputil.HTTPConnection | None:
        """The connection itself, because Tornado reads handshakes on it."""
        return self._connection

    @property
    def more_waits(self) -> bool:
        """Whether Tornado or the socket has bytes that no request has been made of yet."""
        return self._stream.holds_bytes

    def set_body_timeout(self, seconds: float) -> None:
        """Set the time that the body of this request may take."""
        self._connection.set_body_timeout(seconds)

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Set the function that is called when the client goes away."""
        self._connection.set_close_callback(callback)

    def send_response(self, status: int, headers: dict[str, str], body: bytes | None) -> None:
        """Send a whole response."""
        self._connection.write_headers(_status_line(status), httputil.HTTPHeaders(headers), body)
        self._connection.finish()

    def send_bytes(self, response: bytes) -> None:
        """Raise NotImplementedError: Tornado writes every head itself."""
        raise NotImplementedError

    def begin_response(self, status: int, headers: Mapping[str, str]) -> asyncio.Future[None]:
        """Send the head of a response."""
        return self._connection.write_headers(_status_line(status), httputil.HTTPHeaders(headers))

    def write(self, chunk: bytes) -> asyncio.Future[None]:
        """Send a piece of the body."""
        return self._connection.write(chunk)

    def finish(self) -> None:
        """End the response."""
        self._connection.finish()

    def abort(self) -> None:
        """Close without ending the response properly."""
        self._stream.close()


@lru_cache(maxsize=64)
def _status_line(status: int) -> httputil.ResponseStartLine:
    return httputil.ResponseStartLine("HTTP/1.1", status, HTTPStatus(status).phrase)
