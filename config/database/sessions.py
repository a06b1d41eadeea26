"""The sessions in which transactions run: those that are open, and how each one ends."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pymongo
from pymongo.errors import PyMongoError

from config.database.errors import DatabaseUnavailable

Result = TypeVar("Result")

log = logging.getLogger("tradewind.database")
_END_SECONDS = 2.0  # an unreachable server ends the transaction by itself
_LIFETIME_SECONDS = 60.0  # `transactionLifetimeLimitSeconds` of the server
_AGAIN_SECONDS = 0.5


@dataclass(eq=False)
class OpenSession:
    """A session: `handle` is the library's own, `running` are the commands in it that have not ended.

    `in_doubt`: the server may still have its transaction open, as it has confirmed neither a commit nor an abort. A
    session runs one command at a time: whoever ends its transaction must `settle` it first.
    """

    handle: Any
    running: set[asyncio.Future[Any]] = field(default_factory=set)
    in_doubt: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def id(self) -> bytes:
        """Its `lsid.id`: a UUID."""
        return bytes(self.handle.session_id["id"])

    @property
    def unanswered(self) -> bool:
        """Whether a command had no reply; the libraries do not report it."""
        return bool(getattr(self.handle, "unanswered", False))

    async def settle(self) -> None:
        """Wait for the commands whose callers were cancelled."""
        if self.running:
            await asyncio.wait(self.running)

    async def run(self, command: Awaitable[Result]) -> Result:
        """Return the result of a command of the session. Cancelling the caller does not cancel the command."""
        task = asyncio.ensure_future(command)
        self.running.add(task)
        task.add_done_callback(self._discard)
        return await asyncio.shield(task)

    def _discard(self, task: asyncio.Future[Any]) -> None:
        self.running.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log an error that no caller awaits


class Sessions:
    """The sessions of one driver; `start` opens one, and `kill` makes the server end those with the given ids.

    To end a session with an open transaction, a library calls the server to abort it; Motor does so on the event loop
    (`AgnosticClientSession.__aexit__`), which then blocks until a primary is found. So such a session ends in a
    background task, after the commands whose callers were cancelled. A transaction that the server may still have open
    would block the documents that it changed for a minute, so its session is killed, which changes nothing that is
    committed.
    """

    def __init__(self, start: Callable[[], Awaitable[Any]], kill: Callable[[Sequence[bytes]], Awaitable[None]]) -> None:
        self._start = start
        self._kill = kill
        self._in_doubt: set[bytes] = set()
        self._killing: asyncio.Task[None] | None = None
        self._open: set[OpenSession] = set()
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def ids(self) -> list[bytes]:
        """The `lsid.id` of each open session: a UUID."""
        return [session.id for session in self._open]

    async def open(self) -> OpenSession:
        """Open a session. The caller must `end` it."""
        session = OpenSession(await self._start())
        self._open.add(session)
        return session

    async def end(self, session: OpenSession) -> None:
        """End `session`. Does not wait for the server."""
        if session.running or session.handle.in_transaction or session.in_doubt:
            # in an empty context, outside any request, transaction or time limit
            task = asyncio.get_running_loop().create_task(self._end_later(session), context=Context())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
        else:
            self._open.discard(session)
            await session.handle.__aexit__(None, None, None)

    async def _end_later(self, session: OpenSession) -> None:
        try:
            await session.settle()
            if session.in_doubt:
                # first, as a library then gives the session to others, whose commands would be killed with it
                await self._kill_in_doubt(session.id)
            with pymongo.timeout(_END_SECONDS):
                await session.handle.end_session()
            if session.unanswered and not session.in_doubt:
                await self._kill_in_doubt(session.id)
        except PyMongoError as error:
            log.info("a session could not be ended", extra={"reason": str(error)[:200]})
        finally:
            self._open.discard(session)

    async def _kill_in_doubt(self, id: bytes) -> None:
        """Wait until the server has ended the session; one task asks it to end all those in doubt."""
        self._in_doubt.add(id)
        while id in self._in_doubt:
            if self._killing is None or self._killing.done():
                self._killing = asyncio.get_running_loop().create_task(self._kill_all_in_doubt())
            await asyncio.wait({self._killing})

    async def _kill_all_in_doubt(self) -> None:
        """Ask the server to end the sessions in doubt, until it replies or has ended their transactions by itself."""
        until = time.monotonic() + _LIFETIME_SECONDS
        while self._in_doubt and time.monotonic() < until:
            ids = list(self._in_doubt)
            try:
                await self._kill(ids)
                self._in_doubt.difference_update(ids)
            except (DatabaseUnavailable, PyMongoError):
                await asyncio.sleep(_AGAIN_SECONDS)
        self._in_doubt.clear()

    async def close(self, seconds: float) -> None:
        """Wait for the sessions that are ending, for `seconds` at most."""
        if self._ending:
            _, late = await asyncio.wait(self._ending, timeout=seconds)
            for task in late | ({self._killing} if late and self._killing is not None else set()):
                task.cancel()
