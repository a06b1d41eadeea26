"""View counts: counted in memory and written for many articles in one command, not once for each view."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from plugins.api.data import Database
from plugins.cms.records import ARTICLES

MAX_ARTICLES = 10_000  # views of further articles are not counted until the next write
log = logging.getLogger("tradewind.cms")


class ViewCounts:
    """The views that this process has counted but not written yet."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: Counter[Any] = Counter()
        self._ending = asyncio.Event()

    def count_view(self, id: Any) -> None:
        """Count a view of the article."""
        if id in self._pending or len(self._pending) < MAX_ARTICLES:
            self._pending[id] += 1

    async def flush(self) -> None:
        """Add the pending views to the records. A failed write is tried again, so a view may count twice."""
        counted, self._pending = self._pending, Counter()
        if not counted:
            return
        try:
            await self._add(counted)
        except Exception as error:
            self._pending.update(counted)
            log.warning("view counts could not be written", extra={"reason": f"{type(error).__name__}: {error}"[:300]})

    async def _add(self, counted: Counter[Any]) -> None:
        ids, amounts = list(counted), list(counted.values())
        amount = {"$arrayElemAt": [amounts, {"$indexOfArray": [ids, "$_id"]}]}
        increased = {"$set": {"view_count": {"$add": [{"$ifNull": ["$view_count", 0]}, "$$new.amount"]}}}
        # an atomic increment for each article; version and audit stamps do not change, because a view is not an edit
        await self._database.store(ARTICLES).aggregate(
            [
                {"$match": {"_id": {"$in": ids}}},
                {"$project": {"amount": amount}},
                {"$merge": {"into": ARTICLES.name, "whenMatched": [increased], "whenNotMatched": "discard"}},
            ]
        )

    @contextlib.asynccontextmanager
    async def write_every(self, seconds: float) -> AsyncIterator[None]:
        """Write the pending views every `seconds` while the block runs, and once at its end."""
        writing = asyncio.create_task(self._run(seconds), name="cms.views")
        try:
            yield
        finally:
            self._ending.set()
            await writing

    async def _run(self, seconds: float) -> None:
        while not self._ending.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ending.wait()
            await self.flush()
