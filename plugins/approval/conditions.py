"""Conditions on the fields of a record, and the check of JSON values that are stored unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from plugins.api import invalid

_LARGEST = 2**63


def matches(conditions: Iterable[Mapping[str, Any]] | None, record: Mapping[str, Any]) -> bool:
    """Return whether every condition holds for the record."""
    return all(holds(one["op"], value_at(record, one["field"]), one.get("value")) for one in conditions or ())


def value_at(record: Any, path: str) -> Any:
    """Return the value at a path of names: a fact under the whole path, or what is within the record."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    for name in path.split("."):
        record = record.get(name) if isinstance(record, Mapping) else None
    return record


def holds(op: str, value: Any, wanted: Any) -> bool:
    """Return whether one condition holds for a value."""
    if op == "exists":
        return (value is not None) == (wanted is not False)
    if op in ("in", "not_in"):
        return any(_equal(value, one) for one in _many(wanted)) == (op == "in")
    if op == "contains":
        return any(_equal(one, wanted) for one in value) if isinstance(value, list) else str(wanted) in str(value or "")
    if op in ("eq", "ne"):
        return _equal(value, wanted) == (op == "eq")
    return value is not None and wanted is not None and _ORDER[op](*_comparable(value, wanted))


_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": lambda one, other: bool(one > other),
    "gte": lambda one, other: bool(one >= other),
    "lt": lambda one, other: bool(one < other),
    "lte": lambda one, other: bool(one <= other),
}


def _many(wanted: Any) -> list[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def _equal(one: Any, other: Any) -> bool:
    if one is None or other is None or isinstance(one, bool) or isinstance(other, bool):
        return one is other
    first, second = _comparable(one, other)
    return bool(first == second)


def _comparable(one: Any, other: Any) -> tuple[Any, Any]:
    """Return both as exact numbers if both look like numbers, amounts of money included; otherwise both as text."""
    try:
        first, second = Decimal(str(one)), Decimal(str(other))
    except InvalidOperation:
        return str(one), str(other)
    return (first, second) if first.is_finite() and second.is_finite() else (str(one), str(other))


def check_storable(field: str, value: Any) -> None:
    """Raise 40001 for `field` if the database cannot store the JSON `value` unchanged."""
    if isinstance(value, Mapping):
        for name, child in value.items():
            if not name or name.startswith("$") or "." in name or "\0" in name:
                raise invalid(field, "pattern")
            check_storable(field, child)
    elif isinstance(value, list):
        for child in value:
            check_storable(field, child)
    elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        raise invalid(field, "maximum")
