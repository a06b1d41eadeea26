"""HTTP/1.1 on asyncio's `Protocol`, with Node's llhttp for the heads, behind Tornado's connection interfaces.

A `FastConnection` calls the same delegates as Tornado's own connection does and is their `HTTPConnection`, so the
lifecycle cannot tell them apart. Requests are read one after the other: what a client sends before the response is
written stays unread, and is bounded.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tornado import httputil
from tornado.iostream import StreamClosedError

from handlers.http.draining import bytes_wait
from handlers.http.fast_body import Body
from handlers.http.fast_head import Head, HeadReader
from handlers.http.replayed_stream import ReplayedStream
from handlers.http.response_head import field_lines, status_line
from handlers.http.taken_connection import TakenConnection
from handlers.schema.errors import ApiError

if TYPE_CHECKING:
    from handlers.http.fast_server import FastServer

_LINGER_SECONDS = 1.0  # for a client that still sends when it is refused, so that it sees why
_LINGER_BYTES = 1 << 20
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@dataclass(frozen=True)
class Peer:
    """Who is at the other end; what Tornado calls the connection's context."""

    remote_ip: str
    protocol: str = "http"


class FastConnection(asyncio.Protocol, httputil.HTTPConnection):
    """One connection. Requests are answered one after the other, in the order in which they came."""

    def __init__(self, server: FastServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._heads = HeadReader(server.limits.header_bytes, server.headers)
        # the request that is received or answered: its head, what reads the rest of its body, who takes both
        self._request: Head | None = None
        self._body: Body | None = None
        self._delegate: httputil.HTTPMessageDelegate | None = None
        self._handed = False  # whether the delegate has all of the request
        self._held = False  # whether the delegate wants to be waited for
        self._unread = b""  # what came before it could be read, from `_unread_at` on
        self._unread_at = 0
        self._more = False  # whether something came together with the end of the request
        self._paused = False
        self._behind = False  # whether what is read came together with an earlier request
        self._counted = 0  # bytes that are counted as held in memory
        self._refusal: ApiError | None = None  # of what came behind the request that is answered
        self._writable: asyncio.Future[None] | None = None
        self._responding = False
        self._last = False
        self._chunked = False
        self._receive_seconds = server.limits.request_seconds
        self._closing = False
        self._dropped = 0
        self.head_bytes = 0
        self._since = self._loop.time()
        self.context = Peer("")

    # -- asyncio: the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected."""
        self._transport: Any = transport
        peer = transport.get_extra_info("peername")
        self.context = Peer(str(peer[0]) if isinstance(peer, tuple) else "")
        self._server.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """The client went away, or the connection was closed."""
        self._server.connections.discard(self)
        self._closing = True
        self._release_writer(StreamClosedError())
        self._drop_unread()
        if self._delegate is not None:
            self._delegate.on_connection_close()
        self._delegate = None

    def data_received(self, data: bytes) -> None:
        """Bytes arrived."""
        if self._closing:
            self._drop(data)
            return
        if self._request is not None or self._unread or self._writable is not None:
            self._receive_more(data)
        else:
            self._read(data, 0)

    def _receive_more(self, data: bytes) -> None:
        if self._unread or self._busy:
            self._keep(data, 0)
        else:
            self._read(data, 0)

    @property
    def _busy(self) -> bool:
        """Whether reading has to wait: for a response, for the delegate, or for a client that does not read its own."""
        return self._handed or self._held or (self._writable is not None and self._request is None)

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        if self._writable is None:
            self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        """The client caught up."""
        self._release_writer(None)
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
        if head is None or self._counted:
            self._count(len(self._heads.waiting))
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
        self._delegate = self._server.front.start_request(self, self)
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
        address, given = (self._transport.get_extra_info(name) for name in ("peername", "socket"))
        taken = socket.socket(given.family, given.type, given.proto, os.dup(given.fileno()))
        self._closing = True
        self._transport.abort()
        stream, tornado = ReplayedStream(taken, rest), self._server.tornado
        connection = TakenConnection(stream, self.context, lambda: tornado.handle_stream(stream, address))
        self._server.front.shake_hands(head.start, head.headers, connection)

    # -- bytes that cannot be read yet

    def _keep(self, data: bytes, at: int) -> None:
        """Keep `data` from `at` on. No more than one further read comes on top of it."""
        if self._closing or self._refusal is not None:
            return
        if self._unread:
            self._unread = self._unread[self._unread_at :] + data[at:]
            self._unread_at = 0
        else:
            self._unread, self._unread_at = data, at
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()
        try:
            # how much an upload holds back is bounded by the upload
            self._count(0 if self._held else len(self._unread))
        except ApiError as error:
            self._drop_unread()
            self._refusal = error
        self._read_on_soon()

    def _read_on_soon(self) -> None:
        if (self._unread or self._paused) and not self._busy:
            self._loop.call_soon(self._read_on)

    def _read_on(self) -> None:
        if self._closing or self._busy:
            return
        data, at = self._unread, self._unread_at
        self._drop_unread()
        if data:
            self._behind = True
            self._read(data, at)
            self._behind = False
        if self._paused and not self._unread and not self._closing:
            self._paused = False
            self._transport.resume_reading()

    def _drop_unread(self) -> None:
        self._unread, self._unread_at = b"", 0
        self._count(0)

    def _count(self, held: int) -> None:
        """Count the bytes that this connection holds in memory; raises 42900, 50300."""
        receiving = self._server.front.receiving
        if self._counted:
            receiving.give_back(self.context.remote_ip, self._counted)
            self._counted = 0
        if held:
            self._counted = receiving.take(self.context.remote_ip, held)

    # -- Tornado: the answer

    def write_headers(
        self,
        start_line: httputil.RequestStartLine | httputil.ResponseStartLine,
        headers: httputil.HTTPHeaders,
        chunk: bytes | None = None,
    ) -> asyncio.Future[None]:
        """Send the head of the answer, and `chunk` with it."""
        request = self._asked()
        if not isinstance(start_line, httputil.ResponseStartLine):
            raise TypeError("a server writes answers")
        given = dict(headers.get_all())
        bodiless = request.start.method == "HEAD" or start_line.code in (204, 304)
        self._chunked = "Content-Length" not in given and not bodiless and request.start.version == "HTTP/1.1"
        self._responding = True
        if self._chunked:
            given["Transfer-Encoding"] = "chunked"
        elif "Content-Length" not in given and not bodiless:
            given["Connection"] = "close"
        head = self._head(request, start_line.code, given)
        return self._write(head + self._framed(chunk) if chunk else head)

    def answer(self, status: int, headers: dict[str, str], body: bytes | None) -> None:
        """A whole answer in one write; `headers` has its Content-Length."""
        head = self._head(self._asked(), status, headers)
        self._chunked = False
        self._transport.write(head + body if body else head)
        self.finish()

    @property
    def unsent(self) -> int:
        """How many bytes the client has not taken yet."""
        size: int = self._transport.get_write_buffer_size()
        return size

    @property
    def needs_no_word(self) -> bool:
        """Whether an answer says nothing of the connection, as it stays open (RFC 9112 section 9.3)."""
        request = self._request
        return request is not None and not self._closing and request.keep_alive and request.start.version == "HTTP/1.1"

    def send(self, answer: bytes) -> None:
        """A whole answer, its head too, where it `needs_no_word` of the connection."""
        if self._closing:
            raise StreamClosedError()
        self._last = self._chunked = False
        self._transport.write(answer)
        self.finish()

    def _asked(self) -> Head:
        if self._closing or self._request is None:
            raise StreamClosedError()
        return self._request

    def _head(self, request: Head, status: int, headers: dict[str, str]) -> bytes:
        if request.start.version == "HTTP/1.0":
            # its clients close unless they are told otherwise
            if request.keep_alive and "Connection" not in headers:
                headers["Connection"] = "Keep-Alive"
        elif not request.keep_alive:
            headers["Connection"] = "close"
        self._last = not request.keep_alive or headers.get("Connection") == "close"
        return f"{status_line(status)}{field_lines(headers)}\r\n".encode("latin-1")

    def write(self, chunk: bytes) -> asyncio.Future[None]:
        """Send a piece of the answer's body; done when the client keeps up."""
        if self._closing:
            raise StreamClosedError()
        return self._write(self._framed(chunk))

    def _framed(self, chunk: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(chunk), chunk) if self._chunked and chunk else chunk

    def _write(self, data: bytes) -> asyncio.Future[None]:
        self._transport.write(data)
        if self._writable is not None:
            return self._writable
        done = self._loop.create_future()
        done.set_result(None)
        return done

    def finish(self) -> None:
        """The answer is complete: the next request may be served."""
        if self._chunked:
            self._transport.write(b"0\r\n\r\n")
        whole = self._body is None
        self._request = self._body = self._delegate = None
        self._handed = self._chunked = self._responding = False
        self._receive_seconds = self._server.limits.request_seconds
        self._since = self._loop.time()
        if self._last and whole and self._server.draining:
            self._linger()
        elif self._last or not whole:
            # what is left of a body that nobody wanted cannot be told from a next request
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
        """Tornado's interface; delegates hear of a lost connection by `on_connection_close`."""

    # -- limits

    @property
    def more_waits(self) -> bool:
        """Whether the client has sent something behind the request that is answered."""
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
            # who does not take an answer would keep a polite close waiting for ever
            (self.abort if self.unsent else self.close)()

    def _refuse(self, error: ApiError) -> None:
        """Say why nothing more is read, and close when the client had time to see it (RFC 9112 section 9.6)."""
        begun, self._delegate = self._delegate, None
        if begun is not None:
            begun.on_connection_close()
        if self._responding:
            self.abort()
        elif not self._closing:
            self._transport.write(self._server.refusal(error))
            self._linger()

    def _linger(self) -> None:
        """Close when the client had time to read what was written: to close on unread bytes would take it away."""
        self._closing = True
        self._transport.write_eof()
        self._transport.resume_reading()  # what still comes is dropped
        self._loop.call_later(_LINGER_SECONDS, self._transport.close)

    def _drop(self, data: bytes) -> None:
        self._dropped += len(data)
        if self._dropped > _LINGER_BYTES:
            self._transport.abort()

    def _release_writer(self, error: Exception | None) -> None:
        if self._writable is not None and not self._writable.done():
            if error is None:
                self._writable.set_result(None)
            else:
                self._writable.set_exception(error)
                self._writable.exception()
        self._writable = None
