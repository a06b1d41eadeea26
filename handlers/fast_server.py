"""Accepts connections for `FastConnection`, and watches over their time limits."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tornado import httputil
from tornado.httpserver import HTTPServer

from handlers.errors import ApiError
from handlers.fast_headers import HeadersCache
from handlers.fast_http import FastConnection
from handlers.receiving import Receiving

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

    def is_socket(self, target: str) -> bool:
        """Whether a WebSocket route answers this target."""


class FastServer:
    """Accepts connections on sockets and counts them."""

    def __init__(
        self, front: Upgrading, limits: Limits, refusal: Callable[[ApiError], bytes], tornado: HTTPServer
    ) -> None:
        self.front = front
        self.limits = limits
        self.refusal = refusal
        self.tornado = tornado
        self.headers = HeadersCache(_KEPT_HEADERS)
        self.connections: set[FastConnection] = set()
        self._servers: list[asyncio.Server] = []
        self._sweeper: asyncio.TimerHandle | None = None

    async def listen(self, sockets: list[socket.socket]) -> None:
        """Begin to accept."""
        loop = asyncio.get_running_loop()
        for listening in sockets:
            self._servers.append(await loop.create_server(lambda: FastConnection(self), sock=listening, backlog=1024))
        self._sweep()

    def stop(self) -> None:
        """Accept no further connections; those that are open go on."""
        for server in self._servers:
            server.close()

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
