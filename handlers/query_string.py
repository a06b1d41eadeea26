"""Query strings as clients send them, before their values are checked."""

from __future__ import annotations

from urllib.parse import parse_qsl

from handlers.schema.errors import BAD_REQUEST, ApiError


def parse_query(raw: str) -> dict[str, list[str]]:
    """Return the values of each parameter. Raises 40000 for invalid UTF-8, and for more than 100 parameters."""
    if not raw:
        return {}
    try:
        pairs = parse_qsl(raw, keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=100)
    except (UnicodeDecodeError, ValueError) as error:
        raise ApiError(BAD_REQUEST) from error
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values
