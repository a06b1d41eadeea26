"""Moves tasks that wait to whoever stands in for a person now, and back once the delegation is over.

Each approval is settled in a transaction of its own. Doing it again changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from plugins.api import Service, utc_now
from plugins.api.requests import SYSTEM
from plugins.approval import flow
from plugins.approval.engine import ApprovalContext, save
from plugins.approval.flow import Approval
from plugins.approval.panels import Staff, stand_in
from plugins.approval.people import load_staff
from plugins.approval.records import DELEGATIONS, INSTANCES, MAX_STEPS

SECONDS = 60
_STATES = ("started", "ended")


async def settle_due(service: Service) -> None:
    """Settle the delegations that started or ended since they were settled last."""
    now, store = utc_now(), service.database.store(DELEGATIONS)
    running = {"starts_at": {"$lte": now}, "ends_at": {"$gt": now}, "settled": {"$nin": _STATES}}
    for one in await store.find({"$or": [running, {"ends_at": {"$lte": now}, "settled": "started"}]}):
        await settle(ApprovalContext(service, SYSTEM, now), one)


async def settle(context: ApprovalContext, delegation: Mapping[str, Any]) -> None:
    """Give the tasks of both people of a delegation to whoever decides in their place now."""
    service, now = context.service, context.now
    staff = await load_staff(service, [], [delegation["user_id"], delegation["delegate_id"]], now)
    last = staff.delegate(delegation["delegate_id"], frozenset())
    people = sorted({delegation["user_id"], delegation["delegate_id"], last or delegation["delegate_id"]})
    for one in await service.database.store(INSTANCES).find({"todo": {"$in": people}}):
        await service.database.transaction(partial(_settle_one, context, one["id"], frozenset(people)))
    if delegation["starts_at"] <= now:
        change = {"$set": {"settled": _STATES[delegation["ends_at"] <= now]}}
        await service.database.store(DELEGATIONS).update_many({"_id": delegation["id"]}, change, unversioned=True)


async def _settle_one(context: ApprovalContext, id: Any, people: frozenset[int]) -> None:
    before = await context.store().find_one({"_id": id, "status": "pending"})
    if before is None or len(before["history"]) >= MAX_STEPS:
        return
    approval = flow.copy_approval(before)
    waiting = [one for one in approval["tasks"] if one["status"] == "pending" and one["user_id"] in people]
    owners = {_owner_of(task) for task in waiting}
    staff = await load_staff(context.service, [], owners, context.now, *flow.people_behind(approval))
    for task in waiting[: MAX_STEPS - len(before["history"])]:
        _move(context, approval, task, staff)
    if approval["tasks"] != before["tasks"]:
        await save(context, before, approval)


def _owner_of(task: Mapping[str, Any]) -> int:
    """Return the person whose task it is, whoever decides in their place."""
    return int(task["on_behalf_of"] if task.get("absent") == "delegate" else task["user_id"])


def _move(context: ApprovalContext, approval: Approval, task: dict[str, Any], staff: Staff) -> None:
    """Give a task to whoever decides in place of its person now, unless they are asked at this node already."""
    owner, visit = _owner_of(task), flow.visit_of(approval, task)
    now = staff.delegate(owner, staff.excluded(flow.people_behind(approval)))
    if now is None or now == task["user_id"] or now in flow.get_statuses(approval, visit):
        return
    flow.complete_task(approval, task, "reassigned", context.now, None)
    flow.add_history(approval, owner, "delegate", context.now, None, str(now), task["node"])
    flow.add_task(approval, visit, stand_in(now, owner))
