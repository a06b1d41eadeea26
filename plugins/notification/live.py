"""The WebSocket: what is new, to everybody who listens, whatever instance wrote it.

A signal only wakes; what is sent is read from the database, behind the last id that this client was sent. So a signal
that comes twice, late, or for nothing does no harm.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from plugins.api import Actor, Database, Request
from plugins.auth.api import SESSIONS
from plugins.notification.inbox import Inbox, own, shown
from plugins.notification.records import MESSAGES, PROGRESS, SIGNALS
from plugins.notification.settings import NotificationSettings
from plugins.rbac.api import USERS

_BATCH = 100
_MOST_PROGRESS = 100  # of what runs in the background for one person at once
# what wakes everybody must neither wait in the driver until its time limit nor crowd out requests
_AT_ONCE = 16
Result = TypeVar("Result")


@dataclass(eq=False)
class Listener:
    """One WebSocket: woken when there may be news, or when its session or its person changed."""

    woken: asyncio.Event = field(default_factory=asyncio.Event)
    news: bool = False

    def wake(self, *, news: bool) -> None:
        """Let it look; without `news` only whether it may still listen."""
        self.news |= news
        self.woken.set()

    async def sleep(self, seconds: float) -> None:
        """Wait until it is woken, but so long at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        self.woken.clear()


class Listeners:
    """Who listens on this instance, by person and by session."""

    def __init__(self, database: Database) -> None:
        self._by_person: dict[Any, set[Listener]] = defaultdict(set)
        self._by_session: dict[Any, set[Listener]] = defaultdict(set)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        database.changes.listen(SIGNALS.name, partial(self._wake, self._by_person, True))
        # so that the end of a session is heard of at once
        database.changes.listen(SESSIONS.name, partial(self._wake, self._by_session, False))
        database.changes.listen(USERS.name, partial(self._wake, self._by_person, False))

    @contextmanager
    def listening(self, actor: Actor) -> Iterator[Listener]:
        """A listener for the person's messages, as long as the session goes on."""
        listener = Listener()
        places = ((self._by_person, actor.user_id), (self._by_session, actor.session_id))
        for listeners, key in places:
            listeners[key].add(listener)
        try:
            yield listener
        finally:
            for listeners, key in places:
                listeners[key].discard(listener)
                if not listeners[key]:
                    del listeners[key]

    async def read(self, query: Callable[[], Awaitable[Result]]) -> Result:
        """The answer of a query for one of the WebSockets; of all of them a few at once."""
        async with self._turns:
            return await query()

    @staticmethod
    def _wake(listeners: dict[Any, set[Listener]], news: bool, id: Any) -> None:
        # None: the change stream was lost for a while, so anybody's may have changed
        for one in [id] if id is not None else list(listeners):
            for listener in listeners.get(one, ()):
                listener.wake(news=news)


async def live(req: Request) -> None:
    """Send `ready`, then every message behind `last_id`, every change of the number of unread ones, and how far is what
    runs in the background.

    Ends with 40100 or 40300 when the session ended or the access token ran out: checked before anything is sent, when
    the session or the person changed, and every few seconds.
    """
    seconds = req.service.settings_of(NotificationSettings).notification_check_seconds
    listeners = req.part(Listeners)
    with listeners.listening(req.actor) as listener:
        last_id = req.query.get("last_id") or await listeners.read(lambda: req.part(Inbox).newest(req.actor.user_id))
        unread = await listeners.read(lambda: own(req).count({"unread": True}))
        await req.socket.send({"type": "ready", "last_id": last_id, "unread": unread})
        await req.socket.still_allowed()
        told = await _send_progress(req, {})
        if req.query.get("last_id"):
            # behind the newest there is nothing yet, and what comes from now on wakes
            listener.wake(news=True)
        while True:
            await listener.sleep(seconds)
            await req.socket.still_allowed()
            if listener.news:
                listener.news = False
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
            # while a slow reader was waited for the session may have ended
            await req.socket.still_allowed()
            await req.socket.send({"type": "notification", "data": _answered(shown(row, req.language))})
            last_id = row["id"]
        if len(rows) < _BATCH:
            return last_id


def _answered(message: dict[str, Any]) -> dict[str, Any]:
    return {name: message.get(name) for name in MESSAGES.all_fields}


async def _send_progress(req: Request, told: dict[str, Any]) -> dict[str, Any]:
    """Send what is not as it was told last; answers what is told now."""
    mine = partial(req.system_store(PROGRESS).find, {"user_id": req.actor.user_id}, sort="id", limit=_MOST_PROGRESS)
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
