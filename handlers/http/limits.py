"""The limits of one connection."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of one connection: `header_bytes` for one header block, `extra_bytes` for the extensions and trailers
    of a chunked body, `request_seconds` to receive a whole request, `idle_seconds` between two requests."""

    header_bytes: int
    extra_bytes: int
    request_seconds: float
    idle_seconds: float
