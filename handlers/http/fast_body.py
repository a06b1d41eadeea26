"""Reads the body of a request, up to its declared length or to its last chunk (RFC 9112 sections 6.3 and 7.1).

Chunks are read by this module and not by llhttp, because httptools reports neither how long their extensions and
trailers are nor where in the bytes a message ends.
"""

from __future__ import annotations

import re
from typing import Protocol

from handlers.schema.errors import BAD_REQUEST, HEADERS_TOO_LARGE, ApiError

_CHUNKS_AT_ONCE = 2000  # reading them takes some milliseconds
_SIZE_DIGITS = 16
_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"
_QUOTED = rb'"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*+"'
_EXTENSION = rb"[\t ]*+;[\t ]*+%b(?:[\t ]*+=[\t ]*+(?:%b|%b))?+" % (_TOKEN, _TOKEN, _QUOTED)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,%d})((?:%b)*+)" % (_SIZE_DIGITS, _EXTENSION))
_PLAIN = re.compile(rb"([0-9A-Fa-f]{1,%d})\r\n" % _SIZE_DIGITS)
_TRAILER = re.compile(rb"%b:[\t \x21-\x7e\x80-\xff]*+" % _TOKEN)


class Body(Protocol):
    """Reads one body. `complete`: its last byte was read."""

    complete: bool

    def read(self, data: bytes, at: int) -> tuple[bytes, int]:
        """Return the content in `data` from `at` on, and where reading stopped. Raises 40000 and 43100.

        Reading stops at the end of the data or of the body, or after a fair share of work.
        """


class SizedBody:
    """A body of `length` bytes, at least one."""

    def __init__(self, length: int) -> None:
        self._left = length
        self.complete = False

    def read(self, data: bytes, at: int) -> tuple[bytes, int]:
        """See `Body`."""
        piece = data[at : at + self._left]
        self._left -= len(piece)
        self.complete = not self._left
        return piece, at + len(piece)


class ChunkedBody:
    """A chunked body. Extensions and trailers are read strictly and dropped; they may take `limit` bytes in total."""

    def __init__(self, limit: int) -> None:
        self._spare = limit
        self._line = b""  # the beginning of a line that is not complete yet
        self._left = 0  # bytes of the chunk that are still to come
        self._due = b""  # what must follow the chunk
        self._trailing = False
        self.complete = False

    def read(self, data: bytes, at: int) -> tuple[bytes, int]:
        """See `Body`."""
        shift = 0
        if self._line:
            shift = at - len(self._line)
            data, at, self._line = self._line + data[at:], 0, b""
        pieces: list[bytes] = []
        while at < len(data) and not self.complete and len(pieces) < _CHUNKS_AT_ONCE:
            if self._at_size:
                at = _take_whole_chunks(data, at, pieces)
            if self._left:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                self._due = b"" if self._left else b"\r\n"
            elif self._due:
                at = self._end_chunk(data, at)
            else:
                at = self._read_line(data, at)
        return b"".join(pieces), at + shift

    @property
    def _at_size(self) -> bool:
        """Whether the size of a chunk comes next."""
        return not (self._left or self._due or self._trailing)

    def _end_chunk(self, data: bytes, at: int) -> int:
        found = data[at : at + len(self._due)]
        if not self._due.startswith(found):
            raise ApiError(BAD_REQUEST)
        self._due = self._due[len(found) :]
        return at + len(found)

    def _read_line(self, data: bytes, at: int) -> int:
        longest = self._spare + _SIZE_DIGITS
        end = data.find(b"\r\n", at, at + longest + 2)
        if end >= 0:
            (self._end_line if self._trailing else self._begin_chunk)(data[at:end])
            return end + 2
        if len(data) - at > longest + 1:
            raise ApiError(HEADERS_TOO_LARGE)
        self._line = data[at:]
        if b"\n" in self._line or b"\r" in self._line[:-1]:
            raise ApiError(BAD_REQUEST)
        return len(data)

    def _begin_chunk(self, line: bytes) -> None:
        found = _CHUNK.fullmatch(line)
        if found is None:
            raise ApiError(BAD_REQUEST)
        self._spend(len(found[2]))
        self._left = int(found[1], 16)
        self._trailing = not self._left

    def _end_line(self, line: bytes) -> None:
        if not line:
            self.complete = True
            return
        if _TRAILER.fullmatch(line) is None:
            raise ApiError(BAD_REQUEST)
        self._spend(len(line) + 2)

    def _spend(self, size: int) -> None:
        self._spare -= size
        if self._spare < 0:
            raise ApiError(HEADERS_TOO_LARGE)


def _take_whole_chunks(data: bytes, at: int, pieces: list[bytes]) -> int:
    """Append complete chunks without extensions, which most are, to `pieces`; return the position after the last."""
    room = _CHUNKS_AT_ONCE - len(pieces)
    while room and (found := _PLAIN.match(data, at)):
        begin = found.end()
        end = begin + int(found[1], 16)
        if end == begin or not data.startswith(b"\r\n", end):
            break
        pieces.append(data[begin:end])
        at = end + 2
        room -= 1
    return at
