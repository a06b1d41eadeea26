"""A sharded cluster: which collections may be spread over its shards, and which have been that may not."""

from __future__ import annotations

from collections.abc import AsyncIterator

from handlers.data.collection import Collection
from handlers.data.database import Database
from scripts.diagnosis.findings import Finding

_KEY = '{_id: "hashed"}'


def may_be_sharded(collection: Collection) -> bool:
    """Whether a collection keeps its promises over several shards.

    MongoDB guarantees a unique index on one shard alone, unless it begins with the shard key, as none of ours does.
    """
    return not any(spec.unique for spec in collection.index_specs)


async def check_sharding(database: Database) -> AsyncIterator[Finding]:
    """What is wrong with how a cluster is sharded; nothing for a replica set."""
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
