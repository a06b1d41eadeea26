"""Lists that are no collection: a page of rows that are in memory, asked for and answered like any other list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plugins.api import Page, invalid
from plugins.system.records import DICTIONARIES

_DEEPEST = 10_000  # rows, as of every list
_QUERY = DICTIONARIES.list_query
PAGING = {
    **{name: _QUERY[name] for name in ("page", "page_size", "with_total")},
    "cursor": _QUERY["cursor"].but(example="20"),
}


def page_of(rows: Sequence[dict[str, Any]], query: Mapping[str, Any]) -> Page:
    """The page of `rows` that `query` asks for; a cursor is the position to go on from. 40001 beyond the depth of pages."""
    size, cursor = query["page_size"], query.get("cursor")
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise invalid("cursor", "cursor")
    start = int(cursor) if cursor is not None else (query["page"] - 1) * size
    end = start + size
    if cursor is None and end > _DEEPEST:
        raise invalid("page", "depth")
    total = len(rows) if query["with_total"] else None
    return Page(list(rows[start:end]), total, query["page"], size, str(end) if end < len(rows) else None)
