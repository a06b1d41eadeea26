"""The items of a dictionary, addressed by their value. Each change increases the version of the dictionary."""

from __future__ import annotations

from collections.abc import Callable

from plugins.api import (
    CONFLICT,
    NOT_FOUND,
    SIGNED_IN,
    ApiError,
    Message,
    Page,
    Record,
    Refusal,
    Request,
    Route,
    conflicts,
    invalid,
    route,
)
from plugins.api.errors import DUPLICATE, STALE
from plugins.api.fields import NOTHING
from plugins.api.records import FINAL
from plugins.system.dictionaries import edit_item, localise_item, make_item, refuse_lost, sort_items
from plugins.system.messages import ITEM_DECLARED, ITEM_USED, NO_ITEM
from plugins.system.pages import PAGING, page_of
from plugins.system.records import DICTIONARIES, ITEM, ITEM_CREATE, ITEM_UPDATE, MAX_ITEMS, VERSION

_NO_ITEM = Refusal(NOT_FOUND, hint=NO_ITEM)


async def list_items(req: Request) -> Page:
    """Return a page of the items, in the order of display."""
    record = await req.store(DICTIONARIES).get(req.path["id"])
    return page_of([_make_entry(req, record, item["value"]) for item in sort_items(record)], req.query)


async def read(req: Request) -> Record:
    """Return one item."""
    return _make_entry(req, await req.store(DICTIONARIES).get(req.path["id"]), req.path["value"])


async def create(req: Request) -> Record:
    """Add an item, at the end unless `sort` is given. Raises 40900 if the value exists."""

    def add(items: list[Record]) -> list[Record]:
        if any(item["value"] == req.body["value"] for item in items):
            raise ApiError(DUPLICATE, data={"field": "value"})
        if len(items) >= MAX_ITEMS:
            raise invalid("items", "maxItems")
        last = max((int(item["sort"]) for item in items), default=-1)
        return [*items, make_item(req, req.body, last + 1)]

    return _make_entry(req, await _change(req, add), req.body["value"])


async def update(req: Request) -> Record:
    """Change an item. A restart keeps the changes of a declared item."""
    values = dict(req.body)
    version = values.pop("version")

    def change(items: list[Record]) -> list[Record]:
        old = _get_item(items, req.path["value"])
        return [edit_item(req, old, values) if item is old else item for item in items]

    return _make_entry(req, await _change(req, change, version), req.path["value"])


async def delete(req: Request) -> None:
    """Remove an item that no plugin declares; a declared one can only be disabled."""

    def drop(items: list[Record]) -> list[Record]:
        old = _get_item(items, req.path["value"])
        if old.get("declared"):
            raise ApiError(CONFLICT, ITEM_DECLARED)
        return [item for item in items if item is not old]

    await _change(req, drop, req.query.get("version"))


async def put_item(req: Request, type: str, value: str, label: Message, *, enabled: bool) -> None:
    """Add an item for a record of another plugin, or change it, within the caller's transaction; restarts keep it."""
    store = req.system_store(DICTIONARIES)
    record = await store.find_one({"type": type})
    if record is None:
        raise LookupError(f"no plugin declares the dictionary {type}")
    items = sort_items(record)
    before = next((item for item in items if item["value"] == value), None)
    if before is None and len(items) >= MAX_ITEMS:
        raise invalid("items", "maxItems")
    texts = {"label": label.zh, "label_en": label.en, "status": "enabled" if enabled else "disabled"}
    item = {"value": value, "color": None, "sort": len(items), **(before or {}), **texts}
    item["edited"] = sorted({*item.get("edited", ()), *texts})
    others = [one for one in items if one["value"] != value]
    await store.update(record["id"], {"items": [*others, item]})


async def _change(req: Request, change: Callable[[list[Record]], list[Record]], version: int | None = None) -> Record:
    store = req.store(DICTIONARIES)

    async def work() -> Record:
        before = await store.get(req.path["id"])
        items = change(before["items"])
        await refuse_lost(req, before["type"], before["items"], items)
        return await store.update(before["id"], {"items": items}, version=version)

    return await req.transaction(work)


def _get_item(items: list[Record], value: str) -> Record:
    item = next((item for item in items if item["value"] == value), None)
    if item is None:
        raise ApiError(NOT_FOUND)
    return item


def _make_entry(req: Request, record: Record, value: str) -> Record:
    return {**localise_item(req, _get_item(record["items"], value)), "version": record["version"]}


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/dictionaries/{id}/items",
        list_items,
        summary="List the items of a dictionary",
        access=SIGNED_IN,
        query=PAGING,
        returns=ITEM,
        paged=True,
        collection=DICTIONARIES.name,
    ),
    route(
        "GET /api/v1/system/dictionaries/{id}/items/{value}",
        read,
        summary="Read an item of a dictionary",
        access=SIGNED_IN,
        returns=ITEM,
        refusals=(_NO_ITEM,),
    ),
    route(
        "POST /api/v1/system/dictionaries/{id}/items",
        create,
        summary="Add an item to a dictionary",
        access="system:dictionary:update",
        body=ITEM_CREATE,
        returns=ITEM,
        collection=DICTIONARIES.name,
        errors=(DUPLICATE,),
    ),
    route(
        "PATCH /api/v1/system/dictionaries/{id}/items/{value}",
        update,
        summary="Change an item of a dictionary",
        access="system:dictionary:update",
        body=ITEM_UPDATE,
        returns=ITEM,
        errors=(STALE,),
        refusals=(_NO_ITEM,),
    ),
    route(
        "DELETE /api/v1/system/dictionaries/{id}/items/{value}",
        delete,
        summary="Remove an item from a dictionary",
        description=FINAL,
        access="system:dictionary:update",
        query={"version": VERSION.but(required=False, nullable=False)},
        returns=NOTHING,
        errors=(STALE,),
        refusals=(_NO_ITEM, *conflicts(ITEM_DECLARED, ITEM_USED)),
    ),
)
