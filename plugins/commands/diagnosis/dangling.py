"""References to deleted records: those that a plugin's records kept while the plugin, and so its rules, was not loaded."""

from __future__ import annotations

from collections.abc import AsyncIterator

from config.database import Document
from handlers.data.collection import Collection
from handlers.data.database import Database
from handlers.data.index import LIVE
from handlers.data.references.links import Link
from handlers.schema.values import RecordId
from plugins.commands.diagnosis.findings import Finding

_BATCH = 5000
_NAMED = 3


async def check_references(database: Database) -> AsyncIterator[Finding]:
    """Yield a finding for each reference whose rule for deletions some live records break."""
    for collection in database.collections.values():
        for link in collection.acting_links:
            target = database.referred.get(link.target)
            if target is None:
                continue
            missing = {id async for id in _missing(database, collection, link, target)}
            if missing:
                named = ", ".join(sorted(map(str, missing))[:_NAMED]) + (" …" if len(missing) > _NAMED else "")
                advice = f"refers to {len(missing)} deleted records of {target.name}: restore these, or refer to others: {named}"
                yield Finding("warning", "dangling-reference", f"{collection.name}.{link.path}", advice)


async def _missing(
    database: Database, collection: Collection, link: Link, target: Collection
) -> AsyncIterator[RecordId]:
    """Yield the ids that live records refer to and no live record has, some of them several times."""
    driver = database.driver
    async for rows in _batches(database, collection, link):
        held = link.ids(rows)
        live = {} if target.plain else LIVE
        found = await driver.find(target.name, {**live, "_id": {"$in": list(held)}}, fields=["_id"])
        for id in held - {row["_id"] for row in found}:
            yield id


async def _batches(database: Database, collection: Collection, link: Link) -> AsyncIterator[list[Document]]:
    referring = {**({} if collection.plain else LIVE), link.path: {"$ne": None}}
    beyond: dict[str, object] = {}
    while rows := await database.driver.find(
        collection.name, {**referring, **beyond}, sort=[("_id", 1)], limit=_BATCH, fields=["_id", link.path]
    ):
        yield rows
        beyond = {"_id": {"$gt": rows[-1]["_id"]}}
