"""Rebuilds stored search and sort fields that have an older form, as a migration.

An index that holds nothing but outdated records shows which of them are left. Instances of an older version may still
write their own form; such records are found and rebuilt within a minute.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from config.database import DatabaseUnavailable, Document, NoSuchIndex
from handlers.data.collection import OUTDATED, OUTDATED_INDEX, Collection
from handlers.data.database import Database
from handlers.operations.migrations import Migration, Stage

log = logging.getLogger("tradewind.database")
_CHECK_SECONDS = 30.0
_AT_ONCE = 10  # records that are written concurrently; other requests wait while this many are prepared


class SearchIndexing:
    """Keeps `Database.outdated` up to date for this process, and rebuilds outdated records."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._searched = [one for one in database.collections.values() if one.searchable and not one.plain]

    async def look(self) -> None:
        """Find the collections that still have records of an older form.

        They are asked one after another: so many commands at once would hold up the requests of that moment.
        """
        self._database.outdated = {one.name for one in self._searched if await self._is_outdated(one)}

    async def _is_outdated(self, collection: Collection) -> bool:
        try:
            return bool(await self._database.driver.find(collection.name, OUTDATED, limit=1, hint=OUTDATED_INDEX.name))
        except NoSuchIndex:
            return True  # a search for both forms is correct in any case

    async def run(self) -> None:
        """Run `look` every half a minute, for ever."""
        while True:
            try:
                await self.look()
            except DatabaseUnavailable as error:
                log.warning("records of an older form are not looked for", extra={"reason": str(error)[:300]})
            await asyncio.sleep(_CHECK_SECONDS)

    @property
    def migration(self) -> Migration:
        """The migration that rebuilds the outdated records of all collections, including deleted ones."""
        summary = "What lists are searched and sorted by is stored anew, in the form of this version."
        return Migration("search-fields", summary, lambda _: self._stages())

    def _stages(self) -> Iterator[Stage]:
        for collection in self._searched:
            if collection.name in self._database.outdated:
                yield Stage(collection, partial(self._renew_some, collection), OUTDATED, OUTDATED_INDEX.name)

    async def _renew_some(self, collection: Collection, rows: Sequence[Document]) -> int:
        changed = 0
        for first in range(0, len(rows), _AT_ONCE):
            results = await asyncio.gather(*(self._renew(collection, row) for row in rows[first : first + _AT_ONCE]))
            changed += sum(results)
        return changed

    async def _renew(self, collection: Collection, row: Mapping[str, object]) -> bool:
        """Rebuild one record; return False if it has been written by somebody else since it was read."""
        as_read = {"_id": row["_id"], **{name: row.get(name) for name in ("search_text", *collection.searchable)}}
        changed = await self._database.driver.update_one(collection.name, as_read, {"$set": collection.derived(row)})
        return changed is not None
