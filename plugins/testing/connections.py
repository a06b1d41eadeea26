"""The HTTP/1.1 connections of the test client; they are kept, as new ones would cost more than most requests do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import cast
from urllib.parse import urlsplit

import httptools
from tornado.httputil import HTTPHeaders

Exchanged = tuple[int, HTTPHeaders, bytes]  # status, headers and body of a response
_SECONDS = 60.0  # for a whole exchange
_MOST_IDLE_SECONDS = 5.0  # the server closes a connection that is idle for longer, perhaps while a request is under way


class Connections:
    """The connections to the server at `url`: `kept` from one request to the next, or used for one request each."""

    def __init__(self, url: str, *, kept: bool) -> None:
        address = urlsplit(url)
        self._host, self._port = address.hostname or "", address.port or 80
        self._netloc = address.netloc
        self._kept = kept
        self._idle: list[_Connection] = []

    async def exchange(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> Exchanged:
        """Send a request and return the status, the headers and the body of its response. Raises OSError."""
        kept = self._kept and method != "HEAD"  # the parser expects a body after every head
        request = self._request(method, target, headers, body, kept=kept)
        connection = await self._connection()
        try:
            async with asyncio.timeout(_SECONDS):
                response = await connection.exchange(request, bodiless=method == "HEAD")
        except BaseException:
            connection.abort()
            raise
        if kept and connection.usable:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            connection.close()
        return response

    def close(self) -> None:
        """Close the idle connections, and keep no others from now on."""
        self._kept = False
        while self._idle:
            self._idle.pop().close()

    async def _connection(self) -> _Connection:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable and time.monotonic() - connection.idle_since < _MOST_IDLE_SECONDS:
                return connection
            connection.close()
        loop = asyncio.get_running_loop()
        return (await loop.create_connection(_Connection, self._host, self._port))[1]

    def _request(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, *, kept: bool
    ) -> bytes:
        own = {"Host": self._netloc, "User-Agent": "tradewind-tests"}
        if not kept:
            own["Connection"] = "close"
        if body is not None or method in ("POST", "PUT", "PATCH"):
            own["Content-Length"] = str(len(body or b""))
        given = {name.lower() for name in headers}
        fields = [*((name, value) for name, value in own.items() if name.lower() not in given), *headers.items()]
        lines = [f"{name}: {value}\r\n" for name, value in fields]
        start = f"{method} {target.partition('#')[0]} HTTP/1.1\r\n".encode()
        return start + "".join((*lines, "\r\n")).encode("latin-1") + (body or b"")


class _Connection(asyncio.Protocol):
    """A connection, which does one exchange at a time."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._ended: asyncio.Future[None] | None = None
        self.usable = True
        self.idle_since = 0.0
        self._begin(bodiless=False)

    def _begin(self, *, bodiless: bool) -> None:
        self._headers, self._body = HTTPHeaders(), bytearray()
        self._bodiless = bodiless
        self._headed = False

    async def exchange(self, request: bytes, *, bodiless: bool) -> Exchanged:
        """Send a request and wait for the whole response."""
        self._begin(bodiless=bodiless)
        self._ended = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        await self._ended
        return self._parser.get_status_code(), self._headers, bytes(self._body)

    def close(self) -> None:
        """Close the connection once all data have been sent."""
        self._transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def _end(self, error: Exception | None = None) -> None:
        self.usable = self.usable and error is None
        if self._ended is not None and not self._ended.done():
            if error is None:
                self._ended.set_result(None)
            else:
                self._ended.set_exception(error)

    # -- asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """The next bytes of the response have arrived."""
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._end(ConnectionError(f"no HTTP: {error}"))
            self.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is closed, which may be how a response without a length ends."""
        self.usable = False
        framed = "Content-Length" in self._headers or "Transfer-Encoding" in self._headers
        whole = self._headed and not framed and error is None
        self._end(None if whole else error or ConnectionResetError("the server closed the connection"))

    # -- httptools

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header field is complete."""
        self._headers.add(name.decode("latin-1"), value.decode("latin-1"))

    def on_headers_complete(self) -> None:
        """The head is complete."""
        self._headed = True
        self.usable = self.usable and self._parser.should_keep_alive()
        if self._bodiless:
            self._end()

    def on_body(self, body: bytes) -> None:
        """A part of the body has arrived."""
        self._body += body

    def on_message_complete(self) -> None:
        """The response is complete."""
        self._end()
