"""Dictionaries as plugins declare them, brought into the records at start; what administrators edited is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plugins.api import Catalogue, Database, Dictionary, Item
from plugins.system.records import DICTIONARIES

Record = dict[str, Any]


async def synchronise(database: Database, catalogue: Catalogue) -> None:
    """Add new dictionaries and items, update changed ones; those declared no longer become administrators' own."""
    store = database.store(DICTIONARIES)
    present = {record["type"]: record for record in await store.find()}
    new = [_record(dictionary, {}) for dictionary in catalogue.dictionaries if dictionary.type not in present]
    await store.create_many(new)
    for dictionary in catalogue.dictionaries:
        before = present.pop(dictionary.type, None)
        if before is None:
            continue
        wanted = _record(dictionary, before)
        changes = {name: value for name, value in wanted.items() if before.get(name) != value}
        if changes:
            await store.update(before["id"], changes)
    for record in present.values():
        if record.get("declared"):
            await store.update(record["id"], {"declared": False, "items": _merged((), record["items"])})


def _record(dictionary: Dictionary, before: Record) -> Record:
    declared = {"name": dictionary.title.zh, "name_en": dictionary.title.en}
    return {
        "type": dictionary.type,
        **_unless_edited(declared, before),
        "declared": True,
        "items": _merged(dictionary.items, before.get("items", [])),
    }


def _merged(declared: Iterable[Item], before: Sequence[Record]) -> list[Record]:
    present = {item["value"]: item for item in before}
    merged = [_item(item, place, present.pop(item.value, {})) for place, item in enumerate(declared)]
    return [*merged, *({**item, "declared": False} for item in present.values())]


def _item(item: Item, place: int, before: Record) -> Record:
    declared = {
        "label": item.label.zh,
        "label_en": item.label.en,
        "color": item.color or None,
        "sort": place,
        "status": "enabled",
    }
    return {"value": item.value, **_unless_edited(declared, before), "declared": True}


def _unless_edited(declared: Mapping[str, Any], before: Record) -> Record:
    edited = before.get("edited") or []
    return {**declared, **{name: before[name] for name in edited}, "edited": edited}
