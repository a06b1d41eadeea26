"""The head of a request, read by llhttp and compared with its own bytes.

llhttp alone accepts two spaces in a request line, `ICE/1.0`, `RTSP/1.0` and HTTP/0.9, and skips a body that comes with
an offer to upgrade. So it is given heads only: the empty line decides where one ends, and llhttp has to agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import httptools
from lru import LRU
from tornado import httputil

from handlers.http.fast_body import Body, ChunkedBody, SizedBody
from handlers.http.fast_headers import Headers, HeadersCache, is_kept
from handlers.schema.errors import BAD_REQUEST, HEADERS_TOO_LARGE, ApiError

_END = b"\r\n\r\n"
_MOST_FIELDS = 200  # each takes hundreds of bytes of memory, however short it is


@dataclass(slots=True)
class Head:
    """The head of a request. `size`: the bytes of its target and its header fields.

    `upgrades`: the client offers to change the protocol. `plain`: it does not, and there is no body.
    """

    start: httputil.RequestStartLine
    headers: Headers
    keep_alive: bool
    upgrades: bool
    plain: bool
    size: int

    def body(self, limit: int) -> Body | None:
        """Return the reader of the body, or None without one; `limit` is for the extensions and trailers of chunks."""
        if self.headers.chunked:
            return ChunkedBody(limit)
        return SizedBody(self.headers.length) if self.headers.length else None


class HeadsCache:
    """The heads of earlier requests by their bytes: llhttp need not read again what a client sends again and again.

    `headers` caches the headers alone, for requests that differ only in their request line.
    """

    def __init__(self, size: int) -> None:
        self.headers = HeadersCache(size)
        self.heads: LRU[bytes, Head] = LRU(size)


class HeadReader:
    """Reads the heads of one connection. `waiting`: bytes of a head that is not complete yet."""

    def __init__(self, longest: int, cache: HeadsCache) -> None:
        self._longest = longest
        self._cache = cache
        self._parser = httptools.HttpRequestParser(self)
        self.waiting = b""
        self._url = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._ended = self._keep_alive = False

    # -- httptools

    def on_url(self, url: bytes) -> None:
        """httptools: a part of the target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """httptools: a header field."""
        self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        """httptools: the head is complete. Keep-alive is noted now: llhttp forgets it at the end of the message."""
        self._ended = True
        self._keep_alive = self._parser.should_keep_alive()

    # -- the bytes

    def read(self, data: bytes, at: int) -> tuple[Head | None, int]:
        """Read `data` from `at` on; return the head once it is complete, and where reading stopped.

        Raises 40000 and 43100.
        """
        if self.waiting:
            return self._read_on(data, at)
        end = data.find(_END, at) + len(_END)
        if end < len(_END):
            self.waiting = data[at:] if at else data
            self._check_part(self.waiting)
            return None, len(data)
        raw = data[at:end]
        return self._cache.heads.get(raw) or self._whole(raw, raw), end

    def _read_on(self, data: bytes, at: int) -> tuple[Head | None, int]:
        known = len(self.waiting)
        raw = self.waiting + data[at : at + self._longest]
        end = raw.find(_END, max(0, known - len(_END) + 1)) + len(_END)
        if end < len(_END):
            self.waiting = raw
            self._check_part(raw[known:])
            return None, len(data)
        self.waiting = b""
        return self._whole(raw[:end], raw[known:end]), at + end - known

    def _check_part(self, part: bytes) -> None:
        if len(self.waiting) > self._longest or len(self._fields) > _MOST_FIELDS:
            raise ApiError(HEADERS_TOO_LARGE)
        try:
            self._parser.feed_data(part)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            raise ApiError(BAD_REQUEST) from error
        if self._ended:
            raise ApiError(BAD_REQUEST)

    def _whole(self, raw: bytes, last: bytes) -> Head:
        """Return the head with the bytes `raw`, of which llhttp has not seen the `last` ones yet."""
        upgrades = False
        try:
            self._parser.feed_data(last)
        except httptools.HttpParserUpgrade:
            upgrades = True
        except httptools.HttpParserError as error:
            raise ApiError(BAD_REQUEST) from error
        if not self._ended:
            raise ApiError(BAD_REQUEST)
        fields, url, method = self._fields, self._url, self._parser.get_method()
        self._fields, self._url, self._ended = [], b"", False
        if len(raw) > self._longest or len(fields) > _MOST_FIELDS:
            raise ApiError(HEADERS_TOO_LARGE)
        headers = self._cache.headers.of(fields)
        if raw.startswith(b" HTTP/1.1\r\n", len(method) + len(url) + 1):
            version, kept = "HTTP/1.1", self._keep_alive
        else:
            version, kept = self._unusual(raw, b"%b %b " % (method, url), headers)
        if not headers.framed:
            raise ApiError(BAD_REQUEST)  # RFC 9112 section 6.3
        plain = not (upgrades or headers.chunked or headers.length)
        if not plain:
            self._parser = httptools.HttpRequestParser(self)  # the present one would continue with the body
            kept = kept and method != b"CONNECT"
        start = httputil.RequestStartLine(method.decode(), url.decode("latin-1"), version)
        head = Head(start, headers, kept, upgrades, plain, headers.size + len(start.path))
        # llhttp has to see every head that does more than end one message and begin the next, or a sized body
        if kept and not (upgrades or headers.chunked) and is_kept(fields, len(raw)):
            self._cache.heads[raw] = head
        return head

    def _unusual(self, raw: bytes, line: bytes, headers: Headers) -> tuple[str, bool]:
        """Return the version in a request line that begins with `line`, and whether the connection is kept.

        One empty line may precede it (RFC 9112 section 2.2). Raises 40000 if the request line is not what llhttp took
        it for, and for a transfer coding in HTTP/1.0 (section 6.1).
        """
        rest = raw.removeprefix(b"\r\n")
        if rest.startswith(line + b"HTTP/1.1\r\n"):
            return "HTTP/1.1", self._keep_alive
        if rest.startswith(line + b"HTTP/1.0\r\n") and not headers.chunked:
            return "HTTP/1.0", self._keep_alive and headers.get("Connection", "").lower() == "keep-alive"
        raise ApiError(BAD_REQUEST)
