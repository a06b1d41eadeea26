"""Runs work only to see what it does: in its own transaction, which is rolled back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from handlers.data.context import DataContext
from handlers.data.sync.detached import start_detached

Result = TypeVar("Result")


class _Undone(Exception, Generic[Result]):
    """Ends the transaction without a commit, and carries what the work returned."""

    def __init__(self, result: Result) -> None:
        super().__init__()
        self.result = result


async def undone(context: DataContext, work: Callable[[], Awaitable[Result]]) -> Result:
    """Return what `work` returns, or raise what it raises; its writes are rolled back, and no listener is notified.

    The work is not part of the caller's transaction, which could only be rolled back as a whole. It may run more than
    once.
    """
    # not shielded: cancelling the caller cancels the work, so the request's time limit holds
    return await start_detached(_roll_back(context, work))


async def _roll_back(context: DataContext, work: Callable[[], Awaitable[Result]]) -> Result:
    async def work_and_end() -> None:
        raise _Undone(await work())

    try:
        await context.transaction(work_and_end)
    except _Undone as end:
        result: Result = end.result
        return result
    raise RuntimeError("a transaction that raises cannot commit")
