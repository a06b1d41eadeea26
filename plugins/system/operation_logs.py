"""The operation log, as administrators read it (CONTRACT 4)."""

from __future__ import annotations

from plugins.api import OPERATION_LOGS, Page, Request, by_outcome
from plugins.rbac.api import of_people_seen


async def list_operations(req: Request) -> Page:
    """A page of what was written, by whom of the people in the caller's data scope, and how it ended."""
    query = dict(req.query)
    return await req.system_store(OPERATION_LOGS).page(query, by_outcome(query) | await of_people_seen(req))
