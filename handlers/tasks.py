"""Ending background tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

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
