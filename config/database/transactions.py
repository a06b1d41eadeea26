"""Transactions: all writes of a function happen or none; it runs again after a write conflict."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
import time
from collections.abc import Awaitable, Callable, Sequence, Set
from contextvars import ContextVar
from typing import Any, TypeVar

import pymongo
from pymongo.errors import PyMongoError

from config.database.errors import AWAY, DatabaseUnavailable, DuplicateKey, translate_errors
from config.database.keyed_locks import DocumentKey, KeyedLocks, WriteConflict
from config.database.operations import MARGIN_SECONDS, Operations
from config.database.sessions import OpenSession, Sessions

Result = TypeVar("Result")

_TRANSIENT = "TransientTransactionError"
_BACK_OFF_SECONDS = 0.005
_MOST_BACK_OFF_SECONDS = 0.5
_MOST_BACK_OFF_WITH_LOCK_SECONDS = 0.03  # only one transaction of each process holds it
_ABORT_SECONDS = 2.0  # it takes milliseconds; what is not confirmed then is ended in the background
_LATE_ABORT_SECONDS = 0.5  # when no time is left to try again
_GONE_SECONDS = 0.1  # the server aborts by itself

SESSION: ContextVar[OpenSession | None] = ContextVar("database_session", default=None)  # of the current transaction


class Transactions:
    """The transactions of one driver; `start_session` opens a session and `start_transaction` starts one in it.

    `kill_sessions` makes the server end sessions, by their ids, and the transactions that are open in them.

    Sessions are those of the library, or of the wire protocol, which have the same methods.
    """

    def __init__(
        self,
        operations: Operations,
        start_session: Callable[[], Awaitable[Any]],
        start_transaction: Callable[[Any], Awaitable[None]],
        kill_sessions: Callable[[Sequence[bytes]], Awaitable[None]],
    ) -> None:
        self.locks = KeyedLocks(operations)
        self.sessions = Sessions(start_session, kill_sessions)
        self._operations = operations
        self._start_transaction = start_transaction

    async def run(self, work: Callable[[], Awaitable[Result]], *, commit: bool = True) -> Result:
        """Run `work` in a transaction, and again after each write conflict. Without `commit` it is aborted at the end.

        Transactions in conflict over a document wait for its lock and try again, together for 1.2 time limits of an
        operation; the libraries' `with_transaction` would keep trying for two minutes.
        """
        until = self._operations.end_of_conflicts()
        keys: set[DocumentKey] = set()
        with translate_errors:
            async with asyncio.timeout(self._operations.left_seconds()):
                session = await self.sessions.open()
            try:
                while True:
                    try:
                        async with self.locks.hold(keys, until):
                            return await self._retry(session, work, keys, commit, until)
                    except WriteConflict as error:
                        if error.keys <= keys or time.monotonic() > until:
                            raise
                        keys |= error.keys
            finally:
                self._operations.note_conflicts(math.inf)
                await self.sessions.end(session)

    async def _retry(
        self,
        session: OpenSession,
        work: Callable[[], Awaitable[Result]],
        keys: Set[DocumentKey],
        commit: bool,
        until: float,
    ) -> Result:
        """Run the transaction until it has no conflict; raises `WriteConflict` if it needs another lock."""
        most = _MOST_BACK_OFF_WITH_LOCK_SECONDS if keys else _MOST_BACK_OFF_SECONDS
        for attempt in itertools.count():
            pause = random.uniform(0, min(_BACK_OFF_SECONDS * 1.5**attempt, most))  # noqa: S311 - no secret
            if keys or attempt:
                self._operations.note_conflicts(until)
            try:
                return await self._attempt(session, work, commit, until)
            except WriteConflict as error:
                if not error.keys <= keys or time.monotonic() + pause > until:
                    raise
            except PyMongoError as error:
                if not error.has_error_label(_TRANSIENT) or time.monotonic() + pause > until:
                    raise
            await asyncio.sleep(pause)
        raise AssertionError("unreachable")

    async def _attempt(
        self, session: OpenSession, work: Callable[[], Awaitable[Result]], commit: bool, until: float
    ) -> Result:
        await self._start_transaction(session.handle)
        token = SESSION.set(session)
        try:
            result = await work()
        except asyncio.CancelledError:
            raise  # the caller was cancelled; the end of the session aborts the transaction
        except BaseException as error:
            aborted = await self._abort(session, until, gone=_is_gone(error))
            if not aborted and isinstance(_original(error), PyMongoError | WriteConflict):
                raise DatabaseUnavailable("the server did not abort the transaction in time") from error
            if (original := _original(error)) is not error:
                raise original from None
            raise
        finally:
            SESSION.reset(token)
        if commit:
            await self._commit(session)
        return result  # the end of the session aborts what was not committed

    async def _commit(self, session: OpenSession) -> None:
        """Commit. While the outcome is unknown, repeat the command for a time limit; it never commits twice."""
        until = time.monotonic() + self._operations.left_seconds()
        session.in_doubt = True
        for attempt in itertools.count():
            try:
                with self._operations():
                    await session.settle()
                    await session.run(session.handle.commit_transaction())
                session.in_doubt = False
                return
            except (DatabaseUnavailable, PyMongoError) as error:
                if not isinstance(_original(error), PyMongoError):
                    raise
                pause = min(_BACK_OFF_SECONDS * 1.5**attempt, _MOST_BACK_OFF_SECONDS)
                session.in_doubt = _has_label(error, "UnknownTransactionCommitResult")
                if not session.in_doubt or time.monotonic() + pause > until:
                    raise _original(error) from None
                await asyncio.sleep(pause)

    async def _abort(self, session: OpenSession, until: float, gone: bool) -> bool:
        """Abort the transaction; return whether the server confirmed it in time, so that the session can be used again.

        A server that is `gone` gets little time, as it aborts the transaction by itself. Any server gets less once the
        time `until` nears, after which the transaction does not start again.
        """
        if not session.running and not session.handle.in_transaction:
            return True
        left = max(_GONE_SECONDS, self._operations.left_seconds())
        most = max(_LATE_ABORT_SECONDS, min(_ABORT_SECONDS, until - time.monotonic()))
        seconds = _GONE_SECONDS if gone else min(most, left)
        session.in_doubt = True
        try:
            async with asyncio.timeout(seconds + MARGIN_SECONDS):
                await session.settle()
                with pymongo.timeout(seconds):
                    await session.run(session.handle.abort_transaction())
            session.in_doubt = gone or session.unanswered
        except TimeoutError:
            return False
        return True


def _original(error: BaseException) -> BaseException:
    """Return the library's exception that `error` translates, or `error` itself."""
    translated = isinstance(error, DatabaseUnavailable | DuplicateKey) and not isinstance(error, WriteConflict)
    return error.__cause__ if translated and isinstance(error.__cause__, PyMongoError) else error


def _is_gone(error: BaseException) -> bool:
    """Return whether the server cannot be reached or did not reply."""
    return isinstance(error, DatabaseUnavailable) and (
        error.silent or isinstance(error.__cause__, (*AWAY, TimeoutError))
    )


def _has_label(error: BaseException, label: str) -> bool:
    """Return whether the library's exception has this label of the server's."""
    original = _original(error)
    return isinstance(original, PyMongoError) and original.has_error_label(label)
