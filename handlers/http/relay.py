"""A socket that stands in for a TLS connection, whose bytes only its transport can read."""

from __future__ import annotations

import asyncio
import socket


class _End(asyncio.Protocol):
    """One end of a relay: what arrives is written to the other end, and reading pauses while that takes no more."""

    def __init__(self) -> None:
        self.other: _End
        self.transport: asyncio.Transport | None = None
        self.connecting: asyncio.Task[object] | None = None
        self._closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: the connection is open."""
        self.transport = transport  # type: ignore[assignment]
        if self._closed:
            transport.close()
        elif self.other.transport is not None:
            self.other.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes to pass on."""
        if self.other.transport is not None:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        """asyncio: this end takes no more."""
        if self.other.transport is not None and not self.other.transport.is_closing():
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        """asyncio: this end takes more."""
        if self.other.transport is not None and not self.other.transport.is_closing():
            self.other.transport.resume_reading()

    def eof_received(self) -> None:
        """asyncio: nothing more comes; the transport closes itself."""

    def connection_lost(self, error: Exception | None) -> None:
        """asyncio: the connection is closed; the other end is closed too, once it has sent what it has."""
        self.other.close()

    def close(self) -> None:
        """Close this end."""
        self._closed = True
        if self.transport is not None:
            self.transport.close()


def relay(transport: asyncio.Transport) -> socket.socket:
    """Return a socket that stands in for the connection of `transport`, whose protocol gets nothing more."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    client, inner = _End(), _End()
    client.other, inner.other = inner, client
    before = transport.get_protocol()
    transport.pause_reading()
    transport.set_protocol(client)
    client.transport = transport
    before.connection_lost(None)
    loop = asyncio.get_running_loop()
    client.connecting = loop.create_task(loop.connect_accepted_socket(lambda: inner, theirs))
    return ours
