"""What people do with an approval. Each is one conditional update; a second tap finds no pending task: 40901."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from plugins.api import CONFLICT, FORBIDDEN, ApiError, Request, invalid, refuse_own
from plugins.approval import flow
from plugins.approval.desk import begin, desk_of, judge, reach, remind_of, save
from plugins.approval.flow import Asked, Case
from plugins.approval.instances import in_scope
from plugins.approval.messages import (
    ALREADY_ASKED,
    DISABLED,
    NO_TASK,
    NOT_ALLOWED,
    NOT_ASKED,
    NOT_OF_ONES_OWN,
    OF_A_RECORD,
    ONLY_INITIATOR,
    OWN_APPROVERS,
)
from plugins.approval.names import with_people
from plugins.approval.people import left_out
from plugins.approval.records import DEFINITIONS, INITIATOR, INSTANCES
from plugins.approval.states import STATES, after
from plugins.rbac.api import Directory

Step = Callable[[Request, Case], Awaitable[None]]


async def agree(req: Request) -> dict[str, Any]:
    """Agree to what the caller is asked."""
    return await _act(req, _agree)


async def reject(req: Request) -> dict[str, Any]:
    """Refuse it; what that leads to is the node's mode and its `on_reject`."""
    return await _act(req, _reject)


async def send_back(req: Request) -> dict[str, Any]:
    """Send it back to the initiator, or to an earlier node, whose people are asked again."""
    return await _act(req, _send_back)


async def transfer(req: Request) -> dict[str, Any]:
    """Let somebody else answer in the caller's place."""
    return await _act(req, _transfer)


async def reassign(req: Request) -> dict[str, Any]:
    """Let somebody answer in the place of a person who cannot: gone, ill, or without the permission."""
    return await _act(req, _reassign)


async def withdraw(req: Request) -> dict[str, Any]:
    """Take one's own request back."""
    return await _act(req, _withdraw)


async def submit(req: Request) -> dict[str, Any]:
    """Ask for approval of a draft, or again of what came back; what belongs to a record is submitted there."""
    return await _act(req, _submit)


async def _act(req: Request, step: Step) -> dict[str, Any]:
    store = req.store(INSTANCES)

    async def work() -> dict[str, Any]:
        before = await store.get(req.path["id"])
        case = flow.opened(before)
        await step(req, case)
        return await save(desk_of(req), before, case)

    return await with_people(req, await req.transaction(work))


async def remind(req: Request) -> dict[str, Any]:
    """Remind who is asked of one's own request; each of them is told once an hour."""
    instance = await req.store(INSTANCES).get(req.path["id"])
    if instance["initiator_id"] != req.actor.user_id:
        raise ApiError(FORBIDDEN, ONLY_INITIATOR)
    _refuse_unless(instance, "withdraw")
    await remind_of(desk_of(req), instance)
    return await with_people(req, instance)


async def _agree(req: Request, case: Case) -> None:
    await _decide(req, case, "agreed", "agree")
    await judge(desk_of(req), case)


async def _reject(req: Request, case: Case) -> None:
    await _decide(req, case, "rejected", "reject")
    await judge(desk_of(req), case)


async def _decide(req: Request, case: Case, status: str, action: str, to: str | None = None) -> None:
    """Answer the caller's task; 40901 where it is about their own request, which only another may answer."""
    _own_task(req, case)
    await refuse_own(req, flow.people_behind(case))
    _answered(req, case, status, action, to)


def _answered(req: Request, case: Case, status: str, action: str, to: str | None = None) -> None:
    task = _own_task(req, case)
    flow.answer(case, task, status, req.now, req.body.get("comment"))
    flow.note(case, req.actor.user_id, action, req.now, req.body.get("comment"), to)


def _own_task(req: Request, case: Case) -> dict[str, Any]:
    task = flow.task_of(case, req.actor.user_id) if case["status"] == "pending" else None
    if task is None:
        raise ApiError(CONFLICT, NO_TASK)
    return task


async def _send_back(req: Request, case: Case) -> None:
    _own_task(req, case)
    to = req.body.get("to") or INITIATOR
    if to != INITIATOR and to not in flow.earlier_nodes(case):
        raise invalid("to", "enum")
    await _decide(req, case, "sent_back", "send-back", to)
    if to == INITIATOR:
        flow.close(case, after("return"), req.now)
    else:
        await reach(desk_of(req), case, flow.node_of(case, to))


async def _transfer(req: Request, case: Case) -> None:
    _own_task(req, case)
    user_id = await _successor(req, case)
    _answered(req, case, "transferred", "transfer", str(user_id))
    flow.add_task(case, Asked(user_id, req.actor.user_id))


async def _reassign(req: Request, case: Case) -> None:
    # who sees it because they ask or are asked has no say in who is asked
    own = req.actor.user_id in flow.people_behind(case) and not req.actor.is_super
    if own or not await in_scope(req, case):
        raise ApiError(FORBIDDEN, OWN_APPROVERS)
    _refuse_unless(case, "withdraw")
    task = flow.task_of(case, req.body["from_user_id"])
    if task is None:
        raise ApiError(CONFLICT, NOT_ASKED)
    user_id = await _successor(req, case)
    flow.answer(case, task, "reassigned", req.now, req.body.get("comment"))
    flow.note(case, req.actor.user_id, "reassign", req.now, req.body.get("comment"), str(user_id))
    flow.add_task(case, Asked(user_id, task["user_id"]))


async def _successor(req: Request, case: Case) -> int:
    """Who is to be asked instead, by the body: somebody enabled who is not asked yet, and may be."""
    user_id: int = req.body["user_id"]
    user = await req.part(Directory).user(user_id)
    if user is None or user["status"] != "enabled":
        raise invalid("user_id", "reference")
    if user_id in flow.asked_now(case):
        raise ApiError(CONFLICT, ALREADY_ASKED)
    if user_id in await left_out(req.service, flow.people_behind(case)):
        raise ApiError(CONFLICT, NOT_OF_ONES_OWN)
    return user_id


async def _withdraw(req: Request, case: Case) -> None:
    if case["initiator_id"] != req.actor.user_id:
        raise ApiError(FORBIDDEN, ONLY_INITIATOR)
    _refuse_unless(case, "withdraw")
    flow.note(case, req.actor.user_id, "withdraw", req.now, req.body.get("comment"))
    flow.close(case, after("withdraw"), req.now)


async def _submit(req: Request, case: Case) -> None:
    if case["initiator_id"] != req.actor.user_id:
        raise ApiError(FORBIDDEN, ONLY_INITIATOR)
    _refuse_unless(case, "submit")
    if case["resource_id"] is not None:
        raise ApiError(CONFLICT, OF_A_RECORD)
    definition = await req.system_store(DEFINITIONS).find_one({"_id": case["definition_id"], "enabled": True})
    if definition is None:
        raise ApiError(CONFLICT, DISABLED)
    await begin(desk_of(req), case, req.body.get("comment"))


def _refuse_unless(case: Case, action: str) -> None:
    if case["status"] not in STATES.transitions[action][0]:
        raise ApiError(CONFLICT, NOT_ALLOWED)
