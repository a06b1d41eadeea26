"""The driver's sessions that transactions run in: those that are open, and how each comes to its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any

import pymongo
from pymongo.errors import PyMongoError

log = logging.getLogger("tradewind.database")
_END_SECONDS = 2.0  # a server that is out of reach for longer ends the transaction by itself


@dataclass(eq=False)
class OpenSession:
    """A session: `handle` is the driver's own, `running` the commands of it that are not over."""

    handle: Any
    running: set[asyncio.Future[Any]] = field(default_factory=set)

    async def run(self, command: Awaitable[Any]) -> None:
        """Wait for a command of the session. Who stops waiting leaves it to its own end."""
        task = asyncio.ensure_future(command)
        self.running.add(task)
        task.add_done_callback(self._over)
        await asyncio.wait({task})
        await task

    def _over(self, task: asyncio.Future[Any]) -> None:
        self.running.discard(task)
        if not task.cancelled():
            task.exception()  # asyncio would log the error of a command that nobody waits for any more


class Sessions:
    """The sessions of one driver, which `start` makes.

    To end a session with an open transaction, a driver asks the server to abort it; Motor does so on the event loop
    (`AgnosticClientSession.__aexit__`), which then stands still until a primary is found. So such a session ends in a
    task that nobody waits for, and not before the commands that were given up in it are over.
    """

    def __init__(self, start: Callable[[], Awaitable[Any]]) -> None:
        self._start = start
        self._open: set[OpenSession] = set()
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def ids(self) -> list[bytes]:
        """The `lsid.id` of each open session: a UUID."""
        return [bytes(session.handle.session_id["id"]) for session in self._open]

    async def open(self) -> OpenSession:
        """A new session. Whoever opens it must `end` it."""
        session = OpenSession(await self._start())
        self._open.add(session)
        return session

    async def end(self, session: OpenSession) -> None:
        """End `session`. Does not wait for the server."""
        if session.running or session.handle.in_transaction:
            # a context of its own: it belongs to no request, transaction or time limit
            task = asyncio.get_running_loop().create_task(self._end_later(session), context=Context())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
        else:
            self._open.discard(session)
            await session.handle.__aexit__(None, None, None)

    async def _end_later(self, session: OpenSession) -> None:
        try:
            if session.running:
                await asyncio.wait(session.running)
            with pymongo.timeout(_END_SECONDS):
                await session.handle.end_session()
        except PyMongoError as error:
            log.info("a session could not be ended", extra={"reason": str(error)[:200]})
        finally:
            self._open.discard(session)

    async def close(self, seconds: float) -> None:
        """Wait for the sessions that are about to end, for `seconds` at most."""
        if self._ending:
            await asyncio.wait(self._ending, timeout=seconds)
