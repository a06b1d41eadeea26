"""Figures of dashboards as sums over records. Both a figure and the records behind it come from one declaration.

A cell is one figure in a response: `profit`, or `items.2026-11.profit` in the row of the array `items` with the key
`2026-11`.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from bson.errors import InvalidId

from config.database import Filter
from handlers.data.collection import Collection
from handlers.data.lists.series import by_day, by_month
from handlers.data.store import Store
from handlers.reports.periods import Period, Unit, end_of_month, period_of
from handlers.request import Request
from handlers.schema.conversion import decode
from handlers.schema.errors import invalid
from handlers.schema.money import exact
from handlers.schema.values import Operators, Query, ReadOnlyRecord, Record

Stage = dict[str, Any]
_MOST = 2**63 - 1  # the largest integer that MongoDB stores


def _all(period: Period) -> Filter:
    return {}


class Key(Protocol):
    """The key that distinguishes the rows of an array."""

    @property
    def name(self) -> str:
        """The field of a row that has the key."""

    def filter(self, period: Period) -> Filter:
        """Return the filter for the records of all rows."""

    def filter_of(self, collection: Collection, key: str, period: Period) -> Filter:
        """Return the filter for the records of the row with this key. Raises ValueError if no row can have it."""

    async def sums(self, store: Store, period: Period, where: Filter, sums: Operators) -> Mapping[object, Record]:
        """Return the results of `sums`, accumulators of `$group`, over the matching records, by key."""


@dataclass(frozen=True)
class ByTime:
    """A row for each business day (`date`) or month (`month`) of a field: a day, or with `moment` a timestamp."""

    field: str
    name: Unit
    moment: bool = False

    def filter(self, period: Period) -> Filter:
        """Return the filter for the period."""
        return period.moments(self.field) if self.moment else period.days(self.field)

    def filter_of(self, collection: Collection, key: str, period: Period) -> Filter:
        """Return the filter for the days of the period that belong to the row."""
        first = date.fromisoformat(key if self.name == "date" else f"{key}-01")
        return self.filter(period.within(first, first if self.name == "date" else end_of_month(first)))

    async def sums(self, store: Store, period: Period, where: Filter, sums: Operators) -> Mapping[object, Record]:
        """Return the results of `sums`, accumulators of `$group`, by day or month."""
        if self.moment:
            moments = by_day if self.name == "date" else by_month
            return dict((await moments(store, self.field, period, sums, where)).items())
        key = f"${self.field}" if self.name == "date" else {"$substrBytes": [f"${self.field}", 0, 7]}
        return await _grouped(store, {**self.filter(period), **where}, key, sums)


@dataclass(frozen=True)
class ByValue:
    """A row for each value of a field. The key of the records without a value is empty."""

    field: str
    name: str

    def filter(self, period: Period) -> Filter:
        """Return an empty filter: every record is in a row."""
        return {}

    def filter_of(self, collection: Collection, key: str, period: Period) -> Filter:
        """Return the filter for the value whose JSON form is `key`."""
        if not key:
            return {self.field: {"$in": [None, ""]}}
        try:
            value = decode(collection.all_fields[self.field], key)
        except InvalidId as error:
            raise ValueError(key) from error
        if isinstance(value, int) and (str(value) != key or abs(value) > _MOST):
            raise ValueError(key)
        return {self.field: value}

    async def sums(self, store: Store, period: Period, where: Filter, sums: Operators) -> Mapping[object, Record]:
        """Return the results of `sums`, accumulators of `$group`, by value; None for empty and missing values."""
        found = await _grouped(store, where, {"$ifNull": [f"${self.field}", ""]}, sums)
        return {None if key == "" else key: row for key, row in found.items()}


async def _grouped(store: Store, where: Filter, key: object, sums: Operators) -> Mapping[object, Record]:
    rows = await store.aggregate([{"$match": where}, {"$group": {"_id": key, **sums}}])
    return {row.pop("_id"): row for row in rows}


@dataclass(frozen=True)
class Figures:
    """Figures that are sums over the records of a collection, within the caller's data scope.

    `sums` maps each figure to what a record adds to it: a MongoDB expression such as `"$amount"`, or 1. `where` returns
    a further filter of the records for a period. `by` is the key of the rows with these figures, in the array `array`
    of the response; without `by` the figures are in the response itself, with `totals` they are in both.
    `when` has the query parameters that a request must have for these figures to apply. `visible` returns, for the key
    of a row, the filter for what the caller counts, if that is not what they can see today.
    """

    collection: Collection
    sums: Mapping[str, object]
    where: Callable[[Period], Filter] = _all
    by: Key | None = None
    array: str = "items"
    totals: bool = False
    when: Mapping[str, str] = field(default_factory=dict)
    visible: Callable[[Request, str], Filter] | None = None

    @property
    def accumulators(self) -> Operators:
        """The sums as accumulators of `$group`."""
        return {name: {"$sum": expression} for name, expression in self.sums.items()}

    def filter(self, period: Period) -> Filter:
        """Return the filter for all records that count."""
        return {**(self.by.filter(period) if self.by is not None else {}), **self.where(period)}

    def stages(self, period: Period, key: object) -> list[Stage]:
        """Return the aggregation stages that add up the records that count, grouped by the expression `key`."""
        matching = self.filter(period)
        group = {"$group": {"_id": key, **self.accumulators}}
        return [{"$match": matching}, group] if matching else [group]

    def filter_visible(self, req: Request, cell: str) -> tuple[Store, Filter]:
        """Return the store with the records that the caller counts in a cell, and a filter that it needs besides."""
        if self.visible is None:
            return req.store(self.collection), {}
        return req.system_store(self.collection), self.visible(req, split_cell(cell)[1])

    def measure(self, cell: str, query: Query) -> object | None:
        """Return the expression for what a record adds to `cell`; None if these figures lack it for this query."""
        array, _, name = split_cell(cell)
        here = array == self.array if self.by is not None and array else not array and (self.by is None or self.totals)
        applies = all(query.get(parameter) == value for parameter, value in self.when.items())
        return self.sums.get(name) if here and applies else None

    def filter_of(self, cell: str, period: Period) -> Filter:
        """Return the filter for the records in a cell. Raises 40001 for a key that no row can have."""
        array, key, _ = split_cell(cell)
        if self.by is None or not array:
            return self.filter(period)
        try:
            return {"$and": [self.where(period), self.by.filter_of(self.collection, key, period)]}
        except (ValueError, OverflowError) as error:
            raise invalid("cell", "cell") from error


def split_cell(cell: str) -> tuple[str, str, str]:
    """Return the array, key and figure of a cell. The first two are empty for a figure of the response itself."""
    array, dot, rest = cell.partition(".")
    key, _, name = rest.rpartition(".")
    return (array, key, name) if dot else ("", "", cell)


async def add_up(req: Request, figures: Sequence[Figures]) -> ReadOnlyRecord:
    """Return the figures as a part of a dashboard: the rows of series, in any order, and totals."""
    period = period_of(req)
    parts = await asyncio.gather(*(_part(req, one, period) for one in figures))
    made: dict[str, Any] = defaultdict(list)
    for part in parts:
        for name, value in part.items():
            made[name] = made[name] + value if name in made else value
    return dict(made)


async def _part(req: Request, figures: Figures, period: Period) -> Record:
    store, by = req.store(figures.collection), figures.by
    # equal expressions are computed once
    of = {name: next(one for one, other in figures.sums.items() if other == sum) for name, sum in figures.sums.items()}
    sums = {name: figures.accumulators[name] for name in of.values()}
    if by is None:
        return await _totals(store, figures, period)
    found = await by.sums(store, period, figures.where(period), sums)
    rows = [{by.name: key, **{name: row[one] for name, one in of.items()}} for key, row in found.items()]
    totals = {name: sum(_number(row[name]) for row in rows) for name in figures.sums} if figures.totals else {}
    return {figures.array: rows, **totals}


def _number(sum: Any) -> Any:
    return sum if isinstance(sum, int) else exact(sum)


async def _totals(store: Store, figures: Figures, period: Period) -> Record:
    matching = figures.filter(period)
    if all(expression == 1 for expression in figures.sums.values()):
        return dict.fromkeys(figures.sums, await store.count(matching))
    rows = await store.aggregate(figures.stages(period, None), collection_scan=not matching)
    return {name: _number(rows[0][name]) for name in figures.sums} if rows else {}
