"""References to records that are gone for good, and what becomes of those who hold them.

Only what is declared is known: `ref` of a field, or of the items of an array, and `biz_type` with `resource_id`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from typing import Any

from config.database import Document
from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.schema.errors import ApiError

_BATCH = 5000


async def remove_dangling(
    database: Database, biz_types: Mapping[str, Collection], emptied: Iterable[str]
) -> Mapping[str, int]:
    """Leave no reference to what the `emptied` collections have lost; answers how many records went, by collection.

    A record about a lost one (`biz_type` and `resource_id`) is removed for good, and so is one whose reference may not
    be null. Any other reference is cleared. What refers to a record removed here follows. It may be repeated after a
    failure at any point: it looks for what is missing, and remembers nothing.
    """
    removed: Counter[str] = Counter()
    waiting = deque(emptied)
    visited = set(waiting)
    while waiting:
        lost = _Lost(database, database.collections[waiting.popleft()], biz_types)
        for collection in list(database.collections.values()):
            count = await lost.sever(collection)
            if count or (lost.may_remove(collection) and collection.name not in visited):
                removed[collection.name] += count
                visited.add(collection.name)
                waiting.append(collection.name)
    return +removed


class _Lost:
    """One collection that lost records, and those who refer to it."""

    def __init__(self, database: Database, target: Collection, biz_types: Mapping[str, Collection]) -> None:
        self._database = database
        self._target = target
        self._types = [biz_type for biz_type, collection in biz_types.items() if collection.name == target.name]

    def may_remove(self, collection: Collection) -> bool:
        """Whether records of `collection` go with those that they refer to."""
        return self._is_about(collection) or any(_needs(collection, name) for name in self._references(collection))

    async def sever(self, collection: Collection) -> int:
        """Clear the references of `collection` to what is gone; answers how many of its records were removed."""
        removed = await self._remove_about(collection) if self._is_about(collection) else 0
        for name in self._references(collection):
            removed += await self._sever_field(collection, name)
        return removed

    def _references(self, collection: Collection) -> list[str]:
        return [name for name, target in collection.references.items() if target == self._target.name]

    def _is_about(self, collection: Collection) -> bool:
        return bool(self._types) and {"biz_type", "resource_id"} <= collection.fields.keys()

    async def _remove_about(self, collection: Collection) -> int:
        removed = 0
        about = {"biz_type": {"$in": self._types}, "resource_id": {"$ne": None}}
        async for rows in self._batches(collection, about, "resource_id"):
            there = {str(id) for id in await self._existing(self._ids(row["resource_id"] for row in rows))}
            gone = [row["_id"] for row in rows if row["resource_id"] not in there]
            removed += await self._database.remove(collection, {"_id": {"$in": gone}}) if gone else 0
        return removed

    async def _sever_field(self, collection: Collection, name: str) -> int:
        removed = 0
        async for rows in self._batches(collection, {name: {"$ne": None}}, name):
            held = {value for row in rows for value in _listed(row[name])}
            gone = list(held - await self._existing(list(held)))
            if not gone:
                continue
            holders = {"_id": {"$in": [row["_id"] for row in rows]}, name: {"$in": gone}}
            if _needs(collection, name):
                removed += await self._database.remove(collection, holders)
            else:
                await self._clear(collection, name, holders, gone)
        return removed

    async def _clear(self, collection: Collection, name: str, holders: Mapping[str, Any], gone: list[Any]) -> None:
        if collection.fields[name].kind == "array":
            change: dict[str, Any] = {"$pull": {name: {"$in": gone}}}
        else:
            change = {"$set": {name: None}}
        version = {} if collection.plain else {"$inc": {"version": 1}}
        await self._database.driver.update_many(collection.name, holders, {**change, **version})
        self._database.tell(collection.name, None)

    def _ids(self, values: Iterable[str]) -> list[Any]:
        ids = []
        for value in values:
            with suppress(ApiError):  # what cannot be an id is the id of nothing
                ids.append(self._target.parse_id(value))
        return ids

    async def _existing(self, ids: list[Any]) -> set[Any]:
        rows = await self._database.driver.find(self._target.name, {"_id": {"$in": ids}}, fields=["_id"])
        return {row["_id"] for row in rows}

    async def _batches(
        self, collection: Collection, filter: Mapping[str, Any], name: str
    ) -> AsyncIterator[list[Document]]:
        find = self._database.driver.find
        beyond: dict[str, Any] = {}
        while rows := await find(
            collection.name, {**filter, **beyond}, sort=[("_id", 1)], limit=_BATCH, fields=["_id", name]
        ):
            yield rows
            beyond = {"_id": {"$gt": rows[-1]["_id"]}}


def _needs(collection: Collection, name: str) -> bool:
    """Whether a record is nothing without what this field refers to."""
    field = collection.fields[name]
    return field.kind != "array" and (field.required or not field.nullable)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
