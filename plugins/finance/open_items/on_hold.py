"""The open items of documents that are on hold, such as orders that the customer disputes."""

from __future__ import annotations

from collections.abc import Sequence

from plugins.api import Request
from plugins.api.records import Catalogue
from plugins.finance.open_items.entries import PARTY_FIELDS
from plugins.finance.open_items.records import OPEN_ITEMS
from plugins.finance.record_types import OpenItem

_HELD = {"on_hold": True}


async def find_held_items(req: Request) -> Sequence[OpenItem]:
    """Return ids and parties of the receivables of documents on hold, whether the caller may see them or not."""
    items: list[OpenItem] = []
    for biz_type, collection in req.service.part(Catalogue).biz_types.items():
        if "on_hold" not in collection.fields:
            continue
        held = await req.system_store(collection).find(_HELD, fields=("version",))
        theirs = {"biz_type": biz_type, "resource_id": {"$in": [str(row["id"]) for row in held]}, "direction": "out"}
        items += await req.system_store(OPEN_ITEMS).find(theirs, fields=PARTY_FIELDS) if held else []
    return items
