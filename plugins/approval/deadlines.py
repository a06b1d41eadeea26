"""What happens when the time of a node is over: a reminder, other people, or a decision by rule.

Each approval is handled in a transaction of its own, and each moment once.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from plugins.api import Service, utc_now
from plugins.api.errors import DatabaseUnavailable
from plugins.api.requests import SYSTEM
from plugins.approval import flow
from plugins.approval.engine import ApprovalContext, advance, notify, save
from plugins.approval.flow import Approval, Assignee, Visit
from plugins.approval.messages import OVERDUE, REMINDED
from plugins.approval.panels import FIRST_USER
from plugins.approval.people import load_staff
from plugins.approval.records import INITIATOR, INSTANCES, MAX_STEPS
from plugins.approval.states import STATES

log = logging.getLogger("tradewind.approval")
SECONDS = 60
_AT_ONCE = 200


async def handle_due(service: Service) -> None:
    """Handle the nodes whose time is over, and remind of those that must be decided soon.

    An approval that cannot be handled is logged, is tried again a period later, and stops no other.
    """
    now = utc_now()
    due = {"status": "pending", "due": {"$lte": now}}
    for one in await service.database.store(INSTANCES).find(due, sort="id", limit=_AT_ONCE, fields=["status"]):
        context = ApprovalContext(service, SYSTEM, now)
        try:
            await service.database.transaction(partial(_handle, context, one["id"]))
        except DatabaseUnavailable:
            raise
        except Exception:
            log.exception("the time limit of an approval is not handled", extra={"approval": str(one["id"])})


async def _handle(context: ApprovalContext, id: Any) -> None:
    before = await context.store().find_one({"_id": id, "status": "pending", "due": {"$lte": context.now}})
    if before is None:
        return
    approval = flow.copy_approval(before)
    for visit in flow.current_visits(approval):
        if approval["status"] == "pending" and visit in approval["visits"]:
            await _handle_visit(context, approval, visit)
    await save(context, before, approval)


async def _handle_visit(context: ApprovalContext, approval: Approval, visit: Visit) -> None:
    waiting = {user_id for user_id, status in flow.get_statuses(approval, visit).items() if status == "pending"}
    if (remind_at := visit.get("remind_at")) is not None and remind_at <= context.now:
        visit["remind_at"] = None
        await notify(context, approval, waiting, "approval_task", REMINDED)
    if (due_at := visit.get("due_at")) is None or due_at > context.now:
        return
    visit["due_at"] = None
    await notify(context, approval, {*waiting, approval["initiator_id"]}, "approval_task", OVERDUE)
    node = flow.get_node(approval, visit["node"])
    rule = (node.get("deadline") or {}).get("then") or "remind"
    if rule == "remind" or len(approval["history"]) >= MAX_STEPS:
        return
    to = INITIATOR if rule == "return" else None
    flow.add_history(approval, context.actor.user_id, f"overdue-{rule}", context.now, None, to, node["key"])
    if rule == "escalate":
        await _escalate(context, approval, visit, waiting)
    elif rule == "return":
        flow.close(approval, STATES.after("return"), context.now)
    elif rule == "reject":
        flow.close(approval, STATES.after("return" if node["on_reject"] == "back" else "reject"), context.now)
    else:
        visit["needed"] = 0
        await advance(context, approval)


async def _escalate(context: ApprovalContext, approval: Approval, visit: Visit, waiting: set[int]) -> None:
    """Ask the nearest leader above each person who has not decided, or user 1, in their place."""
    behind = flow.people_behind(approval)
    staff = await load_staff(context.service, [], waiting, context.now, *behind)
    excluded = staff.excluded(behind)
    for user_id in sorted(waiting):
        asked = flow.get_statuses(approval, visit)
        above = (staff.delegate(one, excluded) for one in (*staff.leaders(user_id), FIRST_USER) if one not in excluded)
        chosen = next((one for one in above if one is not None and one not in asked), None)
        task = flow.find_task(approval, user_id, visit["node"])
        if chosen is not None and task is not None:
            flow.complete_task(approval, task, "reassigned", context.now, None)
            flow.add_task(approval, visit, Assignee(chosen, user_id, "leader"))
