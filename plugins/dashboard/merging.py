"""Merges the parts that plugins return into the data of a response.

The declared shape decides how. Numbers are added up, and are zero if no part has them; a number whose minimum is zero
never falls below it. An array whose items begin with `date` or `month` is a series: it gets a row for every day or
month of the period, in order. Other arrays are concatenated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plugins.api import Field, exact, store_money
from plugins.api.reports import Period
from plugins.api.values import rounded, store_quantity

Part = Mapping[str, Any]
Merge = Callable[[Sequence[Any], Period], Any]


def make_merge(shape: Field) -> Merge:
    """Return the function that merges the values of the parts for a field of this shape; numbers without a part are 0.

    The function is built once for each shape and not for each row, as some responses have hundreds of rows.
    """
    if shape.kind == "object":
        return _make_object_merge({name: make_merge(field) for name, field in (shape.fields or {}).items()})
    if shape.kind == "array" and shape.items is not None:
        return _make_array_merge(shape.items)
    if shape.kind == "money":
        return lambda given, _: store_money(rounded(sum(map(exact, given), exact(None))))
    if shape.kind == "quantity":
        return lambda given, _: store_quantity(sum(map(exact, given), exact(None)))
    if shape.kind in ("integer", "number"):
        if shape.rules.get("minimum") == 0:  # a count, which reversals may bring below zero
            return lambda given, _: max(sum(given), 0)
        return _sum_or_null if shape.nullable else lambda given, _: sum(given)
    return lambda given, _: given[-1] if given else None


def _sum_or_null(given: Sequence[float], period: Period) -> float | None:
    return sum(given) if given else None


def _make_object_merge(members: Mapping[str, Merge]) -> Merge:
    def merge_parts(parts: Sequence[Part], period: Period) -> dict[str, Any]:
        return {
            name: merge([part[name] for part in parts if part.get(name) is not None], period)
            for name, merge in members.items()
        }

    return merge_parts


def _make_array_merge(item: Field) -> Merge:
    key, merge = next(iter(item.fields or {}), ""), make_merge(item)

    def rows_of(given: Sequence[Sequence[Part]], period: Period) -> list[Any]:
        return [merge((row,), period) for rows in given for row in rows]

    def series_of(given: Sequence[Sequence[Part]], period: Period) -> list[Any]:
        by_key: dict[str, list[Part]] = {}
        for rows in given:
            for row in rows:
                by_key.setdefault(row[key], []).append(row)
        points = period.every_day(by_key) if key == "date" else period.every_month(by_key)
        return [{**merge(by_key.get(point, ()), period), key: point} for point in points]

    return series_of if key in ("date", "month") else rows_of
