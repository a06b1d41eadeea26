"""`multipart/form-data` as it arrives, a piece at a time (RFC 7578; parser: python-multipart)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartState, parse_options_header

from plugins.api import BAD_REQUEST, MEDIA_TYPE, ApiError

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

_MAX_HEADERS = 8
_MAX_HEADER_BYTES = 2048


@dataclass(frozen=True)
class Part:
    """A part begins: the field's name, and of a file its name and the type that the client says it has."""

    name: str
    file_name: str | None
    media: str


@dataclass(frozen=True)
class PartEnd:
    """The part that began last is whole."""


Event = Part | bytes | PartEnd


async def read_form(content_type: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """What a form holds, in its order; file content comes in pieces.

    Raises 41500 for a body that is no form, 40000 for one that is malformed, or ends before its end.
    """
    events = _Events()
    try:
        parser = MultipartParser(
            _boundary(content_type),
            events.callbacks(),
            max_header_count=_MAX_HEADERS,
            max_header_size=_MAX_HEADER_BYTES,
        )
        async for chunk in chunks:
            parser.write(chunk)
            for event in events.take():
                yield event
    except FormParserError as error:
        raise ApiError(BAD_REQUEST) from error
    if parser.state != MultipartState.END:
        raise ApiError(BAD_REQUEST)


def _boundary(content_type: str) -> bytes:
    media, options = parse_options_header(content_type)
    if media != b"multipart/form-data":
        raise ApiError(MEDIA_TYPE)
    boundary = options.get(b"boundary", b"")
    if not 1 <= len(boundary) <= 70:  # RFC 2046 section 5.1.1
        raise ApiError(BAD_REQUEST)
    return boundary


class _Events:
    """Collects what the parser calls back with."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = b""

    def callbacks(self) -> MultipartCallbacks:
        """What the parser is to call."""
        return {
            "on_part_begin": self._headers.clear,
            "on_header_field": self._field,
            "on_header_value": self._content,
            "on_header_end": self._header,
            "on_headers_finished": self._part,
            "on_part_data": lambda data, start, end: self._events.append(data[start:end]),
            "on_part_end": lambda: self._events.append(PartEnd()),
        }

    def take(self) -> list[Event]:
        """What was collected since the last call."""
        taken, self._events = self._events, []
        return taken

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _content(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _part(self) -> None:
        kind, options = parse_options_header(self._headers.get(b"content-disposition"))
        if kind != b"form-data" or b"name" not in options:
            raise ApiError(BAD_REQUEST)
        file_name = options.get(b"filename")
        self._events.append(
            Part(
                _text(options[b"name"]),
                None if file_name is None else _text(file_name),
                self._headers.get(b"content-type", b"").decode("latin-1"),
            )
        )


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise ApiError(BAD_REQUEST) from error
