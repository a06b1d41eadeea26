"""What each plugin keeps in the database. Every start writes it, so that it is known while a plugin is not loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from config.database import Document, Driver
from handlers.data.references.holders import Holder, absent_holder
from plugins.plugin import Plugin

KNOWN_PLUGINS = "core_plugins"


async def note_plugins(driver: Driver, plugins: Sequence[Plugin]) -> list[Document]:
    """Write what the loaded plugins keep, where it has changed; return the notes of the plugins that are not loaded."""
    noted = {row["_id"]: row for row in await driver.find(KNOWN_PLUGINS, {})}
    for plugin in plugins:
        note = _note_of(plugin)
        if noted.pop(plugin.name, None) != {"_id": plugin.name, **note}:
            await driver.update_one(KNOWN_PLUGINS, {"_id": plugin.name}, {"$set": note}, upsert=True)
    return list(noted.values())


def holders_of(absent: Iterable[Document]) -> Iterator[Holder]:
    """Yield the references of plugins that are not loaded which matter when the record that they lead to is deleted."""
    for note in absent:
        for one in note["references"]:
            if one["acts"]:
                yield absent_holder(note["_id"], one["collection"], one["path"], one["target"], one["plain"])


def _note_of(plugin: Plugin) -> dict[str, Any]:
    about = {"biz_type", "resource_id"}
    return {
        "requires": list(plugin.requires),
        "collections": [{"name": one.name, "alias": one.alias} for one in plugin.collections],
        "own_fields": [{"collection": one.collection.name, "names": list(one.fields)} for one in plugin.extends],
        "references": [
            {"collection": one.name, "plain": one.plain, "path": link.path, "target": link.target, "acts": link.acts}
            for one in (*plugin.collections, *(replace(one.collection, fields=one.fields) for one in plugin.extends))
            for link in one.links
        ],
        "about_others": [one.name for one in plugin.collections if about <= one.fields.keys()],
        "biz_types": list(plugin.biz_types),
        "menus": [menu.code for menu in plugin.menus],
        "permissions": sorted({route.access for route in plugin.routes if route.guarded}),
        "options": [option.key for option in plugin.options],
        "dictionaries": [dictionary.type for dictionary in plugin.dictionaries],
        "jobs": [job.name for job in plugin.jobs],
    }
