"""Proxies that forward requests although no setting names them, so that all their clients have the proxy's address."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta

from config.database import Driver
from handlers.data.database import utc_now
from handlers.http.addresses import Network, listed

log = logging.getLogger("tradewind.http")
NOTES = "core_unnamed_proxies"
KEPT = timedelta(days=30)
_MOST = 8  # addresses in a process, because clients that are no proxies can send the headers too


class UnnamedProxies:
    """Reports each such proxy once, in the log and in the database, where `tradewind doctor` finds it."""

    def __init__(self, driver: Driver, proxies: Sequence[Network]) -> None:
        self._driver = driver
        self._proxies = proxies
        self._seen: set[str] = set()
        self._writing: set[asyncio.Task[None]] = set()

    def notice(self, peer: str) -> None:
        """Note that `peer` forwarded a request of an unknown client."""
        if peer not in self._seen and len(self._seen) < _MOST and not listed(peer, self._proxies):
            self._seen.add(peer)
            log.warning(
                "a proxy forwards requests and is not in TRADEWIND_TRUSTED_PROXIES: limits count its clients as one",
                extra={"address": peer},
            )
            task = asyncio.create_task(self._write(peer), name="unnamed proxy")
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def _write(self, peer: str) -> None:
        try:
            await self._driver.update_one(NOTES, {"_id": peer}, {"$set": {"at": utc_now()}}, upsert=True)
            await self._driver.delete_many(NOTES, {"at": {"$lt": utc_now() - KEPT}})
        except Exception as error:
            log.info("an unnamed proxy was not noted", extra={"reason": f"{type(error).__name__}: {error}"[:300]})
