"""The outbox: the changes of records that somebody outside waits for. The history of records is the outbox.

Each write of a record notes its change in the record, in the same command (`recorded_change.py`). If the collection is
in `wanted`, that command also notes the number of the first change that has not been handed on: `unsent`. So no
change is handed on before its commit, none is lost, and those of a record are in order. Other collections pay nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence, Set
from typing import Any

from cachetools import TTLCache

from config.database import DatabaseUnavailable, Document, Driver
from handlers.data.collection import HISTORY, UNSENT, Collection
from handlers.data.history.history import Change, History, total_changes
from handlers.schema.errors import ApiError

log = logging.getLogger("tradewind.outbox")
HandOn = Callable[[Document, Sequence[Change]], Awaitable[None]]
_RECORDS_AT_ONCE = 100
_CHANGES_AT_ONCE = 50
_MOST_FAILED = 10_000  # of a collection
_FAILED_SECONDS = 60


class Outbox:
    """The outbox of one database; `wanted` are the names of the collections whose changes are noted as unsent."""

    def __init__(self, driver: Driver, history: History) -> None:
        self._driver = driver
        self._history = history
        self.wanted: Set[str] = frozenset()
        # by collection, the ids of records that failed within the last minute
        self._failed: dict[str, TTLCache[object, bool]] = {}

    async def hand_on(self, collection: Collection, receive: HandOn) -> int:
        """Await `receive` with stored records and their unsent changes, oldest first; return for how many records.

        After a failure at any point the same changes are handed on again, so `receive` must be repeatable. A record that
        fails for another reason than the database is logged and waits for a minute, and stops no other.
        """
        failed = self._failed.setdefault(collection.name, TTLCache(_MOST_FAILED, _FAILED_SECONDS))
        marked: Document = {f"{HISTORY}.{UNSENT}": {"$type": "number"}}
        if failed:
            marked["_id"] = {"$nin": [*failed]}
        count = 0
        for document in await self._driver.find(collection.name, marked, limit=_RECORDS_AT_ONCE):
            try:
                await self._hand_on(collection, document, receive)
                count += 1
            except DatabaseUnavailable:
                raise
            except Exception:
                failed[document["_id"]] = True
                log.exception("changes not handed on", extra={"collection": collection.name})
        return count

    async def _hand_on(self, collection: Collection, document: Document, receive: HandOn) -> None:
        first, total = int(document[HISTORY][UNSENT]), total_changes(document)
        count = min(total - first, _CHANGES_AT_ONCE)
        try:
            changes = await self._history.read(collection, document, total - first - count, count)
        except ApiError:  # several changes are too large together
            count = 1
            changes = await self._history.read(collection, document, total - first - count, count)
        await receive(document, changes[::-1])
        await self._note_sent(collection, document, first + count, total)

    async def _note_sent(self, collection: Collection, document: Document, sent: int, total: int) -> None:
        """Note that the changes before number `sent` were handed on; changes that came meanwhile are unsent."""
        same = {"_id": document["_id"], f"{HISTORY}.{UNSENT}": document[HISTORY][UNSENT]}
        made: Any = document[HISTORY].get("n", {"$exists": False})
        if sent < total or not await self._driver.update_one(
            collection.name, {**same, f"{HISTORY}.n": made}, {"$unset": {f"{HISTORY}.{UNSENT}": ""}}
        ):
            await self._driver.update_one(collection.name, same, {"$set": {f"{HISTORY}.{UNSENT}": sent}})
