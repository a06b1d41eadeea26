"""Connections to S3 with small buffers, which do not read ahead, so that a slow download holds little memory.

By default the event loop reads up to 256 KB at once, and aiohttp reads ahead until it has 512 KiB for each download.
"""

from __future__ import annotations

import socket
from typing import Any

from aiohttp import ClientResponse

# the system doubles it (socket(7)), and the event loop may read all of it at once
_RECEIVE_BYTES = 64 << 10
_UNDECRYPTED_BYTES = 16 << 10


def create_small_socket(address: tuple[Any, ...]) -> socket.socket:
    """Create a socket with a small receive buffer, for an entry of `getaddrinfo`."""
    family, kind, protocol = address[:3]
    created = socket.socket(family, kind, protocol)
    # set before connecting, because the size of the TCP window is announced then
    created.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
    return created


class BodyReader:
    """Reads the body of a response piece by piece. Between two pieces the connection does not read."""

    def __init__(self, response: ClientResponse) -> None:
        self._response = response
        self._connection = response.connection  # None when the whole body has arrived
        transport: Any = self._connection and self._connection.transport
        if hasattr(transport, "set_read_buffer_limits"):  # TLS: the buffer of undecrypted bytes
            transport.set_read_buffer_limits(_UNDECRYPTED_BYTES)

    async def read_next(self) -> bytes:
        """Return the next piece, or no bytes at the end. Further data stays in the socket until the next call."""
        protocol = self._connection and self._connection.protocol
        if protocol is not None:
            protocol.resume_reading()
        piece = await self._response.content.readany()
        protocol = self._connection and self._connection.protocol
        if protocol is not None:
            protocol.pause_reading()
        return piece
