"""`Connection`: what an exchange needs of the connection of its client, whoever reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tornado import httputil


@dataclass(frozen=True)
class Peer:
    """Who is at the other end; what Tornado calls the connection's context."""

    remote_ip: str
    protocol: str = "http"


class Connection(Protocol):
    """One HTTP/1.1 connection while a request is exchanged on it for a response.

    Whatever sends raises `StreamClosedError` when the client has gone.
    """

    @property
    def peer_address(self) -> str:
        """The address of the other end, empty where it is unknown."""

    @property
    def head_bytes(self) -> int:
        """The size of the request's header block, 0 where the connection does not count it."""

    @property
    def upgradable(self) -> httputil.HTTPConnection | None:
        """The connection on which Tornado goes on with a WebSocket; None where handshakes do not come this far."""

    @property
    def omits_connection_header(self) -> bool:
        """Whether a response says nothing of the connection, as it stays open (RFC 9112 section 9.3)."""

    @property
    def more_waits(self) -> bool:
        """Whether the client has sent something behind the request that is being served."""

    def set_body_timeout(self, seconds: float) -> None:
        """Set the time that the body of this request may take."""

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Set what is called when the client goes away."""

    def send_response(self, status: int, headers: dict[str, str], body: bytes | None) -> None:
        """Send a whole response; `headers` has its Content-Length."""

    def send_bytes(self, response: bytes) -> None:
        """Send a whole response with its head, where `omits_connection_header` holds."""

    def begin_response(self, status: int, headers: Mapping[str, str]) -> asyncio.Future[None]:
        """Send the head of a response whose body follows in pieces."""

    def write(self, chunk: bytes) -> asyncio.Future[None]:
        """Send a piece of the body; done when the client keeps up."""

    def finish(self) -> None:
        """End the response: the next request may be served."""

    def abort(self) -> None:
        """Close at once; what the client has not taken is lost."""
