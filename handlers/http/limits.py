"""The limits of one connection."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """`header_bytes` of one header block, `extra_bytes` of the extensions and trailers of a body in chunks; seconds to
    receive a whole request, and to stay idle between two."""

    header_bytes: int
    extra_bytes: int
    request_seconds: float
    idle_seconds: float
