"""Dashboards of approval: the number of pending approvals."""

from __future__ import annotations

from plugins.api import Dashboard, Request
from plugins.approval.records import INSTANCES
from plugins.approval.states import STATES


async def overview(req: Request) -> dict[str, int]:
    """The number of pending approvals that the caller may see."""
    return {"pending_approvals": await req.store(INSTANCES).count({"status": STATES.after("submit")})}


DASHBOARDS = (Dashboard("overview", overview),)
