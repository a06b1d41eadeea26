"""Time limits for many blocks of code at once: like `asyncio.timeout`, but with one timer for all of them."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any, Protocol

_AGAIN_SECONDS = 0.1


class Limit(Protocol):
    """Decides when a block expires."""

    def begin(self, block: LimitedBlock) -> None:
        """Note that the block begins; later call its `expire` if it still runs."""

    def end(self, block: LimitedBlock) -> None:
        """Note that the block ended."""


class TimeLimit:
    """Cancels every block that takes longer than `seconds`.

    As all blocks have the same limit, the one that began first expires first. So one timer for the oldest is enough,
    and a block that ends in time costs only an entry in a dictionary.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._running: dict[
            LimitedBlock, float
        ] = {}  # in the order in which they began, with the time at which each expires
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self) -> LimitedBlock:
        """Return a context manager for the task that does the work; it raises TimeoutError if that takes too long."""
        return LimitedBlock(self)

    def begin(self, block: LimitedBlock) -> None:
        """Start timing the block."""
        self._running[block] = time.monotonic() + self.seconds
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._check)

    def end(self, block: LimitedBlock) -> None:
        """Stop timing the block."""
        self._running.pop(block, None)

    def _check(self) -> None:
        self._timer = None
        while self._running:
            block, due = next(iter(self._running.items()))
            left = due - time.monotonic()
            if left > 0:
                self._timer = asyncio.get_running_loop().call_later(left, self._check)
                return
            del self._running[block]
            block.expire()


class OwnLimit:
    """Cancels one block after `seconds`, with its own timer."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self) -> LimitedBlock:
        """Return a context manager, as `TimeLimit` does; use it only once."""
        return LimitedBlock(self)

    def begin(self, block: LimitedBlock) -> None:
        """Start timing the block."""
        self._timer = asyncio.get_running_loop().call_later(self._seconds, block.expire)

    def end(self, block: LimitedBlock) -> None:
        """Stop timing the block."""
        if self._timer is not None:
            self._timer.cancel()


class LimitedBlock:
    """Code under a time limit. Cancelling its task from outside stays a cancellation, as with `asyncio.timeout`."""

    __slots__ = ("_again", "_cancelling", "_cancels", "_limit", "_task")

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._cancels = 0
        self._again: asyncio.TimerHandle | None = None

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
        if not self._cancels:
            return
        if self._again is not None:
            self._again.cancel()
        left = min(self._task.uncancel() for _ in range(self._cancels))
        if left <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expire(self) -> None:
        """Cancel the block, as its time is over; repeat this until it ends, as a library may swallow a cancellation."""
        self._cancels += 1
        self._task.cancel()
        self._again = asyncio.get_running_loop().call_later(_AGAIN_SECONDS, self.expire)
