"""Writes for a `FastConnection`: heads and bodies, chunked or not, at the speed at which the client reads."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from tornado.iostream import StreamClosedError

from handlers.http.fast_head import Head
from handlers.http.heads import field_lines, status_line


class ResponseWriter:
    """Writes the responses of one connection, one after the other.

    `blocked` is pending while the client reads more slowly than we write. `last`: the response said that the connection
    closes after it. `streaming`: the head of a response was sent, but its end was not.
    """

    __slots__ = ("_chunked", "_transport", "blocked", "last", "streaming")

    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport
        self._chunked = False
        self.blocked: asyncio.Future[None] | None = None
        self.last = False
        self.streaming = False

    @property
    def unsent(self) -> int:
        """The number of bytes that the client has not taken yet."""
        return self._transport.get_write_buffer_size()

    def pause(self) -> None:
        """Note that the transport's buffer is full."""
        if self.blocked is None:
            self.blocked = asyncio.get_running_loop().create_future()

    def resume(self, error: Exception | None = None) -> None:
        """Note that the client has caught up or, with `error`, that it is gone."""
        if self.blocked is not None and not self.blocked.done():
            if error is None:
                self.blocked.set_result(None)
            else:
                self.blocked.set_exception(error)
                self.blocked.exception()
        self.blocked = None

    def send_response(self, request: Head, status: int, headers: dict[str, str], body: bytes | None) -> None:
        """Write a whole response; `headers` includes its Content-Length."""
        head = self._head(request, status, headers)
        self._transport.write(head + body if body else head)

    def send_bytes(self, response: bytes) -> None:
        """Write a whole response, head included, after which the connection stays open."""
        self.last = False
        self._transport.write(response)

    def begin(self, request: Head, status: int, headers: Mapping[str, str]) -> asyncio.Future[None]:
        """Write the head of a response whose body follows, chunked if its length is unknown."""
        given = dict(headers)
        bodiless = request.start.method == "HEAD" or status in (101, 204, 304)
        self._chunked = "Content-Length" not in given and not bodiless and request.start.version == "HTTP/1.1"
        self.streaming = True
        if self._chunked:
            given["Transfer-Encoding"] = "chunked"
        elif "Content-Length" not in given and not bodiless:
            given["Connection"] = "close"
        return self._write(self._head(request, status, given))

    def write(self, chunk: bytes) -> asyncio.Future[None]:
        """Write a piece of the body; the future is done when the client keeps up."""
        return self._write(b"%x\r\n%b\r\n" % (len(chunk), chunk) if self._chunked and chunk else chunk)

    def end(self) -> None:
        """End the response, with the last chunk if its body is chunked."""
        if self._chunked:
            self._transport.write(b"0\r\n\r\n")
        self._chunked = self.streaming = False

    def _head(self, request: Head, status: int, headers: dict[str, str]) -> bytes:
        if request.start.version == "HTTP/1.0":
            # clients of HTTP/1.0 close the connection unless a header says otherwise
            if request.keep_alive and "Connection" not in headers:
                headers["Connection"] = "Keep-Alive"
        elif not request.keep_alive:
            headers.setdefault("Connection", "close")
        self.last = not request.keep_alive or headers.get("Connection") == "close"
        return f"{status_line(status)}{field_lines(headers)}\r\n".encode("latin-1")

    def _write(self, data: bytes) -> asyncio.Future[None]:
        self._transport.write(data)
        if self.blocked is not None:
            return self.blocked
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done


def require(request: Head | None, closing: bool) -> Head:
    """Return the request that is being served. Raises `StreamClosedError` if there is none any more."""
    if closing or request is None:
        raise StreamClosedError()
    return request
