"""Moves approvals from node to node to their outcome, stores them, and notifies people and plugins.

All of it runs in the caller's transaction, so an approval, its notifications and what business plugins do with the
outcome are stored together or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from plugins.api import CONFLICT, NOTIFY, Actor, ApiError, Event, Message, Request, Service, Store
from plugins.api.events import APPROVAL_FINISHED
from plugins.approval import flow
from plugins.approval.flow import Approval
from plugins.approval.messages import ASKED, COPIED, ENDED, NOT_ALLOWED, REMINDED, TOO_FEW
from plugins.approval.people import resolve_approvers, resolve_people
from plugins.approval.records import DEFINITIONS, INITIATOR, INSTANCES
from plugins.approval.states import STATES

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

    Raises 40901 if the first node has fewer people than must agree.
    """
    definition = await context.service.database.store(DEFINITIONS).get(approval["definition_id"])
    approval.update(
        status=STATES.after("submit"), nodes=definition["nodes"], submitted_at=context.now, finished_at=None
    )
    approval["copied"] = await resolve_people(context.service, definition["copies"], approval["initiator_id"])
    first = approval["nodes"][0]
    panel = await resolve_approvers(context.service, first, approval, context.now)
    if not panel.is_complete:
        raise ApiError(CONFLICT, TOO_FEW.filled(node=first["name"]))
    flow.add_history(approval, context.actor.user_id, "submit", context.now, comment)
    flow.ask(approval, first, panel)


async def activate_node(context: ApprovalContext, approval: Approval, node: Mapping[str, Any]) -> None:
    """Make a node the current one, and ask the people who are its approvers now.

    If they are fewer than must agree, the approval goes back to the initiator.
    """
    panel = await resolve_approvers(context.service, node, approval, context.now)
    if panel.is_complete:
        flow.ask(approval, node, panel)
        return
    reason = TOO_FEW.filled(node=node["name"]).zh
    flow.add_history(approval, context.actor.user_id, "return", context.now, reason, INITIATOR)
    flow.close(approval, STATES.after("return"), context.now)


async def advance(context: ApprovalContext, approval: Approval) -> None:
    """Move on to the next node or to the outcome, if the decisions at the current node suffice."""
    result = flow.evaluate(approval)
    if result == "agreed":
        node = flow.next_node(approval)
        if node is None:
            flow.close(approval, STATES.after("approve"), context.now)
        else:
            await activate_node(context, approval, node)
    elif result == "rejected":
        back = flow.get_node(approval, approval["node"])["on_reject"] == "back"
        flow.close(approval, STATES.after("return" if back else "reject"), context.now)


async def save(context: ApprovalContext, before: Mapping[str, Any], approval: Approval) -> dict[str, Any]:
    """Store an approval in one conditional update, and notify people. Raises 40901 if it was changed meanwhile."""
    where = {"version": before["version"], "status": before["status"]}
    # only changed fields: otherwise a deleted flow would fail the check of references
    values = {name: value for name, value in flow.select_stored(approval).items() if value != before.get(name)}
    saved = await context.store().update(before["id"], values, where=where, reason=NOT_ALLOWED)
    await notify_changes(context, before, saved)
    return saved


async def send_reminders(context: ApprovalContext, instance: Mapping[str, Any]) -> None:
    """Remind the current approvers, at most once an hour."""
    key = f"approval:{instance['id']}:{instance['round']}:{context.now:%Y%m%d%H}"
    await _notify(context, instance, set(instance["todo"]), "approval_task", REMINDED, key=key)


async def notify_changes(context: ApprovalContext, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Notify people who were asked or copied since `before`; at the end, notify the initiator and emit the outcome."""
    await _notify(context, now, set(now["todo"]) - _already_asked(before, now), "approval_task", ASKED)
    if now["status"] == "pending" != before["status"]:
        await _notify(context, now, set(now["copied"]), "approval_copy", COPIED)
    if before["status"] == "pending" != now["status"]:
        await _finish(context, now)


def _already_asked(before: Mapping[str, Any], now: Mapping[str, Any]) -> set[int]:
    """Return the people who had been asked before in the same round."""
    return set(before["todo"]) if before["round"] == now["round"] else set()


async def _finish(context: ApprovalContext, instance: Mapping[str, Any]) -> None:
    outcome = STATES.states[instance["status"]]
    if instance["initiator_id"] != context.actor.user_id:
        ended = Message(ENDED.zh.replace("{outcome}", outcome.zh), ENDED.en.replace("{outcome}", outcome.en.lower()))
        await _notify(context, instance, {instance["initiator_id"]}, "approval_result", ended)
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


async def _notify(
    context: ApprovalContext, instance: Mapping[str, Any], to: set[int], kind: str, sentence: Message, **more: str
) -> None:
    if not to:
        return
    id, title = str(instance["id"]), instance["title"]
    data = {"instance_id": id, "biz_type": instance["biz_type"], "resource_id": instance["resource_id"]}
    text = Message(sentence.zh.replace("{title}", title), sentence.en.replace("{title}", title))
    await context.emit(NOTIFY, user_ids=sorted(to), kind=kind, title=text, link=_LINK.format(id=id), data=data, **more)
