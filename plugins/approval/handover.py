"""Handover of approvals: open tasks, requests that wait for their initiator, delegations, and places in flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from plugins.api import CONFLICT, FORBIDDEN, ApiError, Message, Record
from plugins.api.records import Holding, Move
from plugins.approval import flow
from plugins.approval.engine import ApprovalContext, advance, build_context, save
from plugins.approval.flow import Approval, Assignee
from plugins.approval.messages import NOT_OF_ONES_OWN, OWN_APPROVERS, TOO_FEW
from plugins.approval.panels import get_rule
from plugins.approval.people import load_staff
from plugins.approval.records import DEFINITIONS, DELEGATIONS, INSTANCES


def _refuse_own(move: Move, approvals: Sequence[Record]) -> None:
    """Raise 40300 if one is a request of whoever hands over, because nobody chooses who decides on their own."""
    actor = move.req.actor
    if not actor.is_super and any(actor.user_id in flow.people_behind(one) for one in approvals):
        raise ApiError(FORBIDDEN, OWN_APPROVERS)


async def _move_places(move: Move, approvals: Sequence[Record]) -> None:
    _refuse_own(move, approvals)
    await _replace_approver(move, approvals)


async def _replace_approver(move: Move, records: Sequence[Record]) -> None:
    """Put the receiver in place of the person; a node still needs as many people if the receiver was named already."""
    for before in records:
        values = move.replaced(before)
        nodes = zip(before["nodes"], values["nodes"], strict=True)
        await move.store.update(
            before["id"], {"nodes": [{**node, "mode": _keep_count(old, node)} for old, node in nodes]}
        )


def _keep_count(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    named, left = ([*(node["approvers"].get("users") or ())] for node in (before, after))
    mode, approvers = str(after["mode"]), after["approvers"]
    if mode != "all" or len(left) == len(named) or approvers.get("roles"):
        return mode
    leaders = [name for name in ("department_leader", "initiator_leader") if approvers.get(name)]
    return f"quorum:{min(len(named) + len(leaders), 99)}"


async def _move_tasks(move: Move, approvals: Sequence[Record]) -> None:
    _refuse_own(move, approvals)
    for before in approvals:
        approval = flow.copy_approval(before)
        _end_advice(approval, move)
        while (task := _find_task(approval, move.from_id)) is not None:
            await _reassign(build_context(move.req), approval, task, move)
        if approval["status"] == before["status"] and approval["round"] == before["round"]:
            # the receiver is notified of the handover as a whole, not of each task
            changes = {name: value for name, value in flow.select_stored(approval).items() if value != before.get(name)}
            await move.store.update(before["id"], changes)
        else:
            await save(build_context(move.req), before, approval)


def _find_task(approval: Approval, user_id: int) -> dict[str, Any] | None:
    """Return a task of the person, also one that waits for an added signer."""
    return flow.find_task(approval, user_id) or flow.find_task(approval, user_id, status="waiting")


def _end_advice(approval: Approval, move: Move) -> None:
    """Cancel what the person was asked for advice about: nobody else gives it for them."""
    while (task := flow.find_task(approval, move.from_id, status="advice")) is not None:
        flow.complete_task(approval, task, "cancelled", move.req.now, None)


async def _reassign(context: ApprovalContext, approval: Approval, task: dict[str, Any], move: Move) -> None:
    """Give the task to the receiver, or to a substitute if the receiver was asked already or may not decide on it.

    The substitute is not the one who hands over, unless they are a super administrator.
    """
    visit, behind = flow.visit_of(approval, task), flow.people_behind(approval)
    node = flow.get_node(approval, task["node"])
    staff = await load_staff(context.service, [node], [approval["initiator_id"]], context.now, *behind)
    actor = () if context.actor.is_super else [context.actor.user_id]
    excluded = staff.excluded(behind).union([move.from_id], actor)
    asked = flow.get_statuses(approval, visit).keys()
    substitutes = staff.substitutes(node, approval["initiator_id"], excluded)
    chosen = next((one for one in (move.to_id, *substitutes) if one not in excluded and one not in asked), None)
    before = task["status"]
    flow.complete_task(approval, task, "reassigned", context.now, None)
    left = flow.get_statuses(approval, visit).values()
    enough = node["mode"] == "any" and not {"pending", "waiting"}.isdisjoint(left)
    if move.to_id in asked and enough:
        chosen = None  # one decision is enough, and the receiver is asked for it already
    to = str(chosen) if chosen is not None else None
    flow.add_history(approval, context.actor.user_id, "reassign", context.now, None, to, task["node"])
    if chosen is not None:
        rule = None if chosen == move.to_id else get_rule(node)
        flow.add_task(approval, visit, Assignee(chosen, move.from_id, rule), before)
    elif not flow.get_statuses(approval, visit):
        raise ApiError(CONFLICT, NOT_OF_ONES_OWN)
    elif not flow.can_pass(approval, visit):
        raise ApiError(CONFLICT, TOO_FEW.filled(node=node["name"]))
    else:
        await advance(context, approval)


async def _move_requests(move: Move, approvals: Sequence[Record]) -> None:
    for before in approvals:
        # it only grows: the author does not decide on what they wrote
        behind = sorted({*flow.people_behind(before), move.to_id})
        shared = sorted({*(before.get("shared_with") or ()), move.to_id})
        await move.store.update(before["id"], {"initiator_id": move.to_id, "behind": behind, "shared_with": shared})


async def _end_delegations(move: Move, delegations: Sequence[Record]) -> None:
    """Delete the delegations by the person: the receiver is asked in their place from now on."""
    for one in delegations:
        await move.store.delete(one["id"])


async def _move_delegations(move: Move, delegations: Sequence[Record]) -> None:
    for one in delegations:
        if one["user_id"] == move.to_id:
            await move.store.delete(one["id"])  # nobody stands in for themselves
        else:
            await move.store.update(one["id"], move.replaced(one))


def _asked(user_id: int, now: datetime) -> Mapping[str, Any]:
    waiting = {"status": "pending", "tasks": {"$elemMatch": {"user_id": user_id, "status": "waiting"}}}
    return {"$or": [{"todo": user_id}, waiting]}


def _waiting(user_id: int, now: datetime) -> Mapping[str, Any]:
    # requests of business records are submitted again at the record, by whoever is responsible for it
    return {"initiator_id": user_id, "status": {"$in": ["draft", "returned"]}, "resource_id": None}


def _to_be_asked(user_id: int, now: datetime) -> Mapping[str, Any]:
    return {"status": "pending", "nodes.approvers.users": user_id}


def _to_substitute(user_id: int, now: datetime) -> Mapping[str, Any]:
    return {"status": "pending", "nodes.substitutes.users": user_id}


_SUBSTITUTE = Message("替补审批人", "Substitute")
_APPROVER = Message("审批人", "Approver")
HOLDINGS = (
    # before the tasks, so that the nodes that follow ask the receiver
    Holding(DEFINITIONS, "nodes.approvers.users", _replace_approver, label=_APPROVER, decides=True),
    Holding(DEFINITIONS, "nodes.substitutes.users", label=_SUBSTITUTE, decides=True),
    Holding(DEFINITIONS, "nodes.copies.users", label=Message("节点抄送人", "Copied person of a node"), decides=True),
    Holding(DEFINITIONS, "copies.users", label=Message("抄送人", "Copied person"), decides=True),
    Holding(INSTANCES, "nodes.approvers.users", _move_places, _to_be_asked, label=_APPROVER, decides=True),
    Holding(INSTANCES, "nodes.substitutes.users", _move_places, _to_substitute, label=_SUBSTITUTE, decides=True),
    Holding(INSTANCES, "tasks.user_id", _move_tasks, _asked, decides=True),
    Holding(INSTANCES, "initiator_id", _move_requests, _waiting),
    Holding(DELEGATIONS, "user_id", _end_delegations, lambda id, now: {"user_id": id, "ends_at": {"$gt": now}}),
    Holding(
        DELEGATIONS,
        "delegate_id",
        _move_delegations,
        lambda id, now: {"delegate_id": id, "ends_at": {"$gt": now}},
        decides=True,
    ),
)
