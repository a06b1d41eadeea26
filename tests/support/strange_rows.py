"""Rows whose sorted fields take many values: also what no request could store today, as records are older than a rule."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bson import Decimal128, ObjectId

from handlers.data.collection import Collection, named
from handlers.data.database import utc_now
from handlers.schema.conversion import decode
from handlers.schema.fields import Field
from tests.support.catalogue import CATALOGUE
from tests.support.sample_values import accepts, sample, scalar

ROWS = 18
MISSING = object()  # the field is not in the document: the record is older than the field
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
POOLS: Mapping[str, list[Any]] = {
    "text": ["", "a", "a", "B", "é", "晨光", "\U0001f600", "a\nb"],
    "integer": [-(2**53), -1, 0, 0, 7, 2**53],
    "number": [-1e300, -0.5, 0.0, 0.1, 0.1, 1e300],
    "boolean": [False, True],
    "money": [
        Decimal128(text) for text in ("-999999999999999.99", "-0.01", "0.00", "0.00", "9.90", "999999999999999.99")
    ],
    "quantity": [Decimal128(text) for text in ("-12.5", "-0.0001", "0", "3", "3", "99999999999.9999")],
    "timestamp": [datetime(1, 1, 1, tzinfo=UTC), NOON, NOON, datetime(9999, 12, 31, 23, 59, 59, 999000, UTC)],
    "day": ["0001-01-01", "1969-12-31", "2026-11-20", "2026-11-20", "9999-12-31"],
    "object_id": [ObjectId("0" * 24), ObjectId("a" * 24), ObjectId("a" * 24)],
}
# MongoDB deletes what has expired whenever it likes, also in the middle of a walk
TIMES_TO_COME = [datetime(9000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC), POOLS["timestamp"][-1]]


async def no_reference(collection: str) -> Any:
    return 1 if named(CATALOGUE.collections.values())[collection].ids == "integer" else "65f0c0ffee65f0c0ffee65f0"


async def rows_of(collection: Collection, *, anything: bool) -> list[dict[str, Any]]:
    """Rows whose sorted fields take many values, some of them the same; `anything`: null, absent, and against every rule."""
    base = {name: decode(child, await sample(child, no_reference)) for name, child in collection.fields.items()}
    audit = {"deleted": False, "version": 1, "creator_id": 1, "creator_department_id": None, "updater_id": 1}
    rows = []
    for number in range(ROWS):
        row = {**base, **({} if collection.plain else {**audit, "created_at": utc_now(), "updated_at": utc_now()})}
        row["_id"] = {"integer": 10**9 + number, "object_id": ObjectId(), "text": f"cursor-{number:04}"}[collection.ids]
        for place, (name, field) in enumerate(collection.sortable.items()):
            if name != "id" and (anything or name not in unique_fields(collection)):
                # the service itself stamps every record with its times
                stamped = name in ("created_at", "updated_at")
                row[name] = _value(field, (number * (place + 1) + place) // 2, anything=anything and not stamped)
        rows.append({name: value for name, value in row.items() if value is not MISSING})
    return rows


def _value(field: Field, number: int, *, anything: bool) -> Any:
    choices: list[Any] = field.rules["enum"] if "enum" in field.rules else POOLS[field.kind]
    if not anything and field.kind in ("text", "integer", "number"):
        choices = [one for one in choices if accepts(field, one)] or [scalar(field)]
    if not anything and field.kind == "timestamp":
        choices = TIMES_TO_COME
    empty = [None, MISSING] if anything else [None] if field.nullable else []
    values = [*empty, *choices]
    return values[number % len(values)]


def unique_fields(collection: Collection) -> set[str]:
    """The fields of unique indexes."""
    return {name.removeprefix("-") for index in collection.indexes if index.unique for name in index.keys}
