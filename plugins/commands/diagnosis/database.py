"""The database: indexes and collections that differ from their declarations, what runs on it, and how it is sharded."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from config.database import differences
from handlers.catalogue.declarations import Catalogue
from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.operations.migrations import MIGRATIONS, find_newer
from handlers.operations.processes import processes_of
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


async def check_running(database: Database, catalogue: Catalogue, data_dir: Path) -> AsyncIterator[Finding]:
    """Yield what keeps the service from running as it should."""
    driver = database.driver
    newer = await find_newer(driver, catalogue.plugins, [migration.name for _, migration in catalogue.migrations])
    if newer is not None:
        yield Finding("error", "newer-database", "migrations", newer)
    for row in await driver.find(MIGRATIONS, {"failed": {"$ne": None}}):
        advice = f"{row['failed']}; it tries again every half minute, `tradewind migrate` tries now"
        yield Finding("error", "failed-migration", str(row["_id"]), advice)
    for one in await processes_of(data_dir):
        if not one.pid:
            advice = "does not answer: docs/operations/alerts.md, TradewindProcessHangs"
            yield Finding("error", "hanging-process", f"port {one.port}, process {one.number}", advice)


_KEY = '{_id: "hashed"}'


def may_be_sharded(collection: Collection) -> bool:
    """Return whether a collection keeps its guarantees when it is sharded.

    MongoDB enforces a unique index only within a shard, unless the index begins with the shard key; none of ours does.
    """
    return not any(spec.unique for spec in collection.index_specs)


async def check_sharding(database: Database) -> AsyncIterator[Finding]:
    """Yield what is wrong with the sharding of a cluster; nothing for a replica set."""
    if (await database.driver.command({"hello": 1})).get("msg") != "isdbgrid":
        return
    listed = await database.driver.command({"listCollections": 1, "nameOnly": True, "cursor": {"batchSize": 100_000}})
    for name in sorted(str(found["name"]) for found in listed["cursor"]["firstBatch"]):
        if name.startswith("system.") or not (await database.driver.command({"collStats": name})).get("sharded"):
            continue
        collection = database.collections.get(name)
        if collection is None or not may_be_sharded(collection):
            advice = "may not be sharded: its unique keys, or leases, hold on one shard alone; unshard it, or move it"
            yield Finding("error", "sharded-collection", name, advice)
    free = sorted(name for name, collection in database.collections.items() if may_be_sharded(collection))
    yield Finding("note", "sharding", f"{len(free)} collections", f"may be sharded by {_KEY}: {', '.join(free)}")
