"""Delegations: who decides in place of somebody who is away."""

from __future__ import annotations

from plugins.api import NOTIFY, Request, Route, crud, day_of, invalid
from plugins.approval.engine import build_context
from plugins.approval.messages import DELEGATED
from plugins.approval.record_types import ApprovalDelegation
from plugins.approval.records import DELEGATIONS
from plugins.approval.standing_in import settle


async def create(req: Request) -> ApprovalDelegation:
    """Create a delegation. From `starts_at` until `ends_at`, tasks of the caller go to the delegate.

    Tasks that wait move at the start; whoever is back gets those that wait then.
    """
    if req.body["ends_at"] <= req.body["starts_at"]:
        raise invalid("ends_at", "minimum")
    if req.body["delegate_id"] == req.actor.user_id:
        raise invalid("delegate_id", "invalid")

    async def work() -> ApprovalDelegation:
        # without data scope: any colleague can be the delegate
        made = await req.system_store(DELEGATIONS).create({**req.body, "user_id": req.actor.user_id})
        await _notify_delegate(req, made)
        return made

    made = await req.transaction(work)
    await settle(build_context(req), made)
    return made


async def revoke(req: Request) -> None:
    """Delete a delegation: the caller gets back the tasks that wait for the delegate."""
    before = await req.store(DELEGATIONS).get(req.path["id"])
    await req.store(DELEGATIONS).delete(before["id"])
    await settle(build_context(req), before)


async def _notify_delegate(req: Request, made: ApprovalDelegation) -> None:
    """Notify the delegate about whom they stand in for, and on which days."""
    first, last = (day_of(made[name], req.service.settings.zone).isoformat() for name in ("starts_at", "ends_at"))
    title = DELEGATED.filled(name=req.actor.name or req.actor.username, first=first, last=last)
    await req.emit(
        NOTIFY,
        user_ids=[made["delegate_id"]],
        kind="approval_delegation",
        title=title,
        body=made["reason"],
        link="/approval/tasks",
        data={"delegation_id": str(made["id"]), "user_id": made["user_id"]},
    )


ROUTES: tuple[Route, ...] = crud(
    DELEGATIONS,
    at="/api/v1/approvals/delegations",
    resource="approval:delegation",
    only=("list", "read", "create", "delete"),
    without=("restore",),  # people can delegate only their own tasks
    create=create,
    delete=revoke,
)
