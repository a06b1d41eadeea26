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
from plugins.approval.people import find_delegate, find_excluded, stand_in
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
    last = await find_delegate(service, delegation["delegate_id"], now, frozenset())
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
    excluded = await find_excluded(context.service, flow.people_behind(approval))
    waiting = [one for one in approval["tasks"] if one["status"] == "pending" and one["user_id"] in people]
    for task in waiting[: MAX_STEPS - len(before["history"])]:
        await _move(context, approval, task, excluded)
    if approval["tasks"] != before["tasks"]:
        await save(context, before, approval)


async def _move(context: ApprovalContext, approval: Approval, task: dict[str, Any], excluded: frozenset[int]) -> None:
    """Give a task to whoever decides in place of its person now, unless they are asked at this node already."""
    delegated = task.get("absent") == "delegate"
    owner = task["on_behalf_of"] if delegated else task["user_id"]
    now = await find_delegate(context.service, owner, context.now, excluded)
    if now is None or now == task["user_id"] or now in flow.get_statuses(approval):
        return
    flow.complete_task(approval, task, "reassigned", context.now, None)
    flow.add_history(approval, owner, "delegate", context.now, None, str(now))
    flow.add_task(approval, stand_in(now, owner))
