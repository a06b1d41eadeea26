"""From the parts that plugins return to the data of an answer: zeros, the parts added up over them, series filled.

All of it follows from the declared shape. An array whose items begin with `date` or `month` is a series: it has every
day or month of the period, in order. Other arrays are the rows of the parts one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plugins.api import Field, Period, exact, rounded, store_money, store_quantity

Part = Mapping[str, Any]
Merge = Callable[[Sequence[Any], Period], Any]


def merging(shape: Field) -> Merge:
    """What makes one value of those that the parts give for a field of this shape: zero where no part says anything.

    Made once for each shape, as some answers have hundreds of rows.
    """
    if shape.kind == "object":
        return _objects({name: merging(field) for name, field in (shape.fields or {}).items()})
    if shape.kind == "array" and shape.items is not None:
        return _arrays(shape.items)
    if shape.kind == "money":
        return lambda given, _: store_money(rounded(sum(map(exact, given), exact(None))))
    if shape.kind == "quantity":
        return lambda given, _: store_quantity(sum(map(exact, given), exact(None)))
    if shape.kind in ("integer", "number"):
        return _nullable_sum if shape.nullable else lambda given, _: sum(given)
    return lambda given, _: given[-1] if given else None


def _nullable_sum(given: Sequence[float], period: Period) -> float | None:
    return sum(given) if given else None


def _objects(members: Mapping[str, Merge]) -> Merge:
    def merged(parts: Sequence[Part], period: Period) -> dict[str, Any]:
        return {
            name: merge([part[name] for part in parts if part.get(name) is not None], period)
            for name, merge in members.items()
        }

    return merged


def _arrays(item: Field) -> Merge:
    key, merge = next(iter(item.fields or {}), ""), merging(item)

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
