"""Dictionaries: the enumerations that clients show. Plugins declare some; administrators edit those and add others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import CONFLICT, SIGNED_IN, ApiError, Page, Record, Request, Route, array, conflicts, crud, route, text
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.records import history_of, with_deleted
from plugins.system import labels
from plugins.system.dictionary_use import refuse_lost
from plugins.system.messages import DICTIONARY_DECLARED, ITEM_DECLARED, ITEM_USED
from plugins.system.records import DICTIONARIES

TEXTS = ("name", "name_en")


async def list_dictionaries(req: Request) -> Page:
    """Return a page of dictionaries; with `types`, all the named ones on one page."""
    query = dict(req.query)
    types = list(dict.fromkeys(query.pop("types", ())))
    query["page_size"] = max(query["page_size"], len(types))
    page = await req.store(DICTIONARIES).page(query, {"type": {"$in": types}} if types else None)
    page.items[:] = [localise(req, record) for record in page.items]
    return page


async def read(req: Request) -> Record:
    """Return one dictionary."""
    return localise(req, await req.store(DICTIONARIES).get(req.path["id"]))


async def create(req: Request) -> Record:
    """Create a dictionary that no plugin declares."""
    values = labels.store(req.body, "name", req.language, new=True)
    items = replace_items(req, [], values.get("items", []))
    edited = [name for name in TEXTS if name in values]
    return localise(req, await req.store(DICTIONARIES).create({**values, "items": items, "edited": edited}))


async def update(req: Request) -> Record:
    """Change a dictionary. `items` replaces all items; those that a plugin declares must be among them."""
    values = labels.store(req.body, "name", req.language, new=False)
    version = values.pop("version")
    store = req.store(DICTIONARIES)

    async def work() -> Record:
        before = await store.get(req.path["id"])
        changes = dict(values)
        if before.get("declared") and values.get("type", before["type"]) != before["type"]:
            raise ApiError(CONFLICT, DICTIONARY_DECLARED)
        if "items" in values:
            changes["items"] = replace_items(req, before["items"], values["items"])
            await refuse_lost(req, before["type"], before["items"], changes["items"])
        changes["edited"] = sorted({*before.get("edited", ()), *(set(TEXTS) & set(values))})
        return await store.update(before["id"], changes, version=version)

    return localise(req, await req.transaction(work))


async def delete(req: Request) -> None:
    """Delete a dictionary. Raises 40901 if a loaded plugin declares it."""
    await req.store(DICTIONARIES).delete(req.path["id"], where={"declared": {"$ne": True}}, reason=DICTIONARY_DECLARED)


def localise(req: Request, record: Record) -> Record:
    """Return the dictionary in the caller's language, with its items sorted."""
    items = [localise_item(req, item) for item in sort_items(record)]
    return {**record, "name": labels.read(record, "name", req.language), "items": items}


def localise_item(req: Request, item: Mapping[str, Any]) -> Record:
    """Return the item in the caller's language."""
    return {**item, "label": labels.read(item, "label", req.language)}


def sort_items(record: Record) -> list[Record]:
    """Return the items of a dictionary in the order of display."""
    return sorted(record["items"], key=lambda item: int(item["sort"]))


def replace_items(req: Request, before: list[Record], given: list[Record]) -> list[Record]:
    """Return the items to store when `given` replaces `before`. Raises 40901 if a declared item is missing."""
    values = [item["value"] for item in given]
    faults = [FieldError(f"items[{i}].value", "duplicate") for i, value in enumerate(values) if value in values[:i]]
    if faults:
        raise ValidationFailed(faults)
    present = {item["value"]: item for item in before}
    if any(item.get("declared") and value not in values for value, item in present.items()):
        raise ApiError(CONFLICT, ITEM_DECLARED)
    return [
        edit_item(req, present[item["value"]], item) if item["value"] in present else make_item(req, item, place)
        for place, item in enumerate(given)
    ]


def make_item(req: Request, given: Mapping[str, Any], place: int) -> Record:
    """Return an item that no plugin declares; `place` is its position unless `sort` is given."""
    item = {"color": None, "sort": place, "status": "enabled", **labels.store(given, "label", req.language, new=True)}
    return {**item, "edited": sorted(set(item) - {"value"})}


def edit_item(req: Request, before: Record, given: Mapping[str, Any]) -> Record:
    """Return `before` with the changes of an administrator, which a restart keeps."""
    values = labels.store(given, "label", req.language, new=False)
    changes = {name: value for name, value in values.items() if before.get(name) != value}
    return {**before, **changes, "edited": sorted({*before.get("edited", ()), *changes})}


_USUAL = crud(
    DICTIONARIES,
    at="/api/v1/system/dictionaries",
    resource="system:dictionary",
    only=("create", "update", "delete"),
    create=create,
    update=update,
    delete=delete,
    refusals=conflicts(DICTIONARY_DECLARED, ITEM_DECLARED, ITEM_USED),
)
_READ = route(
    "GET /api/v1/system/dictionaries/{id}",
    read,
    summary="Read a dictionary",
    access=SIGNED_IN,
    record=DICTIONARIES,
    etag=True,
)
_HISTORY = history_of(
    DICTIONARIES,
    _READ,
    next(one for one in _USUAL if one.path.endswith("/restore")),
    "a dictionary",
)
ROUTES: tuple[Route, ...] = (
    with_deleted(
        DICTIONARIES,
        route(
            "GET /api/v1/system/dictionaries",
            list_dictionaries,
            summary="List dictionaries",
            access=SIGNED_IN,
            query={
                **DICTIONARIES.list_query,
                "types": array(
                    text(max_length=64),
                    max_items=200,
                    nullable=False,
                    example=["crm_customer_level"],
                    description="Only the dictionaries of these types, all at once.",
                ),
            },
            record=DICTIONARIES,
            paged=True,
            etag=True,
        ),
        _USUAL,
    ),
    _READ,
    *_USUAL,
    _HISTORY,
)
