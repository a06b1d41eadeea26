"""A sharded cluster: which collections may be sharded, and which are although they may not."""

from __future__ import annotations

from collections.abc import AsyncIterator

from handlers.data.collection import Collection
from handlers.data.database import Database
from plugins.commands.diagnosis.findings import Finding

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
