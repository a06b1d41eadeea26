"""Customers that look the same: a warning, never a refusal."""

from __future__ import annotations

from typing import Any

from plugins.api import Request, array, integer, obj, object_id, text
from plugins.crm.customer_keys import name_key, phone_key
from plugins.crm.records import CUSTOMERS

MOST = 50
CANDIDATE = obj(
    "DuplicateCandidate",
    {
        "id": object_id(nullable=False),
        "name": text(max_length=200, nullable=False),
        "code": text(max_length=64),
        "phone": text(max_length=50),
        "owner_id": integer(minimum=1),
        "matches": array(text(max_length=10), max_items=2, nullable=False, description="`name`, `phone` or both."),
    },
    nullable=False,
)
CANDIDATES = array(CANDIDATE, max_items=MOST, nullable=False)
QUERY = {
    "name": text(max_length=200, nullable=False, example="晨光科技"),
    "phone": text(max_length=50, nullable=False, example="021-5555 0100"),
}


async def find(req: Request) -> list[dict[str, Any]]:
    """The customers in the caller's sight whose name or phone is the same but for spelling."""
    return await candidates(req, req.query.get("name"), req.query.get("phone"), MOST)


async def candidates(req: Request, name: str | None, phone: str | None, limit: int) -> list[dict[str, Any]]:
    """Customers that the caller sees with this name or this phone, the oldest first."""
    keys = {"name": name_key(name), "phone": phone_key(phone)}
    wanted = [{f"{field}_key": key} for field, key in keys.items() if key]
    if not wanted:
        return []
    rows = await req.store(CUSTOMERS).find({"$or": wanted}, sort="created_at", limit=limit)
    return [
        {**row, "matches": [field for field, key in keys.items() if key and row.get(f"{field}_key") == key]}
        for row in rows
    ]
