"""The WebSocket: what is new, to everybody who listens, whatever instance wrote it.

A signal only wakes; what is sent is read from the database, behind the last id that this client was sent. So a signal
that comes twice, late, or for nothing does no harm.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from plugins.api import Database, Request
from plugins.notification.inbox import Inbox, own, shown
from plugins.notification.records import MESSAGES, PROGRESS, SIGNALS
from plugins.notification.settings import NotificationSettings

_BATCH = 100
# what wakes everybody must neither wait in the driver until its time limit nor crowd out requests
_AT_ONCE = 16
Result = TypeVar("Result")


class Listeners:
    """Who listens on this instance: an event for each WebSocket, by person."""

    def __init__(self, database: Database) -> None:
        self._events: dict[int, set[asyncio.Event]] = defaultdict(set)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        database.changes.listen(SIGNALS.name, self._wake)

    @contextmanager
    def listening(self, user_id: int) -> Iterator[asyncio.Event]:
        """An event that is set whenever the person's messages may have changed."""
        event = asyncio.Event()
        self._events[user_id].add(event)
        try:
            yield event
        finally:
            self._events[user_id].discard(event)
            if not self._events[user_id]:
                del self._events[user_id]

    async def read(self, query: Callable[[], Awaitable[Result]]) -> Result:
        """The answer of a query for one of the WebSockets; of all of them a few at once."""
        async with self._turns:
            return await query()

    def _wake(self, user_id: Any) -> None:
        # None: the change stream was lost for a while, so anybody's may have changed
        everybody = [user_id] if user_id is not None else list(self._events)
        for one in everybody:
            for event in self._events.get(one, ()):
                event.set()


async def live(req: Request) -> None:
    """Send `ready`, then every message behind `last_id`, every change of the number of unread ones, and how far is what
    runs in the background.

    Ends with 40100 or 40300 when the session ended or the access token ran out: checked before anything is sent, and
    every few seconds.
    """
    seconds = req.service.settings_of(NotificationSettings).notification_check_seconds
    listeners = req.part(Listeners)
    with listeners.listening(req.actor.user_id) as changed:
        last_id = req.query.get("last_id") or await listeners.read(lambda: req.part(Inbox).newest(req.actor.user_id))
        unread = await listeners.read(lambda: own(req).count({"unread": True}))
        await req.socket.send({"type": "ready", "last_id": last_id, "unread": unread})
        changed.set()
        told: dict[str, Any] = {}
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), seconds)
            await req.socket.still_allowed()
            if changed.is_set():
                changed.clear()
                last_id = await _send_new(req, last_id)
                unread = await _send_unread(req, unread)
                told = await _send_progress(req, told)


async def _send_new(req: Request, last_id: Any) -> Any:
    """Send what is newer than `last_id`, in order; answers the last id that was sent."""
    read = req.part(Listeners).read
    while True:
        newer = {"_id": {"$gt": last_id}}
        rows = await read(partial(own(req).find, newer, sort="id", limit=_BATCH))
        for row in rows:
            await req.socket.send({"type": "notification", "data": _answered(shown(row, req.language))})
            last_id = row["id"]
        if len(rows) < _BATCH:
            return last_id


def _answered(message: dict[str, Any]) -> dict[str, Any]:
    return {name: message.get(name) for name in MESSAGES.all_fields}


async def _send_progress(req: Request, told: dict[str, Any]) -> dict[str, Any]:
    """Send what is not as it was told last; answers what is told now."""
    mine = partial(req.system_store(PROGRESS).find, {"user_id": req.actor.user_id}, sort="id")
    rows = await req.part(Listeners).read(mine)
    for row in rows:
        if told.get(row["key"]) != row["data"]:
            await req.socket.send({"type": "progress", **{name: row[name] for name in ("kind", "key", "data")}})
    return {row["key"]: row["data"] for row in rows}


async def _send_unread(req: Request, before: int) -> int:
    unread = await req.part(Listeners).read(lambda: own(req).count({"unread": True}))
    if unread != before:
        await req.socket.send({"type": "unread", "count": unread})
    return unread
