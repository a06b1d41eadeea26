"""Actions on an approval. Each is one conditional update, so repeating an action gets 40901."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from plugins.api import CONFLICT, FORBIDDEN, ApiError, Refusal, Request, Route, conflicts, invalid, route
from plugins.api.events import APPROVAL_FINISHED
from plugins.api.ports import REFUSES_OWN, refuse_own
from plugins.approval import flow
from plugins.approval.engine import activate_node, advance, begin, build_context, save, send_reminders
from plugins.approval.flow import Approval, Assignee
from plugins.approval.instances import is_in_scope
from plugins.approval.messages import (
    ALREADY_ASKED,
    DISABLED,
    INITIATOR_ONLY,
    NO_TASK,
    NOT_ALLOWED,
    NOT_ASKED,
    NOT_OF_ONES_OWN,
    OF_A_RECORD,
    ONLY_INITIATOR,
    OTHER_FLOW,
    OWN_APPROVERS,
    TOO_FEW,
    TOO_LONG,
)
from plugins.approval.names import add_people
from plugins.approval.people import find_excluded
from plugins.approval.records import (
    ACT_BODY,
    BACK_BODY,
    DEFINITIONS,
    INITIATOR,
    INSTANCES,
    REASSIGN_BODY,
    SHOWN,
    TRANSFER_BODY,
)
from plugins.approval.requests import applies
from plugins.approval.states import STATES
from plugins.rbac.api import REFUSES_ONESELF, Directory, refuse_oneself

Step = Callable[[Request, Approval], Awaitable[None]]
_TASK_REFUSALS = conflicts(NO_TASK, NOT_ALLOWED, TOO_LONG)
_ASSIGNEE_REFUSALS = conflicts(ALREADY_ASKED, NOT_OF_ONES_OWN)
_REASSIGN_REFUSALS = (
    Refusal(FORBIDDEN, OWN_APPROVERS),
    REFUSES_ONESELF,
    *conflicts(NOT_ASKED, NOT_ALLOWED, TOO_LONG),
    *_ASSIGNEE_REFUSALS,
)


async def agree(req: Request) -> dict[str, Any]:
    """Agree, as one of the approvers of the current node."""
    return await _act(req, _agree)


async def reject(req: Request) -> dict[str, Any]:
    """Reject, as one of the approvers. `mode` and `on_reject` of the node decide what follows."""
    return await _act(req, _reject)


async def send_back(req: Request) -> dict[str, Any]:
    """Send an approval back to the initiator, or to an earlier node, whose approvers are asked again."""
    return await _act(req, _send_back)


async def transfer(req: Request) -> dict[str, Any]:
    """Transfer the caller's task to another person."""
    return await _act(req, _transfer)


async def reassign(req: Request) -> dict[str, Any]:
    """Reassign the task of a person who cannot decide, because they left, are ill or lack the permission."""
    return await _act(req, _reassign)


async def withdraw(req: Request) -> dict[str, Any]:
    """Withdraw the caller's own request."""
    return await _act(req, _withdraw)


async def submit(req: Request) -> dict[str, Any]:
    """Submit a draft or a returned request. Requests of business records are submitted at the record."""
    return await _act(req, _submit)


async def _act(req: Request, step: Step) -> dict[str, Any]:
    store = req.store(INSTANCES)

    async def work() -> dict[str, Any]:
        before = await store.get(req.path["id"])
        approval = flow.copy_approval(before)
        await step(req, approval)
        return await save(build_context(req), before, approval)

    return await add_people(req, await req.transaction(work))


async def remind(req: Request) -> dict[str, Any]:
    """Remind the approvers of the caller's own request, at most once an hour."""
    instance = await req.store(INSTANCES).get(req.path["id"])
    if instance["initiator_id"] != req.actor.user_id:
        raise ApiError(FORBIDDEN, ONLY_INITIATOR)
    _require_state(instance, "withdraw")
    await send_reminders(build_context(req), instance)
    return await add_people(req, instance)


async def _agree(req: Request, approval: Approval) -> None:
    await _decide(req, approval, "agreed", "agree")
    await advance(build_context(req), approval)


async def _reject(req: Request, approval: Approval) -> None:
    await _decide(req, approval, "rejected", "reject")
    await advance(build_context(req), approval)


async def _decide(req: Request, approval: Approval, status: str, action: str, to: str | None = None) -> None:
    """Complete the caller's task with a decision. Raises 40901 if the request is their own."""
    _get_own_task(req, approval)
    await refuse_own(req, flow.people_behind(approval))
    _complete_own_task(req, approval, status, action, to)


def _complete_own_task(req: Request, approval: Approval, status: str, action: str, to: str | None = None) -> None:
    task = _get_own_task(req, approval)
    flow.complete_task(approval, task, status, req.now, req.body.get("comment"))
    flow.add_history(approval, req.actor.user_id, action, req.now, req.body.get("comment"), to)


def _get_own_task(req: Request, approval: Approval) -> dict[str, Any]:
    task = flow.find_task(approval, req.actor.user_id) if approval["status"] == "pending" else None
    if task is None:
        raise ApiError(CONFLICT, NO_TASK)
    return task


async def _send_back(req: Request, approval: Approval) -> None:
    _get_own_task(req, approval)
    to = req.body.get("to") or INITIATOR
    if to != INITIATOR and to not in flow.earlier_nodes(approval):
        raise invalid("to", "enum")
    await _decide(req, approval, "sent_back", "send-back", to)
    if to == INITIATOR:
        flow.close(approval, STATES.after("return"), req.now)
    else:
        await activate_node(build_context(req), approval, flow.get_node(approval, to))


async def _transfer(req: Request, approval: Approval) -> None:
    _get_own_task(req, approval)
    user_id = await _get_assignee(req, approval)
    _complete_own_task(req, approval, "transferred", "transfer", str(user_id))
    flow.add_task(approval, Assignee(user_id, req.actor.user_id))


async def _reassign(req: Request, approval: Approval) -> None:
    # initiators and approvers may not choose who decides: only people with the approval in their data scope
    own = req.actor.user_id in flow.people_behind(approval) and not req.actor.is_super
    if own or not await is_in_scope(req, approval):
        raise ApiError(FORBIDDEN, OWN_APPROVERS)
    refuse_oneself(req, [req.body["user_id"]])
    _require_state(approval, "withdraw")
    task = flow.find_task(approval, req.body["from_user_id"])
    if task is None:
        raise ApiError(CONFLICT, NOT_ASKED)
    user_id = await _get_assignee(req, approval)
    flow.complete_task(approval, task, "reassigned", req.now, req.body.get("comment"))
    flow.add_history(approval, req.actor.user_id, "reassign", req.now, req.body.get("comment"), str(user_id))
    flow.add_task(approval, Assignee(user_id, task["user_id"]))


async def _get_assignee(req: Request, approval: Approval) -> int:
    """Return the new assignee from the body.

    Raises 40001 for a missing or disabled account, and 40901 for a person who was asked already or may not decide.
    """
    user_id: int = req.body["user_id"]
    user = await req.part(Directory).user(user_id)
    if user is None or user["status"] != "enabled":
        raise invalid("user_id", "reference")
    if user_id in flow.get_statuses(approval):
        raise ApiError(CONFLICT, ALREADY_ASKED)
    if user_id in await find_excluded(req.service, flow.people_behind(approval)):
        raise ApiError(CONFLICT, NOT_OF_ONES_OWN)
    return user_id


async def _withdraw(req: Request, approval: Approval) -> None:
    if approval["initiator_id"] != req.actor.user_id:
        raise ApiError(FORBIDDEN, ONLY_INITIATOR)
    _require_state(approval, "withdraw")
    flow.add_history(approval, req.actor.user_id, "withdraw", req.now, req.body.get("comment"))
    flow.close(approval, STATES.after("withdraw"), req.now)


async def _submit(req: Request, approval: Approval) -> None:
    if approval["initiator_id"] != req.actor.user_id:
        raise ApiError(FORBIDDEN, ONLY_INITIATOR)
    _require_state(approval, "submit")
    if approval["resource_id"] is not None:
        raise ApiError(CONFLICT, OF_A_RECORD)
    definition = await req.system_store(DEFINITIONS).find_one({"_id": approval["definition_id"], "enabled": True})
    if definition is None:
        raise ApiError(CONFLICT, DISABLED)
    if not await applies(req.service, definition, approval["record"]):
        raise ApiError(CONFLICT, OTHER_FLOW)
    await begin(build_context(req), approval, req.body.get("comment"))


def _require_state(approval: Approval, action: str) -> None:
    if not STATES.permits(approval, action):
        raise STATES.refuse(action)


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/approvals/instances/{id}/submit",
        submit,
        summary="Submit a request for approval",
        access="approval:instance:submit",
        body=ACT_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=(*INITIATOR_ONLY, *conflicts(OF_A_RECORD, DISABLED, OTHER_FLOW, TOO_FEW, TOO_LONG)),
    ),
    route(
        "POST /api/v1/approvals/instances/{id}/withdraw",
        withdraw,
        summary="Withdraw a request",
        access="approval:instance:withdraw",
        body=ACT_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=(*INITIATOR_ONLY, *conflicts(TOO_LONG)),
    ),
    route(
        "POST /api/v1/approvals/instances/{id}/remind",
        remind,
        summary="Remind the approvers of a request",
        title=("催办", "Remind"),
        access="approval:instance:submit",
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=INITIATOR_ONLY,
    ),
    route(
        "POST /api/v1/approvals/instances/{id}/reassign",
        reassign,
        summary="Reassign the task of somebody else",
        access="approval:instance:reassign",
        body=REASSIGN_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=_REASSIGN_REFUSALS,
    ),
    route(
        "POST /api/v1/approvals/instances/{id}/agree",
        agree,
        summary="Agree to a request",
        access="approval:task:agree",
        body=ACT_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=(*_TASK_REFUSALS, REFUSES_OWN),
        events=(APPROVAL_FINISHED,),
    ),
    route(
        "POST /api/v1/approvals/instances/{id}/reject",
        reject,
        summary="Reject a request",
        access="approval:task:reject",
        body=ACT_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=(*_TASK_REFUSALS, REFUSES_OWN),
        events=(APPROVAL_FINISHED,),
    ),
    route(
        "POST /api/v1/approvals/instances/{id}/send-back",
        send_back,
        summary="Send a request back",
        access="approval:task:send-back",
        body=BACK_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=(*_TASK_REFUSALS, REFUSES_OWN),
        events=(APPROVAL_FINISHED,),
    ),
    route(
        "POST /api/v1/approvals/instances/{id}/transfer",
        transfer,
        summary="Transfer a task to somebody else",
        access="approval:task:transfer",
        body=TRANSFER_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=(*_TASK_REFUSALS, *_ASSIGNEE_REFUSALS),
    ),
)
