"""Draining: how a process ends without losing a request (RFC 9112 section 9.6).

During the notice everything is served as before, but readiness is 503 and every response says `Connection: close`, so
that load balancers and clients with persistent connections go elsewhere. Then no new connection is accepted, and an
open one is closed as soon as nothing is under way on it. A process that has been replaced by another one on the same
sockets accepts nothing from the beginning, stays ready, and sends the clients of its WebSockets to the other one.
"""

from __future__ import annotations

import asyncio
import logging
import select
from collections.abc import Callable
from typing import Protocol

log = logging.getLogger("tradewind")
_LOOK_SECONDS = 0.02
_QUIET_SECONDS = 0.5  # a request may be on its way to a connection that is new, or has just been used
_FORCE_SECONDS = 5.0


class Connections(Protocol):
    """What draining needs from a server."""

    draining: bool

    @property
    def open_connections(self) -> int:
        """How many connections are open; WebSockets are not counted."""

    @property
    def accepted_at(self) -> float:
        """When the last connection was accepted, by the clock of the event loop."""

    def stop(self) -> None:
        """Accept no further connections."""

    def close_idle(self, quiet_seconds: float) -> None:
        """Close the connections on which nothing has been under way for `quiet_seconds`."""

    async def close_all_connections(self) -> None:
        """Close every connection, whatever is under way."""


class Open(Protocol):
    """What else must end before the process does: requests, whose clients may be gone, and WebSockets."""

    async def idle(self, seconds: float) -> bool:
        """Wait until no request is being served; return False if that takes longer than `seconds`."""

    async def close_sockets(self, replaced: bool) -> None:
        """Close every WebSocket; `replaced`: the close code asks clients to connect again at once."""


async def drain(
    server: Connections,
    rest: Open,
    notice_seconds: float,
    seconds: float,
    refuse: Callable[[], None],
    replaced: bool = False,
) -> None:
    """Stop serving: give `notice_seconds` of notice, and then at most `seconds` for what is under way.

    `refuse` is called when the notice is over. `replaced`: another process accepts on the same sockets, so this one
    accepts no connections from the beginning.
    """
    clock = asyncio.get_running_loop().time
    server.draining = True
    until = clock() + notice_seconds
    if replaced:
        server.stop()
        await rest.close_sockets(replaced)
    while clock() < until and (
        server.open_connections or (not replaced and clock() - server.accepted_at < notice_seconds)
    ):
        await asyncio.sleep(_LOOK_SECONDS)
    server.stop()
    refuse()
    await rest.close_sockets(replaced)
    until = clock() + seconds
    while server.open_connections and clock() < until:
        server.close_idle(_QUIET_SECONDS)
        await asyncio.sleep(_LOOK_SECONDS)
    if not await rest.idle(max(until - clock(), 0)) or server.open_connections:
        log.warning("requests were still open when the time to drain was over")
    await rest.close_sockets(replaced)
    await asyncio.wait_for(server.close_all_connections(), _FORCE_SECONDS)


def bytes_wait(descriptor: int) -> bool:
    """Return whether a socket has unread bytes, or the other end has closed it."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
