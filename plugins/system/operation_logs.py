"""The operation log, as administrators read it (CONTRACT 4)."""

from __future__ import annotations

from plugins.api import OPERATION_LOGS, Page, Request
from plugins.rbac.api import of_log


async def list_operations(req: Request) -> Page:
    """A page of what was written, by whom of the people in the caller's data scope, and how it ended."""
    return await req.system_store(OPERATION_LOGS).page(req.query, await of_log(req))
