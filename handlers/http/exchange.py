"""`Exchange`: one request on a connection, from its first header to the last byte of its response."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from typing import Protocol

from tornado import httputil

from handlers.http.addresses import Proxies
from handlers.http.connection import Connection
from handlers.http.heads import RequestHead
from handlers.http.receiving import Receiving
from handlers.http.responder import OpenRequests, Responder
from handlers.http.sockets import Sockets
from handlers.http.streams import BodyStream
from handlers.lifecycle import Response
from handlers.request import Request
from handlers.routing import Router
from handlers.schema.envelope import failed, ok
from handlers.schema.errors import BAD_REQUEST, HEADERS_TOO_LARGE, NOT_FOUND, TOO_LARGE, ApiError

log = logging.getLogger("tradewind.http")
_DRAIN_BYTES = 16 << 20  # an unwanted body is read up to this size, so that the client sees the response
_DRAIN_SECONDS = 5.0
_PAUSE_SECONDS = 0.25
_STREAMED_METHODS = ("POST", "PUT")
_UPLOAD_SECONDS = 24 * 3600.0  # the stream of an upload has a limit of its own


class Counting(OpenRequests, Protocol):
    """What an exchange needs from the front that it belongs to."""

    proxies: Proxies
    receiving: Receiving
    sockets: Sockets

    respond: Callable[[Request], Awaitable[Response]]

    def request_head(self, headers: httputil.HTTPHeaders) -> RequestHead:
        """Return what the headers of a request say."""

    def is_handshake(self, start: httputil.RequestStartLine, headers: httputil.HTTPHeaders) -> bool:
        """Return whether this is a valid handshake for an existing WebSocket route."""


class Exchange(httputil.HTTPMessageDelegate):
    """One request and its response. The body is buffered, up to its limit, or streamed to a streamed route."""

    _drained: asyncio.Event
    _responder: Responder  # set when the head has arrived

    def __init__(self, front: Counting, connection: Connection) -> None:
        self._front = front
        self._service = front.service
        self._connection = connection
        self._chunks: list[bytes] = []
        self._size = 0
        self._counted = 0  # bytes of memory that are counted as held
        self._stream: BodyStream | None = None
        self._upgraded: httputil.HTTPMessageDelegate | None = None
        self._asked: Request | None = None
        self._serving = False

    # -- the request arrives

    def headers_received(
        self, start_line: httputil.RequestStartLine | httputil.ResponseStartLine, headers: httputil.HTTPHeaders
    ) -> Awaitable[None] | None:
        """Tornado: the header block has arrived. An oversized body is refused before it is read."""
        if not isinstance(start_line, httputil.RequestStartLine):
            raise TypeError("a server reads requests")
        self._start, self._headers = start_line, headers
        self._method, self._target, _ = start_line
        self._request_head = request_head = self._front.request_head(headers)
        upgradable = self._connection.upgradable if request_head.upgrades else None
        if upgradable is not None and self._front.is_handshake(start_line, headers):
            self._upgraded = self._front.sockets.application.start_request(upgradable, upgradable)
            return self._upgraded.headers_received(start_line, headers)
        self._id = request_head.request_id or _new_id()
        self._language = request_head.language
        self._responder = Responder(self._front, self._connection, self._method, request_head, self._id)
        streamed = self._method in _STREAMED_METHODS and self._is_streamed()
        self._refusal: ApiError | None = self._refused(request_head, streamed)
        if self._refusal is not None:
            if request_head.length > _DRAIN_BYTES:
                self._responder.send(self._failure(self._refusal), close=True)
        elif streamed:
            self._stream = BodyStream(self._service.settings.request_seconds)
            self._drained = asyncio.Event()
            self._connection.set_body_timeout(_UPLOAD_SECONDS)
            self._serving = True
            asyncio.get_running_loop().create_task(self._respond())
        return None

    def _is_streamed(self) -> bool:
        try:
            route, _ = self._service.part(Router).match(self._method, self._target.partition("?")[0])
        except ApiError:
            return False
        return route.streamed

    def _refused(self, head: RequestHead, streamed: bool) -> ApiError | None:
        settings, target = self._service.settings, self._target
        block = self._connection.head_bytes or _size_of(self._start, self._headers)
        if block > settings.max_header_bytes:
            return ApiError(HEADERS_TOO_LARGE)
        if head.length > settings.max_body_bytes and not streamed:
            return ApiError(TOO_LARGE)
        # a target must be a path, with any characters outside ASCII percent-encoded (RFC 9112 section 3.2.1)
        if not (target.startswith("/") and target.isascii()):
            return ApiError(BAD_REQUEST)
        # there must be exactly one valid `Host`; HTTP/1.0 may leave it out (RFC 9112 section 3.2)
        sound = head.host == "sound" or (head.host == "missing" and self._start.version == "HTTP/1.0")
        return None if sound else ApiError(BAD_REQUEST)

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        """Tornado: a piece of the body. What exceeds the limit is read and dropped, up to `_DRAIN_BYTES`."""
        if self._upgraded is not None:
            return self._upgraded.data_received(chunk)
        self._size += len(chunk)
        if self._stream is not None:
            if self._stream.abandoned and self._size > _DRAIN_BYTES:
                self._drained.set()
            return self._stream.feed(chunk)
        if self._size > self._service.settings.max_body_bytes:
            self._refusal = self._refusal or ApiError(TOO_LARGE)
            self._drop()
            if self._size > _DRAIN_BYTES and not self._responder.closed:
                self._responder.send(self._failure(self._refusal), close=True)
        elif self._refusal is None:
            self._chunks.append(chunk)
            if self._size != self._request_head.length:
                self._count(len(chunk))
        return None

    def _count(self, size: int) -> None:
        """Count a piece of an incomplete body as held in memory; if that is too much, drop and refuse the body."""
        try:
            self._counted += self._front.receiving.take(self._address(), size)
        except ApiError as error:
            self._refusal = error
            self._drop()

    def _drop(self) -> None:
        self._chunks.clear()
        self._give_back()

    def _give_back(self) -> None:
        if self._counted:
            self._front.receiving.give_back(self._address(), self._counted)
            self._counted = 0

    def _address(self) -> str:
        return self._front.proxies.client(self._connection.peer_address, self._headers)

    def finish(self) -> None:
        """Tornado: the request is complete."""
        self._give_back()
        if self._upgraded is not None:
            self._upgraded.finish()
        elif self._stream is not None:
            self._stream.end()
            self._drained.set()
        elif not self._responder.closed:
            self._serving = True
            asyncio.get_running_loop().create_task(self._respond())

    def on_connection_close(self) -> None:
        """Tornado: the client went away. A running handler continues to its end, so nothing is half-done.

        A handler can ask to be notified (`Request.when_left`), to cancel work that has become useless.
        """
        if self._upgraded is not None:
            self._upgraded.on_connection_close()
            return
        self._drop()
        if self._asked is not None:
            self._asked.leave()
        if self._stream is not None:
            self._stream.lose()
            self._drained.set()
        if hasattr(self, "_responder") and not self._responder.closed and not self._serving:
            self._responder.close()

    # -- the response

    async def _respond(self) -> None:
        if self._refusal is not None:
            response = self._failure(self._refusal)
        elif self._method == "OPTIONS":
            response = self._options()
        else:
            self._asked = self._request()
            self._connection.set_close_callback(self.on_connection_close)
            response = await self._front.respond(self._asked)
        unread = self._stream is not None and await self._left_unread(self._stream)
        if response.stream is None:
            self._responder.send(response, close=unread)
        else:
            await self._responder.send_stream(response, close=unread)

    async def _left_unread(self, stream: BodyStream) -> bool:
        """Return whether the client is still sending after a fair time to finish."""
        if stream.complete:
            return False
        stream.abandon()
        if stream.late:
            return True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                await self._drain()
        return not stream.complete

    async def _drain(self) -> None:
        """Wait until the body ends or exceeds the limit, or the client stops sending to wait for its response."""
        before = -1
        while before < self._size and not self._drained.is_set():
            before = self._size
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PAUSE_SECONDS):
                    await self._drained.wait()

    def _request(self) -> Request:
        path, _, query = self._target.partition("?")
        address = self._address()
        head = self._request_head
        # most fields are set afterwards: keyword arguments of a class go through a dictionary, in each request
        request = Request(self._service, self._method, path, self._id, self._headers, address)
        request.bearer, request.trace_id, request.language = head.bearer, head.trace_id, self._language
        request.raw_query = query
        request.raw_body = b"".join(self._chunks)
        request.stream = self._stream
        request.behind_unnamed_proxy = head.forwarded and address == self._connection.peer_address
        return request

    def _failure(self, error: ApiError) -> Response:
        return Response(error.kind.status, failed(error, self._language), error.headers)

    def _options(self) -> Response:
        """Return the response to OPTIONS. A preflight needs no token; the CORS headers say what is allowed for whom."""
        if "Access-Control-Request-Method" in self._headers:
            return Response(200, ok(None, self._language))
        try:
            allowed = self._service.part(Router).allowed(self._target.partition("?")[0])
        except ApiError as error:
            return self._failure(error)
        if not allowed:
            return self._failure(ApiError(NOT_FOUND))
        return Response(200, ok(None, self._language), {"Allow": ", ".join(allowed)})


_random = bytearray()


def _new_id() -> str:
    """Return 32 random hexadecimal digits; random bytes are fetched from the system for many ids at once."""
    if not _random:
        _random.extend(os.urandom(4096))
    digits = _random[-16:].hex()
    del _random[-16:]
    return digits


def _size_of(start: httputil.RequestStartLine, headers: httputil.HTTPHeaders) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers.get_all()) + len(start.path)
