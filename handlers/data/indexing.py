"""Rebuilds stored search and sort fields that have an older form: in the background, in batches.

The records themselves show which of them are left, so any instance continues where another one stopped. Instances of an
older version may still write their own form; such records are found and rebuilt within a minute.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any

from config.database import DatabaseUnavailable, NoSuchIndex
from handlers.data.collection import OUTDATED, OUTDATED_INDEX, Collection
from handlers.data.database import Database, Lease

log = logging.getLogger("tradewind.database")
_CHECK_SECONDS = 30.0
_LEASE_SECONDS = 30.0
_BATCH = 100
_AT_ONCE = 10  # records that are written concurrently, and prepared before other requests run


class SearchIndexing:
    """Keeps `Database.outdated` up to date for this process, and rebuilds outdated records."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._searched = [one for one in database.collections.values() if one.searchable and not one.plain]

    async def look(self) -> None:
        """Find the collections with records of an older form."""
        found = await asyncio.gather(*(self._is_outdated(collection) for collection in self._searched))
        self._database.outdated = {one.name for one, outdated in zip(self._searched, found, strict=True) if outdated}

    async def _is_outdated(self, collection: Collection) -> bool:
        try:
            return bool(await self._batch(collection, 1))
        except NoSuchIndex:
            return True  # a search for both forms is correct in any case

    async def run(self) -> None:
        """Find and rebuild outdated records every half a minute; never ends."""
        while True:
            try:
                await self.look()
                if self._database.outdated:
                    await self.renew()
            except (DatabaseUnavailable, NoSuchIndex) as error:
                log.warning("records cannot be indexed again for searching", extra={"reason": str(error)[:300]})
            await asyncio.sleep(_CHECK_SECONDS)

    async def renew(self) -> None:
        """Rebuild all records of an older form, unless another instance is doing so."""
        lease = Lease(self._database, "search", _LEASE_SECONDS)
        if not await lease.acquire():
            return
        try:
            for collection in self._searched:
                if collection.name in self._database.outdated:
                    await self._renew_all(collection, lease)
        finally:
            await lease.release()

    async def _renew_all(self, collection: Collection, lease: Lease) -> None:
        done = 0
        while rows := await self._batch(collection, _BATCH):
            started = time.monotonic()
            changed = 0
            for first in range(0, len(rows), _AT_ONCE):
                results = await asyncio.gather(
                    *(self._renew(collection, row) for row in rows[first : first + _AT_ONCE])
                )
                changed += sum(results)
            done += changed
            if not changed or not await lease.renew():
                return  # the next check finds what others wrote meanwhile and what is left
            await asyncio.sleep(time.monotonic() - started)  # uses at most half of the time
        self._database.outdated.discard(collection.name)
        log.info("records indexed again for searching", extra={"collection": collection.name, "count": done})

    async def _batch(self, collection: Collection, limit: int) -> list[dict[str, Any]]:
        """Records of an older form, deleted ones too."""
        return await self._database.driver.find(collection.name, OUTDATED, limit=limit, hint=OUTDATED_INDEX.name)

    async def _renew(self, collection: Collection, row: Mapping[str, Any]) -> bool:
        """Rebuild one record; return False where somebody else has written it since it was read."""
        as_read = {"_id": row["_id"], **{name: row.get(name) for name in ("search_text", *collection.searchable)}}
        changed = await self._database.driver.update_one(collection.name, as_read, {"$set": collection.derived(row)})
        return changed is not None
