"""What people do about an approval besides deciding: add a signer, ask for advice, advise, and comment."""

from __future__ import annotations

from typing import Any

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    NOTIFY,
    ApiError,
    Message,
    Refusal,
    Request,
    Route,
    conflicts,
    invalid,
    route,
)
from plugins.api.ports import AttachedFile, Attachments
from plugins.approval import flow
from plugins.approval.actions import act, get_assignee, get_own_task
from plugins.approval.bodies import ADVICE_BODY, ADVISE_BODY, COMMENT_BODY, SIGNER_BODY
from plugins.approval.engine import build_context, give_back, load_panels, message_about
from plugins.approval.flow import Approval, Assignee, TooFew
from plugins.approval.messages import (
    ADDED_NODE,
    ADVICE,
    ADVISED,
    ALREADY_ASKED,
    MENTIONED,
    NO_ADVICE,
    NO_TASK,
    NOT_CONCERNED,
    NOT_OF_ONES_OWN,
    TOO_LONG,
    TOO_MANY_NODES,
)
from plugins.approval.people import filter_enabled
from plugins.approval.records import INSTANCES, SHOWN
from plugins.approval.tree import MAX_NODES, insert_node


async def add_signer(req: Request) -> dict[str, Any]:
    """Let one more person agree, before or after the node of the caller's task; before it, its tasks wait meanwhile."""
    return await act(req, _add_signer)


async def ask_advice(req: Request) -> dict[str, Any]:
    """Ask a person for advice about the caller's task. They decide nothing, and the approval does not wait for them."""
    return await act(req, _ask_advice)


async def advise(req: Request) -> dict[str, Any]:
    """Give the advice that the caller was asked for."""
    return await act(req, _advise)


async def comment(req: Request) -> dict[str, Any]:
    """Comment on an approval. Whoever is mentioned is told, and may read the approval and its record from then on."""
    return await act(req, _comment)


async def _add_signer(req: Request, approval: Approval) -> None:
    task = get_own_task(req, approval)
    visit, node = flow.visit_of(approval, task), flow.get_node(approval, task["node"])
    user_id, context = await get_assignee(req, approval, visit), build_context(req)
    if len(approval["nodes"]) >= MAX_NODES:
        raise ApiError(CONFLICT, TOO_MANY_NODES)
    keys = {one["key"] for one in approval["nodes"]}
    signer = {
        "key": next(key for number in range(1, MAX_NODES + 1) if (key := f"added-{number}") not in keys),
        "name": ADDED_NODE.filled(node=node["name"]).zh[:100],
        "approvers": {"users": [user_id]},
        "mode": "all",
        "absent": node.get("absent"),
        "substitutes": node.get("substitutes"),
        "on_reject": node["on_reject"],
    }
    after = req.body["place"] == "after"
    approval["nodes"] = insert_node(approval["nodes"], signer, node["key"], after)
    action, said = f"add-signer-{req.body['place']}", req.body.get("comment")
    flow.add_history(approval, req.actor.user_id, action, req.now, said, str(user_id), node["key"])
    if after:
        return
    panels = await load_panels(context, approval)
    try:
        flow.wait_for(approval, visit, signer, panels, req.now)
    except TooFew as lack:
        give_back(context, approval, lack)


async def _ask_advice(req: Request, approval: Approval) -> None:
    task = get_own_task(req, approval)
    visit, user_id = flow.visit_of(approval, task), await get_assignee(req, approval, flow.visit_of(approval, task))
    if flow.find_task(approval, user_id, status="advice") is not None:
        raise ApiError(CONFLICT, ALREADY_ASKED)
    said = req.body.get("comment")
    flow.add_history(approval, req.actor.user_id, "ask-advice", req.now, said, str(user_id), task["node"])
    flow.add_task(approval, visit, Assignee(user_id, req.actor.user_id), "advice")
    await _tell(req, approval, [user_id], ADVICE)


async def _advise(req: Request, approval: Approval) -> None:
    task = flow.find_task(approval, req.actor.user_id, status="advice")
    if task is None:
        raise ApiError(CONFLICT, NO_ADVICE)
    flow.complete_task(approval, task, "advised", req.now, req.body["comment"])
    flow.add_history(approval, req.actor.user_id, "advise", req.now, req.body["comment"], None, task["node"])
    await _tell(req, approval, [task["on_behalf_of"]], ADVISED)


async def _comment(req: Request, approval: Approval) -> None:
    takes_part = {*flow.people_behind(approval), *approval["todo"], *approval["done"], *approval["mentioned"]}
    if req.actor.user_id not in takes_part and not req.actor.is_super:
        raise ApiError(FORBIDDEN, NOT_CONCERNED)
    mentions = req.body.get("mentions") or []
    if len(await filter_enabled(req.service, mentions)) != len(mentions):
        raise invalid("mentions", "reference")
    approval["mentioned"] = sorted({*approval["mentioned"], *mentions})
    approval["shared_with"] = sorted({*approval["shared_with"], *mentions})
    to = ",".join(map(str, mentions)) or None
    step = flow.add_history(approval, req.actor.user_id, "comment", req.now, req.body["comment"], to)
    step["attachments"] = await _keep_files(req, approval)
    await _tell(req, approval, [one for one in mentions if one != req.actor.user_id], MENTIONED)


async def _keep_files(req: Request, approval: Approval) -> list[AttachedFile] | None:
    """Return the files that the body names. Raises 40001 for one that is not attached to the approval."""
    ids = req.body.get("attachments")
    if not ids:
        return None
    found = await req.part(Attachments).keep("APPROVAL", str(approval["id"]), ids)
    if len(found) != len(ids):
        raise invalid("attachments", "reference")
    return found


async def _tell(req: Request, approval: Approval, people: list[int], sentence: Message) -> None:
    if people:
        about = message_about(approval, sentence)
        await req.emit(NOTIFY, user_ids=people, kind="approval_task", body=req.body.get("comment"), **about)


_TASK_REFUSALS = conflicts(NO_TASK, TOO_LONG, ALREADY_ASKED, NOT_OF_ONES_OWN)
ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/approvals/instances/{id}/add-signer",
        add_signer,
        summary="Add a signer",
        access="approval:task:add-signer",
        body=SIGNER_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=(*_TASK_REFUSALS, *conflicts(TOO_MANY_NODES)),
    ),
    route(
        "POST /api/v1/approvals/instances/{id}/ask-advice",
        ask_advice,
        summary="Ask somebody for advice",
        access="approval:task:ask-advice",
        body=ADVICE_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=_TASK_REFUSALS,
    ),
    route(
        "POST /api/v1/approvals/instances/{id}/advise",
        advise,
        summary="Give the advice that I was asked for",
        title=("答复意见", "Advise"),
        access="approval:task:list",
        body=ADVISE_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=conflicts(NO_ADVICE, TOO_LONG),
    ),
    route(
        "POST /api/v1/approvals/instances/{id}/comments",
        comment,
        summary="Comment on an approval",
        title=("评论", "Comment"),
        access="approval:task:list",
        body=COMMENT_BODY,
        returns=SHOWN,
        collection=INSTANCES.name,
        refusals=(Refusal(FORBIDDEN, NOT_CONCERNED), *conflicts(TOO_LONG)),
    ),
)
