"""Reads of single documents by `_id`, which are combined into one command if they are requested at the same time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from bson import decode, encode

from config.database.batcher import Batcher
from config.database.commands import CODEC, Document
from config.database.driver import Driver
from config.database.operations import Operations
from config.database.transactions import SESSION

_MOST_IDS = 100
# a collection, and what is read of its documents: `fields` or all but `without`
_Reading = tuple[str, tuple[str, ...] | None, tuple[str, ...]]


class DocumentLoader:
    """Loads documents through `driver`, under the time limits of `operations`."""

    def __init__(self, driver: Driver, operations: Operations) -> None:
        self._driver = driver
        self._operations = operations
        self._batcher = Batcher(self._load_batch, _MOST_IDS)

    async def load(
        self, collection: str, id: Hashable, fields: Sequence[str] | None = None, without: Sequence[str] = ()
    ) -> Document | None:
        """Return the document with this `_id`. A transaction reads it alone, because it has its own snapshot."""
        if SESSION.get() is not None:
            found = await self._driver.find(collection, {"_id": id}, limit=1, fields=fields, without=without)
            return found[0] if found else None
        reading = (collection, None if fields is None else tuple(fields), tuple(without))
        with self._operations.shared():
            return await self._batcher.submit(reading, id)

    async def _load_batch(self, reading: _Reading, ids: Sequence[Hashable]) -> list[Document | None]:
        collection, fields, without = reading
        wanted = list(dict.fromkeys(ids))
        matching = {"_id": wanted[0] if len(wanted) == 1 else {"$in": wanted}}
        rows = await self._driver.find(collection, matching, limit=len(wanted), fields=fields, without=without)
        found = {row["_id"]: row for row in rows}
        # every caller gets a copy of its own, which it may change
        encoded = {id: encode(row) for id, row in found.items()} if len(wanted) < len(ids) else {}
        return [found.pop(id, None) or (decode(encoded[id], CODEC) if id in encoded else None) for id in ids]
