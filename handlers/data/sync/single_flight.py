"""Single-flight: of several identical executions, at most one runs and one waits.

A caller that arrives while one runs shares the next one, so no caller gets a result that is older than its call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from config.database import wait_for_shared_work
from handlers.data.sync.detached import join, start_detached

Result = TypeVar("Result")
Work = Callable[[], Awaitable[Any]]


@dataclass
class _Lane:
    running: asyncio.Task[Any]
    waiting: asyncio.Task[Any] | None = None


class SingleFlight:
    """Executions by key. Cancelling one caller does not cancel the execution for the others.

    The work must end by itself: it needs its own time limit.
    """

    def __init__(self) -> None:
        self._lanes: dict[Hashable, _Lane] = {}

    async def run(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
        """Return the result of an execution of `work` that begins no earlier than this call, or raise its exception."""
        lane = self._lanes.get(key)
        if lane is None:
            task = start_detached(self._execute(key, work))
            self._lanes[key] = _Lane(task)
        elif lane.waiting is None:
            task = lane.waiting = start_detached(self._execute_after(lane.running, key, work))
        else:
            task = lane.waiting
        result: Result = await join(task)
        return result

    async def _execute(self, key: Hashable, work: Work) -> Any:
        try:
            return await work()
        finally:
            self._start_next(key)

    async def _execute_after(self, running: asyncio.Task[Any], key: Hashable, work: Work) -> Any:
        with wait_for_shared_work():
            await asyncio.wait({running})
        return await self._execute(key, work)

    def _start_next(self, key: Hashable) -> None:
        # as soon as an execution ends, the waiting one becomes the running one, which later callers do not join
        waiting = self._lanes[key].waiting
        if waiting is None:
            del self._lanes[key]
        else:
            self._lanes[key] = _Lane(waiting)
