"""Delegations: who answers for somebody who is away."""

from __future__ import annotations

from typing import Any

from plugins.api import Request, invalid
from plugins.approval.records import DELEGATIONS


async def create(req: Request) -> dict[str, Any]:
    """From `starts_at` until `ends_at`, what the caller would be asked goes to the delegate."""
    if req.body["ends_at"] <= req.body["starts_at"]:
        raise invalid("ends_at", "minimum")
    if req.body["delegate_id"] == req.actor.user_id:
        raise invalid("delegate_id", "invalid")
    # any colleague can be named, whatever people the caller's data scope shows
    return await req.system_store(DELEGATIONS).create({**req.body, "user_id": req.actor.user_id})
