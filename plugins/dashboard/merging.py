"""From the parts that plugins return to the data of an answer: zeros, the parts added up over them, series filled.

All of it follows from the declared shape. An array whose items begin with `date` or `month` is a series: it has every
day or month of the period, in order. Other arrays are the rows of the parts one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from plugins.api import Field, Period, exact, rounded, store_money, store_quantity

Part = Mapping[str, Any]
_AMOUNTS = ("money", "quantity")


def merged(shape: Field, parts: Sequence[Part], period: Period) -> dict[str, Any]:
    """The data of `shape`: zero where no part says anything."""
    return {name: _value(field, [part.get(name) for part in parts], period) for name, field in _fields(shape).items()}


def _value(field: Field, given: Sequence[Any], period: Period) -> Any:
    values = [value for value in given if value is not None]
    if field.kind == "object":
        return merged(field, values, period)
    if field.kind == "array" and field.items is not None:
        return _rows(field.items, [row for rows in values for row in rows], period)
    if field.kind in _AMOUNTS:
        total = sum((exact(value) for value in values), Decimal(0))
        return store_money(rounded(total)) if field.kind == "money" else store_quantity(total)
    if field.kind == "integer" and not field.nullable:
        return sum(values)
    return values[-1] if values else None


def _rows(item: Field, rows: Sequence[Part], period: Period) -> list[dict[str, Any]]:
    key = next(iter(_fields(item)))
    if key not in ("date", "month"):
        return [merged(item, [row], period) for row in rows]
    by_key: dict[str, list[Part]] = {}
    for row in rows:
        by_key.setdefault(row[key], []).append(row)
    points = period.every_day(by_key) if key == "date" else period.every_month(by_key)
    return [{**merged(item, by_key.get(point, ()), period), key: point} for point in points]


def _fields(shape: Field) -> Mapping[str, Field]:
    return shape.fields or {}
