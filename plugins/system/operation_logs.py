"""The operation log, as administrators read it."""

from __future__ import annotations

from plugins.api import Page, Request, Route, route
from plugins.api.ports import OPERATION_LOGS
from plugins.api.records import Catalogue
from plugins.rbac.api import OUTCOME, log_filter


async def list_operations(req: Request) -> Page:
    """Return a page of the write requests by users in the caller's data scope, with their outcome."""
    page = await req.system_store(OPERATION_LOGS).page(req.query, await log_filter(req))
    summaries = req.part(Catalogue).summaries
    for entry in page.items:
        known = summaries.get(f"{entry['method']} {entry['route']}")
        entry["summary"] = known.text(req.language) if known else entry["summary"]
    return page


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/operation-logs",
        list_operations,
        summary="List the operation log",
        access="system:operation-log:list",
        query={**OPERATION_LOGS.list_query, "outcome": OUTCOME},
        record=OPERATION_LOGS,
        paged=True,
    ),
)
