"""The items of one dictionary, addressed by their value. Each change raises the dictionary's version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plugins.api import CONFLICT, DUPLICATE, NOT_FOUND, ApiError, Page, Request, invalid
from plugins.system.dictionaries import edited_item, in_order, new_item, shown_item
from plugins.system.messages import ITEM_DECLARED
from plugins.system.pages import page_of
from plugins.system.records import DICTIONARIES, MAX_ITEMS

Record = dict[str, Any]


async def list_items(req: Request) -> Page:
    """A page of the items, in order."""
    record = await req.store(DICTIONARIES).get(req.path["id"])
    return page_of([_entry(req, record, item["value"]) for item in in_order(record)], req.query)


async def read(req: Request) -> Record:
    """One item."""
    return _entry(req, await req.store(DICTIONARIES).get(req.path["id"]), req.path["value"])


async def create(req: Request) -> Record:
    """A further item; it comes last where no `sort` is given. 40900 for a value that is there."""

    def add(items: list[Record]) -> list[Record]:
        if any(item["value"] == req.body["value"] for item in items):
            raise ApiError(DUPLICATE, data={"field": "value"})
        if len(items) >= MAX_ITEMS:
            raise invalid("items", "maxItems")
        last = max((int(item["sort"]) for item in items), default=-1)
        return [*items, new_item(req, req.body, last + 1)]

    return _entry(req, await _change(req, add), req.body["value"])


async def update(req: Request) -> Record:
    """Change an item; what an administrator changed of a declared one is kept at the next start."""
    values = dict(req.body)
    version = values.pop("version")

    def change(items: list[Record]) -> list[Record]:
        old = _found(items, req.path["value"])
        return [edited_item(req, old, values) if item is old else item for item in items]

    return _entry(req, await _change(req, change, version), req.path["value"])


async def delete(req: Request) -> None:
    """Remove an item of an administrator's own; what a plugin declares can be disabled."""

    def drop(items: list[Record]) -> list[Record]:
        old = _found(items, req.path["value"])
        if old.get("declared"):
            raise ApiError(CONFLICT, ITEM_DECLARED)
        return [item for item in items if item is not old]

    await _change(req, drop)


async def _change(req: Request, change: Callable[[list[Record]], list[Record]], version: int | None = None) -> Record:
    store = req.store(DICTIONARIES)

    async def work() -> Record:
        before = await store.get(req.path["id"])
        return await store.update(before["id"], {"items": change(before["items"])}, version=version)

    return await req.transaction(work)


def _found(items: list[Record], value: str) -> Record:
    item = next((item for item in items if item["value"] == value), None)
    if item is None:
        raise ApiError(NOT_FOUND)
    return item


def _entry(req: Request, record: Record, value: str) -> Record:
    return {**shown_item(req, _found(record["items"], value)), "version": record["version"]}
