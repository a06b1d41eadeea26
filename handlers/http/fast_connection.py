"""HTTP/1.1 on asyncio's `Protocol`, with Node's llhttp for the heads, behind Tornado's connection interfaces.

A `FastConnection` calls the same delegates as Tornado's own connection does and is their `Connection`, so the lifecycle
cannot distinguish them. Requests are read one after the other: what a client sends before the response is written stays
unread, and its amount is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from tornado import httputil
from tornado.iostream import StreamClosedError

from handlers.http.connection import Connection
from handlers.http.draining import bytes_wait
from handlers.http.fast_body import Body
from handlers.http.fast_head import Head, HeadReader, HeadsCache
from handlers.http.fast_writer import ResponseWriter, require
from handlers.http.receiving import Limits, Receiving, UnreadBytes
from handlers.http.upgrading import Upgradable
from handlers.schema.errors import ApiError

_LINGER_SECONDS = 1.0  # for a client that is still sending when it is refused, so that it sees why
_LINGER_BYTES = 1 << 20
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Front(Protocol):
    """Begins an exchange for each request."""

    receiving: Receiving

    def begin(self, connection: Connection) -> httputil.HTTPMessageDelegate:
        """Begin the exchange of a request on `connection`."""


class Owner(Protocol):
    """The server that a connection belongs to."""

    limits: Limits
    heads: HeadsCache
    connections: set[FastConnection]
    draining: bool

    @property
    def front(self) -> Front:
        """The front, which takes the requests."""

    def refusal(self, error: ApiError) -> bytes:
        """Return the whole response to a request that cannot be read."""


class FastConnection(asyncio.Protocol):
    """One connection, a `Connection` for its exchanges. Responses are sent in the order of the requests."""

    def __init__(self, server: Owner, peer_address: str = "") -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._heads = HeadReader(server.limits.header_bytes, server.heads)
        # the request that is being received or served: its head, the reader of the rest of its body, and its delegate
        self._request: Head | None = None
        self._body: Body | None = None
        self._delegate: httputil.HTTPMessageDelegate | None = None
        self._handed = False  # whether the delegate has the whole request
        self._held = False  # whether reading waits for the delegate
        self._more = False  # whether something arrived together with the end of the request
        self._paused = False  # whether reading is paused, as it is while anything is kept in `_unread`
        self._upgradable: Upgradable | None = None  # what has read the head of a handshake
        self._receiver: Callable[[bytes], None] | None = None  # takes what arrives once the protocol has changed
        self._refusal: ApiError | None = None  # the error of what came after the request being served
        self._receive_seconds = server.limits.request_seconds
        self._closing = False
        self._dropped = 0
        self.head_bytes = 0
        self._since = self._loop.time()
        self.peer_address = peer_address  # given if it is not that of the transport's other end

    # -- asyncio: the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio: a client connected."""
        self._transport: Any = transport
        self.peer_address = self.peer_address or _address_of(transport)
        self._writer = ResponseWriter(cast(asyncio.WriteTransport, transport))
        self._unread = UnreadBytes(self._server.front.receiving, self.peer_address)
        self._server.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """asyncio: the client went away, or the connection was closed."""
        self._server.connections.discard(self)
        self._closing = True
        self._writer.resume(StreamClosedError())
        self._unread.take()
        if self._delegate is not None:
            self._delegate.on_connection_close()
        self._delegate = None
        if self._upgradable is not None:
            self._upgradable.lose()
            self._upgradable = self._receiver = None

    def data_received(self, data: bytes) -> None:
        """asyncio: bytes arrived."""
        if self._closing:
            self._dropped += len(data)
            if self._dropped > _LINGER_BYTES:
                self._transport.abort()
        elif self._receiver is not None:
            self._receiver(data)
        elif self._paused or self._is_busy():
            self._keep(data, 0)
        else:
            self._read(data, 0)

    def _is_busy(self) -> bool:
        """Return whether reading must wait: for a response, the delegate, or a client that does not read."""
        return self._handed or self._held or (self._writer.blocked is not None and self._request is None)

    def pause_writing(self) -> None:
        """asyncio: the client reads more slowly than we write."""
        self._writer.pause()

    def resume_writing(self) -> None:
        """asyncio: the client caught up."""
        self._writer.resume()
        self._read_on_soon()

    # -- a request arrives

    def _read(self, data: bytes, at: int) -> None:
        """Read `data` from `at` on, to the end of one request at most, and keep the rest."""
        try:
            if self._request is None:
                at = self._read_head(data, at)
            if self._body is not None and at < len(data):
                at = self._read_body(self._body, data, at)
            self._more = at < len(data)
            self._hand()
        except ApiError as error:
            self._refuse(error)
        if at < len(data):
            self._keep(data, at)

    def _read_head(self, data: bytes, at: int) -> int:
        if not self._heads.waiting:
            self._since = self._loop.time()
        head, at = self._heads.read(data, at)
        if head is None or self._unread.counted:
            self._unread.count(len(self._heads.waiting))
        if head is not None:
            self._begin(head, data, at)
        return at

    def _begin(self, head: Head, data: bytes, at: int) -> None:
        body = None if head.plain else head.body(self._server.limits.extra_bytes)
        self._request, self._body = head, body
        self.head_bytes = head.size
        self._delegate = self._server.front.begin(self)
        if body is not None and at == len(data) and head.headers.get("Expect", "").lower() == "100-continue":
            self._transport.write(_CONTINUE)
        self._delegate.headers_received(head.start, head.headers)

    def _read_body(self, body: Body, data: bytes, at: int) -> int:
        piece, at = body.read(data, at)
        if body.complete:
            self._body = None
        if piece and self._delegate is not None:
            waiting = self._delegate.data_received(piece)
            if waiting is not None:
                self._held = True
                asyncio.ensure_future(waiting).add_done_callback(lambda _: self._go_on())
        return at

    def _hand(self) -> None:
        """Call `finish` of the delegate if it has the whole request."""
        if self._delegate is not None and self._body is None and not self._handed and not self._held:
            self._handed = True
            self._delegate.finish()

    def _go_on(self) -> None:
        """Continue after the delegate has caught up."""
        self._held = False
        self._since = self._loop.time()
        if not self._closing:
            self._hand()
            self._read_on_soon()

    @property
    def upgradable(self) -> httputil.HTTPConnection | None:
        """What Tornado continues with; None to decline the offer and serve the request (RFC 9110 section 7.8)."""
        request = self._request
        if request is None or self._body is not None or request.start.version != "HTTP/1.1":
            return None
        self._upgradable = Upgradable(self, self._transport)
        return self._upgradable

    def give(self, receiver: Callable[[bytes], None]) -> None:
        """Give what arrives from now on to `receiver`, beginning with what has arrived already."""
        self._server.connections.discard(self)
        self._receiver = receiver
        self._paused = False
        self._transport.resume_reading()
        data, at = self._unread.take()
        if self._refusal is not None:  # too much had arrived, and was dropped
            self.abort()
        elif data:
            receiver(data[at:])

    # -- bytes that cannot be read yet

    def _keep(self, data: bytes, at: int) -> None:
        """Keep `data` from `at` on, and pause reading. At most one further read is added to it."""
        if self._closing or self._refusal is not None:
            return
        self._unread.keep(data, at)
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()
        try:
            # while an upload holds the client back, the upload itself bounds what waits
            self._unread.count(0 if self._held else len(self._unread))
        except ApiError as error:
            self._unread.take()
            self._refusal = error
        self._read_on_soon()

    def _read_on_soon(self) -> None:
        if (self._unread or self._paused) and not self._is_busy():
            self._loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        if self._closing or self._is_busy():
            return
        data, at = self._unread.take()
        if data:
            self._read(data, at)
        if self._paused and not self._unread and not self._closing:
            self._paused = False
            self._transport.resume_reading()

    # -- the response

    @property
    def unsent(self) -> int:
        """The number of bytes that the client has not taken yet."""
        return self._writer.unsent

    def omits_connection_header(self) -> bool:
        """Return whether the connection stays open without a `Connection` header (RFC 9112 section 9.3)."""
        request = self._request
        return request is not None and not self._closing and request.keep_alive and request.start.version == "HTTP/1.1"

    def send_response(self, status: int, headers: dict[str, str], body: bytes | None) -> None:
        """Send a whole response in one write; `headers` includes its Content-Length."""
        self._writer.send_response(require(self._request, self._closing), status, headers, body)
        self.finish()

    def send_bytes(self, response: bytes) -> None:
        """Send a whole response, head included; only if `omits_connection_header` returned True."""
        if self._closing:
            raise StreamClosedError()
        self._writer.send_bytes(response)
        self.finish()

    def begin_response(self, status: int, headers: Mapping[str, str]) -> asyncio.Future[None]:
        """Send the head of a response whose body follows in pieces."""
        return self._writer.begin(require(self._request, self._closing), status, headers)

    def write(self, chunk: bytes) -> asyncio.Future[None]:
        """Send a piece of the body; the future is done when the client keeps up."""
        if self._closing:
            raise StreamClosedError()
        return self._writer.write(chunk)

    def finish(self) -> None:
        """End the response, so that the next request can be served."""
        self._writer.end()
        whole, last = self._body is None, self._writer.last
        self._request = self._body = self._delegate = self._upgradable = None
        self._handed = False
        self._receive_seconds = self._server.limits.request_seconds
        self._since = self._loop.time()
        if last and whole and self._server.draining:
            self._linger()
        elif last or not whole:
            # the rest of an unread body cannot be distinguished from the next request
            self.close()
        elif self._refusal is not None:
            self._refuse(self._refusal)
        elif self._paused:
            self._read_on_soon()

    def close(self) -> None:
        """Send what has been written, then close."""
        self._closing = True
        self._transport.close()

    def abort(self) -> None:
        """Close at once; bytes that the client has not taken are lost."""
        self._closing = True
        self._transport.abort()

    def set_body_timeout(self, seconds: float) -> None:
        """Set the time for this request's body."""
        self._receive_seconds = seconds

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Do nothing: `on_connection_close` of the exchange is called when the connection is lost."""

    # -- limits

    @property
    def more_waits(self) -> bool:
        """Whether the client has sent something after the request that is being served."""
        return self._more or bool(self._unread) or _bytes_wait(self._transport)

    def close_idle(self, now: float, quiet_seconds: float) -> None:
        """Close the connection if nothing has been under way on it for `quiet_seconds`."""
        under_way = self._request is not None or self._heads.waiting or self._unread or self.unsent
        if not (self._closing or under_way or now - self._since < quiet_seconds or _bytes_wait(self._transport)):
            self.close()

    def check_time(self, now: float) -> None:
        """Close the connection if it has been idle, or has been sending its request, for too long."""
        if self._handed or self._held:
            return  # the client waits for us, and our work has its own limits
        limits = self._server.limits
        receiving = self._request is not None or self._heads.waiting
        if now - self._since > (self._receive_seconds if receiving else limits.idle_seconds):
            # a client that does not take its response would keep a polite close waiting for ever
            (self.abort if self.unsent else self.close)()

    def _refuse(self, error: ApiError) -> None:
        """Send why nothing more is read, and close once the client has had time to see it (RFC 9112 section 9.6)."""
        begun, self._delegate = self._delegate, None
        if begun is not None:
            begun.on_connection_close()
        if self._writer.streaming:
            self.abort()
        elif not self._closing:
            self._transport.write(self._server.refusal(error))
            self._linger()

    def _linger(self) -> None:
        """Close once the client has had time to read the response: closing with unread bytes would discard it."""
        self._closing = True
        if self._transport.can_write_eof():  # TLS cannot close one half of a connection
            self._transport.write_eof()
        self._transport.resume_reading()  # what still arrives is dropped
        self._loop.call_later(_LINGER_SECONDS, self._transport.close)


def _bytes_wait(transport: asyncio.BaseTransport) -> bool:
    """Return whether bytes that nobody has read lie in the socket; there is none once the client is gone."""
    socket = transport.get_extra_info("socket")
    return socket is not None and bytes_wait(socket.fileno())


def _address_of(transport: asyncio.BaseTransport) -> str:
    """Return the address of the other end, empty if it is unknown."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) else ""
