"""The database: indexes that are missing or left over, and collections that no plugin knows."""

from __future__ import annotations

from collections.abc import AsyncIterator

from handlers.data.database import Database
from scripts.doctor_findings import Finding

_CORE = "core_"


async def check_database(database: Database) -> AsyncIterator[Finding]:
    """What differs from the plugins' declarations; a start of the server mends indexes."""
    for name, collection in database.collections.items():
        wanted = {spec.name for spec in collection.index_specs}
        there = await database.driver.index_names(name) - {"_id_"}
        for index in sorted(wanted - there):
            yield Finding(
                "error", "missing-index", f"{name}.{index}", "lists may be slow, keys taken twice: start the server"
            )
        for index in sorted(there - wanted):
            yield Finding("note", "extra-index", f"{name}.{index}", "it costs every write: the next start drops it")
    for name in sorted(await _names(database)):
        if name not in database.collections and not name.startswith((_CORE, "system.")):
            yield Finding("note", "unknown-collection", name, "no loaded plugin declares it")


async def _names(database: Database) -> set[str]:
    listed = await database.driver.command({"listCollections": 1, "nameOnly": True, "cursor": {"batchSize": 100_000}})
    return {str(found["name"]) for found in listed["cursor"]["firstBatch"]}
