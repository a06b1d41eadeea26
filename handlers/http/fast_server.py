"""Accepts connections for `FastConnection`, and watches over their time limits."""

from __future__ import annotations

import asyncio
import math
import socket
from collections.abc import Callable
from typing import Protocol

from handlers.http.draining import Connections
from handlers.http.fast_connection import FastConnection, Front, Tornado
from handlers.http.fast_head import HeadsCache
from handlers.http.limits import Limits
from handlers.schema.errors import ApiError

_SWEEP_SECONDS = 1.0
_KEPT_HEADS = 2000


class TornadoServer(Connections, Tornado, Protocol):
    """Tornado's server, which serves the WebSockets and is drained with this one."""


class FastServer:
    """Accepts connections on sockets and counts them."""

    def __init__(
        self, front: Front, limits: Limits, refusal: Callable[[ApiError], bytes], tornado: TornadoServer
    ) -> None:
        self.front = front
        self.limits = limits
        self.refusal = refusal
        self.tornado = tornado
        self.heads = HeadsCache(_KEPT_HEADS)
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
