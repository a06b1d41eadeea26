"""The stock ledger as a list."""

from __future__ import annotations

from plugins.api import Page, Request, Route, route
from plugins.inventory.records import STOCK_ENTRIES


async def list_entries(req: Request) -> Page:
    """List the movements in the warehouses whose stock the caller sees."""
    return await req.store(STOCK_ENTRIES).page(req.query)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/inventory/stock/ledger",
        list_entries,
        summary="List the movements of the stock ledger",
        access="inventory:stock:ledger",
        paged=True,
        query=STOCK_ENTRIES.list_query,
        record=STOCK_ENTRIES,
    ),
)
