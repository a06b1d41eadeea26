"""Transactions: all writes of a piece of work or none, run again when another transaction was in the way."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Awaitable, Callable, Set
from contextvars import ContextVar
from typing import Any, TypeVar

import pymongo
from pymongo.errors import PyMongoError

from config.database.errors import AWAY, DatabaseUnavailable, DuplicateKey, translated
from config.database.operations import MARGIN_SECONDS, Operations
from config.database.sessions import OpenSession, Sessions
from config.database.turns import Contested, Turn, Turns

Result = TypeVar("Result")

_TRANSIENT = "TransientTransactionError"
_BACK_OFF_SECONDS = 0.005
_MOST_BACK_OFF_SECONDS = 0.5
_MOST_BACK_OFF_IN_TURN_SECONDS = 0.03  # of each process only one is
_QUEUE_LIMITS = 2
_ABORT_SECONDS = 1.0
_GONE_SECONDS = 0.1

SESSION: ContextVar[Any] = ContextVar("database_session", default=None)  # of the transaction that runs


class Transactions:
    """The transactions of one driver, whose sessions `start` makes; `begin` starts a transaction in one."""

    def __init__(
        self, operation: Operations, start: Callable[[], Awaitable[Any]], begin: Callable[[Any], Awaitable[None]]
    ) -> None:
        self.turns = Turns()
        self.sessions = Sessions(start)
        self._operation = operation
        self._seconds = operation.seconds - MARGIN_SECONDS
        self._begin = begin

    async def run(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` in a transaction, as often as it takes.

        Those that meet at a document queue for it, for twice the time limit of an operation at most; the drivers' own
        `with_transaction` would go on for two minutes.
        """
        until = time.monotonic() + self._seconds * _QUEUE_LIMITS
        turns: set[Turn] = set()
        with translated:
            async with asyncio.timeout(self._operation.seconds):
                session = await self.sessions.open()
            try:
                while True:
                    asked = time.monotonic()
                    try:
                        async with self.turns.taken(turns, until):
                            self._operation.note_wait(asked)
                            return await self._attempts(session, work, turns)
                    except Contested as error:
                        if error.turn in turns or time.monotonic() > until:
                            raise
                        turns.add(error.turn)
            finally:
                await self.sessions.end(session)

    async def _attempts(self, session: OpenSession, work: Callable[[], Awaitable[Result]], turns: Set[Turn]) -> Result:
        """Run the transaction until it is not in conflict; raises `Contested` where one more turn is needed."""
        until = time.monotonic() + self._seconds
        most = _MOST_BACK_OFF_IN_TURN_SECONDS if turns else _MOST_BACK_OFF_SECONDS
        for attempt in itertools.count():
            pause = random.uniform(0, min(_BACK_OFF_SECONDS * 1.5**attempt, most))  # noqa: S311 - no secret
            try:
                return await self._attempt(session, work)
            except Contested as error:
                if error.turn not in turns or time.monotonic() + pause > until:
                    raise
            except PyMongoError as error:
                if not error.has_error_label(_TRANSIENT) or time.monotonic() + pause > until:
                    raise
            await asyncio.sleep(pause)
        raise AssertionError("unreachable")

    async def _attempt(self, session: OpenSession, work: Callable[[], Awaitable[Result]]) -> Result:
        await self._begin(session.handle)
        token = SESSION.set(session.handle)
        try:
            result = await work()
        except asyncio.CancelledError:
            raise  # the caller waits for nothing more; the end of the session aborts the transaction
        except BaseException as error:
            cause = error.__cause__ if isinstance(error, DatabaseUnavailable | DuplicateKey) else None
            aborted = await self._abort(session, gone=isinstance(cause, (*AWAY, TimeoutError)))
            again = cause if isinstance(cause, PyMongoError) and not isinstance(error, Contested) else error
            if not aborted and isinstance(again, PyMongoError | Contested):
                raise DatabaseUnavailable("the server did not abort the transaction in time") from error
            if again is not error:
                raise again from None
            raise
        finally:
            SESSION.reset(token)
        await self._commit(session)
        return result

    async def _commit(self, session: OpenSession) -> None:
        """Commit. While the outcome is unknown the server is asked again, which never commits twice."""
        until = time.monotonic() + self._seconds
        while True:
            try:
                with self._operation():
                    await session.run(session.handle.commit_transaction())
                return
            except (DatabaseUnavailable, PyMongoError) as error:
                cause = error if isinstance(error, PyMongoError) else error.__cause__
                if not isinstance(cause, PyMongoError):
                    raise
                if not cause.has_error_label("UnknownTransactionCommitResult") or time.monotonic() > until:
                    raise cause from None

    async def _abort(self, session: OpenSession, gone: bool) -> bool:
        """Abort the transaction; whether the server said in time that it is aborted, so that the session may go on.

        A server that is `gone` is hardly waited for: it aborts it by itself.
        """
        if not session.handle.in_transaction:
            return True
        seconds = _GONE_SECONDS if gone else _ABORT_SECONDS
        try:
            async with asyncio.timeout(seconds + MARGIN_SECONDS):
                with pymongo.timeout(seconds):
                    await session.run(session.handle.abort_transaction())
        except TimeoutError:
            return False
        return True
