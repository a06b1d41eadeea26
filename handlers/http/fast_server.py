"""Accepts connections for `FastConnection`, and watches over their time limits."""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tornado import httputil
from tornado.iostream import IOStream

from handlers.http.draining import Connections
from handlers.http.fast_connection import FastConnection
from handlers.http.fast_headers import HeadersCache
from handlers.http.receiving import Receiving
from handlers.schema.errors import ApiError

_SWEEP_SECONDS = 1.0
_KEPT_HEADERS = 2000


@dataclass(frozen=True)
class Limits:
    """`header_bytes` of one header block, `extra_bytes` of the extensions and trailers of one body in chunks; seconds to
    receive a whole request, and to stay idle between two."""

    header_bytes: int
    extra_bytes: int
    request_seconds: float
    idle_seconds: float


class Upgrading(Protocol):
    """A front that also knows which targets are WebSockets, and how much of unfinished requests is held."""

    receiving: Receiving

    def start_request(self, server_conn: object, request_conn: httputil.HTTPConnection) -> httputil.HTTPMessageDelegate:
        """A request begins."""

    def is_handshake(self, start: httputil.RequestStartLine, headers: httputil.HTTPHeaders) -> bool:
        """Whether this is a sound request for a WebSocket that there is."""

    def shake_hands(
        self, start: httputil.RequestStartLine, headers: httputil.HTTPHeaders, connection: httputil.HTTPConnection
    ) -> None:
        """Answer the handshake of a WebSocket, and go on with it on `connection`."""


class Tornado(Connections, Protocol):
    """The server that serves what is handed over to it."""

    def handle_stream(self, stream: IOStream, address: tuple[Any, ...]) -> None:
        """Serve this connection."""


class FastServer:
    """Accepts connections on sockets and counts them."""

    def __init__(
        self, front: Upgrading, limits: Limits, refusal: Callable[[ApiError], bytes], tornado: Tornado
    ) -> None:
        self.front = front
        self.limits = limits
        self.refusal = refusal
        self.tornado = tornado
        self.headers = HeadersCache(_KEPT_HEADERS)
        self.connections: set[FastConnection] = set()
        self.accepted_at = -math.inf
        self.draining = False
        self._servers: list[asyncio.Server] = []
        self._sweeper: asyncio.TimerHandle | None = None

    async def listen(self, sockets: list[socket.socket]) -> None:
        """Begin to accept."""
        loop = asyncio.get_running_loop()
        for listening in sockets:
            self._servers.append(await loop.create_server(self._accept, sock=listening, backlog=1024))
        self._sweep()

    def _accept(self) -> FastConnection:
        self.accepted_at = asyncio.get_running_loop().time()
        return FastConnection(self)

    def stop(self) -> None:
        """Accept no further connections; those that are open go on."""
        for server in self._servers:
            server.close()

    @property
    def open_connections(self) -> int:
        """How many connections are open; WebSockets are not counted."""
        return len(self.connections) + self.tornado.open_connections

    def close_idle(self, quiet_seconds: float) -> None:
        """Close the connections on which nothing is under way, and has not been for so long."""
        now = asyncio.get_running_loop().time()
        for connection in list(self.connections):
            connection.close_idle(now, quiet_seconds)
        self.tornado.close_idle(quiet_seconds)

    async def close_all_connections(self) -> None:
        """Close what is open, what was handed over to Tornado too."""
        await self.tornado.close_all_connections()
        if self._sweeper is not None:
            self._sweeper.cancel()
        for connection in list(self.connections):
            connection.close()

    def _sweep(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection in list(self.connections):
            connection.check_time(now)
        self._sweeper = asyncio.get_running_loop().call_later(_SWEEP_SECONDS, self._sweep)
