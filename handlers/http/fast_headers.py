"""The headers of a request that llhttp has checked, in the form that Tornado's delegates expect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from lru import LRU
from tornado import httputil

from handlers.http.heads import RequestHead

_LONGEST_KNOWN = 64
_LONGEST_LENGTH = 20  # digits
_LONGEST_KEPT = 2048
_MOST_KEPT = 40  # a field takes hundreds of bytes of memory, however short it is; browsers send some twenty
# another value in each request: such fields come once, and in a cache each collection of garbage would visit them
_UNIQUE = frozenset((b"idempotency-key", b"x-request-id", b"traceparent"))


@lru_cache(maxsize=1000)
def _known(name: str) -> str:
    return "-".join([word.capitalize() for word in name.split("-")])


@lru_cache(maxsize=1000)
def _known_raw(raw: bytes) -> str:
    return _known(raw.decode("latin-1"))


def _field_name(raw: bytes) -> str:
    """Return the name of a header as Tornado spells it: `Content-Type`. Long ones, made up by clients, are not kept."""
    return _known_raw(raw) if len(raw) <= _LONGEST_KNOWN else _known.__wrapped__(raw.decode("latin-1"))


class Headers(httputil.HTTPHeaders):
    """Tornado's headers, made of fields that llhttp has already checked, and faster to read.

    Several requests can share one, so it is not changed. `size`: the bytes that the fields take. `chunked`, and
    `length` in bytes: how the body is sent, if there is one. `framed`: whether this is unambiguous, and the transfer
    coding is a known one.
    """

    def __init__(self, fields: Iterable[tuple[bytes, bytes]] = (), size: int = 0) -> None:
        self.request_head: RequestHead | None = None
        self.size = size
        self._lines: dict[str, list[str]] = {}
        for raw, value in fields:
            name, text = _field_name(raw), value.decode("latin-1").strip(" \t")
            if name in self._lines:
                self._lines[name].append(text)
            else:
                self._lines[name] = [text]
        codings, lengths = self._lines.get("Transfer-Encoding", ()), self._lines.get("Content-Length", ())
        length = _length(lengths)
        self.chunked = bool(codings)
        self.length = length or 0
        self.framed = (
            [coding.lower() for coding in codings] == ["chunked"] and not lengths if codings else length is not None
        )

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a header, several values joined by commas, or `default` if there is none."""
        values = self._lines.get(name) or self._lines.get(_known(name))
        if values is None:
            return default
        return values[0] if len(values) == 1 else ",".join(values)

    def __getitem__(self, name: str) -> str:
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return str(value)

    def __contains__(self, name: object) -> bool:
        return self.get(str(name)) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def get_list(self, name: str) -> list[str]:
        """Return the values of a header."""
        return self._lines.get(_known(name), [])

    def get_all(self) -> Iterable[tuple[str, str]]:
        """Return each name with each of its values."""
        return ((name, value) for name, values in self._lines.items() for value in values)


def _length(values: Sequence[str]) -> int | None:
    """Return the declared length of a body in bytes, 0 if there is none; None if it is no number (RFC 9110, 8.6)."""
    if not values:
        return 0
    sound = len(values) == 1 and len(values[0]) <= _LONGEST_LENGTH and values[0].isascii() and values[0].isdigit()
    return int(values[0]) if sound else None


class HeadersCache:
    """The headers of earlier requests, for later ones that carry the same fields, as those of one client do."""

    def __init__(self, size: int) -> None:
        self._kept: LRU[tuple[tuple[bytes, bytes], ...], Headers] = LRU(size)

    def of(self, fields: Sequence[tuple[bytes, bytes]]) -> Headers:
        """Return the headers of `fields`; long, many or unique ones are not kept."""
        key = tuple(fields)
        headers: Headers | None = self._kept.get(key)
        if headers is None:
            size = sum([len(name) + len(value) + 4 for name, value in fields])
            headers = Headers(fields, size)
            if is_kept(fields, size):
                self._kept[key] = headers
        return headers


def is_kept(fields: Sequence[tuple[bytes, bytes]], size: int) -> bool:
    """Return whether these fields, which take `size` bytes, may come again, and are short and few enough to be kept."""
    small = size <= _LONGEST_KEPT and len(fields) <= _MOST_KEPT
    return small and _UNIQUE.isdisjoint([name.lower() for name, _ in fields])
