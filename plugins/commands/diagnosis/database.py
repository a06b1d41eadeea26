"""The database: indexes that are missing, unused or different, and collections that no plugin declares."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from config.database import differences
from handlers.data.database import Database
from plugins.boot.known_plugins import KNOWN_PLUGINS
from plugins.commands.diagnosis.findings import Finding

_CORE = "core_"
_UNKNOWN = "no loaded plugin declares it: deletions do not heed what its records refer to"
_ABSENT = (
    "of the plugin {}, which is not enabled: what its records refer to cannot be deleted; `tradewind plugin purge`"
)


async def check_database(database: Database) -> AsyncIterator[Finding]:
    """Yield what differs from the plugins' declarations; a start of the server repairs every index."""
    names = await collections_in(database)
    for name, collection in database.collections.items():
        wanted = {spec.name: spec for spec in collection.index_specs}
        there = await _indexes(database, name) if name in names else {}
        for index in sorted(wanted.keys() - there.keys()):
            yield Finding(
                "error", "missing-index", f"{name}.{index}", "lists may be slow, keys taken twice: start the server"
            )
        for index in sorted(there.keys() - wanted.keys()):
            yield Finding("note", "extra-index", f"{name}.{index}", "it costs every write: the next start drops it")
        for index in sorted(wanted.keys() & there.keys()):
            if parts := differences(wanted[index], there[index]):
                advice = f"not as declared ({', '.join(parts)}): the next start makes it anew"
                yield Finding("error", "different-index", f"{name}.{index}", advice)
    notes = await database.driver.find(KNOWN_PLUGINS, {})
    absent = {one["name"]: note["_id"] for note in notes for one in note["collections"]}
    for name in sorted(names):
        if name not in database.collections and not name.startswith((_CORE, "system.")):
            advice = _ABSENT.format(absent[name]) if name in absent else _UNKNOWN
            yield Finding("note", "unknown-collection", name, advice)


async def _indexes(database: Database, collection: str) -> dict[str, dict[str, Any]]:
    """Return the indexes by name, without that of `_id`."""
    listed = await database.driver.command({"listIndexes": collection, "cursor": {"batchSize": 1000}})
    return {index["name"]: index for index in listed["cursor"]["firstBatch"] if index["name"] != "_id_"}


async def collections_in(database: Database) -> set[str]:
    """Return the names of the collections that there are."""
    listed = await database.driver.command({"listCollections": 1, "nameOnly": True, "cursor": {"batchSize": 100_000}})
    return {str(found["name"]) for found in listed["cursor"]["firstBatch"]}
