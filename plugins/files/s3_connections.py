"""Connections to S3 that hold little of an object whose reader is slow.

The event loop reads as much at once as the system has received, and aiohttp reads on until twice its buffer is full:
256 KB and 512 KiB unless they are told otherwise, for each download.
"""

from __future__ import annotations

import socket
from typing import Any

from aiobotocore.httpsession import AIOHTTPSession  # type: ignore[import-untyped]
from aiohttp import ClientResponse

# the system doubles it (socket(7)); a single connection gets no more than that in one round trip
_RECEIVE_BYTES = 96 << 10
_AHEAD_BYTES = 1 << 10  # what aiohttp may have before it stops to read; it has all that comes at once in any case
_UNDECRYPTED_BYTES = 16 << 10


def modest_socket(address: tuple[Any, ...]) -> socket.socket:
    """A socket for an entry of `getaddrinfo` that receives little before it is read."""
    family, kind, protocol = address[:3]
    made = socket.socket(family, kind, protocol)
    # before it connects, so that the other side is told a window of this size
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
    return made


class ModestSession(AIOHTTPSession):  # type: ignore[misc]
    """aiobotocore's session; its connections read little ahead, for which it has no option."""

    async def _get_session(self, proxy_url: str | None) -> Any:
        session = await super()._get_session(proxy_url)
        session._read_bufsize = _AHEAD_BYTES
        return session


class Pieces:
    """The body of a response, as it comes; between two pieces nothing is received."""

    def __init__(self, response: ClientResponse) -> None:
        self._response = response
        self._connection = response.connection  # None once everything has come
        transport: Any = self._connection and self._connection.transport
        if hasattr(transport, "set_read_buffer_limits"):  # of TLS: what is not decrypted yet
            transport.set_read_buffer_limits(_UNDECRYPTED_BYTES)

    async def next(self) -> bytes:
        """The next piece, none at the end. What comes after it is left to the system until it is asked for."""
        protocol = self._connection and self._connection.protocol
        if protocol is not None:
            protocol.resume_reading()
        piece = await self._response.content.readany()
        protocol = self._connection and self._connection.protocol
        if protocol is not None:
            protocol.pause_reading()
        return piece
