"""Sends the response of one request on its connection: in one piece, or as a stream at the speed of its reader."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache
from typing import Protocol

from tornado import iostream

from handlers.http.connection import Connection
from handlers.http.heads import RequestHead, field_lines, status_line
from handlers.lifecycle import Response
from handlers.schema.errors import ApiError
from handlers.service import Service

log = logging.getLogger("tradewind.http")
_PIECE_BYTES = 64 << 10
_ALLOWED = (
    "Authorization, Content-Type, Accept-Language, Idempotency-Key, X-Request-ID, If-None-Match, Range, If-Range, "
    "traceparent, tracestate"
)
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": _ALLOWED,
    "Access-Control-Max-Age": "600",
}


class OpenRequests(Protocol):
    """Counts the requests that have no response yet."""

    service: Service

    def opened(self) -> None:
        """Count a request that is being served."""

    def closed(self) -> None:
        """Stop counting a request, because its response was sent or the client went away."""


class Responder:
    """The response side of an exchange; `closed` when the response was sent or broken off, or the client went away.

    It holds no reference to its exchange: a cycle would keep each request in memory until the next garbage collection.
    """

    __slots__ = ("_connection", "_id", "_method", "_open_requests", "_request_head", "_service", "closed")

    def __init__(
        self, open_requests: OpenRequests, connection: Connection, method: str, request_head: RequestHead, id: str
    ) -> None:
        self._open_requests = open_requests
        self._service = open_requests.service
        self._connection = connection
        self._method = method
        self._request_head = request_head
        self._id = id
        self.closed = False
        open_requests.opened()

    def close(self) -> None:
        """Mark the request as done, with or without a response, and stop counting it as open."""
        self.closed = True
        self._open_requests.closed()

    def send(self, response: Response, close: bool = False) -> None:
        """Send a whole response; with `close`, the connection closes after it."""
        self.close()
        if self._is_usual(response, close):
            self._send_usual(response)
            return
        headers = self._headers_of(response, close)
        if response.status != 304:  # on a 304 it would be the length of what the client holds (RFC 9110 section 8.6)
            headers["Content-Length"] = str(len(response.body))
        body = None if self._method == "HEAD" or response.status == 304 else response.body
        try:
            self._connection.send_response(response.status, headers, body)
        except iostream.StreamClosedError:
            log.debug("client went away before its response", extra={"request_id": self._id})

    def _is_usual(self, response: Response, close: bool) -> bool:
        """Return whether the head differs from that of other responses only in its length and request id."""
        return (
            not response.headers
            and response.status == 200
            and self._method not in ("HEAD", "OPTIONS")
            and not (close or self._service.draining)
            and self._connection.omits_connection_header()
        )

    def _send_usual(self, response: Response) -> None:
        lines = _usual_lines(response.content_type, int(time.time()), self._request_head.following_lines)
        head = f"{lines}X-Request-ID: {self._id}\r\nContent-Length: {len(response.body)}\r\n\r\n"
        self._connection.send_bytes(head.encode("latin-1") + response.body)

    async def send_stream(self, response: Response, close: bool) -> None:
        """Send a stream as fast as the client reads it; a client that stops reading is cut off."""
        headers = self._headers_of(response, close)
        idle = self._service.settings.request_seconds
        try:
            await self._connection.begin_response(response.status, headers)
            if response.stream is not None and self._method != "HEAD":
                async for chunk in response.stream:
                    await self._write(chunk, idle)
            self._connection.finish()
        except (iostream.StreamClosedError, TimeoutError):
            self._break_off("client went away or stopped reading")
        except ApiError as error:
            self._break_off(f"the source was ended: {error}")
        except Exception:
            log.exception("response broken off", extra={"request_id": self._id})
            self._break_off("the source failed")
        finally:
            self.close()
            await _let_go(response.stream)

    async def _write(self, chunk: bytes, seconds: float) -> None:
        """Write a piece, with a time limit for each: a client may read slowly for hours, but is cut off if it stops."""
        taken = self._connection.write(chunk)
        if taken.done():
            taken.result()  # raises if the client went away
            await asyncio.sleep(0)  # lets others run, and the connection notice that its client went away
        else:
            await asyncio.wait_for(taken, seconds * (1 + len(chunk) // _PIECE_BYTES))

    def _break_off(self, reason: str) -> None:
        """Close without ending the response properly, so that the client knows that something is missing."""
        log.info("stream ended early", extra={"request_id": self._id, "reason": reason})
        self._connection.abort()

    def _headers_of(self, response: Response, close: bool) -> dict[str, str]:
        headers = {
            **_usual(response.content_type, int(time.time())),
            "X-Request-ID": self._id,
            **response.headers,
            **self._request_head.following,
        }
        if self._method == "OPTIONS" and "Access-Control-Allow-Origin" in headers:
            headers |= _PREFLIGHT
        # `Connection: close` would lose a further request that the client has sent already
        if close or (self._service.draining and not self._connection.more_waits):
            headers["Connection"] = "close"
        return headers


async def _let_go(stream: object) -> None:
    """Release what a stream holds open, whether it was read to its end, in part, or (HEAD) not at all."""
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()


@lru_cache(maxsize=64)
def _usual(content_type: str, second: int) -> Mapping[str, str]:
    """Return the headers of every response."""
    return {
        "Content-Type": content_type,
        "Date": formatdate(second, usegmt=True),
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }


@lru_cache(maxsize=64)
def _usual_lines(content_type: str, second: int, cors: str) -> str:
    """Return the part of a successful response's head that many responses share."""
    return f"{status_line(200)}{field_lines(_usual(content_type, second))}{cors}"
