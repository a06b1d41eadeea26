"""The WebSocket: sends each new message to the listening clients, whichever instance wrote it.

A signal only wakes a listener, which reads from the database what follows the last id that it sent. So a signal that
arrives twice, late or without news does no harm.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from plugins.api import SIGNED_IN, Actor, Request, Route, object_id, route
from plugins.api.data import Database, SingleFlight
from plugins.api.values import ReadOnlyRecord
from plugins.auth.api import SESSIONS
from plugins.notification.inbox import Inbox, localise, own_store
from plugins.notification.records import MESSAGES, PROGRESS, SIGNALS, SOCKET_MESSAGES
from plugins.notification.settings import NotificationSettings
from plugins.rbac.api import USERS

_BATCH = 100
_MOST_PROGRESS = 100  # background tasks of one user whose progress is shown
# queries at once: when all listeners wake, their queries must neither time out in the driver nor crowd out requests
_AT_ONCE = 16
Result = TypeVar("Result")


@dataclass(eq=False)
class Listener:
    """One WebSocket: woken when there may be news, or when its session or its user changed."""

    woken: asyncio.Event = field(default_factory=asyncio.Event)
    news: bool = False

    def wake(self, *, news: bool) -> None:
        """Wake the listener; without `news` it only checks whether it may still listen."""
        self.news |= news
        self.woken.set()

    async def sleep(self, seconds: float) -> None:
        """Wait until the listener is woken, for `seconds` at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        self.woken.clear()


class Listeners:
    """The listeners on this instance, by user and by session."""

    def __init__(self, database: Database) -> None:
        self._by_user: dict[Any, set[Listener]] = defaultdict(set)
        self._by_session: dict[Any, set[Listener]] = defaultdict(set)
        self._queries = asyncio.Semaphore(_AT_ONCE)
        self.openings = SingleFlight()  # the devices of one user often reconnect at the same moment
        database.changes.listen(SIGNALS.name, partial(self._wake, self._by_user, True))
        # so that the end of a session takes effect at once
        database.changes.listen(SESSIONS.name, partial(self._wake, self._by_session, False))
        database.changes.listen(USERS.name, partial(self._wake, self._by_user, False))

    @contextmanager
    def listening(self, actor: Actor) -> Iterator[Listener]:
        """Register a listener for the messages of the actor while the block runs."""
        listener = Listener()
        places = ((self._by_user, actor.user_id), (self._by_session, actor.session_id))
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
        """Return the result of a query for one WebSocket; only a few such queries run at once."""
        async with self._queries:
            return await query()

    @staticmethod
    def _wake(listeners: dict[Any, set[Listener]], news: bool, id: Any) -> None:
        # None: the change stream was interrupted, so any id may have changed
        for one in [id] if id is not None else list(listeners):
            for listener in listeners.get(one, ()):
                listener.wake(news=news)


@dataclass(frozen=True)
class Opening:
    """What a WebSocket begins with: the id after which messages are sent, the unread count, and the progress."""

    last_id: Any
    unread: int
    progress: Sequence[ReadOnlyRecord]


async def live(req: Request) -> None:
    """Send `ready`, then every message after `last_id`, every change of the unread count, and progress.

    Ends with 40100 or 40300 when the session ended or the access token expired. That is checked before anything is
    sent, when the session or the user changed, and every few seconds.
    """
    seconds = req.service.settings_of(NotificationSettings).notification_check_seconds
    listeners = req.part(Listeners)
    with listeners.listening(req.actor) as listener:
        given = req.query.get("last_id")
        opening = await listeners.openings.run((req.actor.user_id, given), partial(_read_opening, req, given))
        last_id, unread = opening.last_id, opening.unread
        await req.socket.send({"type": "ready", "last_id": last_id, "unread": unread})
        await req.socket.still_allowed()
        sent = await _send_changed(req, opening.progress, {})
        if given:
            # without `last_id` nothing is pending, and later messages wake the listener
            listener.wake(news=True)
        while True:
            await listener.sleep(seconds)
            await req.socket.still_allowed()
            if listener.news:
                listener.news = False
                last_id = await _send_new(req, last_id)
                unread = await _send_unread(req, unread)
                sent = await _send_progress(req, sent)


async def _read_opening(req: Request, last_id: Any) -> Opening:
    read = req.part(Listeners).read
    return Opening(
        last_id or await read(lambda: req.part(Inbox).newest(req.actor.user_id)),
        await read(lambda: own_store(req).count({"unread": True})),
        await read(partial(_find_progress, req)),
    )


async def _send_new(req: Request, last_id: Any) -> Any:
    """Send what is newer than `last_id`, in order; return the last id that was sent."""
    read = req.part(Listeners).read
    while True:
        newer = {"_id": {"$gt": last_id}}
        rows = await read(partial(own_store(req).find, newer, sort="id", limit=_BATCH))
        for row in rows:
            # the session may have ended while the socket waited for a slow client
            await req.socket.still_allowed()
            await req.socket.send({"type": "notification", "data": _select_fields(localise(row, req.language))})
            last_id = row["id"]
        if len(rows) < _BATCH:
            return last_id


def _select_fields(message: dict[str, Any]) -> dict[str, Any]:
    return {name: message.get(name) for name in MESSAGES.all_fields}


async def _send_progress(req: Request, sent: dict[str, Any]) -> dict[str, Any]:
    """Send progress that differs from what was `sent` before; return the current progress by key."""
    return await _send_changed(req, await req.part(Listeners).read(partial(_find_progress, req)), sent)


async def _find_progress(req: Request) -> Sequence[ReadOnlyRecord]:
    mine = {"user_id": req.actor.user_id}
    return await req.system_store(PROGRESS).find(mine, sort="id", limit=_MOST_PROGRESS)


async def _send_changed(req: Request, rows: Sequence[ReadOnlyRecord], sent: dict[str, Any]) -> dict[str, Any]:
    for row in rows:
        if sent.get(row["key"]) != row["data"]:
            await req.socket.send({"type": "progress", **{name: row[name] for name in ("kind", "key", "data")}})
    return {row["key"]: row["data"] for row in rows}


async def _send_unread(req: Request, before: int) -> int:
    unread = await req.part(Listeners).read(lambda: own_store(req).count({"unread": True}))
    if unread != before:
        await req.socket.send({"type": "unread", "count": unread})
    return unread


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/notifications/ws",
        live,
        summary="Receive my new notifications over a WebSocket",
        access=SIGNED_IN,
        query={
            "last_id": object_id(
                nullable=False,
                example="000000000001000000000007",
                description="The id of the last notification that the client has; "
                "if omitted, only those that arrive from now on are sent.",
            )
        },
        socket=True,
        messages=SOCKET_MESSAGES,
        tag="notification",
        description="The token is sent in `Authorization`, or as the subprotocol `bearer.<token>`, "
        "because browsers cannot set headers here.\n"
        "The first message is `ready`. A client that reconnects with its `last_id` misses nothing.",
    ),
)
