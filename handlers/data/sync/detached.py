"""Tasks whose result several callers share."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from config.database import create_separate_context, wait_for_shared_work

Value = TypeVar("Value")


def start_detached(work: Coroutine[Any, Any, Value]) -> asyncio.Task[Value]:
    """Start `work` outside the transaction and the log context of its caller, and with its own deadline."""
    task = asyncio.get_running_loop().create_task(work, context=create_separate_context())
    task.add_done_callback(_retrieve)
    return task


async def join(task: asyncio.Future[Value]) -> Value:
    """Return the result of shared work. Cancelling one caller does not cancel it.

    The wait ends at the deadline of the caller's request, if the database has failed it.
    """
    with wait_for_shared_work():
        return await asyncio.shield(task)


def _retrieve(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()  # so that asyncio does not log an error that no caller waits for
