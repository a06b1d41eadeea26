"""Delegations: who answers for somebody who is away."""

from __future__ import annotations

from typing import Any

from plugins.api import Request, day_of, invalid
from plugins.approval.desk import TELL
from plugins.approval.messages import DELEGATED
from plugins.approval.records import DELEGATIONS


async def create(req: Request) -> dict[str, Any]:
    """From `starts_at` until `ends_at`, what the caller would be asked goes to the delegate."""
    if req.body["ends_at"] <= req.body["starts_at"]:
        raise invalid("ends_at", "minimum")
    if req.body["delegate_id"] == req.actor.user_id:
        raise invalid("delegate_id", "invalid")

    async def work() -> dict[str, Any]:
        # any colleague can be named, whatever people the caller's data scope shows
        made = await req.system_store(DELEGATIONS).create({**req.body, "user_id": req.actor.user_id})
        await _tell(req, made)
        return made

    return await req.transaction(work)


async def _tell(req: Request, made: dict[str, Any]) -> None:
    """Tell the delegate that they are asked in somebody's place, and on which days."""
    first, last = (day_of(made[name], req.service.settings.zone).isoformat() for name in ("starts_at", "ends_at"))
    title = DELEGATED.filled(name=req.actor.name or req.actor.username, first=first, last=last)
    await req.emit(
        TELL,
        user_ids=[made["delegate_id"]],
        kind="approval_delegation",
        title=title,
        body=made["reason"],
        link="/approval/tasks",
        data={"delegation_id": str(made["id"]), "user_id": made["user_id"]},
    )
