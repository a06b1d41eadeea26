"""The cells of dashboards, and the records behind them."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from handlers.reports.figures import Figures
from plugins.testing import Client, expect
from tests.support.catalogue import CATALOGUE

WHOLE = os.environ.get("TRADEWIND_TEST_CELLS") == "all"
OF_ONE_NAME = sys.maxsize if WHOLE else 3  # cells of one figure that are looked at, besides those that are zero
EMPTY = sys.maxsize if WHOLE else 1
QUERIES = {
    "sales-trend": ({"days": "366"},),
    "sales-ranking": ({"by": "payments", "limit": "100"}, {"by": "contracts", "date_from": "2026-01-16"}),
    "finance-summary": ({}, {"date_from": "2026-01-16", "date_to": "2026-11-20"}),
}


def figures_of(name: str) -> list[Figures]:
    return [one for part in CATALOGUE.dashboards if part.name == name for one in part.figures]


def cells_of(name: str, query: Mapping[str, str], data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every declared cell of a response, with its figure."""
    declared = {"by": "payments", **query} if name == "sales-ranking" else query
    for figures in figures_of(name):
        rows = data[figures.array] if figures.by is not None else ()
        for figure in figures.sums:
            if figures.measure(figure, declared) is not None:
                yield figure, data[figure]
            for row in rows:
                assert figures.by is not None
                key = row[figures.by.name]
                cell = f"{figures.array}.{'' if key is None else key}.{figure}"
                if figures.measure(cell, declared) is not None:
                    yield cell, row[figure]


async def compared(
    person: Client, name: str, chance: random.Random, page_size: int = 200, also: Mapping[str, str] | None = None
) -> int:
    """Compare some cells of each figure of a dashboard with their records; return how many records there were.

    `also` are further parameters of its queries.
    """
    seen = 0
    for query in ({**one, **(also or {})} for one in QUERIES.get(name, ({},))):
        data = expect(await person.get(f"/api/dashboard/{name}?{urlencode(query)}"))
        for cell, figure in _chosen(dict(cells_of(name, query, data)), chance):
            rows = await rows_of(person, name, {**query, "cell": cell}, page_size)
            assert rows[0]["value"] == figure, (name, query, cell)
            items = [item for page in rows for item in page["items"]]
            assert len({(item["collection"], item["id"]) for item in items}) == len(items) == rows[0]["total"]
            counted = sum((Decimal(item["value"]) for item in items), Decimal(0))
            # a day with nothing but reversals counts no payments
            assert counted == Decimal(figure) or (cell.endswith(".count") and counted < 0 == figure), (name, cell)
            seen += len(items)
    return seen


async def figures_shown(person: Client, name: str, also: Mapping[str, str] | None = None) -> str:
    """Every figure of a dashboard, as the person sees it; `also` are further parameters of its queries."""
    queries = [{**one, **(also or {})} for one in QUERIES.get(name, ({},))]
    return repr([expect(await person.get(f"/api/dashboard/{name}?{urlencode(query)}")) for query in queries])


def _chosen(cells: Mapping[str, Any], chance: random.Random) -> Iterator[tuple[str, Any]]:
    by_name: dict[str, list[str]] = {}
    for cell in cells:
        by_name.setdefault(f"{cell.partition('.')[0]}.{cell.rpartition('.')[2]}", []).append(cell)
    for group in by_name.values():
        counting = [cell for cell in group if Decimal(cells[cell])]
        empty = [cell for cell in group if cell not in counting]
        for cell in [*chance.sample(counting, min(OF_ONE_NAME, len(counting))), *empty[:EMPTY]]:
            yield cell, cells[cell]


async def rows_of(person: Client, name: str, query: Mapping[str, str], page_size: int = 200) -> list[dict[str, Any]]:
    """All pages of the records behind a cell."""
    pages: list[dict[str, Any]] = []
    while not pages or pages[-1]["page"] * page_size < pages[-1]["total"]:
        asked = {**query, "page": str(len(pages) + 1), "page_size": str(page_size)}
        pages.append(expect(await person.get(f"/api/dashboard/{name}/rows?{urlencode(asked)}")))
    return pages
