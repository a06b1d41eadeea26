"""Tasks: cancel several, and run work with a time limit."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator, Iterable
from typing import Any, TypeVar

from config.time_limits import TimeLimit

Result = TypeVar("Result")
_AGAIN_SECONDS = 0.1


async def end(tasks: Iterable[asyncio.Task[Any]], seconds: float = 5.0) -> None:
    """Cancel `tasks` and wait for their end, for `seconds` at most.

    The cancellation is repeated: a database driver may turn the first one into an error of its own, or lose it
    (`asyncio.wait_for` of Python 3.11 does when its awaitable ends at the same moment).
    """
    clock = asyncio.get_running_loop().time
    until, running = clock() + seconds, set(tasks)
    while running and clock() < until:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=_AGAIN_SECONDS)


async def within(limit: TimeLimit, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of `work`, which must end within `limit` from its first wait. Raises TimeoutError.

    Work that never waits is not measured.
    """
    try:
        waiting = work.send(None)
    except StopIteration as ended:
        result: Result = ended.value
        return result
    with limit():
        return await _rest(work, waiting)


@types.coroutine
def _rest(work: Coroutine[Any, Any, Result], waiting: Any) -> Generator[Any, Any, Result]:
    """Resume a coroutine that waits for `waiting`, and return its result."""
    while True:
        thrown: BaseException | None = None
        try:
            yield waiting
        except BaseException as error:
            thrown = error
        try:
            waiting = work.send(None) if thrown is None else work.throw(thrown)
        except StopIteration as ended:
            result: Result = ended.value
            return result
