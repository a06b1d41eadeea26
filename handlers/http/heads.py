"""The heads of HTTP/1.1: of responses as they are written, and what those of requests say to the server itself.

The headers of a request are read once for all requests that carry the same ones.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from tornado import httputil

from handlers.http.addresses import FORWARDING
from handlers.schema.envelope import failed
from handlers.schema.errors import ApiError
from handlers.schema.messages import Language, language_of

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


_REQUEST_ID = re.compile(r"^[A-Za-z0-9._-]{1,64}$")
_BEARER = re.compile(r"^Bearer +([A-Za-z0-9._~+/=-]+)$", re.IGNORECASE)
# a name, an address or nothing, and a port (RFC 3986 sections 3.2.2 and 3.2.3); no comma, which joins several `Host`
_HOST = re.compile(r"([A-Za-z0-9._~!$&'()*+;=%-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?")
# W3C Trace Context, section 3.2: version, trace id, id of the caller's span, flags; later versions may add more
_TRACE = re.compile(
    r"(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-[!-~]{0,200})?"
)
_EXPOSED = ", ".join(
    [
        "X-Request-ID",
        "traceparent",
        "X-Possible-Duplicates",
        "Content-Location",
        "Content-Disposition",
        "Content-Range",
        "Accept-Ranges",
        "ETag",
        "Retry-After",
        "Idempotency-Replayed",
        "X-Holdings",
        "X-Approval",
        "X-Incomplete",
    ]
)
_VARY = "Origin, Accept-Language"  # the envelope's `msg` is in the caller's language


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The caller's request id if it is valid, language, declared length of the body in bytes, whether a WebSocket is
    requested (`upgrades`), the state of `Host`, the bearer token, the response headers that follow from these (CORS,
    trace context), also as lines, whether a proxy forwarded the request, and the id of the caller's trace.
    """

    request_id: str | None
    language: Language
    length: int
    upgrades: bool
    host: Literal["sound", "missing", "unsound"]
    bearer: str | None
    following: Mapping[str, str]
    following_lines: str
    forwarded: bool = False
    trace_id: str | None = None


def read_request_head(headers: httputil.HTTPHeaders, origins: Collection[str]) -> RequestHead:
    """Return what `headers` say; `origins` are those whose pages may read the responses (CORS)."""
    supplied, trace = headers.get("X-Request-ID"), _trace_of(headers.get("traceparent"))
    following = {**_cors(headers.get("Origin"), origins), **({"traceparent": trace} if trace else {})}
    return RequestHead(
        request_id=supplied if supplied and _REQUEST_ID.match(supplied) else None,
        language=language_of(headers.get("Accept-Language")),
        length=_declared_length(headers.get("Content-Length", "0")),
        upgrades=_upgrades(headers),
        host=_host_of(headers),
        bearer=bearer_of(headers),
        following=following,
        following_lines=field_lines(following),
        forwarded=any(name in headers for name in FORWARDING),
        trace_id=trace[3:35] if trace else None,
    )


def bearer_of(headers: Mapping[str, str]) -> str | None:
    """Return the token of `Authorization: Bearer …` (RFC 6750 section 2.1), or None if there is none."""
    found = _BEARER.match(headers.get("Authorization", ""))
    return found.group(1) if found else None


def _trace_of(given: str | None) -> str | None:
    """Return the trace context in the form of version 00, or None if it is invalid."""
    found = _TRACE.fullmatch(given) if given else None
    if found is None or (found[1] == "00" and found[5]):
        return None
    return f"00-{found[2]}-{found[3]}-{found[4]}"


def _declared_length(value: str) -> int:
    return int(value) if len(value) <= 20 and value.isascii() and value.isdigit() else 0


def _upgrades(headers: httputil.HTTPHeaders) -> bool:
    """Return whether a WebSocket is requested; `Connection` must name `Upgrade` (RFC 9110 section 7.8)."""
    options = [option.strip() for option in headers.get("Connection", "").lower().split(",")]
    return "upgrade" in options and headers.get("Upgrade", "").lower() == "websocket"


def _host_of(headers: httputil.HTTPHeaders) -> Literal["sound", "missing", "unsound"]:
    host = headers.get("Host")  # several come joined by a comma
    if host is None:
        return "missing"
    return "sound" if _HOST.fullmatch(host) else "unsound"


def _cors(origin: str | None, origins: Collection[str]) -> Mapping[str, str]:
    if origin is None or origin not in origins:
        return {"Vary": _VARY}
    return {
        "Vary": _VARY,
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Expose-Headers": _EXPOSED,
    }
