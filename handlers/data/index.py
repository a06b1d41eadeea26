"""Indexes as collections declare them, and as they are created."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bson import ObjectId

from config.database import Filter, IndexSpec

LIVE: Mapping[str, Any] = {"deleted": False}
DELETED: Mapping[str, Any] = {"deleted": True}


@dataclass(frozen=True)
class Index:
    """An index: field names in order, with the prefix `-` for descending and `2dsphere:` for a position.

    A unique index covers only records that are not deleted, so a key is free again after a soft delete. `where` is a
    further condition on the covered records: equalities, comparisons, or `{"$type": "string"}` (or `"number"`, or
    `"objectId"`) for those that have the field. `expire_seconds` deletes records that long after the time in the field.
    """

    keys: tuple[str, ...]
    unique: bool = False
    expire_seconds: int | None = None
    where: Mapping[str, Any] | None = None

    def __init__(
        self,
        *keys: str,
        unique: bool = False,
        expire_seconds: int | None = None,
        where: Filter | None = None,
    ) -> None:
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "unique", unique)
        object.__setattr__(self, "expire_seconds", expire_seconds)
        object.__setattr__(self, "where", where)


def spec_of(index: Index, plain: bool) -> IndexSpec:
    """Return the index as it is created; with soft delete, an index that is not unique begins with `deleted`."""
    keys: list[tuple[str, int | str]] = [_key(name) for name in index.keys]
    suffix = "_unique" if index.unique else ""
    suffix += f"_expire_{index.expire_seconds}" if index.expire_seconds is not None else ""
    where = _comparable(index.where) if index.where is not None else None
    # so that indexes with different conditions have different names
    suffix += f"_where_{zlib.crc32(repr(where).encode()):08x}" if where is not None else ""
    name = "_".join(f"{key}_{direction}" for key, direction in keys) + suffix
    if plain or index.expire_seconds is not None:
        return IndexSpec(name, tuple(keys), index.unique, where, index.expire_seconds)
    if index.unique:
        return IndexSpec(name, tuple(keys), True, {**LIVE, **(where or {})})
    if not any(key == "_id" for key, _ in keys) and all(direction in (1, -1) for _, direction in keys):
        keys.append(("_id", int(keys[-1][1])))
    return IndexSpec(name, (("deleted", 1), *keys), False, where)


def leads_with(spec: IndexSpec, name: str) -> bool:
    """Return whether an index of all live records, or of all that have a value in this field, begins with the field."""
    first = next((key for key, _ in spec.keys if key != "deleted"), None)
    covered = set(spec.partial or ()) - {"deleted", name}
    return first == name and not covered


def index_on(specs: Iterable[IndexSpec], name: str) -> str | None:
    """Return the name of the first index that `leads_with` the field; None if there is none."""
    return next((spec.name for spec in specs if leads_with(spec, name)), None)


def _key(name: str) -> tuple[str, int | str]:
    if name.startswith("2dsphere:"):
        return name.removeprefix("2dsphere:"), "2dsphere"
    plain = name.removeprefix("-")
    return "_id" if plain == "id" else plain, -1 if name.startswith("-") else 1


def _comparable(where: Mapping[str, Any]) -> dict[str, Any]:
    """Return the condition of an index with comparisons instead of `$type`.

    MongoDB uses a partial index for a query by value only if the query implies the condition of the index. It never
    infers a `$type` condition, and reads the whole collection instead.
    """
    return {name: _OF_TYPE[wanted["$type"]] if _by_type(wanted) else wanted for name, wanted in where.items()}


def _by_type(wanted: Any) -> bool:
    return isinstance(wanted, Mapping) and set(wanted) == {"$type"}


_OF_TYPE: Mapping[str, Mapping[str, Any]] = {
    "string": {"$gte": ""},
    "number": {"$gte": float("-inf")},
    "objectId": {"$gte": ObjectId("0" * 24)},
}
