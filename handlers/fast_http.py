"""HTTP/1.1 on asyncio's `Protocol` with `httptools` (Node's llhttp), behind Tornado's connection interfaces.

A `FastConnection` calls the same delegates as Tornado's own connection does and is their `HTTPConnection`, so the
lifecycle cannot tell them apart. llhttp runs in its strict mode: what Tornado refuses is refused here too.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httptools
from tornado import httputil
from tornado.iostream import IOStream, StreamClosedError

from handlers.answer_lines import field_lines, status_line
from handlers.fast_headers import Headers

if TYPE_CHECKING:
    from handlers.fast_server import FastServer

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_WAITING_MESSAGES = 16  # pipelined requests that may wait behind the one being answered
_VERSIONS = {"1.0": "HTTP/1.0", "1.1": "HTTP/1.1"}


@dataclass(frozen=True)
class Peer:
    """Who is at the other end; what Tornado calls the connection's context."""

    remote_ip: str
    protocol: str = "http"


@dataclass(slots=True)
class _Message:
    """A request as it arrives: its head, the pieces of its body that are not delivered yet, and how far it is.

    `complete`: it arrived whole. `begun`: a delegate has its head. `handed`: the delegate has all of it.
    """

    start: httputil.RequestStartLine
    headers: httputil.HTTPHeaders
    keep_alive: bool
    head_bytes: int
    pieces: deque[bytes] | None = None
    complete: bool = False
    begun: bool = False
    handed: bool = False


class ReplayedStream(IOStream):
    """A stream that first gives bytes which were read from the socket already."""

    def __init__(self, taken: socket.socket, read: bytes) -> None:
        self._read = memoryview(read)
        super().__init__(taken)

    def read_from_fd(self, buf: bytearray | memoryview) -> int | None:
        """Tornado: fill `buf`; how many bytes came, None when there are none yet."""
        if not self._read:
            return super().read_from_fd(buf)
        count = min(len(buf), len(self._read))
        buf[:count] = self._read[:count]
        self._read = self._read[count:]
        return count


class FastConnection(asyncio.Protocol, httputil.HTTPConnection):
    """One connection. Requests are answered one after the other, in the order in which they came."""

    def __init__(self, server: FastServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._messages: deque[_Message] = deque()
        self._delegate: httputil.HTTPMessageDelegate | None = None
        self._head_size = 0
        self._url = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._receiving: _Message | None = None
        self._held: set[str] = set()
        self._writable: asyncio.Future[None] | None = None
        self._last = False
        self._chunked = False
        self._receive_seconds = server.limits.request_seconds
        self._closing = False
        self.head_bytes = 0
        self._broken = False
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
        if self._delegate is not None:
            self._delegate.on_connection_close()
        self._delegate = None

    def data_received(self, data: bytes) -> None:
        """Bytes arrived: parse them, then deliver what they hold."""
        if self._broken or self._closing:
            return
        if (
            self._receiving is None and not self._head_size
        ) or self._receive_seconds > self._server.limits.request_seconds:
            self._since = self._loop.time()
        self._head_size += len(data) if self._receiving is None else 0
        try:
            self._feed(data)
        except httptools.HttpParserError:
            self._refuse()
        if self._receiving is None and self._head_size > self._server.limits.header_bytes:
            self._refuse()
        self._deliver()

    def _feed(self, data: bytes) -> None:
        while data:
            try:
                self._parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as upgrade:
                data = data[upgrade.args[0] :]
                if len(self._messages) == 1 and self._is_socket(self._messages[0]):
                    self._hand_over(self._messages.popleft(), data)
                    return
                # an offer to change the protocol may be declined: the request itself is served (RFC 9110 section 7.8)
                self._parser = httptools.HttpRequestParser(self)

    def _is_socket(self, message: _Message) -> bool:
        asked = message.headers.get("Upgrade", "").lower() == "websocket"
        return asked and self._server.front.is_socket(message.start.path)

    def _hand_over(self, message: _Message, rest: bytes) -> None:
        """Give the connection of a WebSocket to Tornado, which reads the handshake again."""
        lines = [f"{message.start.method} {message.start.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in message.headers.get_all()]
        read = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + rest
        address = self._transport.get_extra_info("peername")
        taken = socket.socket(fileno=os.dup(self._transport.get_extra_info("socket").fileno()))
        taken.setblocking(False)
        self._closing = True
        self._transport.abort()
        self._server.tornado.handle_stream(ReplayedStream(taken, read), address)

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        if self._writable is None:
            self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        """The client caught up."""
        self._release_writer(None)

    # -- httptools: the parser

    def on_message_begin(self) -> None:
        """A request begins."""
        self._url = b""
        self._fields = []

    def on_url(self, url: bytes) -> None:
        """A part of the target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header field."""
        self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is whole."""
        headers = self._server.headers.of(self._fields)
        self._fields = []
        self._head_size = 0
        version = _VERSIONS.get(self._parser.get_http_version())
        if version is None:
            raise ValueError("another version of HTTP")  # httptools makes an HttpParserError of it
        if headers.other_coding:
            raise ValueError("another transfer coding")
        start = httputil.RequestStartLine(self._parser.get_method().decode(), self._url.decode("latin-1"), version)
        self._receiving = _Message(start, headers, self._kept(version, headers), headers.size + len(self._url))
        self._messages.append(self._receiving)
        if len(self._messages) > _WAITING_MESSAGES:
            self._hold("pipeline")

    def _kept(self, version: str, headers: Headers) -> bool:
        alive: bool = self._parser.should_keep_alive()
        return alive and (version == "HTTP/1.1" or headers.get("Connection", "").lower() == "keep-alive")

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        if self._receiving is not None:
            if self._receiving.pieces is None:
                self._receiving.pieces = deque()
            self._receiving.pieces.append(body)

    def on_message_complete(self) -> None:
        """The request is whole."""
        if self._receiving is not None:
            self._receiving.complete = True
        self._receiving = None
        self._head_size = 0

    # -- delivery to the delegate

    def _deliver(self) -> None:
        """Give the first waiting request, as far as it arrived, to its delegate."""
        if not self._messages or self._closing:
            return
        message = self._messages[0]
        if not message.begun:
            self._begin(message)
        if self._give_body(message) and message.complete and not message.handed and self._delegate is not None:
            message.handed = True
            self._delegate.finish()

    def _begin(self, message: _Message) -> None:
        message.begun = True
        self.head_bytes = message.head_bytes
        self._delegate = self._server.front.start_request(self, self)
        if not message.complete and message.headers.get("Expect", "").lower() == "100-continue":
            self._transport.write(_CONTINUE)
        self._delegate.headers_received(message.start, message.headers)

    def _give_body(self, message: _Message) -> bool:
        """Deliver the pieces; False while the delegate wants to be waited for."""
        while message.pieces and self._delegate is not None and not self._held & {"body"}:
            waiting = self._delegate.data_received(message.pieces.popleft())
            if waiting is not None:
                self._hold("body")
                asyncio.ensure_future(waiting).add_done_callback(lambda _: self._go_on())
        return not message.pieces and "body" not in self._held

    def _go_on(self) -> None:
        self._unhold("body")
        self._deliver()

    def _hold(self, reason: str) -> None:
        if not self._held and not self._closing:
            self._transport.pause_reading()
        self._held.add(reason)

    def _unhold(self, reason: str) -> None:
        if reason in self._held:
            self._held.discard(reason)
            if not self._held and not self._closing:
                self._transport.resume_reading()

    # -- Tornado: the answer

    def write_headers(
        self,
        start_line: httputil.RequestStartLine | httputil.ResponseStartLine,
        headers: httputil.HTTPHeaders,
        chunk: bytes | None = None,
    ) -> asyncio.Future[None]:
        """Send the head of the answer, and `chunk` with it."""
        if self._closing:
            raise StreamClosedError()
        if not isinstance(start_line, httputil.ResponseStartLine):
            raise TypeError("a server writes answers")
        given = dict(headers.get_all())
        message = self._messages[0]
        bodiless = message.start.method == "HEAD" or start_line.code in (204, 304)
        self._chunked = "Content-Length" not in given and not bodiless and message.start.version == "HTTP/1.1"
        if self._chunked:
            given["Transfer-Encoding"] = "chunked"
        elif "Content-Length" not in given and not bodiless:
            given["Connection"] = "close"
        head = self._head(start_line.code, given)
        return self._write(head + self._framed(chunk) if chunk else head)

    def answer(self, status: int, headers: dict[str, str], body: bytes | None) -> None:
        """A whole answer in one write; `headers` has its Content-Length."""
        if self._closing:
            raise StreamClosedError()
        head = self._head(status, headers)
        self._chunked = False
        self._transport.write(head + body if body else head)
        self.finish()

    @property
    def needs_no_word(self) -> bool:
        """Whether an answer says nothing of the connection, as it stays open (RFC 9112 section 9.3)."""
        if self._closing:
            return False
        message = self._messages[0]
        return message.keep_alive and message.start.version == "HTTP/1.1"

    def send(self, answer: bytes) -> None:
        """A whole answer, its head too, where it `needs_no_word` of the connection."""
        if self._closing:
            raise StreamClosedError()
        self._last = self._chunked = False
        self._transport.write(answer)
        self.finish()

    def _head(self, status: int, headers: dict[str, str]) -> bytes:
        message = self._messages[0]
        if message.start.version == "HTTP/1.0":
            # its clients close unless they are told otherwise
            if message.keep_alive and "Connection" not in headers:
                headers["Connection"] = "Keep-Alive"
        elif not message.keep_alive:
            headers["Connection"] = "close"
        self._last = not message.keep_alive or headers.get("Connection") == "close"
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
            self._chunked = False
        self._delegate = None
        message = self._messages.popleft()
        self._receive_seconds = self._server.limits.request_seconds
        self._since = self._loop.time()
        if self._last or not message.complete:
            # what is left of a body that nobody wanted cannot be told from a next request
            self.close()
            return
        if len(self._messages) <= _WAITING_MESSAGES:
            self._unhold("pipeline")
        if self._messages:
            self._loop.call_soon(self._deliver)
        elif self._broken:
            self._send_malformed()

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

    def check_time(self, now: float) -> None:
        """Close a connection that was idle, or took too long to send its request."""
        limits, waited = self._server.limits, now - self._since
        if self._messages and self._messages[0].handed:
            return  # being answered, which has a limit of its own
        receiving = self._messages or self._head_size
        if waited > (limits.request_seconds if receiving else limits.idle_seconds):
            # who does not take an answer would keep a polite close waiting for ever
            (self.abort if self._transport.get_write_buffer_size() else self.close)()

    def _refuse(self) -> None:
        """The bytes are no HTTP: say so after what came before them was answered, and close."""
        self._broken = True
        if self._receiving is not None and self._messages and self._messages[-1] is self._receiving:
            abandoned = self._messages.pop()
            if abandoned.begun and self._delegate is not None:
                self._delegate.on_connection_close()
                self._delegate = None
        self._receiving = None
        if not self._messages:
            self._send_malformed()

    def _send_malformed(self) -> None:
        if not self._closing:
            self._transport.write(self._server.malformed())
            self.close()

    def _release_writer(self, error: Exception | None) -> None:
        if self._writable is not None and not self._writable.done():
            if error is None:
                self._writable.set_result(None)
            else:
                self._writable.set_exception(error)
                self._writable.exception()
        self._writable = None
