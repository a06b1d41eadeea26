"""The one place where Tornado's HTTP connection meets the lifecycle.

Works on Tornado's `HTTPServerConnectionDelegate` and `HTTPMessageDelegate` interfaces rather than `RequestHandler`,
so whatever implements them can carry it.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import socket
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from tornado import httputil, iostream
from tornado.http1connection import HTTP1Connection
from tornado.httpserver import HTTPServer

from config.settings import Settings
from handlers.http.addresses import Network, networks
from handlers.http.connection import Connection
from handlers.http.draining import stream_holds_bytes
from handlers.http.exchange import Exchange
from handlers.http.fast_headers import Headers
from handlers.http.fast_server import FastServer
from handlers.http.limits import Limits
from handlers.http.receiving import Receiving
from handlers.http.request_head import RequestHead, read_request_head
from handlers.http.response_head import field_lines, status_line
from handlers.http.sockets import GOING_AWAY, SERVICE_RESTART, Sockets
from handlers.http.strict_heads import checked
from handlers.http.tornado_connection import TornadoConnection
from handlers.http.unnamed_proxies import UnnamedProxies
from handlers.metrics import Metrics
from handlers.routing import Router
from handlers.schema.envelope import failed
from handlers.schema.errors import BAD_REQUEST, ApiError
from handlers.service import Service

_PARSER_RESPONSE = b"HTTP/1.1 400 Bad Request\r\n\r\n"


class Front(httputil.HTTPServerConnectionDelegate):
    """Turns connections into exchanges, and knows how many are open."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.origins = frozenset(service.settings.allowed_origins)
        self.proxies = networks(service.settings.trusted_proxies)
        self.receiving = _receiving(service.settings, self.proxies)
        self.unnamed_proxies = UnnamedProxies(service.database.driver, self.proxies)
        self.sockets = Sockets(service, self.proxies, self.origins)
        self._open = 0
        self._idle: asyncio.Event | None = None
        self._exchanges: WeakKeyDictionary[iostream.IOStream, Exchange] = WeakKeyDictionary()
        open_requests = "Requests being served"
        service.part(Metrics).figure("tradewind_open_requests", open_requests, lambda: {"": self._open})
        sockets = "WebSockets that are open"
        service.part(Metrics).figure("tradewind_open_sockets", sockets, lambda: {"": len(self.sockets.open)})

    def start_request(self, server_conn: object, request_conn: httputil.HTTPConnection) -> httputil.HTTPMessageDelegate:
        """Tornado: a request begins on this connection."""
        if not isinstance(request_conn, HTTP1Connection):
            raise TypeError("Tornado serves HTTP/1.1")
        exchange = self.begin(TornadoConnection(request_conn))
        self._exchanges[request_conn.stream] = exchange
        return exchange

    def begin(self, connection: Connection) -> Exchange:
        """A request begins on this connection."""
        return Exchange(self, connection)

    def is_used(self, stream: iostream.IOStream) -> bool:
        """Whether a request is under way on a stream of Tornado's own connection."""
        exchange = self._exchanges.get(stream)
        return exchange is not None and exchange.under_way

    async def close_sockets(self, replaced: bool) -> None:
        """Say goodbye on every WebSocket; with `replaced`, that another process takes its client at once."""
        await self.sockets.close(SERVICE_RESTART if replaced else GOING_AWAY)

    def request_head(self, headers: httputil.HTTPHeaders) -> RequestHead:
        """What the header fields of a request say."""
        if not isinstance(headers, Headers):
            return read_request_head(headers, self.origins)
        if headers.request_head is None:
            headers.request_head = read_request_head(headers, self.origins)
        return headers.request_head

    def is_handshake(self, start: httputil.RequestStartLine, headers: httputil.HTTPHeaders) -> bool:
        """Whether this is a sound request for a WebSocket that there is (RFC 6455 section 4.1)."""
        request_head = self.request_head(headers)
        if start.method != "GET" or not request_head.upgrades or request_head.host != "sound":
            return False
        try:
            route, _ = self.service.part(Router).match("GET", start.path.partition("?")[0])
        except ApiError:
            return False
        return route.socket

    def shake_hands(
        self, start: httputil.RequestStartLine, headers: httputil.HTTPHeaders, connection: httputil.HTTPConnection
    ) -> None:
        """Respond to the handshake of a WebSocket, and go on with it on `connection`."""
        self.sockets.shake_hands(start, headers, connection)

    def opened(self) -> None:
        """A request is being served."""
        self._open += 1

    def closed(self) -> None:
        """A response was sent, or the client went away."""
        self._open -= 1
        if self._idle is not None and not self._open:
            self._idle.set()

    async def idle(self, seconds: float) -> bool:
        """Wait until no request is open; False when that took longer than `seconds`."""
        if not self._open:
            return True
        self._idle = asyncio.Event()
        try:
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True


class Server(HTTPServer):
    """Tornado's server, which reads heads strictly, and whose response to what is no HTTP is an envelope too."""

    accepted_at = -math.inf
    draining = False

    def initialize(self, *arguments: Any, **options: Any) -> None:
        """Tornado: what `__init__` is elsewhere."""
        super().initialize(*arguments, **options)
        self._used_at: WeakKeyDictionary[iostream.IOStream, float] = WeakKeyDictionary()
        self._heads: WeakKeyDictionary[iostream.IOStream, asyncio.Future[bytes]] = WeakKeyDictionary()

    def serve(self, front: Front) -> None:
        """Know the front, which knows what is under way."""
        self._front = front

    @property
    def open_connections(self) -> int:
        """How many connections are open; WebSockets are not counted."""
        return len(self._connections)

    def close_idle(self, quiet_seconds: float) -> None:
        """Close the connections on which nothing is under way, and has not been for so long."""
        now = asyncio.get_running_loop().time()
        for connection in list(self._connections):
            stream = connection.stream
            if self._front.is_used(stream):
                self._used_at[stream] = now
            quiet = now - self._used_at.setdefault(stream, now) >= quiet_seconds
            used = self._is_arriving(stream) or stream.writing() or stream_holds_bytes(stream)
            if quiet and not used and not stream.closed():
                stream.close()

    def _is_arriving(self, stream: iostream.IOStream) -> bool:
        # between the last byte of a head and its request, the event loop may run other callbacks
        head = self._heads.get(stream)
        return self._front.is_used(stream) or (head is not None and head.done())

    def handle_stream(self, stream: iostream.IOStream, address: tuple[Any, ...]) -> None:
        """Tornado: a connection was accepted."""
        self.accepted_at = asyncio.get_running_loop().time()
        write, read = stream.write, stream.read_until_regex

        def enveloped(data: bytes | memoryview) -> Any:
            return write(_refusal(ApiError(BAD_REQUEST)) if data == _PARSER_RESPONSE else data)

        async def read_head(regex: bytes, max_bytes: int | None = None) -> bytes:
            if stream.closed():  # what came behind the last request would be served else (RFC 9112 section 9.6)
                raise iostream.StreamClosedError
            self._heads[stream] = asyncio.ensure_future(read(regex, max_bytes))
            return checked(await self._heads[stream])

        stream.write = enveloped  # type: ignore[method-assign]
        stream.read_until_regex = read_head  # type: ignore[method-assign]
        super().handle_stream(stream, address)


async def listen(front: Front, sockets: list[socket.socket], http: str) -> Server | FastServer:
    """Serve on `sockets` by the connection `http`, `fast` or `tornado`, with the limits of the settings.

    Bodies are limited by the exchange, which knows the response.
    """
    settings = front.service.settings
    header_bytes = max(65_536, settings.max_header_bytes * 2)
    server = Server(
        front,
        max_header_size=header_bytes,
        max_body_size=1 << 40,
        idle_connection_timeout=settings.idle_seconds,
        body_timeout=settings.request_seconds,
        chunk_size=65_536,
    )
    server.serve(front)
    if http == "fast":
        limits = Limits(header_bytes, settings.max_header_bytes, settings.request_seconds, settings.idle_seconds)
        fast = FastServer(front, limits, _refusal, server)
        await fast.listen(sockets)
        return fast
    server.add_sockets(sockets)
    return server


def _receiving(settings: Settings, proxies: Sequence[Network]) -> Receiving:
    """The limits of the settings, in which the largest body finds room however it is cut."""
    least = 2 * settings.max_body_bytes
    most, most_per_address = settings.max_receiving_bytes, settings.max_receiving_bytes_per_address
    return Receiving(max(most, least), max(most_per_address, least), proxies)


def _refusal(error: ApiError) -> bytes:
    """The whole response to what is not served, after which the connection is closed."""
    body = failed(error)
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        **error.headers,
        "Connection": "close",
        "Content-Length": str(len(body)),
        "X-Request-ID": secrets.token_hex(16),
    }
    return f"{status_line(error.kind.status)}{field_lines(headers)}\r\n".encode("latin-1") + body
