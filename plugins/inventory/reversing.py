"""What all reversals share: a document is reversed once, in its own warehouse, by somebody who keeps the warehouse."""

from __future__ import annotations

from typing import Any

from plugins.api import CONFLICT, FORBIDDEN, ApiError, Collection, Record, Refusal, Request, conflicts
from plugins.inventory.messages import ALREADY_REVERSED, NOT_KEEPER, WAREHOUSE_GONE
from plugins.inventory.record_types import Warehouse
from plugins.inventory.records import WAREHOUSES

_LINKS = ("reversed_by_id", "reverses_id", "reverses_return_id")
REVERSE_REFUSALS = (
    Refusal(FORBIDDEN, NOT_KEEPER, exempt_super=True),
    *conflicts(ALREADY_REVERSED, WAREHOUSE_GONE),
)


async def lock_document(req: Request, collection: Collection) -> Record:
    """Return the document of the path, locked until the transaction ends.

    Raises 40901 if it was already reversed, or is itself a reversal.
    """
    document = await req.lock(collection, req.path["id"])
    if any(document.get(link) is not None for link in _LINKS):
        raise ApiError(CONFLICT, ALREADY_REVERSED)
    return document


async def find_place(req: Request, id: Any) -> Warehouse:
    """Return the warehouse of a document, even a disabled one. Raises 40300 if others keep it, 40901 if it is gone."""
    if id in req.scope.withheld:
        raise ApiError(FORBIDDEN, NOT_KEEPER)
    warehouse = await req.system_store(WAREHOUSES).find_one({"_id": id})
    if warehouse is None:
        raise ApiError(CONFLICT, WAREHOUSE_GONE)
    return warehouse
