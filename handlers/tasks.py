"""Ending background tasks, and work with a time limit."""

from __future__ import annotations

import asyncio
import types
from collections.abc import Coroutine, Generator, Iterable
from typing import Any, TypeVar

Result = TypeVar("Result")
_AGAIN_SECONDS = 0.1


async def end(tasks: Iterable[asyncio.Task[Any]], seconds: float = 5.0) -> None:
    """Cancel `tasks` and wait for their end, for `seconds` at most.

    They are asked again and again: a database driver may answer the first cancellation with an error of its own, or
    lose it (`asyncio.wait_for` of Python 3.11 does when its awaitable ends at the same moment).
    """
    clock = asyncio.get_running_loop().time
    until, running = clock() + seconds, set(tasks)
    while running and clock() < until:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=_AGAIN_SECONDS)


async def within(seconds: float, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, which has so long from the first time that it waits; raises TimeoutError.

    Work that never waits costs no timer.
    """
    try:
        waiting = work.send(None)
    except StopIteration as ended:
        result: Result = ended.value
        return result
    async with asyncio.timeout(seconds):
        return await _rest(work, waiting)


@types.coroutine
def _rest(work: Coroutine[Any, Any, Result], waiting: Any) -> Generator[Any, Any, Result]:
    """Go on with a coroutine that waits for `waiting`."""
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
