"""The streams below Tornado's own HTTP connections: strict about heads, and aware of what has arrived."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable

from tornado.httputil import HTTPInputError
from tornado.iostream import IOStream, SSLIOStream, StreamClosedError

from handlers.http.draining import bytes_wait
from handlers.http.heads import refusal
from handlers.schema.errors import BAD_REQUEST, ApiError

_LINE = re.compile(rb"(?:\r\n)?[^ \r\n]+ [^ \r\n]+ HTTP/1\.([01])\r\n")
_BARE = re.compile(rb"(?<!\r)\n|\r(?!\n)")
_CODING = re.compile(rb"\nTransfer-Encoding[ \t]*:", re.IGNORECASE)
_CONNECTION = re.compile(rb"(?<=\n)Connection:([\t\x20-\x7e\x80-\xff]*)\r\n", re.IGNORECASE)
_PARSER_RESPONSE = b"HTTP/1.1 400 Bad Request\r\n\r\n"


class StrictStream(IOStream):
    """Refuses heads that may be read in two ways, and responds to malformed HTTP in the envelope.

    `head_arrived`: a head is complete, and Tornado has not asked for the next, as the request is being served.
    """

    head_arrived = False
    _held = 0  # bytes that were read from the socket, and that Tornado has not asked for

    @property
    def holds_bytes(self) -> bool:
        """Whether there are bytes, here or in the socket, that no request has been made of yet."""
        return not self.closed() and (self._held > 0 or bytes_wait(self.socket.fileno()))

    def read_from_fd(self, buf: bytearray | memoryview) -> int | None:
        """Tornado: fill `buf` and return how many bytes came, or None if there are none yet."""
        count = super().read_from_fd(buf)
        self._held += count or 0
        return count

    async def read_until_regex(self, regex: bytes, max_bytes: int | None = None) -> bytes:
        """Tornado: return a head. Raises `HTTPInputError` and `StreamClosedError`."""
        if self.closed():  # or what came after the last request would be served (RFC 9112 section 9.6)
            raise StreamClosedError
        self.head_arrived = False
        head = await self._take(super().read_until_regex(regex, max_bytes))
        self.head_arrived = True
        return _checked(head)

    async def read_until(self, delimiter: bytes, max_bytes: int | None = None) -> bytes:
        """Tornado: return a line of a chunked body."""
        return await self._take(super().read_until(delimiter, max_bytes))

    async def read_bytes(self, num_bytes: int, partial: bool = False) -> bytes:
        """Tornado: return a piece of a body, or of a message of a WebSocket."""
        return await self._take(super().read_bytes(num_bytes, partial))

    async def _take(self, reading: Awaitable[bytes]) -> bytes:
        taken = await reading
        self._held -= len(taken)
        return taken

    def write(self, data: bytes | memoryview) -> asyncio.Future[None]:
        """Tornado: send `data`."""
        return super().write(refusal(ApiError(BAD_REQUEST)) if data == _PARSER_RESPONSE else data)


class StrictTlsStream(StrictStream, SSLIOStream):
    """The same with TLS."""


def _checked(head: bytes) -> bytes:
    """Return the head; a `Connection: close` among other options is replaced by one that Tornado understands.

    Raises HTTPInputError for a bare CR or LF, another version, and a transfer coding in HTTP/1.0 (RFC 9112 sections
    2.2, 2.3 and 6.1; 9.3 for `Connection`).
    """
    found = _LINE.match(head)
    if found is None or _BARE.search(head) or (found[1] == b"0" and _CODING.search(head)):
        raise HTTPInputError("a head that may be read in two ways")
    options = b",".join(_CONNECTION.findall(head)).lower().split(b",")
    if len(options) > 1 and b"close" in [option.strip(b" \t") for option in options]:
        head = _CONNECTION.sub(b"", head)[:-2] + b"Connection: close\r\n\r\n"
    return head
