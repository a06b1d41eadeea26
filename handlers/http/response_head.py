"""The head of a response as HTTP/1.1 writes it, and the response to what is no request."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from http import HTTPStatus

from handlers.schema.envelope import failed
from handlers.schema.errors import ApiError

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


def refusal(error: ApiError) -> bytes:
    """Return the whole response to a request that is not served, after which the connection is closed."""
    body = failed(error)
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        **error.headers,
        "Connection": "close",
        "Content-Length": str(len(body)),
        "X-Request-ID": secrets.token_hex(16),
    }
    return f"{status_line(error.kind.status)}{field_lines(headers)}\r\n".encode("latin-1") + body
