"""Shared executions: of identical work at most one runs and one waits.

Who arrives while one runs shares the next, so nobody reads a state older than their request (ARCHITECTURE 6).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from handlers.data.detached import start_detached

Result = TypeVar("Result")
Work = Callable[[], Awaitable[Any]]


@dataclass
class _Lane:
    running: asyncio.Task[Any]
    waiting: asyncio.Task[Any] | None = None


class Shared:
    """Executions by key. One outlives the requests that wait for it, so that one that goes away ends it for nobody.

    Work must come to an end by itself: a time limit is its own business. `note_wait` is the driver's: what has waited for
    another execution in vain does not wait as long again.
    """

    def __init__(self, note_wait: Callable[[float], None] | None = None) -> None:
        self._lanes: dict[Hashable, _Lane] = {}
        self._note_wait = note_wait

    async def run(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
        """The result of an execution of `work` that begins no earlier than this call; raises what it raises."""
        lane = self._lanes.get(key)
        if lane is None:
            task = _start(self._execute(key, work))
            self._lanes[key] = _Lane(task)
        elif lane.waiting is None:
            task = lane.waiting = _start(self._execute_after(lane.running, key, work))
        else:
            task = lane.waiting
        result: Result = await asyncio.shield(task)
        return result

    async def _execute(self, key: Hashable, work: Work) -> Any:
        try:
            return await work()
        finally:
            self._pass_on(key)

    async def _execute_after(self, running: asyncio.Task[Any], key: Hashable, work: Work) -> Any:
        asked = time.monotonic()
        await asyncio.wait({running})
        if self._note_wait is not None:
            self._note_wait(asked)
        return await self._execute(key, work)

    def _pass_on(self, key: Hashable) -> None:
        # at once when an execution ends: what waits becomes what runs, and nobody joins it any more
        waiting = self._lanes[key].waiting
        if waiting is None:
            del self._lanes[key]
        else:
            self._lanes[key] = _Lane(waiting)


def _start(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    task = start_detached(work)
    # retrieve the exception, so that asyncio does not log one that no caller waits for
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task
