"""HTTP/1.1 on asyncio's `Protocol`, with Node's llhttp for the heads, behind Tornado's connection interfaces.

A `FastConnection` calls the same delegates as Tornado's own connection does and is their `HTTPConnection`, so the
lifecycle cannot tell them apart. Requests are read one after the other: what a client sends before the response is
written stays unread, and is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from tornado import httputil
from tornado.iostream import IOStream, StreamClosedError

from handlers.http.connection import Connection, Peer
from handlers.http.draining import bytes_wait
from handlers.http.fast_body import Body
from handlers.http.fast_head import Head, HeadReader, HeadsCache
from handlers.http.fast_writer import ResponseWriter, require
from handlers.http.limits import Limits
from handlers.http.receiving import Receiving
from handlers.http.taken_connection import take_connection
from handlers.http.unread import UnreadBytes
from handlers.schema.errors import ApiError

_LINGER_SECONDS = 1.0  # for a client that still sends when it is refused, so that it sees why
_LINGER_BYTES = 1 << 20
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Front(Protocol):
    """What begins an exchange for each request, and knows which targets are WebSockets."""

    receiving: Receiving

    def begin(self, connection: Connection) -> httputil.HTTPMessageDelegate:
        """A request begins on `connection`."""

    def is_handshake(self, start: httputil.RequestStartLine, headers: httputil.HTTPHeaders) -> bool:
        """Whether this is a sound request for a WebSocket that there is."""

    def shake_hands(
        self, start: httputil.RequestStartLine, headers: httputil.HTTPHeaders, connection: httputil.HTTPConnection
    ) -> None:
        """Respond to the handshake of a WebSocket, and go on with it on `connection`."""


class Tornado(Protocol):
    """The server that serves what is handed over to it."""

    def serve_stream(self, stream: IOStream, peer: Peer) -> None:
        """Serve this connection."""


class Owner(Protocol):
    """The server that a connection belongs to."""

    limits: Limits
    heads: HeadsCache
    connections: set[FastConnection]
    draining: bool

    @property
    def front(self) -> Front:
        """Who takes the requests."""

    @property
    def tornado(self) -> Tornado:
        """Who takes the WebSockets."""

    def refusal(self, error: ApiError) -> bytes:
        """The whole response to what cannot be read."""


class FastConnection(asyncio.Protocol):
    """One connection, a `Connection` for its exchanges. Responses go out in the order in which requests came."""

    upgradable = None  # handshakes go to Tornado before an exchange begins

    def __init__(self, server: Owner, peer_address: str = "") -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._heads = HeadReader(server.limits.header_bytes, server.heads)
        # the request that is received or served: its head, what reads the rest of its body, who takes both
        self._request: Head | None = None
        self._body: Body | None = None
        self._delegate: httputil.HTTPMessageDelegate | None = None
        self._handed = False  # whether the delegate has all of the request
        self._held = False  # whether the delegate wants to be waited for
        self._more = False  # whether something came together with the end of the request
        self._paused = False
        self._behind = False  # whether what is read came together with an earlier request
        self._refusal: ApiError | None = None  # of what came behind the request that is served
        self._receive_seconds = server.limits.request_seconds
        self._closing = False
        self._dropped = 0
        self.head_bytes = 0
        self._since = self._loop.time()
        self.peer_address = peer_address  # where it is not that of the other end of the transport

    # -- asyncio: the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected."""
        self._transport: Any = transport
        self.peer_address = self.peer_address or _address_of(transport)
        self._writer = ResponseWriter(cast(asyncio.WriteTransport, transport))
        self._unread = UnreadBytes(self._server.front.receiving, self.peer_address)
        self._server.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """The client went away, or the connection was closed."""
        self._server.connections.discard(self)
        self._closing = True
        self._writer.resume(StreamClosedError())
        self._unread.take()
        if self._delegate is not None:
            self._delegate.on_connection_close()
        self._delegate = None

    def data_received(self, data: bytes) -> None:
        """Bytes arrived."""
        if self._closing:
            self._drop(data)
            return
        if self._unread or self._busy:
            self._keep(data, 0)
        else:
            self._read(data, 0)

    @property
    def _busy(self) -> bool:
        """Whether reading has to wait: for a response, for the delegate, or for a client that does not read its own."""
        return self._handed or self._held or (self._writer.blocked is not None and self._request is None)

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        self._writer.pause()

    def resume_writing(self) -> None:
        """The client caught up."""
        self._writer.resume()
        self._read_on_soon()

    # -- a request arrives

    def _read(self, data: bytes, at: int) -> None:
        """Read `data` from `at` on, to the end of one request at most; what is left is kept."""
        try:
            if self._request is None:
                at = self._read_head(data, at)
            elif self._receive_seconds > self._server.limits.request_seconds:
                self._since = self._loop.time()
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
        body = head.body(self._server.limits.extra_bytes)
        if head.upgrades and body is None and self._is_socket(head):
            self._hand_over(head, data[at:])
            return
        # an offer to change the protocol may be declined: the request itself is served (RFC 9110 section 7.8)
        self._request, self._body = head, body
        self.head_bytes = head.headers.size + len(head.start.path)
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
        """Tell the delegate when it has the whole request."""
        if self._delegate is not None and self._body is None and not self._handed and not self._held:
            self._handed = True
            self._delegate.finish()

    def _go_on(self) -> None:
        """The delegate caught up."""
        self._held = False
        self._since = self._loop.time()
        if not self._closing:
            self._hand()
            self._read_on_soon()

    def _is_socket(self, head: Head) -> bool:
        """Whether this is the handshake of a WebSocket, and no response before it may still be on its way."""
        free = head.start.version == "HTTP/1.1" and not self._behind and not self.unsent
        return free and self._server.front.is_handshake(head.start, head.headers)

    def _hand_over(self, head: Head, rest: bytes) -> None:
        """Give the connection of a WebSocket to Tornado, which serves what follows a handshake that is refused, too."""
        self._closing = True
        connection = take_connection(self._transport, self.peer_address, rest, self._server.tornado.serve_stream)
        self._server.front.shake_hands(head.start, head.headers, connection)

    # -- bytes that cannot be read yet

    def _keep(self, data: bytes, at: int) -> None:
        """Keep `data` from `at` on. No more than one further read comes on top of it."""
        if self._closing or self._refusal is not None:
            return
        self._unread.keep(data, at)
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()
        try:
            # how much an upload holds back is bounded by the upload
            self._unread.count(0 if self._held else len(self._unread))
        except ApiError as error:
            self._unread.take()
            self._refusal = error
        self._read_on_soon()

    def _read_on_soon(self) -> None:
        if (self._unread or self._paused) and not self._busy:
            self._loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        if self._closing or self._busy:
            return
        data, at = self._unread.take()
        if data:
            self._behind = True
            self._read(data, at)
            self._behind = False
        if self._paused and not self._unread and not self._closing:
            self._paused = False
            self._transport.resume_reading()

    # -- the response

    @property
    def unsent(self) -> int:
        """How many bytes the client has not taken yet."""
        return self._writer.unsent

    @property
    def omits_connection_header(self) -> bool:
        """Whether a response says nothing of the connection, as it stays open (RFC 9112 section 9.3)."""
        request = self._request
        return request is not None and not self._closing and request.keep_alive and request.start.version == "HTTP/1.1"

    def send_response(self, status: int, headers: dict[str, str], body: bytes | None) -> None:
        """Send a whole response in one write; `headers` has its Content-Length."""
        self._writer.send_response(require(self._request, self._closing), status, headers, body)
        self.finish()

    def send_bytes(self, response: bytes) -> None:
        """Send a whole response with its head, where `omits_connection_header` holds."""
        if self._closing:
            raise StreamClosedError()
        self._writer.send_bytes(response)
        self.finish()

    def begin_response(self, status: int, headers: Mapping[str, str]) -> asyncio.Future[None]:
        """Send the head of a response whose body follows in pieces."""
        return self._writer.begin(require(self._request, self._closing), status, headers)

    def write(self, chunk: bytes) -> asyncio.Future[None]:
        """Send a piece of the body; done when the client keeps up."""
        if self._closing:
            raise StreamClosedError()
        return self._writer.write(chunk)

    def finish(self) -> None:
        """End the response: the next request may be served."""
        self._writer.end()
        whole, last = self._body is None, self._writer.last
        self._request = self._body = self._delegate = None
        self._handed = False
        self._receive_seconds = self._server.limits.request_seconds
        self._since = self._loop.time()
        if last and whole and self._server.draining:
            self._linger()
        elif last or not whole:
            # the rest of an unread body cannot be distinguished from a next request
            self.close()
        elif self._refusal is not None:
            self._refuse(self._refusal)
        elif self._paused:
            self._read_on_soon()

    def close(self) -> None:
        """Send what is written, then close."""
        self._closing = True
        self._transport.close()

    def abort(self) -> None:
        """Close at once; what the client has not taken is lost."""
        self._closing = True
        self._transport.abort()

    def set_body_timeout(self, seconds: float) -> None:
        """For this request's body: above the server's limit it only must not stand still for as long as that one."""
        self._receive_seconds = seconds

    def set_close_callback(self, callback: Callable[[], None] | None) -> None:
        """Exchanges hear of a lost connection by `on_connection_close`."""

    # -- limits

    @property
    def more_waits(self) -> bool:
        """Whether the client has sent something behind the request that is served."""
        return self._more or bool(self._unread) or self._bytes_wait()

    def _bytes_wait(self) -> bool:
        return bytes_wait(self._transport.get_extra_info("socket").fileno())

    def close_idle(self, now: float, quiet_seconds: float) -> None:
        """Close where nothing is under way and has not been for so long."""
        under_way = self._request is not None or self._heads.waiting or self._unread or self.unsent
        if not (self._closing or under_way or now - self._since < quiet_seconds or self._bytes_wait()):
            self.close()

    def check_time(self, now: float) -> None:
        """Close a connection that was idle, or took too long to send its request."""
        if self._handed or self._held:
            return  # the client waits for us, and what we do has limits of its own
        limits = self._server.limits
        receiving = self._request is not None or self._heads.waiting
        if now - self._since > (limits.request_seconds if receiving else limits.idle_seconds):
            # who does not take a response would keep a polite close waiting for ever
            (self.abort if self.unsent else self.close)()

    def _refuse(self, error: ApiError) -> None:
        """Say why nothing more is read, and close when the client had time to see it (RFC 9112 section 9.6)."""
        begun, self._delegate = self._delegate, None
        if begun is not None:
            begun.on_connection_close()
        if self._writer.streaming:
            self.abort()
        elif not self._closing:
            self._transport.write(self._server.refusal(error))
            self._linger()

    def _linger(self) -> None:
        """Close when the client had time to read what was written: to close on unread bytes would take it away."""
        self._closing = True
        if self._transport.can_write_eof():  # TLS has no half of a connection to close
            self._transport.write_eof()
        self._transport.resume_reading()  # what still comes is dropped
        self._loop.call_later(_LINGER_SECONDS, self._transport.close)

    def _drop(self, data: bytes) -> None:
        self._dropped += len(data)
        if self._dropped > _LINGER_BYTES:
            self._transport.abort()


def _address_of(transport: asyncio.BaseTransport) -> str:
    """The address of the other end, empty where it is unknown."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if isinstance(peer, tuple) else ""
