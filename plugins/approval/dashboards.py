"""What approval knows of the dashboards (CONTRACT 9): how many approvals are under way."""

from __future__ import annotations

from plugins.api import Dashboard, Request
from plugins.approval.records import INSTANCES
from plugins.approval.states import after


async def overview(req: Request) -> dict[str, int]:
    """The approvals that wait for an answer, of those that the caller sees: in their scope, or shared with them."""
    return {"pending_approvals": await req.store(INSTANCES).count({"status": after("submit")})}


DASHBOARDS = (Dashboard("overview", overview),)
