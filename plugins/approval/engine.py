"""Moves approvals from node to node to their outcome, stores them, and notifies people and plugins.

All of it runs in the caller's transaction, so an approval, its notifications and what business plugins do with the
outcome are stored together or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from plugins.api import CONFLICT, NOTIFY, Actor, ApiError, Event, Message, Request, Service, Store
from plugins.api.events import APPROVAL_FINISHED
from plugins.api.ports import WorkingTime
from plugins.approval import flow
from plugins.approval.conditions import matches
from plugins.approval.facts import conditions_of, gather_facts
from plugins.approval.flow import Approval, TooFew
from plugins.approval.messages import ASKED, COPIED, ENDED, NO_BRANCH, NOT_ALLOWED, REMINDED, REPLACED, TOO_FEW
from plugins.approval.people import load_staff
from plugins.approval.records import DEFINITIONS, INSTANCES
from plugins.approval.states import STATES
from plugins.approval.tree import Node, Path, find_path

_LINK = "/approval/instances/{id}"


@dataclass(frozen=True)
class ApprovalContext:
    """Who acts on an approval, when, and in which request."""

    service: Service
    actor: Actor
    now: datetime
    request: Request | None = None

    def store(self) -> Store:
        """Return the store of all approvals, which notes the actor in changes."""
        return self.service.database.store(INSTANCES, self.actor, now=self.now)

    async def emit(self, event: Event, **payload: Any) -> None:
        """Emit an event to other plugins."""
        await self.service.events.emit(event, {"request": self.request, **payload})


def build_context(req: Request) -> ApprovalContext:
    """Return the context of a request."""
    return ApprovalContext(req.service, req.actor, req.now, req)


async def begin(context: ApprovalContext, approval: Approval, comment: str | None = None) -> None:
    """Start an approval, or start it again, with the current definition of its flow.

    Nodes whose agreement is kept are not asked again if they are as they were. Raises 40901 if no branch of a node
    applies, or if a node that is reached at once has fewer people than must agree.
    """
    definition = await context.service.database.store(DEFINITIONS).get(approval["definition_id"])
    path = await plan(context.service, definition, approval["record"], approval["initiator_id"], approval["choices"])
    if path.open_node is not None or not path.nodes:
        name = next((one["name"] for one in definition["nodes"] if one["key"] == path.open_node), definition["name"])
        raise ApiError(CONFLICT, NO_BRANCH.filled(node=name))
    before = {node["key"]: node for node in approval["nodes"]}
    approval.update(
        status=STATES.after("submit"),
        nodes=path.nodes,
        taken=path.taken,
        kept=[node["key"] for node in path.nodes if node["key"] in approval["kept"] and before[node["key"]] == node],
        repeated=definition.get("repeated") or "ask",
        submitted_at=context.now,
        finished_at=None,
        visits=[],
    )
    staff = await load_staff(context.service, [*path.nodes, definition], *_about(context, approval))
    approval["copied"] = staff.named(definition["copies"], approval["initiator_id"])
    flow.add_history(approval, context.actor.user_id, "submit", context.now, comment)
    try:
        flow.start(approval, partial(staff.panel, approval=approval), context.now)
    except TooFew as lack:
        raise ApiError(CONFLICT, TOO_FEW.filled(node=lack.node["name"])) from None


async def plan(
    service: Service,
    definition: Mapping[str, Any],
    record: Mapping[str, Any],
    initiator_id: int,
    choices: Mapping[str, Any],
) -> Path:
    """Return the nodes of a flow that a record goes through: of each node with branches, the first one that applies.

    If the node lets the initiator choose, and they named one that applies, it is that one.
    """
    conditions = conditions_of(definition)
    facts = await gather_facts(service, definition["biz_type"], conditions, record, initiator_id)
    return find_path(definition["nodes"], partial(choose_branch, facts, choices))


def choose_branch(facts: Mapping[str, Any], choices: Mapping[str, Any], node: Node) -> int | None:
    """Return the index of the branch of a node that a request with these facts takes, or None."""
    applying = [at for at, branch in enumerate(node["branches"]) if matches(branch["conditions"], facts)]
    chosen = choices.get(node["key"]) if node.get("choice") else None
    return next((at for at in applying if node["branches"][at]["name"] == chosen), applying[0] if applying else None)


def _about(context: ApprovalContext, approval: Approval) -> tuple[Any, ...]:
    return [approval["initiator_id"]], context.now, *flow.people_behind(approval)


async def load_panels(context: ApprovalContext, approval: Approval) -> flow.Panels:
    """Return the function that says whom a node of this approval asks now."""
    staff = await load_staff(context.service, approval["nodes"], *_about(context, approval))
    return partial(staff.panel, approval=approval)


async def advance(context: ApprovalContext, approval: Approval) -> None:
    """Move on to the next nodes or to the outcome, if the decisions at the current nodes suffice.

    If a next node has fewer people than must agree, the approval goes back to the initiator.
    """
    if all(flow.evaluate(approval, visit) == "pending" for visit in flow.current_visits(approval)):
        return
    panels = await load_panels(context, approval)
    try:
        flow.settle(approval, panels, context.now)
    except TooFew as lack:
        give_back(context, approval, lack)


def give_back(context: ApprovalContext, approval: Approval, lack: TooFew) -> None:
    """Return an approval to the initiator because a node has too few people."""
    reason = TOO_FEW.filled(node=lack.node["name"]).zh
    flow.give_back(approval, context.actor.user_id, lack.node, reason, context.now)


async def save(context: ApprovalContext, before: Mapping[str, Any], approval: Approval) -> dict[str, Any]:
    """Store an approval in one conditional update, and notify people. Raises 40901 if it was changed meanwhile."""
    where = {"version": before["version"], "status": before["status"]}
    await _set_deadlines(context, approval)
    # only changed fields: otherwise a deleted flow would fail the check of references
    values = {name: value for name, value in flow.select_stored(approval).items() if value != before.get(name)}
    saved = await context.store().update(before["id"], values, where=where, reason=NOT_ALLOWED)
    await notify_changes(context, before, saved)
    return saved


async def _set_deadlines(context: ApprovalContext, approval: Approval) -> None:
    """Set by when the current nodes must be decided, and when the approval is looked at next because of it."""
    moments = []
    for visit in flow.current_visits(approval):
        deadline = flow.get_node(approval, visit["node"]).get("deadline") if visit["needed"] else None
        if deadline and "due_at" not in visit:
            working, since = context.service.part(WorkingTime), visit.get("since") or context.now
            early = deadline["hours"] - (deadline.get("remind") or 0)
            visit["due_at"] = await working.after(since, timedelta(hours=deadline["hours"]))
            visit["remind_at"] = await working.after(since, timedelta(hours=early)) if deadline.get("remind") else None
        moments += [moment for moment in (visit.get("remind_at"), visit.get("due_at")) if moment is not None]
    approval["due"] = min(moments, default=None)


async def send_reminders(context: ApprovalContext, instance: Mapping[str, Any]) -> None:
    """Remind the current approvers, at most once an hour."""
    key = f"approval:{instance['id']}:{instance['round']}:{context.now:%Y%m%d%H}"
    await notify(context, instance, set(instance["todo"]), "approval_task", REMINDED, key=key)


async def notify_changes(context: ApprovalContext, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Notify people who were asked or copied since `before`; at the end, notify the initiator and emit the outcome."""
    asked = {task["user_id"] for task in now["tasks"] if task["status"] == "pending"}
    await notify(context, now, asked - _already_asked(before, now), "approval_task", ASKED)
    known = set(before["copied"]) if before["status"] == "pending" else set()
    if now["status"] == "pending" or before["status"] == "pending":
        await notify(context, now, set(now["copied"]) - known, "approval_copy", COPIED)
        await notify(context, now, _concerned(before, now), "approval_task", REPLACED)
    if before["status"] == "pending" != now["status"]:
        await _finish(context, now)


def _already_asked(before: Mapping[str, Any], now: Mapping[str, Any]) -> set[int]:
    """Return the people who had been asked before in the same visits."""
    if before["status"] != "pending":
        return set()
    known = {task["round"] for task in before["tasks"]}
    again = {task["user_id"] for task in now["tasks"] if task["status"] == "pending" and task["round"] not in known}
    return {task["user_id"] for task in before["tasks"] if task["status"] == "pending"} - again


def _concerned(before: Mapping[str, Any], now: Mapping[str, Any]) -> set[int]:
    """Return the initiator and the people in whose place others are asked, by a rule and only now."""
    by_rule = [
        task
        for task in now["tasks"][len(before["tasks"]) :]
        if task.get("absent") not in (None, "delegate") and task["status"] == "pending"
    ]
    absent = {task["on_behalf_of"] for task in by_rule if task["on_behalf_of"] is not None}
    return {now["initiator_id"], *absent} if by_rule else set()


async def _finish(context: ApprovalContext, instance: Mapping[str, Any]) -> None:
    outcome = STATES.states[instance["status"]]
    if instance["initiator_id"] != context.actor.user_id:
        ended = Message(ENDED.zh.replace("{outcome}", outcome.zh), ENDED.en.replace("{outcome}", outcome.en.lower()))
        await notify(context, instance, {instance["initiator_id"]}, "approval_result", ended)
    if instance["resource_id"] is not None:
        last = instance["history"][-1]
        await context.emit(
            APPROVAL_FINISHED,
            biz_type=instance["biz_type"],
            resource_id=instance["resource_id"],
            outcome=instance["status"],
            by=context.actor.user_id,
            reason=last["comment"],
            instance_id=str(instance["id"]),
        )


async def notify(
    context: ApprovalContext, instance: Mapping[str, Any], to: set[int], kind: str, sentence: Message, **more: str
) -> None:
    """Notify people, if there are any, of an approval."""
    if to:
        await context.emit(NOTIFY, user_ids=sorted(to), kind=kind, **message_about(instance, sentence), **more)


def message_about(instance: Mapping[str, Any], sentence: Message) -> dict[str, Any]:
    """Return the title, the link and the data of a notification about an approval."""
    id, title = str(instance["id"]), instance["title"]
    return {
        "title": Message(sentence.zh.replace("{title}", title), sentence.en.replace("{title}", title)),
        "link": _LINK.format(id=id),
        "data": {"instance_id": id, "biz_type": instance["biz_type"], "resource_id": instance["resource_id"]},
    }
