"""The operation log, as administrators read it."""

from __future__ import annotations

from plugins.api import OPERATION_LOGS, Page, Request, Route, route
from plugins.rbac.api import OUTCOME, log_filter


async def list_operations(req: Request) -> Page:
    """Return a page of the write requests by users in the caller's data scope, with their outcome."""
    return await req.system_store(OPERATION_LOGS).page(req.query, await log_filter(req))


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/operation-logs",
        list_operations,
        summary="What was written, by whom",
        access="system:operation-log:list",
        query={**OPERATION_LOGS.list_query, "outcome": OUTCOME},
        record=OPERATION_LOGS,
        paged=True,
    ),
)
