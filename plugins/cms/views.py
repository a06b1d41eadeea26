"""View counts without a write for each view: counted in memory, written for many articles in one step."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from plugins.api import Database
from plugins.cms.records import ARTICLES

MAX_ARTICLES = 10_000  # further ones are not counted until the next writing
log = logging.getLogger("tradewind.cms")


class ViewCounts:
    """The views that this process has counted and not written yet."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counted: Counter[Any] = Counter()
        self._ending = asyncio.Event()

    def seen(self, id: Any) -> None:
        """Somebody read this article."""
        if id in self._counted or len(self._counted) < MAX_ARTICLES:
            self._counted[id] += 1

    async def flush(self) -> None:
        """Add what was counted to the records. After a failure it is tried again, so a view may count twice."""
        counted, self._counted = self._counted, Counter()
        if not counted:
            return
        try:
            await self._add(counted)
        except Exception as error:
            self._counted.update(counted)
            log.warning("view counts wait", extra={"reason": f"{type(error).__name__}: {error}"[:300]})

    async def _add(self, counted: Counter[Any]) -> None:
        ids, amounts = list(counted), list(counted.values())
        amount = {"$arrayElemAt": [amounts, {"$indexOfArray": [ids, "$_id"]}]}
        increased = {"$set": {"view_count": {"$add": [{"$ifNull": ["$view_count", 0]}, "$$new.amount"]}}}
        # each article is increased in one atomic step, with no version and no audit stamp: a view is no change of it
        await self._database.store(ARTICLES).aggregate(
            [
                {"$match": {"_id": {"$in": ids}}},
                {"$project": {"amount": amount}},
                {"$merge": {"into": ARTICLES.name, "whenMatched": [increased], "whenNotMatched": "discard"}},
            ]
        )

    @contextlib.asynccontextmanager
    async def counting(self, seconds: float) -> AsyncIterator[None]:
        """Write every `seconds`, and at the end."""
        writing = asyncio.create_task(self._write(seconds), name="cms.views")
        try:
            yield
        finally:
            self._ending.set()
            await writing

    async def _write(self, seconds: float) -> None:
        while not self._ending.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._ending.wait()
            await self.flush()
