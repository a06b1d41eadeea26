"""Reads of single documents by `_id`, which are combined into one command if they are requested at the same time."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Sequence

from bson import decode, encode

from config.database.batcher import Batcher
from config.database.commands import CODEC, Document
from config.database.driver import Driver
from config.database.errors import DatabaseUnavailable
from config.database.operations import Operations, Waiting, current_waiting
from config.database.transactions import SESSION

_MOST_IDS = 100
# a collection, and what is read of its documents: `fields` or all but `without`
_Reading = tuple[str, tuple[str, ...] | None, tuple[str, ...]]
_Read = tuple[Hashable, Waiting | None]  # an `_id`, and the waits of the request that wants it


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
        waiting = current_waiting()
        if waiting is not None and self._operations.spent_seconds(waiting, time.monotonic()):
            with self._operations():  # the rest of this request's limit may end before that of the batch
                return await self._batcher.submit(reading, (id, None))
        return await self._batcher.submit(reading, (id, waiting))

    async def _load_batch(self, reading: _Reading, reads: Sequence[_Read]) -> list[Document | None]:
        """Load the documents under one time limit, and note for each request if the database was unavailable."""
        began = time.monotonic()
        try:
            loaded = await self._load_all(reading, [id for id, _ in reads])
        except DatabaseUnavailable as error:
            if error.silent:
                _note_unavailable(reads)
            raise
        now = time.monotonic()
        for _, waiting in reads:
            if waiting is not None:
                self._operations.note_success(waiting, began, now)
        return loaded

    async def _load_all(self, reading: _Reading, ids: Sequence[Hashable]) -> list[Document | None]:
        collection, fields, without = reading
        wanted = list(dict.fromkeys(ids))
        matching = {"_id": wanted[0] if len(wanted) == 1 else {"$in": wanted}}
        rows = await self._driver.find(collection, matching, limit=len(wanted), fields=fields, without=without)
        found = {row["_id"]: row for row in rows}
        # every caller gets a copy of its own, which it may change
        encoded = {id: encode(row) for id, row in found.items()} if len(wanted) < len(ids) else {}
        return [found.pop(id, None) or (decode(encoded[id], CODEC) if id in encoded else None) for id in ids]


def _note_unavailable(reads: Iterable[_Read]) -> None:
    for _, waiting in reads:
        if waiting is not None:
            waiting.found_away = True
