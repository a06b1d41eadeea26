"""Writes the dictionaries that plugins declare into the database at start; edits by administrators are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plugins.api import Dictionary, Record
from plugins.api.data import Database
from plugins.api.records import Catalogue, Item
from plugins.system.records import DICTIONARIES


async def synchronise(database: Database, catalogue: Catalogue) -> None:
    """Add new dictionaries and items and update changed ones. What is no longer declared stays, but may be deleted."""
    store = database.store(DICTIONARIES)
    present = {record["type"]: record for record in await store.find()}
    new = [_make_record(dictionary, {}) for dictionary in catalogue.dictionaries if dictionary.type not in present]
    await store.create_many(new)
    for dictionary in catalogue.dictionaries:
        before = present.pop(dictionary.type, None)
        if before is None:
            continue
        wanted = _make_record(dictionary, before)
        changes = {name: value for name, value in wanted.items() if before.get(name) != value}
        if changes:
            await store.update(before["id"], changes)
    for record in present.values():
        if record.get("declared"):
            await store.update(record["id"], {"declared": False, "items": _merge_items((), record["items"])})


def _make_record(dictionary: Dictionary, before: Record) -> Record:
    declared = {"name": dictionary.title.zh, "name_en": dictionary.title.en}
    return {
        "type": dictionary.type,
        **_keep_edits(declared, before),
        "declared": True,
        "items": _merge_items(dictionary.items, before.get("items", [])),
    }


def _merge_items(declared: Iterable[Item], before: Sequence[Record]) -> list[Record]:
    present = {item["value"]: item for item in before}
    merged = [_make_item(item, place, present.pop(item.value, {})) for place, item in enumerate(declared)]
    return [*merged, *({**item, "declared": False} for item in present.values())]


def _make_item(item: Item, place: int, before: Record) -> Record:
    declared = {
        "label": item.label.zh,
        "label_en": item.label.en,
        "color": item.color or None,
        "sort": place,
        "status": "enabled",
    }
    return {"value": item.value, **_keep_edits(declared, before), "declared": True}


def _keep_edits(declared: Mapping[str, Any], before: Record) -> Record:
    edited = before.get("edited") or []
    return {**declared, **{name: before[name] for name in edited}, "edited": edited}
