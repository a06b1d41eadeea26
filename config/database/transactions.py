"""Transactions: all writes of a piece of work or none, run again when another transaction was in the way."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections.abc import Awaitable, Callable, Set
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

import pymongo
from pymongo.errors import PyMongoError

from config.database.errors import AWAY, DatabaseUnavailable, DuplicateKey, translated
from config.database.turns import Contested, Turn, Turns

Result = TypeVar("Result")

_TRANSIENT = "TransientTransactionError"
_BACK_OFF_SECONDS = 0.005
_MOST_BACK_OFF_SECONDS = 0.5
_MOST_BACK_OFF_IN_TURN_SECONDS = 0.03  # of each process only one is
_QUEUE_LIMITS = 2
_GONE_SECONDS = 0.1
MARGIN_SECONDS = 0.2

SESSION: ContextVar[Any] = ContextVar("database_session", default=None)  # of the transaction that runs


class Transactions:
    """The transactions of one driver, whose sessions `start` makes; `begin` starts a transaction in one."""

    def __init__(
        self, seconds: float, start: Callable[[], Awaitable[Any]], begin: Callable[[Any], Awaitable[None]]
    ) -> None:
        self.turns = Turns()
        self._seconds = seconds
        self._start = start
        self._begin = begin

    async def run(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` in a transaction, as often as it takes.

        Those that meet at a document queue for it, for twice the time limit of an operation at most; the drivers' own
        `with_transaction` would go on for two minutes.
        """
        until = time.monotonic() + self._seconds * _QUEUE_LIMITS
        turns: set[Turn] = set()
        with translated:
            async with asyncio.timeout(self._seconds + MARGIN_SECONDS):
                opened = await self._start()
            async with opened as session:
                while True:
                    try:
                        async with self.turns.taken(turns, until):
                            return await self._attempts(session, work, turns)
                    except Contested as error:
                        if error.turn in turns or time.monotonic() > until:
                            raise
                        turns.add(error.turn)

    async def _attempts(self, session: Any, work: Callable[[], Awaitable[Result]], turns: Set[Turn]) -> Result:
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

    async def _attempt(self, session: Any, work: Callable[[], Awaitable[Result]]) -> Result:
        await self._begin(session)
        token = SESSION.set(session)
        try:
            result = await work()
        except BaseException as error:
            cause = error.__cause__ if isinstance(error, DatabaseUnavailable | DuplicateKey) else None
            await _abort(session, gone=isinstance(cause, (*AWAY, TimeoutError)))
            if isinstance(cause, PyMongoError) and not isinstance(error, Contested):
                raise cause from None
            raise
        finally:
            SESSION.reset(token)
        async with asyncio.timeout(self._seconds + MARGIN_SECONDS):
            await self._commit(session)
        return result

    async def _commit(self, session: Any) -> None:
        """Commit; asked again while the outcome is unknown, which never commits twice."""
        until = time.monotonic() + self._seconds
        while True:
            try:
                await session.commit_transaction()
                return
            except PyMongoError as error:
                if not error.has_error_label("UnknownTransactionCommitResult") or time.monotonic() > until:
                    raise


async def _abort(session: Any, gone: bool) -> None:
    """Give a transaction up; a server that is `gone` is not waited for once more, it ends it by itself."""
    if session.in_transaction:
        with pymongo.timeout(_GONE_SECONDS) if gone else nullcontext():
            await session.abort_transaction()
