"""`Connection`: what an exchange needs from the connection of its client, whichever server reads it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tornado import httputil


@dataclass(frozen=True)
class Peer:
    """The other end of a connection; Tornado calls this the connection's context."""

    remote_ip: str
    protocol: str = "http"


class Connection(Protocol):
    """One HTTP/1.1 connection while a request is exchanged on it for a response.

    Every method that sends raises `StreamClosedError` if the client has gone.
    """

    @property
    def peer_address(self) -> str:
        """The address of the other end, empty if it is unknown."""

    @property
    def head_bytes(self) -> int:
        """The size of the request's header block, 0 if the connection does not count it."""

    @property
    def upgradable(self) -> httputil.HTTPConnection | None:
        """The connection on which Tornado continues with a WebSocket; None if none can begin here."""

    def omits_connection_header(self) -> bool:
        """Return whether the connection stays open without a `Connection` header (RFC 9112 section 9.3)."""

    @property
    def more_waits(self) -> bool:
        """Whether the client has sent something after the request that is being served."""

    def set_body_timeout(self, seconds: float) -> None:
        """Set the time that the body of this request may take."""

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Set the function that is called when the client goes away."""

    def send_response(self, status: int, headers: dict[str, str], body: bytes | None) -> None:
        """Send a whole response; `headers` includes its Content-Length."""

    def send_bytes(self, response: bytes) -> None:
        """Send a whole response, head included; only if `omits_connection_header` returned True."""

    def begin_response(self, status: int, headers: Mapping[str, str]) -> asyncio.Future[None]:
        """Send the head of a response whose body follows in pieces."""

    def write(self, chunk: bytes) -> asyncio.Future[None]:
        """Send a piece of the body; the future is done when the client keeps up."""

    def finish(self) -> None:
        """End the response, so that the next request can be served."""

    def abort(self) -> None:
        """Close at once; bytes that the client has not taken are lost."""
