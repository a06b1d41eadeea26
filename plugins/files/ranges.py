"""Conditional requests and ranges (RFC 9110 sections 13 and 14)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from plugins.api import ApiError
from plugins.api.errors import RANGE

_ONE_RANGE = re.compile(r"bytes\s*=\s*([0-9]{0,18})-([0-9]{0,18})\s*", re.ASCII | re.IGNORECASE)


def is_unchanged(headers: Mapping[str, str], tag: str) -> bool:
    """Return whether the client has this content already: `If-None-Match`, by weak comparison."""
    known = [part.strip().removeprefix("W/") for part in headers.get("If-None-Match", "").split(",")]
    return "*" in known or tag in known


def parse_range(headers: Mapping[str, str], tag: str, size: int) -> tuple[int, int] | None:
    """Return the first byte that the client wants and the byte after the last; None for the whole content.

    Several ranges, other units and invalid values get the whole content, and so does a range of content that has
    changed (`If-Range`). Raises 41600 for a range that begins beyond the end.
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
