"""The operation log, which is written in the background."""

from __future__ import annotations

from handlers.operations.operation_log import OperationLog
from plugins.boot.runtime import Running
from plugins.testing import eventually


async def until_logged(running: Running) -> None:
    """Wait until the entries of all requests that have had their response are stored."""
    queue = running.service.part(OperationLog)

    async def written() -> bool:
        # entries are queued before the response is sent, so an empty queue means that all are stored
        return queue.waiting == 0

    await eventually(written)
