"""The readers that are compared: both connections as the server uses them, with no service behind, and llhttp."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import httptools
from tornado import httputil
from tornado.http1connection import HTTP1ConnectionParameters
from tornado.iostream import IOStream

from handlers.http.connection import Connection, Peer
from handlers.http.fast_connection import FastConnection
from handlers.http.fast_server import FastServer
from handlers.http.receiving import Limits, Receiving
from handlers.http.tornado_server import Server
from handlers.http.tornado_stream import StrictStream
from tests.support.hostile_http.reading import Asked, Ended, Reading, fields_of

_LIMITS = Limits(header_bytes=65_536, extra_bytes=16_384, request_seconds=30, idle_seconds=75)
_REFUSAL = b"HTTP/1.1 400 Bad Request\r\n\r\n"
_QUIET_TURNS = 12  # of the event loop; after as many without a change, Tornado's connection has nothing left to do


class Recorder(httputil.HTTPMessageDelegate):
    """Records one request and responds with 204: at once or, if `late`, a turn of the event loop later."""

    def __init__(self, notes: list[Asked], connection: Connection, late: bool) -> None:
        self._notes = notes
        self._connection = connection
        self._late = late
        self._body: list[bytes] = []

    def headers_received(self, start_line: Any, headers: httputil.HTTPHeaders) -> None:
        """Tornado: the head has arrived."""
        fields = fields_of(headers.get_all())
        self._notes.append(Asked(start_line.method, start_line.path, start_line.version, fields, None))

    def data_received(self, chunk: bytes) -> None:
        """Tornado: a piece of the body has arrived."""
        self._body.append(chunk)

    def finish(self) -> None:
        """Tornado: the request is complete."""
        asked = self._notes[-1]
        body = b"".join(self._body)
        self._notes[-1] = Asked(asked.method, asked.target, asked.version, asked.fields, body)
        if self._late:
            asyncio.get_running_loop().call_soon(self._answer)
        else:
            self._answer()

    def _answer(self) -> None:
        self._connection.send_response(204, {}, None)


class Front:
    """Starts a recorder for each request."""

    def __init__(self, late: bool) -> None:
        self.notes: list[Asked] = []
        self.receiving = Receiving(64 << 20, 64 << 20)
        self._late = late

    def begin(self, connection: Connection) -> Recorder:
        """Start a recorder for a request."""
        return Recorder(self.notes, connection, self._late)


class Transport(asyncio.Transport):
    """A transport without a network, which records what the connection does with it."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = self.closed = self.paused = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return the address of the peer, whatever is asked for."""
        return ("192.0.2.1", 1)

    def write(self, data: Any) -> None:
        """Note whether the data is a refusal."""
        self.refused = self.refused or data == _REFUSAL

    def can_write_eof(self) -> bool:
        """Return True."""
        return True

    def write_eof(self) -> None:
        """Note that the connection is closed: the response was the last."""
        self.closed = True

    def close(self) -> None:
        """Note that the connection is closed."""
        self.closed = True

    def abort(self) -> None:
        """Note that the connection is closed."""
        self.closed = True

    def pause_reading(self) -> None:
        """Note that reading is paused."""
        self.paused = True

    def resume_reading(self) -> None:
        """Note that reading goes on."""
        self.paused = False

    def get_write_buffer_size(self) -> int:
        """Return 0: all data is taken at once."""
        return 0


def _ended(refused: bool, closed: bool) -> Ended:
    return "refused" if refused else "closed" if closed else "waiting"


async def read_fast(pieces: Sequence[bytes], late: bool = False) -> Reading:
    """Return what the fast connection finds in bytes that arrive in these pieces."""
    front, transport = Front(late), Transport()
    server = FastServer(front, _LIMITS, lambda error: _REFUSAL)
    connection = FastConnection(server)
    connection.connection_made(transport)
    for piece in pieces:
        connection.data_received(piece)
        while transport.paused and not transport.closed:
            await asyncio.sleep(0)
        if late:
            await asyncio.sleep(0)
    connection.connection_lost(None)
    if front.receiving.held:
        raise AssertionError("bytes are counted as held after the connection")
    return Reading(tuple(front.notes), _ended(transport.refused, transport.closed))


async def read_tornado(pieces: Sequence[bytes], late: bool = False) -> Reading:
    """Return what Tornado's connection, as the server uses it, finds in the same pieces."""
    front = Front(late)
    server = Server(front, HTTP1ConnectionParameters(max_header_size=_LIMITS.header_bytes, max_body_size=1 << 40))
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    stream = StrictStream(theirs)
    out = bytearray()
    try:
        server.serve_stream(stream, Peer("192.0.2.1"))
        for piece in pieces:
            if not stream.closed():
                ours.send(piece)
            await _settled(front, stream, ours, out)
        return Reading(tuple(front.notes), _ended(b" 400 Bad Request\r\n" in out, stream.closed()))
    finally:
        stream.close()
        ours.close()
        await asyncio.sleep(0)


async def _settled(front: Front, stream: IOStream, ours: socket.socket, out: bytearray) -> None:
    """Wait until the connection has done all that it can."""
    quiet, before = 0, (-1, -1, False)
    while quiet < _QUIET_TURNS:
        await asyncio.sleep(0)
        with suppress(BlockingIOError, ConnectionError):
            out += ours.recv(65_536)
        now = (len(front.notes), len(out), stream.closed())
        quiet = quiet + 1 if now == before else 0
        before = now


class _Llhttp:
    """The callbacks of httptools, which collect the requests."""

    def __init__(self) -> None:
        self.parser = httptools.HttpRequestParser(self)
        self.requests: list[Asked] = []
        self.closing = False
        self._begin()

    def _begin(self) -> None:
        self._url, self._body = b"", b""
        self._fields: list[tuple[str, str]] = []
        self._in_body = False

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_body:
            self._fields.append((name.decode("latin-1"), value.decode("latin-1").strip(" \t")))

    def on_headers_complete(self) -> None:
        self._in_body = True
        self.closing = not self.parser.should_keep_alive()
        version = f"HTTP/{self.parser.get_http_version()}"
        method, target = self.parser.get_method().decode(), self._url.decode("latin-1")
        self.requests.append(Asked(method, target, version, fields_of(self._fields), None))

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        asked = self.requests[-1]
        self.requests[-1] = Asked(asked.method, asked.target, asked.version, asked.fields, self._body)
        self._begin()


async def read_llhttp(pieces: Sequence[bytes], late: bool = False) -> Reading:
    """Return what llhttp alone finds in the same pieces; it stops at an offer to upgrade."""
    found = _Llhttp()
    try:
        for piece in pieces:
            found.parser.feed_data(piece)
    except httptools.HttpParserUpgrade:
        return Reading(tuple(found.requests), "closed", "upgrade")
    except httptools.HttpParserError as error:
        return Reading(tuple(found.requests), "refused", str(error))
    return Reading(tuple(found.requests), "closed" if found.closing else "waiting")


@contextmanager
def silent() -> Iterator[None]:
    """Suppress Tornado's log lines about refused requests during the block."""
    loggers = [logging.getLogger(name) for name in ("tornado.general", "tornado.application", "tornado.access")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
