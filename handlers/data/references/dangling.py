"""Cleans up references to records that were deleted permanently.

Only declared references are found: `ref` of a field, of the items of an array, or of a field of these items, and
`biz_type` with `resource_id`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from typing import Any

from config.database import Document
from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.data.references.links import Link
from handlers.schema.errors import ApiError

_BATCH = 5000


async def remove_dangling(
    database: Database, biz_types: Mapping[str, Collection], emptied: Iterable[str]
) -> Mapping[str, int]:
    """Remove every reference to missing records of the `emptied` collections; return how many records were deleted.

    The numbers are by collection.

    A record about a missing one (`biz_type` and `resource_id`) is deleted permanently, and so is a record with such a
    reference that must not be null. In a list of objects, such as lines, the objects that refer to missing records are
    removed. Any other reference is cleared. References to the records deleted in this way are removed as well.
    No state is kept, so the call can be repeated after a failure at any point.
    """
    removed: Counter[str] = Counter()
    waiting = deque(emptied)
    visited = set(waiting)
    while waiting:
        lost = _Lost(database, database.collections[waiting.popleft()], biz_types)
        for collection in list(database.collections.values()):
            count = await lost.remove_references(collection)
            if count or (lost.may_remove(collection) and collection.name not in visited):
                removed[collection.name] += count
                visited.add(collection.name)
                waiting.append(collection.name)
    return +removed


class _Lost:
    """One collection that lost records, and the references to it."""

    def __init__(self, database: Database, target: Collection, biz_types: Mapping[str, Collection]) -> None:
        self._database = database
        self._target = target
        self._types = [biz_type for biz_type, collection in biz_types.items() if collection.name == target.name]

    def may_remove(self, collection: Collection) -> bool:
        """Return whether records of `collection` may be deleted with those that they refer to."""
        return self._is_about(collection) or any(_needs(collection, name) for name in self._references(collection))

    async def remove_references(self, collection: Collection) -> int:
        """Remove the references of `collection` to missing records; return how many of its records were deleted."""
        removed = await self._remove_about(collection) if self._is_about(collection) else 0
        for name in self._references(collection):
            removed += await self._remove_field_references(collection, name)
        for link in collection.links:
            if link.in_lines and link.target in self._called:
                await self._remove_lines(collection, link)
        return removed

    @property
    def _called(self) -> tuple[str, str]:
        return self._target.name, self._target.alias

    def _references(self, collection: Collection) -> list[str]:
        return [name for name, target in collection.references.items() if target in self._called]

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

    async def _remove_field_references(self, collection: Collection, name: str) -> int:
        removed = 0
        async for rows in self._batches(collection, {name: {"$ne": None}}, name):
            held = {value for row in rows for value in _as_list(row[name])}
            gone = list(held - await self._existing(list(held)))
            if not gone:
                continue
            holders = {"_id": {"$in": [row["_id"] for row in rows]}, name: {"$in": gone}}
            if _needs(collection, name):
                removed += await self._database.remove(collection, holders)
            else:
                await self._clear(collection, name, holders, gone)
        return removed

    async def _remove_lines(self, collection: Collection, link: Link) -> None:
        """Remove the objects of a list that refer to missing records."""
        lines, name = link.path.split(".")
        async for rows in self._batches(collection, {link.path: {"$ne": None}}, link.path):
            held = link.ids(rows)
            gone = list(held - await self._existing(list(held)))
            if gone:
                holders = {"_id": {"$in": [row["_id"] for row in rows]}, link.path: {"$in": gone}}
                await self._change(collection, holders, {"$pull": {lines: {name: {"$in": gone}}}})

    async def _clear(self, collection: Collection, name: str, holders: Mapping[str, Any], gone: list[Any]) -> None:
        if collection.fields[name].kind == "array":
            await self._change(collection, holders, {"$pull": {name: {"$in": gone}}})
        else:
            await self._change(collection, holders, {"$set": {name: None}})

    async def _change(self, collection: Collection, holders: Mapping[str, Any], change: Mapping[str, Any]) -> None:
        version = {} if collection.plain else {"$inc": {"version": 1}}
        await self._database.driver.update_many(collection.name, holders, {**change, **version})
        self._database.tell(collection.name, None)

    def _ids(self, values: Iterable[str]) -> list[Any]:
        ids = []
        for value in values:
            with suppress(ApiError):  # an invalid id refers to nothing
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
    """Return whether a record cannot exist without the record that this field refers to."""
    field = collection.fields[name]
    return field.kind != "array" and (field.required or not field.nullable)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
