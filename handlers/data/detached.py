"""Starts tasks whose result several callers share."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context
from typing import Any, TypeVar

from config.database import begin_waiting

Value = TypeVar("Value")


def start_detached(work: Coroutine[Any, Any, Value]) -> asyncio.Task[Value]:
    """Start `work` outside the transaction and the log context of its caller, and with its own time limit.

    While the database does not reply, the operations of the work share one time limit, as those of one request do.
    """
    context = Context()
    context.run(begin_waiting)
    return asyncio.get_running_loop().create_task(work, context=context)
