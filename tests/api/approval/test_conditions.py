"""Conditions on the fields of a record: exact for numbers and money, and false for missing fields."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from bson import Decimal128

from plugins.api.errors import ValidationFailed
from plugins.approval.conditions import check_storable, matches

RECORD = {
    "amount": Decimal128(Decimal("1000.10")),
    "days": 3,
    "level": "A",
    "tags": ["new", "big"],
    "urgent": True,
    "customer": {"city": "上海"},
    "day": "2026-11-20",
    "nothing": None,
}


@pytest.mark.parametrize(
    ("field", "op", "value"),
    [
        ("amount", "eq", "1000.1"),
        ("amount", "gte", 1000),
        ("amount", "lt", "1000.11"),
        ("days", "gt", "2.5"),
        ("days", "in", [1, 3]),
        ("level", "not_in", ["B", "C"]),
        ("level", "ne", "B"),
        ("tags", "contains", "big"),
        ("customer.city", "eq", "上海"),
        ("customer.city", "contains", "海"),
        ("day", "lte", "2026-11-20"),
        ("urgent", "eq", True),
        ("urgent", "ne", 1),
        ("level", "exists", True),
        ("nothing", "exists", False),
        ("customer.street", "exists", False),
        ("nothing", "eq", None),
        ("days", "in", 3),
    ],
)
def test_a_condition_holds(field: str, op: str, value: Any) -> None:
    assert matches([{"field": field, "op": op, "value": value}], RECORD)


@pytest.mark.parametrize(
    ("field", "op", "value"),
    [
        ("amount", "gt", "1000.10"),
        ("nothing", "lt", 5),
        ("missing", "gte", 0),
        ("level.x", "eq", "A"),
        ("tags", "contains", "old"),
        ("urgent", "eq", "true"),
        ("level", "in", []),
        ("days", "eq", "three"),
        ("level", "gt", None),
        ("level", "exists", False),
    ],
)
def test_a_condition_does_not_hold(field: str, op: str, value: Any) -> None:
    assert not matches([{"field": field, "op": op, "value": value}], RECORD)


def test_all_conditions_must_hold() -> None:
    holds, fails = ({"field": "level", "op": "eq", "value": value} for value in ("A", "B"))
    assert matches([], RECORD)
    assert not matches([holds, fails], RECORD)


@pytest.mark.parametrize("value", [{"$set": 1}, {"a.b": 1}, {"": 1}, {"a\0": 1}, {"a": [{"$b": 1}]}, {"a": 2**63}])
def test_values_that_the_database_cannot_store_are_refused(value: Any) -> None:
    with pytest.raises(ValidationFailed):
        check_storable("record", value)
