"""Reads one page of a list: its rows, its total, and the cursor of the next page."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from bson import encode

from config.database import Document, Filter, NoSuchIndex
from handlers.data.collection import MAX_DEPTH, SEARCHED, Collection
from handlers.data.context import DataContext
from handlers.data.lists.filters import (
    CURRENCY,
    Page,
    after_cursor,
    check_depth,
    is_shown,
    list_filter,
    make_cursor,
    sort_keys,
)
from handlers.data.lists.search import search_key
from handlers.data.visible.visibility import Visibility
from handlers.schema.errors import invalid
from handlers.schema.money import exact, rounded
from handlers.schema.values import Query

_FEW = 3000  # records that are read and sorted in a few milliseconds


class _PageQuery(NamedTuple):
    """The queries of a page: the rows that match `wanted`, and their total as the sum of the counts of `counted`."""

    wanted: Filter
    counted: Sequence[Filter]
    keys: list[tuple[str, int]]
    skip: int
    size: int
    with_total: bool
    fields: Sequence[str] | None


class Pager:
    """Reads pages of the records that `visibility` allows; the rows are documents as they are stored."""

    def __init__(self, context: DataContext, collection: Collection, visibility: Visibility) -> None:
        self._context = context
        self._driver = context.driver
        self._collection = collection
        self._visibility = visibility

    async def read(
        self,
        query: Query,
        filter: Filter | None,
        fields: Sequence[str] | None,
        shown: Container[str] | None,
    ) -> Page[Document]:
        """Return the page, whose items are documents as they are stored; the parameters are those of `Store.page`."""
        keys = sort_keys(self._collection, query.get("sort"), shown)
        page, size, cursor = query["page"], query["page_size"], query.get("cursor")
        narrowing = self.narrowing(query, shown)
        matching = self._visibility.filter(narrowing, filter)
        later = after_cursor(self._collection, keys, cursor) if cursor else None
        asked = _PageQuery(
            wanted={"$and": [matching, later]} if later else matching,
            counted=[matching] if narrowing or filter else self._visibility.parts(),
            keys=keys,
            skip=0 if cursor else check_depth(page, size),
            size=size,
            with_total=query["with_total"],
            # the cursor is made of the sort keys
            fields=[*fields, *(name for name, _ in keys)] if fields is not None else None,
        )
        try:
            rows, total = await self._rows_and_total(asked, await self._search_hint(query))
        except NoSuchIndex:
            rows, total = await self._rows_and_total(asked, None)
        next_cursor = make_cursor(keys, rows[size - 1]) if len(rows) > size else None
        sums = await self._sums(matching, query["sum"], shown) if query.get("sum") else None
        return Page(rows[:size], total, page, size, next_cursor, sums)

    def narrowing(self, query: Query, shown: Container[str] | None = None) -> Filter:
        """Return the filter for the parameters of a list; its search ignores fields that are not in `shown`."""
        outdated = self._collection.name in self._context.outdated
        return list_filter(self._collection, query, shown, outdated=outdated)

    async def _search_hint(self, query: Mapping[str, Any]) -> str | None:
        """Return the name of the search index if it finds few records, else None.

        Without this hint, the planner would spend as long on trying a dozen other indexes.
        """
        unsure = self._collection.plain or self._collection.name in self._context.outdated
        if not query.get("q") or unsure or self._driver.in_transaction:
            return None
        key = search_key(query["q"])
        if key is None:
            return None
        matching = {**self._visibility.live, **key}
        found = await self._driver.count(self._collection.name, matching, limit=_FEW + 1, hint=SEARCHED.name)
        return SEARCHED.name if found <= _FEW else None

    async def _rows_and_total(self, asked: _PageQuery, hint: str | None) -> tuple[list[Document], int | None]:
        if not asked.with_total:
            return await self._rows(asked, hint), None
        if self._driver.in_transaction:
            rows = await self._rows(asked, hint)
            return rows, sum([await self._driver.count(self._collection.name, part) for part in asked.counted])
        counting = asyncio.gather(*(self._count(part, hint) for part in asked.counted))
        rows, totals = await asyncio.gather(self._rows(asked, hint), counting)
        return rows, sum(totals)

    async def _sums(
        self, matching: Filter, names: Sequence[str], shown: Container[str] | None
    ) -> Mapping[str, Decimal] | None:
        """Return the sums of these amounts.

        None if more than `MAX_DEPTH` records match, which are not all read, or if they are in several currencies.
        """
        if not all(is_shown(name, shown) for name in names):
            raise invalid("sum", "enum")
        few = {"$limit": MAX_DEPTH + 1}
        group: Document = {"records": {"$sum": 1}, **{name: {"$sum": f"${name}"} for name in names}}
        if CURRENCY in self._collection.fields:
            group["currencies"] = {"$addToSet": {"$ifNull": [f"${CURRENCY}", None]}}
        stages: list[Filter] = [{"$match": matching}, few, {"$group": {"_id": None, **group}}]
        found = await self._driver.aggregate(self._collection.name, stages)
        row: Document = found[0] if found else {"records": 0}
        alike = row["records"] <= MAX_DEPTH and len(row.get("currencies", ())) <= 1
        return {name: rounded(exact(row.get(name))) for name in names} if alike else None

    async def _rows(self, asked: _PageQuery, hint: str | None) -> list[Document]:
        sorted_by = {name for name, _ in asked.keys}
        return await self._driver.find(
            self._collection.name,
            asked.wanted,
            sort=asked.keys,
            skip=asked.skip,
            limit=asked.size + 1,  # one row more shows whether there is a next page
            fields=asked.fields,
            without=[name for name in self._collection.hidden if name not in sorted_by],
            hint=hint,
        )

    async def _count(self, matching: Filter, hint: str | None) -> int:
        """Return the number of matching records; identical concurrent counts share one that began after all of them."""
        name = self._collection.name
        key = (name, hint, encode({"filter": matching}))
        return await self._context.counts.run(key, lambda: self._driver.count(name, matching, hint=hint))
