"""Accepts connections for `FastConnection`, and enforces their time limits."""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any

from config.listening import UNIX
from config.tls import HANDSHAKE_SECONDS, SHUTDOWN_SECONDS
from handlers.http.fast_connection import FastConnection, Front
from handlers.http.fast_head import HeadsCache
from handlers.http.receiving import Limits
from handlers.schema.errors import ApiError

_SWEEP_SECONDS = 1.0
_NEW_SECONDS = 1.0  # asyncio does not show a connection during its TLS handshake, which takes a client less than this
_KEPT_HEADS = 2000


class FastServer:
    """Accepts connections on sockets and counts them."""

    def __init__(self, front: Front, limits: Limits, refusal: Callable[[ApiError], bytes]) -> None:
        self.front = front
        self.limits = limits
        self.refusal = refusal
        self.heads = HeadsCache(_KEPT_HEADS)
        self.connections: set[FastConnection] = set()
        self.accepted_at = -math.inf
        self.draining = False
        self._servers: list[asyncio.Server] = []
        self._secured: dict[str, Any] = {}
        self._sweeper: asyncio.TimerHandle | None = None

    async def listen(self, sockets: list[socket.socket], tls: ssl.SSLContext | None = None) -> None:
        """Accept connections, with `tls` except on Unix sockets."""
        if tls is not None:
            limits = {"ssl_handshake_timeout": HANDSHAKE_SECONDS, "ssl_shutdown_timeout": SHUTDOWN_SECONDS}
            self._secured = {"ssl": tls, **limits}
        loop = asyncio.get_running_loop()
        for listening in sockets:
            if listening.family == socket.AF_UNIX:
                accept = partial(self._accept, UNIX)
                self._servers.append(await loop.create_unix_server(accept, sock=listening, backlog=1024))
            else:
                server = await loop.create_server(self._accept, sock=listening, backlog=1024, **self._secured)
                self._servers.append(server)
        self._sweep()

    def _accept(self, peer_address: str = "") -> FastConnection:
        self.accepted_at = asyncio.get_running_loop().time()
        return FastConnection(self, peer_address)

    def stop(self) -> None:
        """Accept no further connections; open ones continue."""
        for server in self._servers:
            server.close()

    @property
    def open_connections(self) -> int:
        """The number of connections that are open, or may be after their TLS handshake, not counting WebSockets."""
        beginning = bool(self._secured) and asyncio.get_running_loop().time() - self.accepted_at < _NEW_SECONDS
        return len(self.connections) + beginning

    def close_idle(self, quiet_seconds: float) -> None:
        """Close the connections on which nothing has been under way for `quiet_seconds`."""
        now = asyncio.get_running_loop().time()
        for connection in list(self.connections):
            connection.close_idle(now, quiet_seconds)

    async def close_all_connections(self) -> None:
        """Close every connection."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for connection in list(self.connections):
            connection.close()

    def _sweep(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection in list(self.connections):
            connection.check_time(now)
        self._sweeper = asyncio.get_running_loop().call_later(_SWEEP_SECONDS, self._sweep)
