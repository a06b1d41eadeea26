"""Accepts connections for `FastConnection`, and enforces their time limits."""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from config.listening import UNIX
from config.tls_files import HANDSHAKE_SECONDS, SHUTDOWN_SECONDS
from handlers.http.accepting import Acceptor
from handlers.http.addresses import Network
from handlers.http.draining import Connections
from handlers.http.fast_connection import FastConnection, Front, Tornado
from handlers.http.fast_head import HeadsCache
from handlers.http.limits import Limits
from handlers.schema.errors import ApiError
from handlers.tasks import end

_SWEEP_SECONDS = 1.0
_NEW_SECONDS = 1.0  # asyncio does not show a connection during its TLS handshake, which takes a client less than this
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
        self._acceptor: Acceptor | None = None
        self._secured: dict[str, Any] = {}
        self._shaking_hands: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.TimerHandle | None = None

    async def listen(
        self, sockets: list[socket.socket], tls: ssl.SSLContext | None = None, announcing: Sequence[Network] = ()
    ) -> None:
        """Accept connections: with `tls` except on Unix sockets, with PROXY headers from the networks `announcing`."""
        if tls is not None:
            limits = {"ssl_handshake_timeout": HANDSHAKE_SECONDS, "ssl_shutdown_timeout": SHUTDOWN_SECONDS}
            self._secured = {"ssl": tls, **limits}
        if announcing:
            self._acceptor = Acceptor(announcing, self._take)
        loop = asyncio.get_running_loop()
        for listening in sockets:
            if self._acceptor is not None:
                self._acceptor.listen(listening)
            elif listening.family == socket.AF_UNIX:
                accept = partial(self._accept, UNIX)
                self._servers.append(await loop.create_unix_server(accept, sock=listening, backlog=1024))
            else:
                server = await loop.create_server(self._accept, sock=listening, backlog=1024, **self._secured)
                self._servers.append(server)
        self._sweep()

    def _accept(self, peer_address: str = "") -> FastConnection:
        self.accepted_at = asyncio.get_running_loop().time()
        return FastConnection(self, peer_address)

    def _take(self, connection: socket.socket, peer_address: str, local: bool) -> None:
        task = asyncio.create_task(self._take_later(connection, peer_address, local), name="connection")
        self._shaking_hands.add(task)
        task.add_done_callback(self._shaking_hands.discard)

    async def _take_later(self, connection: socket.socket, peer_address: str, local: bool) -> None:
        if not local:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        accept = partial(self._accept, peer_address)
        with suppress(OSError):  # it was closed, or its TLS handshake failed
            await asyncio.get_running_loop().connect_accepted_socket(
                accept, connection, **({} if local else self._secured)
            )

    def stop(self) -> None:
        """Accept no further connections; open ones continue."""
        for server in self._servers:
            server.close()
        if self._acceptor is not None:
            self._acceptor.stop()

    @property
    def open_connections(self) -> int:
        """The number of connections that are open, or may be after their TLS handshake, not counting WebSockets."""
        return len(self.connections) + self.tornado.open_connections + self._beginning

    @property
    def _beginning(self) -> int:
        """The number of connections that are not ready for their first request yet."""
        if not self._secured and self._acceptor is None:
            return 0
        new = asyncio.get_running_loop().time() - self.accepted_at < _NEW_SECONDS
        return new + len(self._shaking_hands) + (self._acceptor.reading if self._acceptor else 0)

    def close_idle(self, quiet_seconds: float) -> None:
        """Close the connections on which nothing has been under way for `quiet_seconds`."""
        now = asyncio.get_running_loop().time()
        for connection in list(self.connections):
            connection.close_idle(now, quiet_seconds)
        self.tornado.close_idle(quiet_seconds)

    async def close_all_connections(self) -> None:
        """Close every connection, including those that were handed over to Tornado."""
        if self._acceptor is not None:
            await self._acceptor.end_reading()
        await end(self._shaking_hands)
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
