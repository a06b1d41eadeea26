"""Time limits for many pieces of work at once: what `asyncio.timeout` does, with one timer for all of them."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any


class TimeLimit:
    """Ends what takes longer than `seconds`, each piece counted from its own beginning.

    As all pieces have the same time, the one that began first is due first: a timer for the oldest is enough, and work
    that is over in time costs an entry in a dictionary.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._running: dict[Piece, float] = {}  # in order of beginning, with the time at which each is due
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self) -> Piece:
        """`with limit(): …` in the task that does the work; raises TimeoutError when it took too long."""
        return Piece(self)

    def begin(self, piece: Piece) -> None:
        """Count from now."""
        loop = asyncio.get_running_loop()
        due = self._running[piece] = loop.time() + self.seconds
        if self._timer is None:
            self._timer = loop.call_at(due, self._check)

    def end(self, piece: Piece) -> None:
        """The piece is over."""
        self._running.pop(piece, None)

    def _check(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        while self._running:
            piece, due = next(iter(self._running.items()))
            if due > loop.time():
                self._timer = loop.call_at(due, self._check)
                return
            del self._running[piece]
            piece.expire()


class OwnLimit:
    """Ends one piece of work after `seconds`, with a timer of its own."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self) -> Piece:
        """As with `TimeLimit`; once."""
        return Piece(self)

    def begin(self, piece: Piece) -> None:
        """Count from now."""
        self._timer = asyncio.get_running_loop().call_later(self._seconds, piece.expire)

    def end(self, piece: Piece) -> None:
        """The piece is over."""
        if self._timer is not None:
            self._timer.cancel()


class Piece:
    """Work under a limit. Cancelling from outside goes on as such, as with `asyncio.timeout`."""

    __slots__ = ("_cancelling", "_expired", "_limit", "_task")

    def __init__(self, limit: TimeLimit | OwnLimit) -> None:
        self._limit = limit
        self._expired = False

    def __enter__(self) -> None:
        task: Any = asyncio.current_task()
        if task is None:
            raise RuntimeError("a time limit needs a task to end")
        self._task = task
        self._cancelling = task.cancelling()
        self._limit.begin(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limit.end(self)
        if self._expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expire(self) -> None:
        """The time is over: end the work."""
        self._expired = True
        self._task.cancel()
