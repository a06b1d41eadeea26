"""`Exchange`: one request on a connection, from its first header to the last byte of its answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Mapping
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Any, Protocol

from tornado import httputil, iostream

from handlers.http.addresses import Network, client_address, peer_address
from handlers.http.draining import stream_holds_bytes
from handlers.http.fast_connection import FastConnection
from handlers.http.receiving import Receiving
from handlers.http.request_head import Heading
from handlers.http.response_head import field_lines, status_line
from handlers.http.sockets import Sockets
from handlers.http.streams import BodyStream
from handlers.http.unnamed_proxies import UnnamedProxies
from handlers.lifecycle import Answer, respond
from handlers.request import Request
from handlers.routing import Router
from handlers.schema.envelope import failed, ok
from handlers.schema.errors import BAD_REQUEST, HEADERS_TOO_LARGE, NOT_FOUND, TOO_LARGE, ApiError
from handlers.service import Service
from handlers.tasks import run_eagerly

log = logging.getLogger("tradewind.http")
_DRAIN_BYTES = 16 << 20  # what nobody wants of a body is read up to this, so that the client sees the answer
_DRAIN_SECONDS = 5.0
_PAUSE_SECONDS = 0.25
_PIECE_BYTES = 64 << 10
_UPLOAD_SECONDS = 24 * 3600.0  # a stream has a limit on idleness, not on its length
_ALLOWED = "Authorization, Content-Type, Accept-Language, Idempotency-Key, X-Request-ID, If-None-Match, Range, If-Range"
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": _ALLOWED,
    "Access-Control-Max-Age": "600",
}


class Counting(Protocol):
    """What an exchange needs of the front that it belongs to."""

    service: Service
    proxies: tuple[Network, ...]
    receiving: Receiving
    unnamed_proxies: UnnamedProxies
    sockets: Sockets

    def heading(self, headers: httputil.HTTPHeaders) -> Heading:
        """What the header fields of a request say."""

    def is_handshake(self, start: httputil.RequestStartLine, headers: httputil.HTTPHeaders) -> bool:
        """Whether this is a sound request for a WebSocket that there is."""

    def opened(self) -> None:
        """A request is being served."""

    def closed(self) -> None:
        """A request was answered."""


class Exchange(httputil.HTTPMessageDelegate):
    """One request and its answer. A body is gathered, within its limit, or streamed to the route that asks for it."""

    _size = 0
    _counted = 0  # bytes of memory that are counted as held
    _refusal: ApiError | None = None
    _stream: BodyStream | None = None
    _drained: asyncio.Event
    _upgraded: httputil.HTTPMessageDelegate | None = None
    _asked: Request | None = None
    _serving = False
    _answered = False

    def __init__(self, front: Counting, connection: httputil.HTTPConnection) -> None:
        self._front = front
        self._service = front.service
        self._connection: Any = connection
        self._chunks: list[bytes] = []

    @property
    def under_way(self) -> bool:
        """Whether its head has arrived, and no response was written yet."""
        return not self._answered and hasattr(self, "_start")

    # -- the request arrives

    def headers_received(
        self, start_line: httputil.RequestStartLine | httputil.ResponseStartLine, headers: httputil.HTTPHeaders
    ) -> Awaitable[None] | None:
        """Tornado: the header block is there. An oversized body is refused before it is read."""
        if not isinstance(start_line, httputil.RequestStartLine):
            raise TypeError("a server reads requests")
        self._start, self._headers = start_line, headers
        self._heading = heading = self._front.heading(headers)
        # our own connection has given a WebSocket to Tornado's before; an offer that it declined is a plain request
        offered = heading.upgrades and not isinstance(self._connection, FastConnection)
        if offered and self._front.is_handshake(start_line, headers):
            self._upgraded = self._front.sockets.application.start_request(self._connection, self._connection)
            return self._upgraded.headers_received(start_line, headers)
        self._id = heading.request_id or _new_id()
        self._language = heading.language
        self._front.opened()
        streamed = self._is_streamed()
        self._refusal = self._refused(streamed)
        if self._refusal is not None and self._heading.length > _DRAIN_BYTES:
            self._send(self._failure(self._refusal), close=True)
        elif self._refusal is None and streamed:
            self._stream = BodyStream(self._service.settings.request_seconds)
            self._drained = asyncio.Event()
            self._connection.set_body_timeout(_UPLOAD_SECONDS)
            self._serving = True
            asyncio.get_running_loop().create_task(self._respond())
        return None

    def _is_streamed(self) -> bool:
        if self._start.method not in ("POST", "PUT"):
            return False
        try:
            route, _ = self._service.part(Router).match(self._start.method, self._start.path.partition("?")[0])
        except ApiError:
            return False
        return route.streamed

    def _refused(self, streamed: bool) -> ApiError | None:
        settings = self._service.settings
        block = getattr(self._connection, "head_bytes", 0) or _size_of(self._start, self._headers)
        if block > settings.max_header_bytes:
            return ApiError(HEADERS_TOO_LARGE)
        if not streamed and self._heading.length > settings.max_body_bytes:
            return ApiError(TOO_LARGE)
        # a target is a path, and what is not ASCII in it comes percent-encoded (RFC 9112 section 3.2.1)
        sound = self._start.path.startswith("/") and self._start.path.isascii()
        return None if sound and self._names_its_host() else ApiError(BAD_REQUEST)

    def _names_its_host(self) -> bool:
        """Whether there is one `Host`, and a sound one; HTTP/1.0 may leave it out (RFC 9112 section 3.2)."""
        host = self._heading.host
        return host == "sound" or (host == "missing" and self._start.version == "HTTP/1.0")

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        """Tornado: a piece of the body. What is over the limit is read and dropped, up to a point."""
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
            if self._size > _DRAIN_BYTES and not self._answered:
                self._send(self._failure(self._refusal), close=True)
        elif self._refusal is None:
            self._chunks.append(chunk)
            if self._size != self._heading.length:
                self._count(len(chunk))
        return None

    def _count(self, size: int) -> None:
        """Count a piece of a body that is not whole yet; where that is too much the body is dropped and refused."""
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
        return client_address(self._connection, self._headers, self._front.proxies)

    def finish(self) -> None:
        """Tornado: the request is complete."""
        self._give_back()
        if self._upgraded is not None:
            self._upgraded.finish()
        elif self._stream is not None:
            self._stream.end()
            self._drained.set()
        elif not self._answered:
            self._serving = True
            run_eagerly(self._respond())

    def on_connection_close(self) -> None:
        """Tornado: the client went away. A running handler goes on to its end, so nothing is half-done.

        It may ask to be told, to end work that nobody waits for any more.
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
        if not self._answered and not self._serving:
            self._answered = True
            self._front.closed()

    # -- the answer

    async def _respond(self) -> None:
        if self._refusal is not None:
            answer = self._failure(self._refusal)
        elif self._start.method == "OPTIONS":
            answer = self._options()
        else:
            self._asked = self._request()
            self._connection.set_close_callback(self.on_connection_close)
            answer = await respond(self._asked)
        unread = await self._left_unread()
        if answer.stream is None:
            self._send(answer, close=unread)
        else:
            await self._send_stream(answer, close=unread)

    async def _left_unread(self) -> bool:
        """Whether the client is still sending after a fair time to finish."""
        if self._stream is None or self._stream.complete:
            return False
        self._stream.abandon()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                await self._drain()
        return not self._stream.complete

    async def _drain(self) -> None:
        """Until the body is over, or over the limit, or the client has stopped sending to wait for its answer."""
        before = -1
        while before < self._size and not self._drained.is_set():
            before = self._size
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PAUSE_SECONDS):
                    await self._drained.wait()

    def _request(self) -> Request:
        path, _, query = self._start.path.partition("?")
        address = self._address()
        return Request(
            service=self._service,
            method=self._start.method,
            target=path,
            raw_query=query,
            id=self._id,
            headers=self._headers,
            raw_body=b"".join(self._chunks),
            stream=self._stream,
            language=self._language,
            bearer=self._heading.bearer,
            remote_ip=address,
            behind_unnamed_proxy=self._heading.forwarded and self._is_proxy_unnamed(address),
        )

    def _is_proxy_unnamed(self, client: str) -> bool:
        """Whether what is known of the client is the address of who forwarded the request."""
        peer = peer_address(self._connection)
        if client != peer:
            return False
        self._front.unnamed_proxies.notice(peer)
        return True

    def _failure(self, error: ApiError) -> Answer:
        return Answer(error.kind.status, failed(error, self._language), error.headers)

    def _options(self) -> Answer:
        """A preflight is answered without a token; what is allowed for whom is in the CORS headers."""
        if "Access-Control-Request-Method" in self._headers:
            return Answer(200, ok(None, self._language))
        try:
            allowed = self._service.part(Router).allowed(self._start.path.partition("?")[0])
        except ApiError as error:
            return self._failure(error)
        if not allowed:
            return self._failure(ApiError(NOT_FOUND))
        return Answer(200, ok(None, self._language), {"Allow": ", ".join(allowed)})

    def _send(self, answer: Answer, close: bool = False) -> None:
        self._answered = True
        self._front.closed()
        if self._is_usual(answer, close):
            self._send_usual(answer)
            return
        headers = self._headers_of(answer, close)
        if answer.status != 304:  # it would be the length of what the client holds (RFC 9110 section 8.6)
            headers["Content-Length"] = str(len(answer.body))
        body = None if self._start.method == "HEAD" or answer.status == 304 else answer.body
        try:
            if isinstance(self._connection, FastConnection):
                self._connection.answer(answer.status, headers, body)
                return
            self._connection.write_headers(_status_line(answer.status), httputil.HTTPHeaders(headers), body)
            self._connection.finish()
        except iostream.StreamClosedError:
            log.debug("client went away before its answer", extra={"request_id": self._id})

    def _is_usual(self, answer: Answer, close: bool) -> bool:
        """Whether the head differs from that of other answers in nothing but its length and request id."""
        return (
            not answer.headers
            and answer.status == 200
            and self._start.method not in ("HEAD", "OPTIONS")
            and not (close or self._service.draining)
            and isinstance(self._connection, FastConnection)
            and self._connection.needs_no_word
        )

    def _send_usual(self, answer: Answer) -> None:
        lines = _usual_lines(answer.content_type, int(time.time()), self._heading.cors_lines)
        head = f"{lines}X-Request-ID: {self._id}\r\nContent-Length: {len(answer.body)}\r\n\r\n"
        self._connection.send(head.encode("latin-1") + answer.body)

    async def _send_stream(self, answer: Answer, close: bool) -> None:
        """Send as fast as the client reads; one that stops reading is cut off."""
        headers = httputil.HTTPHeaders(self._headers_of(answer, close))
        idle = self._service.settings.request_seconds
        try:
            await self._connection.write_headers(_status_line(answer.status), headers)
            if answer.stream is not None and self._start.method != "HEAD":
                async for chunk in answer.stream:
                    await self._write(chunk, idle)
            self._connection.finish()
        except (iostream.StreamClosedError, TimeoutError):
            self._break_off("client went away or stopped reading")
        except ApiError as error:
            self._break_off(f"the source was ended: {error}")
        except Exception:
            log.exception("answer broken off", extra={"request_id": self._id})
            self._break_off("the source failed")
        finally:
            self._answered = True
            self._front.closed()
            await _let_go(answer.stream)

    async def _write(self, chunk: bytes, seconds: float) -> None:
        """The client has so long for every piece: one that is slow may be slow for hours, one that stops is cut off."""
        taken = self._connection.write(chunk)
        if not taken.done():
            await asyncio.wait_for(taken, seconds * (1 + len(chunk) // _PIECE_BYTES))

    def _break_off(self, reason: str) -> None:
        """Close without a proper end, so that the client knows that something is missing."""
        log.info("stream ended early", extra={"request_id": self._id, "reason": reason})
        if isinstance(self._connection, FastConnection):
            self._connection.abort()
        else:
            self._connection.stream.close()

    def _headers_of(self, answer: Answer, close: bool) -> dict[str, str]:
        headers = {
            **_usual(answer.content_type, int(time.time())),
            "X-Request-ID": self._id,
            **answer.headers,
            **self._heading.cors,
        }
        if self._start.method == "OPTIONS" and "Access-Control-Allow-Origin" in headers:
            headers |= _PREFLIGHT
        if close or (self._service.draining and not self._more_waits()):
            headers["Connection"] = "close"
        return headers

    def _more_waits(self) -> bool:
        """Whether the client has sent a further request already, which `Connection: close` would lose."""
        if isinstance(self._connection, FastConnection):
            return self._connection.more_waits
        return stream_holds_bytes(self._connection.stream)


async def _let_go(stream: object) -> None:
    """Close what a stream holds open, whether it was read to its end, in part, or (HEAD) not at all."""
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()


_random = bytearray()


def _new_id() -> str:
    """32 random digits; the system is asked for randomness once for many."""
    if not _random:
        _random.extend(os.urandom(4096))
    digits = _random[-16:].hex()
    del _random[-16:]
    return digits


def _size_of(start: httputil.RequestStartLine, headers: httputil.HTTPHeaders) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers.get_all()) + len(start.path)


@lru_cache(maxsize=64)
def _usual(content_type: str, second: int) -> Mapping[str, str]:
    """The headers of every answer."""
    return {
        "Content-Type": content_type,
        "Date": formatdate(second, usegmt=True),
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }


@lru_cache(maxsize=64)
def _usual_lines(content_type: str, second: int, cors: str) -> str:
    """The head of an answer that succeeded, as far as many answers share it."""
    return f"{status_line(200)}{field_lines(_usual(content_type, second))}{cors}"


@lru_cache(maxsize=64)
def _status_line(status: int) -> httputil.ResponseStartLine:
    return httputil.ResponseStartLine("HTTP/1.1", status, HTTPStatus(status).phrase)
