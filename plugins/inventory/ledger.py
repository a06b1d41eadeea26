"""The stock ledger as a list."""

from __future__ import annotations

from plugins.api import Page, Request
from plugins.inventory.records import STOCK_ENTRIES


async def list_entries(req: Request) -> Page:
    """The movements in the warehouses that the caller sees."""
    return await req.store(STOCK_ENTRIES).page(req.query)
