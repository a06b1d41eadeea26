"""`multipart/form-data` as it arrives, a piece at a time (RFC 7578; parser: python-multipart).

`Form` checks it against what the route declares; `read_form` yields it as it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartState, parse_options_header

from handlers.request import Request
from handlers.schema.errors import BAD_REQUEST, MEDIA_TYPE, TOO_LARGE, ApiError, FieldError, ValidationFailed, invalid
from handlers.schema.messages import WANTS_FORM

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

_MAX_HEADERS = 8
_MAX_HEADER_BYTES = 8 << 10  # enough that a far too long name is not taken for a malformed form
_FORM_BYTES = 64 << 10  # what a form may need besides its files
_VALUE_BYTES = 4096
# booleans as pages and scripts write them in forms
_BOOLEANS = {"true": "true", "1": "true", "false": "false", "0": "false", "": "false"}


@dataclass(frozen=True)
class FormPart:
    """A part begins: the name of the field and, for a file, its name and the media type that the client declares."""

    name: str
    file_name: str | None
    media: str


@dataclass(frozen=True)
class FormPartEnd:
    """The part that began last is complete."""


FormEvent = FormPart | bytes | FormPartEnd


@dataclass(frozen=True)
class FormFile:
    """A file begins: its field, its name, and the media type that the client declares. Its content follows as bytes."""

    field: str
    name: str
    media: str


class Form:
    """The form of a streamed route as it arrives, checked against the route's declaration. Iterate over it once.

    `values` has the typed values of the fields that are not files, as far as they were sent; of all of them once the
    form has ended. Raises 40001 with the field for one that is undeclared, duplicate, missing or invalid; `too_large`
    for a body of more than `most` bytes and what a form needs besides files; 40000 and 41500 as `read_form` does.
    """

    def __init__(self, req: Request, most: int, too_large: ApiError | None = None) -> None:
        if req.route is None or req.route.form is None or req.stream is None:
            raise RuntimeError("the route declares no form")
        self._declared = req.route.form.fields or {}
        self._checks = req.route.check_form
        self._media = req.headers.get("Content-Type", "")
        self._length = req.headers.get("Content-Length", "")
        self._stream = req.stream
        self._most = most + _FORM_BYTES
        self._too_large = too_large or ApiError(TOO_LARGE)
        self._seen: set[str] = set()
        self._field = ""
        self._value = b""
        self.values: dict[str, Any] = {}

    async def __aiter__(self) -> AsyncIterator[FormFile | bytes]:
        """Yield the files and the pieces of their content, in order."""
        async for event in read_form(self._media, self._bounded()):
            if isinstance(event, FormPart):
                self._begin(event)
                if event.name not in self._checks:
                    yield FormFile(event.name, event.file_name or "", event.media)
            elif self._field in self._checks:
                self._take(event)
            elif isinstance(event, bytes):
                yield event
        missing = [name for name, field in self._declared.items() if field.required and name not in self._seen]
        if missing:
            raise ValidationFailed([FieldError(name, "required") for name in missing])
        sent = {name: value for name, value in self.values.items() if value is not None}
        self.values = {name: self._declared[name].default for name in self._checks} | sent

    async def _bounded(self) -> AsyncIterator[bytes]:
        """Yield the body; raise `too_large` as soon as it is too large, or declares that it is."""
        if self._length.isascii() and self._length.isdigit() and int(self._length) > self._most:
            raise self._too_large
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > self._most:
                raise self._too_large
            yield chunk

    def _begin(self, part: FormPart) -> None:
        if part.name not in self._declared:
            raise invalid(part.name[:100] or "body", "unknown")
        if part.name in self._seen:
            raise invalid(part.name, "duplicate")
        if (part.file_name is None) != (part.name in self._checks):
            raise invalid(part.name, "type")
        self._seen.add(part.name)
        self._field, self._value = part.name, b""

    def _take(self, event: bytes | FormPartEnd) -> None:
        if isinstance(event, FormPartEnd):
            text = _text(self._value)
            if self._declared[self._field].kind == "boolean":
                text = _BOOLEANS.get(text.lower(), text)
            self.values |= self._checks[self._field]({self._field: [text]})
            return
        self._value += event
        if len(self._value) > _VALUE_BYTES:
            raise invalid(self._field, "maxLength")


async def read_form(content_type: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[FormEvent]:
    """Yield the parts of a form, in order; their content comes in pieces.

    Raises 41500 for a body that is not a form, 40000 for one that is malformed or incomplete.
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
        raise ApiError(MEDIA_TYPE, WANTS_FORM)
    boundary = options.get(b"boundary", b"")
    if not 1 <= len(boundary) <= 70:  # RFC 2046 section 5.1.1
        raise ApiError(BAD_REQUEST)
    return boundary


class _Events:
    """Collects the events that the callbacks of the parser report."""

    def __init__(self) -> None:
        self._events: list[FormEvent] = []
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = b""

    def callbacks(self) -> MultipartCallbacks:
        """Return the callbacks for the parser."""
        return {
            "on_part_begin": self._headers.clear,
            "on_header_field": self._field,
            "on_header_value": self._content,
            "on_header_end": self._header,
            "on_headers_finished": self._part,
            "on_part_data": lambda data, start, end: self._events.append(data[start:end]),
            "on_part_end": lambda: self._events.append(FormPartEnd()),
        }

    def take(self) -> list[FormEvent]:
        """Return the events that were collected since the last call."""
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
            FormPart(
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
