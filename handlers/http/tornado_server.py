"""Tornado's own connections: accepts them, speaks TLS on them if it has to, and has their requests read."""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from tornado import httputil
from tornado.http1connection import HTTP1Connection, HTTP1ConnectionParameters, HTTP1ServerConnection
from tornado.netutil import add_accept_handler, ssl_wrap_socket

from config.listening import UNIX
from config.tls import HANDSHAKE_SECONDS
from handlers.http.connection import Connection, Peer
from handlers.http.tornado_connection import TornadoConnection
from handlers.http.tornado_stream import StrictStream, StrictTlsStream
from handlers.tasks import end


class Front(Protocol):
    """Begins an exchange for each request."""

    def begin(self, connection: Connection) -> httputil.HTTPMessageDelegate:
        """Begin the exchange of a request on `connection`."""


class Server(httputil.HTTPServerConnectionDelegate):
    """Accepts connections on sockets and counts them."""

    def __init__(self, front: Front, parameters: HTTP1ConnectionParameters) -> None:
        self.accepted_at = -math.inf
        self.draining = False
        self._front = front
        self._parameters = parameters
        self._streams: dict[HTTP1ServerConnection, StrictStream] = {}
        self._used_at: WeakKeyDictionary[StrictStream, float] = WeakKeyDictionary()
        self._listening: dict[socket.socket, Callable[[], None]] = {}  # with what stops accepting
        self._tls: ssl.SSLContext | None = None
        self._shaking_hands: set[asyncio.Task[None]] = set()

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
        return len(self._streams) + len(self._shaking_hands)

    def close_idle(self, quiet_seconds: float) -> None:
        """Close the connections on which nothing has been under way for `quiet_seconds`."""
        now = asyncio.get_running_loop().time()
        for stream in list(self._streams.values()):
            if stream.head_arrived:
                self._used_at[stream] = now
            quiet = now - self._used_at.setdefault(stream, now) >= quiet_seconds
            used = stream.head_arrived or stream.writing() or stream.holds_bytes
            if quiet and not used and not stream.closed():
                stream.close()

    def _accept(self, connection: socket.socket, address: Any) -> None:
        local = connection.family == socket.AF_UNIX
        peer_address = UNIX if local else str(address[0])
        self.accepted_at = asyncio.get_running_loop().time()
        if self._tls is None or local:
            self.serve_stream(StrictStream(connection), Peer(peer_address))
            return
        try:
            secured = ssl_wrap_socket(connection, self._tls, server_side=True, do_handshake_on_connect=False)
        except OSError:  # it was closed meanwhile
            connection.close()
            return
        stream = StrictTlsStream(secured)
        shaken = stream.wait_for_handshake()  # called at once, or it would miss an earlier end
        work = self._serve_shaken(stream, shaken, Peer(peer_address, "https"))
        task = asyncio.create_task(work, name="TLS handshake")
        self._shaking_hands.add(task)
        task.add_done_callback(self._shaking_hands.discard)

    async def _serve_shaken(self, stream: StrictStream, shaken: Awaitable[object], peer: Peer) -> None:
        try:
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                await shaken
        except BaseException as error:
            stream.close()
            if not isinstance(error, OSError | TimeoutError):
                raise
        else:
            self.serve_stream(stream, peer)

    def serve_stream(self, stream: StrictStream, peer: Peer) -> None:
        """Serve the requests on a stream."""
        served = HTTP1ServerConnection(stream, self._parameters, peer)
        self._streams[served] = stream
        served.start_serving(self)

    def start_request(self, server_conn: object, request_conn: httputil.HTTPConnection) -> httputil.HTTPMessageDelegate:
        """Tornado: a request begins on this connection."""
        if not isinstance(server_conn, HTTP1ServerConnection) or not isinstance(request_conn, HTTP1Connection):
            raise TypeError("Tornado serves HTTP/1.1")
        return self._front.begin(TornadoConnection(request_conn, self._streams[server_conn]))

    def on_close(self, server_conn: object) -> None:
        """Tornado: no further request comes on this connection."""
        if isinstance(server_conn, HTTP1ServerConnection):
            self._streams.pop(server_conn, None)

    async def close_all_connections(self) -> None:
        """Close every connection, whatever is under way."""
        await end(self._shaking_hands)
        for connection in list(self._streams):
            await connection.close()
