"""Actions on an approval. Each is one conditional update, so repeating an action gets 40901."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from plugins.api import CONFLICT, FORBIDDEN, ApiError, ErrorKind, Refusal, Request, Route, conflicts, invalid, route
from plugins.api.errors import refusal
from plugins.api.events import APPROVAL_FINISHED
from plugins.api.ports import REFUSES_OWN, Authorizer, refuse_own
from plugins.approval import flow
from plugins.approval.bodies import (
    ACT_BODY,
    BACK_BODY,
    BATCH,
    BATCH_BODY,
    DECIDE_BODY,
    REASSIGN_BODY,
    SUBMIT_BODY,
    TRANSFER_BODY,
)
from plugins.approval.engine import advance, begin, build_context, give_back, load_panels, save, send_reminders
from plugins.approval.flow import Approval, Assignee, TooFew
from plugins.approval.forms import check_record
from plugins.approval.instances import is_in_scope
from plugins.approval.messages import (
    ALREADY_ASKED,
    DISABLED,
    INITIATOR_ONLY,
    NO_BRANCH,
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
from plugins.approval.people import find_excluded, load_staff
from plugins.approval.records import DEFINITIONS, INITIATOR, INSTANCES, SHOWN
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
    return await act(req, _agree)


async def reject(req: Request) -> dict[str, Any]:
    """Reject, as one of the approvers. `mode` and `on_reject` of the node decide what follows."""
    return await act(req, _reject)


async def send_back(req: Request) -> dict[str, Any]:
    """Send an approval back to the initiator, or to an earlier node, whose approvers are asked again.

    Parallel lanes that the node is not in go on. With `keep`, those who agreed in between are not asked again.
    """
    return await act(req, _send_back)


async def transfer(req: Request) -> dict[str, Any]:
    """Transfer the caller's task to another person."""
    return await act(req, _transfer)


async def reassign(req: Request) -> dict[str, Any]:
    """Reassign the task of a person who cannot decide, because they left, are ill or lack the permission."""
    return await act(req, _reassign)


async def withdraw(req: Request) -> dict[str, Any]:
    """Withdraw the caller's own request."""
    return await act(req, _withdraw)


async def submit(req: Request) -> dict[str, Any]:
    """Submit a draft or a returned request. Requests of business records are submitted at the record."""
    return await act(req, _submit)


async def act(req: Request, step: Step) -> dict[str, Any]:
    """Take one step on the approval in the path, in one transaction, and return it as it is then."""
    return await add_people(req, await change(req, req.path["id"], step))


async def change(req: Request, id: Any, step: Step) -> dict[str, Any]:
    """Take one step on an approval that the caller sees, in one transaction, and return what is stored then."""
    store = req.store(INSTANCES)

    async def work() -> dict[str, Any]:
        before = await store.get(id)
        approval = flow.copy_approval(before)
        await step(req, approval)
        return await save(build_context(req), before, approval)

    return await req.transaction(work)


async def decide_several(req: Request) -> dict[str, Any]:
    """Agree or reject several tasks of the caller, each on its own: one that is refused does not stop the others."""
    denied, step = await find_refusal(req, req.body["action"]), DECISIONS[req.body["action"]]
    req.body["comment"] = req.body.get("reason")
    items: list[dict[str, Any]] = []
    for id in req.body["ids"]:
        try:
            if denied is not None:
                raise ApiError(denied)
            saved = await change(req, id, step)
            items.append({"id": id, "code": 0, "message": "", "status": saved["status"]})
        except ApiError as failure:
            if not failure.expected:
                raise
            message = failure.reason.text(req.language)
            items.append({"id": id, "code": failure.kind.code, "message": message, "status": None})
    return {"items": items}


async def find_refusal(req: Request, action: str) -> ErrorKind | None:
    """Return why the caller may not use the route of a decision, such as `agree`, or None if they may."""
    decided = next(one for one in ROUTES if one.path.endswith(f"/{action}"))
    return await refusal(req.actor, decided, req.part(Authorizer))


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


DECISIONS: Mapping[str, Step] = {"agree": _agree, "reject": _reject}


async def _decide(req: Request, approval: Approval, status: str, action: str, to: str | None = None) -> None:
    """Complete the caller's task with a decision. Raises 40901 if the request is their own, 40001 without a comment."""
    task = get_own_task(req, approval)
    await refuse_own(req, flow.people_behind(approval))
    if not req.body.get("comment") and needs_comment(flow.get_node(approval, task["node"]), action):
        raise invalid("reason" if "ids" in req.body else "comment", "required")
    _complete_own_task(req, approval, status, action, to)


def needs_comment(node: Mapping[str, Any], action: str) -> bool:
    """Return whether a decision at this node needs a comment."""
    return node.get("reason") == "always" or (node.get("reason") == "reject" and action != "agree")


def _complete_own_task(req: Request, approval: Approval, status: str, action: str, to: str | None = None) -> None:
    task = get_own_task(req, approval)
    flow.complete_task(approval, task, status, req.now, req.body.get("comment"))
    flow.add_history(approval, req.actor.user_id, action, req.now, req.body.get("comment"), to, task["node"])


def get_own_task(req: Request, approval: Approval, status: str = "pending") -> dict[str, Any]:
    """Return the caller's pending task, of the node that the body names. Raises 40901 without one."""
    pending = approval["status"] == "pending"
    task = flow.find_task(approval, req.actor.user_id, req.body.get("node"), status) if pending else None
    if task is None:
        raise ApiError(CONFLICT, NO_TASK)
    return task


async def _send_back(req: Request, approval: Approval) -> None:
    visit = flow.visit_of(approval, get_own_task(req, approval))
    to, keep, context = req.body.get("to") or INITIATOR, bool(req.body.get("keep")), build_context(req)
    if to != INITIATOR and to not in flow.earlier_nodes(approval, visit):
        raise invalid("to", "enum")
    await _decide(req, approval, "sent_back", "send-back", to)
    if to == INITIATOR:
        approval["kept"] = [*approval["passed"]] if keep else []
        flow.close(approval, STATES.after("return"), req.now)
        return
    panels = await load_panels(context, approval)
    try:
        flow.send_back(approval, to, keep, panels, req.now)
    except TooFew as lack:
        give_back(context, approval, lack)


async def _transfer(req: Request, approval: Approval) -> None:
    task = get_own_task(req, approval)
    visit = flow.visit_of(approval, task)
    user_id = await get_assignee(req, approval, visit)
    _complete_own_task(req, approval, "transferred", "transfer", str(user_id))
    flow.add_task(approval, visit, Assignee(user_id, req.actor.user_id))


async def _reassign(req: Request, approval: Approval) -> None:
    # initiators and approvers may not choose who decides: only people with the approval in their data scope
    own = req.actor.user_id in flow.people_behind(approval) and not req.actor.is_super
    if own or not await is_in_scope(req, approval):
        raise ApiError(FORBIDDEN, OWN_APPROVERS)
    refuse_oneself(req, [req.body["user_id"]])
    _require_state(approval, "withdraw")
    task = flow.find_task(approval, req.body["from_user_id"], req.body.get("node"))
    if task is None:
        raise ApiError(CONFLICT, NOT_ASKED)
    visit, comment = flow.visit_of(approval, task), req.body.get("comment")
    user_id = await get_assignee(req, approval, visit)
    flow.complete_task(approval, task, "reassigned", req.now, comment)
    flow.add_history(approval, req.actor.user_id, "reassign", req.now, comment, str(user_id), task["node"])
    flow.add_task(approval, visit, Assignee(user_id, task["user_id"]))


async def get_assignee(req: Request, approval: Approval, visit: flow.Visit) -> int:
    """Return the new assignee from the body.

    Raises 40001 for a missing or disabled account, and 40901 for a person who was asked already or may not decide.
    """
    user_id: int = req.body["user_id"]
    user = await req.part(Directory).user(user_id)
    if user is None or user["status"] != "enabled":
        raise invalid("user_id", "reference")
    if user_id in flow.get_statuses(approval, visit):
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
    approval["record"] = await check_record(req, approval["biz_type"], approval["record"])
    if not await applies(req.service, definition, approval["record"], approval["initiator_id"]):
        raise ApiError(CONFLICT, OTHER_FLOW)
    approval["choices"] = await _read_choices(req, definition, approval)
    await begin(build_context(req), approval, req.body.get("comment"))


async def _read_choices(req: Request, definition: Mapping[str, Any], approval: Approval) -> dict[str, Any]:
    """Return the initiator's choices by node. Raises 40001 for one that the flow does not offer."""
    offered = {node["key"]: node for node in definition["nodes"] if node.get("choice")}
    staff = await load_staff(req.service, [*offered.values()], [approval["initiator_id"]], req.now)
    choices: dict[str, Any] = {}
    for number, one in enumerate(req.body.get("choices") or ()):
        node = offered.get(one["node"])
        if node is None:
            raise invalid(f"choices[{number}].node", "enum")
        if node.get("branches"):
            if one.get("branch") not in [branch["name"] for branch in node["branches"]]:
                raise invalid(f"choices[{number}].branch", "enum")
            choices[node["key"]] = one["branch"]
        else:
            named = staff.places(node["approvers"], approval["initiator_id"])
            if not one.get("users") or not {*one["users"]}.issubset(named):
                raise invalid(f"choices[{number}].users", "enum")
            choices[node["key"]] = one["users"]
    return choices


def _require_state(approval: Approval, action: str) -> None:
    if not STATES.permits(approval, action):
        raise STATES.refuse(action)


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/approvals/instances/{id}/submit",
        submit,
        summary="Submit a request for approval",
        access="approval:instance:submit",
        body=SUBMIT_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=(*INITIATOR_ONLY, *conflicts(OF_A_RECORD, DISABLED, OTHER_FLOW, NO_BRANCH, TOO_FEW, TOO_LONG)),
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
        effect=("将再次通知待处理的审批人。", "Those who are asked are notified again."),
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
        body=DECIDE_BODY,
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
        body=DECIDE_BODY,
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
    route(
        "POST /api/v1/approvals/tasks/batch",
        decide_several,
        summary="Agree to, or reject, several tasks of mine",
        title=("批量审批", "Decide on several"),
        access="approval:task:list",
        body=BATCH_BODY,
        returns=BATCH,
        refusals=(*_TASK_REFUSALS, REFUSES_OWN),
        events=(APPROVAL_FINISHED,),
    ),
)
