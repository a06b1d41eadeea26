"""The one place where HTTP connections meet the lifecycle.

Any connection can be used that calls Tornado's interface `HTTPMessageDelegate`, rather than its `RequestHandler`.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence

from tornado import httputil
from tornado.http1connection import HTTP1ConnectionParameters

from config.settings import Settings
from config.tracing import Tracing
from handlers.http.addresses import Network, Proxies, networks
from handlers.http.connection import Connection
from handlers.http.exchange import Exchange
from handlers.http.fast_headers import Headers
from handlers.http.fast_server import FastServer
from handlers.http.heads import RequestHead, read_request_head, refusal
from handlers.http.receiving import Limits, Receiving
from handlers.http.sockets import GOING_AWAY, SERVICE_RESTART, Sockets
from handlers.http.tornado_server import Server
from handlers.lifecycle import Response, respond
from handlers.operations.metrics import Metrics
from handlers.request import Request
from handlers.routing import Router
from handlers.schema.errors import ApiError
from handlers.service import Service


class Front:
    """Begins an exchange for each request on a connection, and counts the open ones."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.respond = _respond(service)
        self.origins = frozenset(service.settings.allowed_origins)
        trusted = networks(service.settings.trusted_proxies)
        self.proxies = Proxies(trusted, service.settings.forwarding_field)
        self.receiving = _receiving(service.settings, trusted)
        self.sockets = Sockets(service, self.proxies, self.origins)
        self._open = 0
        self._idle: asyncio.Event | None = None
        open_requests = "Requests being served"
        service.part(Metrics).figure("tradewind_open_requests", open_requests, lambda: {"": self._open})
        sockets = "WebSockets that are open"
        service.part(Metrics).figure("tradewind_open_sockets", sockets, lambda: {"": len(self.sockets.open)})

    def begin(self, connection: Connection) -> Exchange:
        """Begin the exchange of a request on this connection."""
        return Exchange(self, connection)

    async def close_sockets(self, replaced: bool) -> None:
        """Close every WebSocket; `replaced`: the close code asks clients to connect again at once."""
        await self.sockets.close(SERVICE_RESTART if replaced else GOING_AWAY)

    def request_head(self, headers: httputil.HTTPHeaders) -> RequestHead:
        """Return what the headers of a request say."""
        if not isinstance(headers, Headers):
            return read_request_head(headers, self.origins)
        if headers.request_head is None:
            headers.request_head = read_request_head(headers, self.origins)
        return headers.request_head

    def is_handshake(self, start: httputil.RequestStartLine, headers: httputil.HTTPHeaders) -> bool:
        """Return whether this is a valid handshake for an existing WebSocket route (RFC 6455 section 4.1)."""
        request_head = self.request_head(headers)
        if start.method != "GET" or not request_head.upgrades or request_head.host != "sound":
            return False
        try:
            route, _ = self.service.part(Router).match("GET", start.path.partition("?")[0])
        except ApiError:
            return False
        return route.socket

    def opened(self) -> None:
        """Count a request that is being served."""
        self._open += 1

    def closed(self) -> None:
        """Stop counting a request, because its response was sent or the client went away."""
        self._open -= 1
        if self._idle is not None and not self._open:
            self._idle.set()

    async def idle(self, seconds: float) -> bool:
        """Wait until no request is open; return False if that takes longer than `seconds`."""
        if not self._open:
            return True
        self._idle = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True


async def listen(
    front: Front, sockets: list[socket.socket], http: str, tls: ssl.SSLContext | None = None
) -> Server | FastServer:
    """Serve on `sockets`, with the connections that `http` names (`fast` or `tornado`) and the limits of the settings.

    With `tls`, every socket except Unix sockets speaks TLS. The size of bodies is limited by the exchange, which knows
    how to respond.
    """
    settings = front.service.settings
    header_bytes = max(65_536, settings.max_header_bytes * 2)
    if http == "fast":
        limits = Limits(header_bytes, settings.max_header_bytes, settings.request_seconds, settings.idle_seconds)
        fast = FastServer(front, limits, refusal)
        await fast.listen(sockets, tls)
        return fast
    parameters = HTTP1ConnectionParameters(
        max_header_size=header_bytes,
        max_body_size=1 << 40,
        header_timeout=settings.idle_seconds,
        body_timeout=settings.request_seconds,
    )
    server = Server(front, parameters)
    server.listen_on(sockets, tls)
    return server


def _respond(service: Service) -> Callable[[Request], Awaitable[Response]]:
    """Return the function that responds to a request, within a span if requests are traced."""
    if Tracing not in service.parts:
        return respond
    from handlers.operations.tracing import respond_traced

    return respond_traced


def _receiving(settings: Settings, proxies: Sequence[Network]) -> Receiving:
    """Return the memory limits of the settings, raised if the largest body would not fit however it is split."""
    least = 2 * settings.max_body_bytes
    most, most_per_address = settings.max_receiving_bytes, settings.max_receiving_bytes_per_address
    return Receiving(max(most, least), max(most_per_address, least), proxies)
