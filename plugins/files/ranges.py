"""Conditional requests and parts of a file (RFC 9110 sections 13 and 14)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from plugins.api import RANGE, ApiError

_ONE_RANGE = re.compile(r"bytes\s*=\s*([0-9]{0,18})-([0-9]{0,18})\s*", re.ASCII | re.IGNORECASE)


def is_unchanged(headers: Mapping[str, str], tag: str) -> bool:
    """Whether the client holds this very content already: `If-None-Match`, compared weakly."""
    known = [part.strip().removeprefix("W/") for part in headers.get("If-None-Match", "").split(",")]
    return "*" in known or tag in known


def wanted_part(headers: Mapping[str, str], tag: str, size: int) -> tuple[int, int] | None:
    """From which byte up to which the client wants the content; None for all of it.

    Several ranges, another unit and what cannot be read are answered with everything, as is a part of content that
    the client does not hold (`If-Range`). Raises 41600 for a range that lies behind the end.
    """
    found = _ONE_RANGE.fullmatch(headers.get("Range", ""))
    if found is None or headers.get("If-Range", tag) != tag:
        return None
    first, last = found.groups()
    if not first and not last:
        return None
    start = int(first) if first else max(0, size - int(last))
    stop = min(int(last) + 1, size) if first and last else size
    if first and last and int(last) < int(first):
        return None
    if start >= size:
        raise ApiError(RANGE, headers={"Content-Range": f"bytes */{size}"})
    return start, stop
