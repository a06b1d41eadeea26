"""A strict reader of RFC 9112 (HTTP/1.1): it refuses exactly what two readers may understand differently.

It is written from the grammar, for comparison only: it wants all bytes at once and has no limits. What the RFC lets a
server accept or refuse is refused, except what the RFC describes as harmless: one empty line before a request (2.2),
equal lengths in a list (6.3), extensions and trailers of chunks (7.1).
"""

from __future__ import annotations

import re

from tests.support.hostile_http.reading import Asked, Reading, fields_of

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_REQUEST_LINE = re.compile(rf"({_TOKEN}) ([\x21-\x7e\x80-\xff]+) (HTTP/[0-9]\.[0-9])")
_FIELD = re.compile(
    rf"({_TOKEN}):[ \t]*((?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[ \t]*"
)
_QUOTED = r'"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"'
_EXTENSION = rf"(?:[ \t]*;[ \t]*{_TOKEN}(?:[ \t]*=[ \t]*(?:{_TOKEN}|{_QUOTED}))?)"
_CHUNK = re.compile(rf"([0-9A-Fa-f]+){_EXTENSION}*")


class _RefusedError(Exception):
    """The bytes are not HTTP, or can be read in two ways."""


class _CutError(Exception):
    """The bytes end before the message does."""


def read_strictly(data: bytes) -> Reading:
    """Return the requests in the bytes of a connection."""
    requests: list[Asked] = []
    at = 0
    while True:
        try:
            asked, persists, at = _head(data, at)
        except _CutError:
            return Reading(tuple(requests), "waiting")
        except _RefusedError as refused:
            return Reading(tuple(requests), "refused", str(refused))
        try:
            body, at = _body(asked, data, at)
        except (_CutError, _RefusedError) as failure:
            cut = isinstance(failure, _CutError)
            return Reading((*requests, asked), "waiting" if cut else "refused", str(failure))
        requests.append(Asked(asked.method, asked.target, asked.version, asked.fields, body))
        if not persists:
            return Reading(tuple(requests), "closed")


def _head(data: bytes, at: int) -> tuple[Asked, bool, int]:
    if data.startswith(b"\r\n", at):
        at += 2
    end = data.find(b"\r\n\r\n", at)
    if end < 0:
        raise _CutError
    first, *lines = data[at:end].decode("latin-1").split("\r\n")
    if "\r" in first or "\n" in first:
        raise _RefusedError("a bare CR or LF in the request line")
    found = _REQUEST_LINE.fullmatch(first)
    if found is None:
        raise _RefusedError("request line")
    method, target, version = found.groups()
    if version not in ("HTTP/1.0", "HTTP/1.1"):
        raise _RefusedError("version")
    pairs = [_field(line) for line in lines]
    asked = Asked(method, target, version, fields_of(pairs), None)
    _check_framing(asked)
    return asked, _persists(version, pairs), end + 4


def _field(line: str) -> tuple[str, str]:
    if "\r" in line or "\n" in line:
        raise _RefusedError("a bare CR or LF in a field")
    if line[:1] in (" ", "\t"):
        raise _RefusedError("a folded field")
    found = _FIELD.fullmatch(line)
    if found is None:
        raise _RefusedError("field")
    return found[1], found[2]


def _elements(asked: Asked, name: str) -> list[str] | None:
    """Return the elements of a list field (RFC 9110 section 5.6.1), or None if there is no such field."""
    for given, values in asked.fields:
        if given == name:
            return [element.strip(" \t") for element in ",".join(values).split(",") if element.strip(" \t")]
    return None


def _check_framing(asked: Asked) -> None:
    codings, lengths = _elements(asked, "transfer-encoding"), _elements(asked, "content-length")
    if codings is not None:
        if asked.version == "HTTP/1.0":
            raise _RefusedError("a transfer coding in HTTP/1.0")  # 6.1
        if lengths is not None:
            raise _RefusedError("a length beside a transfer coding")  # 6.3, 3.
        if [coding.lower() for coding in codings] != ["chunked"]:
            raise _RefusedError("transfer coding")  # 6.1, 6.3, 4.
    elif lengths is not None:
        digits = all(re.fullmatch("[0-9]+", length) for length in lengths)
        if not digits or len({_number(length) for length in lengths}) != 1:
            raise _RefusedError("length")  # 6.3, 5.


def _number(digits: str) -> str:
    """Return a decimal number of any length without leading zeros, as text."""
    return digits.lstrip("0") or "0"


def _body(asked: Asked, data: bytes, at: int) -> tuple[bytes, int]:
    if _elements(asked, "transfer-encoding") is not None:
        return _chunks(data, at)
    lengths = _elements(asked, "content-length")
    number = _number(lengths[0]) if lengths else "0"
    if len(number) > 18 or at + int(number) > len(data):
        raise _CutError
    return data[at : at + int(number)], at + int(number)


def _chunks(data: bytes, at: int) -> tuple[bytes, int]:
    body = b""
    while True:
        line, at = _line(data, at)
        found = _CHUNK.fullmatch(line)
        if found is None:
            raise _RefusedError("chunk")
        size = int(found[1][-18:], 16) if len(found[1].lstrip("0")) <= 16 else 1 << 64
        if not size:
            return body, _after_trailers(data, at)
        body += data[at : at + size]
        at += size
        if len(data) < at + 2 and b"\r\n".startswith(data[at : at + 2]):
            raise _CutError
        if data[at : at + 2] != b"\r\n":
            raise _RefusedError("the end of a chunk")
        at += 2


def _after_trailers(data: bytes, at: int) -> int:
    while True:
        line, at = _line(data, at)
        if not line:
            return at
        _field(line)


def _line(data: bytes, at: int) -> tuple[str, int]:
    end = data.find(b"\r\n", at)
    if end < 0:
        raise _CutError
    return data[at:end].decode("latin-1"), end + 2


def _persists(version: str, pairs: list[tuple[str, str]]) -> bool:
    """Return whether another request may follow (section 9.3)."""
    given = ",".join(value for name, value in pairs if name.lower() == "connection")
    options = [option.strip(" \t").lower() for option in given.split(",")]
    return "close" not in options and (version == "HTTP/1.1" or "keep-alive" in options)
