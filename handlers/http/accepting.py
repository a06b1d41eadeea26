"""Accepts connections and determines the client of each: the other end, or whom a proxy names in a PROXY header."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from tornado.netutil import add_accept_handler

from config.listening import UNIX
from handlers.http.addresses import Network, listed
from handlers.http.proxy_protocol import NoHeader, read_client
from handlers.tasks import end

log = logging.getLogger("tradewind.http")
Accepted = Callable[[socket.socket, str, bool], None]


class Acceptor:
    """Accepts connections and hands each over with the address of its client and whether it came by a Unix socket.

    Connections from the networks `announcing` must begin with a PROXY header; one that does not is closed.
    """

    def __init__(self, announcing: Sequence[Network], hand_over: Accepted) -> None:
        self._announcing = announcing
        self._hand_over = hand_over
        self._removers: list[Callable[[], None]] = []
        self._sockets: list[socket.socket] = []
        self._reading: set[asyncio.Task[None]] = set()

    def listen(self, listening: socket.socket) -> None:
        """Accept connections on a socket from now on."""
        self._sockets.append(listening)
        self._removers.append(add_accept_handler(listening, self._accepted))

    def stop(self) -> None:
        """Accept no further connections, and close the listening sockets in this process."""
        for remove in self._removers:
            remove()
        self._removers.clear()
        while self._sockets:
            self._sockets.pop().close()

    async def end_reading(self) -> None:
        """Close the connections whose PROXY header has not arrived yet."""
        await end(self._reading)

    @property
    def reading(self) -> int:
        """The number of connections whose PROXY header has not arrived yet."""
        return len(self._reading)

    def _accepted(self, connection: socket.socket, address: Any) -> None:
        connection.setblocking(False)
        local = connection.family == socket.AF_UNIX
        peer = UNIX if local else str(address[0])
        if self._announcing and listed(peer, self._announcing):
            task = asyncio.create_task(self._read_header(connection, peer, local), name="PROXY header")
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)
        else:
            self._hand_over(connection, peer, local)

    async def _read_header(self, connection: socket.socket, peer: str, local: bool) -> None:
        try:
            client = await read_client(connection)
        except BaseException as error:
            connection.close()
            if isinstance(error, NoHeader | TimeoutError):
                log.warning("a trusted proxy sends no sound PROXY header", extra={"address": peer})
            elif not isinstance(error, OSError):
                raise
        else:
            with suppress(OSError):  # it was closed meanwhile
                self._hand_over(connection, client or peer, local)
