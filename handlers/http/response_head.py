"""The head of a response as HTTP/1.1 writes it: the status line and the header fields."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

_REASONS = {status.value: status.phrase for status in HTTPStatus}


def status_line(status: int) -> str:
    """Return the status line."""
    return f"HTTP/1.1 {status} {_REASONS[status]}\r\n"


def field_lines(headers: Mapping[str, str]) -> str:
    """Return the lines of the headers. Raises ValueError for a value that would begin another line."""
    text = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if text.count("\n") != len(headers) or text.count("\r") != len(headers):
        raise ValueError("a line break in a header")
    return text
