"""Tornado's server: accepts connections, speaks TLS on them if it has to, and reads their requests."""

from __future__ import annotations

import asyncio
import math
import secrets
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from tornado import iostream
from tornado.http1connection import HTTP1ServerConnection
from tornado.httpserver import HTTPServer
from tornado.netutil import add_accept_handler, ssl_wrap_socket

from config.listening import UNIX
from config.tls_files import HANDSHAKE_SECONDS
from handlers.http.connection import Peer
from handlers.http.draining import stream_holds_bytes
from handlers.http.response_head import field_lines, status_line
from handlers.http.strict_heads import checked
from handlers.schema.envelope import failed
from handlers.schema.errors import BAD_REQUEST, ApiError
from handlers.tasks import end

_PARSER_RESPONSE = b"HTTP/1.1 400 Bad Request\r\n\r\n"


class Front(Protocol):
    """Knows which streams are in use."""

    def is_used(self, stream: iostream.IOStream) -> bool:
        """Return whether a request is under way on a stream."""


class Server(HTTPServer):
    """Tornado's server, with strict checks of heads, and with an envelope also in the response to malformed HTTP."""

    accepted_at = -math.inf
    draining = False

    def initialize(self, *arguments: Any, **options: Any) -> None:
        """Tornado: takes the place of `__init__`."""
        super().initialize(*arguments, **options)
        self._used_at: WeakKeyDictionary[iostream.IOStream, float] = WeakKeyDictionary()
        self._heads: WeakKeyDictionary[iostream.IOStream, asyncio.Future[bytes]] = WeakKeyDictionary()
        self._listening: dict[socket.socket, Callable[[], None]] = {}  # with what stops accepting
        self._tls: ssl.SSLContext | None = None
        self._shaking_hands: set[asyncio.Task[None]] = set()

    def serve(self, front: Front) -> None:
        """Set the front, which knows what is under way."""
        self._front = front

    def listen_on(self, sockets: list[socket.socket], tls: ssl.SSLContext | None = None) -> None:
        """Accept connections, with `tls` except on Unix sockets."""
        self._tls = tls
        self._listening = {each: add_accept_handler(each, self._accept) for each in sockets}

    def stop(self) -> None:
        """Accept no further connections; open ones continue."""
        while self._listening:
            listening, end_accepting = self._listening.popitem()
            end_accepting()
            listening.close()

    @property
    def open_connections(self) -> int:
        """How many connections are open; WebSockets are not counted."""
        return len(self._connections) + len(self._shaking_hands)

    def close_idle(self, quiet_seconds: float) -> None:
        """Close the connections on which nothing has been under way for `quiet_seconds`."""
        now = asyncio.get_running_loop().time()
        for connection in list(self._connections):
            stream = connection.stream
            if self._front.is_used(stream):
                self._used_at[stream] = now
            quiet = now - self._used_at.setdefault(stream, now) >= quiet_seconds
            used = self._is_arriving(stream) or stream.writing() or stream_holds_bytes(stream)
            if quiet and not used and not stream.closed():
                stream.close()

    def _is_arriving(self, stream: iostream.IOStream) -> bool:
        # between the last byte of a head and its request, the event loop may run other callbacks
        head = self._heads.get(stream)
        return self._front.is_used(stream) or (head is not None and head.done())

    def _accept(self, connection: socket.socket, address: Any) -> None:
        local = connection.family == socket.AF_UNIX
        peer_address = UNIX if local else str(address[0])
        self.accepted_at = asyncio.get_running_loop().time()
        sizes = {"max_buffer_size": self.max_buffer_size, "read_chunk_size": self.read_chunk_size}
        if self._tls is None or local:
            self.serve_stream(iostream.IOStream(connection, **sizes), Peer(peer_address))
            return
        try:
            secured = ssl_wrap_socket(connection, self._tls, server_side=True, do_handshake_on_connect=False)
        except OSError:  # it was closed meanwhile
            connection.close()
            return
        stream = iostream.SSLIOStream(secured, **sizes)
        shaken = stream.wait_for_handshake()  # called at once, or it would miss an earlier end
        work = self._serve_shaken(stream, shaken, Peer(peer_address, "https"))
        task = asyncio.create_task(work, name="TLS handshake")
        self._shaking_hands.add(task)
        task.add_done_callback(self._shaking_hands.discard)

    async def _serve_shaken(self, stream: iostream.IOStream, shaken: Awaitable[object], peer: Peer) -> None:
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                await shaken
        except BaseException as error:
            stream.close()
            if not isinstance(error, OSError | TimeoutError):
                raise
        else:
            self.serve_stream(stream, peer)

    async def close_all_connections(self) -> None:
        """Close every connection, whatever is under way."""
        await end(self._shaking_hands)
        await super().close_all_connections()

    def serve_stream(self, stream: iostream.IOStream, peer: Peer) -> None:
        """Serve the requests on a stream."""
        write, read = stream.write, stream.read_until_regex

        def enveloped(data: bytes | memoryview) -> Any:
            return write(refusal(ApiError(BAD_REQUEST)) if data == _PARSER_RESPONSE else data)

        async def read_head(regex: bytes, max_bytes: int | None = None) -> bytes:
            if stream.closed():  # or what came after the last request would be served (RFC 9112 section 9.6)
                raise iostream.StreamClosedError
            self._heads[stream] = asyncio.ensure_future(read(regex, max_bytes))
            return checked(await self._heads[stream])

        stream.write = enveloped  # type: ignore[method-assign]
        stream.read_until_regex = read_head  # type: ignore[method-assign]
        served = HTTP1ServerConnection(stream, self.conn_params, peer)
        self._connections.add(served)
        served.start_serving(self)


def refusal(error: ApiError) -> bytes:
    """Return the whole response to a request that is not served, after which the connection is closed."""
    body = failed(error)
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        **error.headers,
        "Connection": "close",
        "Content-Length": str(len(body)),
        "X-Request-ID": secrets.token_hex(16),
    }
    return f"{status_line(error.kind.status)}{field_lines(headers)}\r\n".encode("latin-1") + body
