"""Pages of rows in memory, with the same query parameters and response as a list of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plugins.api import Page
from plugins.api.data import rows_before
from plugins.system.records import DICTIONARIES

_QUERY = DICTIONARIES.list_query
PAGING = {
    **{name: _QUERY[name] for name in ("page", "page_size", "with_total")},
    "cursor": _QUERY["cursor"].but(example="20"),
}


def page_of(rows: Sequence[dict[str, Any]], query: Mapping[str, Any]) -> Page:
    """Return the page of `rows` that `query` selects. A cursor is the position of the next row."""
    start, size = rows_before(query), query["page_size"]
    end = start + size
    total = len(rows) if query["with_total"] else None
    return Page(list(rows[start:end]), total, query["page"], size, str(end) if end < len(rows) else None)
