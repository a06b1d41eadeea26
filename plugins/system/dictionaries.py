"""Dictionaries: the enumerations that clients show. Plugins declare some, administrators edit those and add others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import CONFLICT, ApiError, FieldError, Page, Request, ValidationFailed
from plugins.system import labels
from plugins.system.messages import DICTIONARY_DECLARED, ITEM_DECLARED
from plugins.system.records import DICTIONARIES

Record = dict[str, Any]
TEXTS = ("name", "name_en")


async def list_dictionaries(req: Request) -> Page:
    """A page of dictionaries; those that `types` names come all at once."""
    query = dict(req.query)
    types = list(dict.fromkeys(query.pop("types", ())))
    query["page_size"] = max(query["page_size"], len(types))
    page = await req.store(DICTIONARIES).page(query, {"type": {"$in": types}} if types else None)
    page.items[:] = [shown(req, record) for record in page.items]
    return page


async def read(req: Request) -> Record:
    """One dictionary."""
    return shown(req, await req.store(DICTIONARIES).get(req.path["id"]))


async def create(req: Request) -> Record:
    """A dictionary of an administrator's own."""
    values = labels.written(req.body, "name", req.language, new=True)
    items = with_items(req, [], values.get("items", []))
    edited = [name for name in TEXTS if name in values]
    return shown(req, await req.store(DICTIONARIES).create({**values, "items": items, "edited": edited}))


async def update(req: Request) -> Record:
    """Change a dictionary; `items` replaces them all, but what a plugin declares stays."""
    values = labels.written(req.body, "name", req.language, new=False)
    version = values.pop("version")
    store = req.store(DICTIONARIES)

    async def work() -> Record:
        before = await store.get(req.path["id"])
        changes = dict(values)
        if before.get("declared") and values.get("type", before["type"]) != before["type"]:
            raise ApiError(CONFLICT, DICTIONARY_DECLARED)
        if "items" in values:
            changes["items"] = with_items(req, before["items"], values["items"])
        changes["edited"] = sorted({*before.get("edited", ()), *(set(TEXTS) & set(values))})
        return await store.update(before["id"], changes, version=version)

    return shown(req, await req.transaction(work))


async def delete(req: Request) -> None:
    """Delete a dictionary of an administrator's own, or one that no plugin declares any more."""
    await req.store(DICTIONARIES).delete(req.path["id"], where={"declared": {"$ne": True}}, reason=DICTIONARY_DECLARED)


def shown(req: Request, record: Record) -> Record:
    """The record in the caller's language, its items in order."""
    items = [shown_item(req, item) for item in in_order(record)]
    return {**record, "name": labels.read(record, "name", req.language), "items": items}


def shown_item(req: Request, item: Mapping[str, Any]) -> Record:
    """The item in the caller's language."""
    return {**item, "label": labels.read(item, "label", req.language)}


def in_order(record: Record) -> list[Record]:
    """The items of a dictionary as they are shown one after the other."""
    return sorted(record["items"], key=lambda item: int(item["sort"]))


def with_items(req: Request, before: list[Record], given: list[Record]) -> list[Record]:
    """The stored items when `given` replaces those of `before`."""
    values = [item["value"] for item in given]
    faults = [FieldError(f"items[{i}].value", "duplicate") for i, value in enumerate(values) if value in values[:i]]
    if faults:
        raise ValidationFailed(faults)
    present = {item["value"]: item for item in before}
    if any(item.get("declared") and value not in values for value, item in present.items()):
        raise ApiError(CONFLICT, ITEM_DECLARED)
    return [
        edited_item(req, present[item["value"]], item) if item["value"] in present else new_item(req, item, place)
        for place, item in enumerate(given)
    ]


def new_item(req: Request, given: Mapping[str, Any], place: int) -> Record:
    """An administrator's own item; it stands at `place` where no `sort` is given."""
    item = {"color": None, "sort": place, "status": "enabled", **labels.written(given, "label", req.language, new=True)}
    return {**item, "edited": sorted(set(item) - {"value"})}


def edited_item(req: Request, before: Record, given: Mapping[str, Any]) -> Record:
    """`before` with what an administrator changed, which is kept from now on."""
    values = labels.written(given, "label", req.language, new=False)
    changes = {name: value for name, value in values.items() if before.get(name) != value}
    return {**before, **changes, "edited": sorted({*before.get("edited", ()), *changes})}
