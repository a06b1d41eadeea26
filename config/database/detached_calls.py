"""Calls of a library whose coroutines must not be cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class DetachedCalls:
    """Runs up to `most` calls at once, each in its own task, which runs to its end."""

    def __init__(self, most: int) -> None:
        self._slots = asyncio.Semaphore(most)
        self._running: set[asyncio.Future[Any]] = set()

    async def run(self, call: Coroutine[Any, Any, Result], before: set[asyncio.Future[Any]] | None = None) -> Result:
        """Return the result of `call`. Cancelling the caller cancels the call only if it has not begun.

        It begins after all calls in `before`, and is one of them until it ends.
        """
        try:
            await self._slots.acquire()
        except BaseException:
            call.close()  # nobody awaits it
            raise
        try:
            while before:
                await asyncio.wait(before)
        except BaseException:
            self._slots.release()
            call.close()
            raise
        task = asyncio.create_task(call)
        for running in (self._running,) if before is None else (self._running, before):
            running.add(task)
            task.add_done_callback(running.discard)
        task.add_done_callback(self._free_slot)
        return await asyncio.shield(task)

    def _free_slot(self, task: asyncio.Task[Any]) -> None:
        self._slots.release()
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log an error that no caller awaits

    async def end(self) -> None:
        """Wait for the running calls."""
        if self._running:
            await asyncio.wait(self._running)
