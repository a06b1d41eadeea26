"""Dictionaries: the enumerations that clients show. Plugins declare some; administrators edit those and add others.

An item whose value is used by a record can be disabled, but not deleted. A change on any instance reloads what the core
shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from plugins.api import (
    CONFLICT,
    SIGNED_IN,
    ApiError,
    Collection,
    Message,
    Page,
    Record,
    Request,
    Route,
    array,
    conflicts,
    crud,
    route,
    text,
)
from plugins.api.data import CachedSnapshot, Database
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.fields import fields_in
from plugins.api.records import Catalogue, Dictionaries, Entries, Entry, history_of, with_deleted
from plugins.system import labels
from plugins.system.messages import DICTIONARY_DECLARED, ITEM_DECLARED, ITEM_USED
from plugins.system.records import DICTIONARIES


async def refuse_lost(req: Request, type: str, before: Iterable[Mapping[str, Any]], after: Iterable[Any]) -> None:
    """Raise 40901 if a record has the value of an item that is in `before` but no longer in `after`."""
    lost = {item["value"] for item in before} - {item["value"] for item in after}
    for collection, path in _bound(req.part(Catalogue).collections.values(), type) if lost else ():
        found = await req.system_store(collection).find_one({path: {"$in": sorted(lost)}})
        if found is not None:
            value = next(one for one in _values_at(found, path.split(".")) if one in lost)
            raise ApiError(CONFLICT, ITEM_USED.filled(value=value))


def _bound(collections: Iterable[Collection], type: str) -> Iterator[tuple[Collection, str]]:
    """Yield each collection with a field that is bound to the dictionary, and the path of the field in queries."""
    for collection in collections:
        for path, field in fields_in(collection.read):
            if field.dictionary == type:
                yield collection, path.replace("[]", "")


def _values_at(value: Any, names: Sequence[str]) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _values_at(one, names)
    elif not names:
        yield value
    elif isinstance(value, Mapping):
        yield from _values_at(value.get(names[0]), names[1:])


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


def serve(dictionaries: Dictionaries, database: Database) -> None:
    """Let the core read the stored dictionaries."""

    async def load() -> Entries:
        return {
            record["type"]: {
                item["value"]: Entry(
                    Message(item["label"], item.get("label_en") or item["label"]),
                    item.get("color") or "",
                    item.get("status") != "disabled",
                )
                for item in sort_items(record)
            }
            for record in await database.store(DICTIONARIES).find()
        }

    snapshot = CachedSnapshot(load)
    database.changes.listen(DICTIONARIES.name, snapshot.invalidate)
    dictionaries.read_from(snapshot.current)


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
