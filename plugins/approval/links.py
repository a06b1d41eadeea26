"""Decisions from a message: links that are signed for one person and one task, for some days, and work once.

A link names the task by its place among all tasks of the approval, so it is void once that task is decided, transferred or
cancelled, also if the person is asked again. Nothing is stored for a link. Where the company lets links decide without a
log-in, whoever has one acts as that person for that task; otherwise the person has to be logged in.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    PUBLIC,
    ApiError,
    Refusal,
    Request,
    Route,
    Service,
    array,
    boolean,
    choice,
    conflicts,
    route,
    shape,
    text,
    timestamp,
)
from plugins.api.errors import PASSWORD_CHANGE_REQUIRED, RATE_LIMITED, TOKEN_EXPIRED, UNAUTHENTICATED
from plugins.api.events import APPROVAL_FINISHED
from plugins.api.ports import REFUSES_OWN, Accounts, Authenticator, Authorizer, DirectLinks, RateLimit
from plugins.api.requests import Signatures
from plugins.api.values import ReadOnlyRecord
from plugins.approval import flow
from plugins.approval.actions import DECISIONS, change, find_refusal, needs_comment
from plugins.approval.content import add_reference_names, list_content, show_values
from plugins.approval.flow import Approval
from plugins.approval.messages import BAD_LINK, NO_TASK, NOT_ALLOWED, NOT_PERMITTED, NOT_YOUR_LINK, TOO_LONG
from plugins.approval.names import list_names
from plugins.approval.options import LINK_WITHOUT_LOGIN
from plugins.approval.records import CONTENT, INSTANCES
from plugins.approval.states import STATES, TASK_STATES
from plugins.system.api import Configs

LASTS = timedelta(days=3)
_PAGE, _PURPOSE, _KIND = "/links/approvals/{token}", "approval.task", "approval_task"
_TOKEN = text(
    label=("链接", "Link"),
    required=True,
    max_length=300,
    pattern=r"^[A-Za-z0-9_.]+$",
    secret=True,
    example="6a1b.0.7.1795.9f",
)
OPEN_BODY = shape("ApprovalLink", token=_TOKEN)
DECIDE_BODY = shape(
    "ApprovalLinkDecision",
    token=_TOKEN,
    action=choice(*DECISIONS, label=("操作", "Action"), required=True),
    comment=text(label=("审批意见", "Comment"), max_length=1000, example="同意"),
)
LINKED = shape(
    "ApprovalLinked",
    id=text(nullable=False, description="The id of the approval."),
    title=text(nullable=False),
    user_name=text(label=("审批人", "Approver"), nullable=False, description="Whom the link is for."),
    content=CONTENT,
    said=array(
        shape("ApprovalSaid", name=text(nullable=False), comment=text(nullable=False), at=timestamp(nullable=False)),
        label=("审批意见", "Comments"),
        nullable=False,
        description="What people have said so far.",
    ),
    actions=array(
        shape(
            "ApprovalLinkAction",
            action=choice(*DECISIONS, nullable=False),
            label=text(nullable=False),
            needs_comment=boolean(nullable=False),
        ),
        nullable=False,
        description="What the person may decide.",
    ),
    logged_in=boolean(nullable=False, description="Whether the caller is logged in; otherwise the link suffices."),
)
DECIDED = shape("ApprovalLinkDecided", id=text(nullable=False), status=STATES.choice(nullable=False))


class TaskLinks(DirectLinks):
    """The port: the link in a message that somebody is asked."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def link(self, user_id: int, kind: str, data: ReadOnlyRecord, at: datetime) -> str | None:
        """Return the path of the person's task; None for another message, and once nothing waits or the time is over."""
        about = {"_id": INSTANCES.parse_id(data["instance_id"])} if kind == _KIND and "instance_id" in data else None
        instance = await self._service.database.store(INSTANCES).find_one(about) if about else None
        tasks = instance["tasks"] if instance is not None and instance["status"] == "pending" else []
        place = next((at for at, one in enumerate(tasks) if _waits(one, user_id)), None)
        if instance is None or place is None:
            return None
        return _PAGE.format(token=make_token(self._service, instance["id"], place, user_id, at + LASTS))


def make_token(service: Service, id: Any, place: int, user_id: int, until: datetime) -> str:
    """Return the token of a link to the task at this place in an approval."""
    expires = int(until.timestamp())
    signature = Signatures(service.signing_secrets).sign(_PURPOSE, _signed(str(id), place, user_id), expires)
    return f"{id}.{place}.{user_id}.{expires}.{signature}"


def _signed(id: str, place: int, user_id: int) -> dict[str, Any]:
    return {"id": id, "task": place, "user": user_id}


def _waits(task: Mapping[str, Any], user_id: int) -> bool:
    return bool(task["user_id"] == user_id and task["status"] == "pending")


async def open_link(req: Request) -> dict[str, Any]:
    """Return the task of a link, for the person whom it is for."""
    id, place = await _admit(req)
    instance = await req.system_store(INSTANCES).get(id)
    task = _task_at(req, instance, place)
    node = flow.get_node(instance, task["node"])
    comments = [step for step in instance["history"] if step["comment"]]
    names = [one["name"] for one in await list_names(req, (step["user_id"] for step in comments))]
    initiator, person = await list_names(req, [instance["initiator_id"], req.actor.user_id])
    facts = {"initiator_id": initiator["name"], "submitted_at": instance["submitted_at"], "node": node["name"]}
    content = await list_content(req, await add_reference_names(req, instance))
    return {
        "id": id,
        "title": instance["title"],
        "user_name": person["name"],
        "content": [*show_values(req, INSTANCES.all_fields, facts), *content],
        "said": [
            {"name": name, "comment": step["comment"], "at": step["at"]}
            for name, step in zip(names, comments, strict=True)
        ],
        "actions": [
            {
                "action": action,
                "label": TASK_STATES.label_of(action).text(req.language),
                "needs_comment": needs_comment(node, action),
            }
            for action in DECISIONS
            if await find_refusal(req, action) is None
        ],
        "logged_in": req.actor.session_id != "",
    }


async def decide(req: Request) -> dict[str, Any]:
    """Agree or reject as the person of a link, by the refusals of these actions. The history says that it was by a link."""
    id, place = await _admit(req)
    action, way = req.body["action"], "link" if req.actor.session_id else "link_without_login"
    denied = await find_refusal(req, action)
    if denied is not None:
        raise ApiError(denied, NOT_PERMITTED if denied is FORBIDDEN else None)

    async def step(req: Request, approval: Approval) -> None:
        req.body["node"] = _task_at(req, approval, place)["node"]
        said = len(approval["history"])
        await DECISIONS[action](req, approval)
        approval["history"][said]["way"] = way

    saved = await change(req, INSTANCES.parse_id(id), step)
    return {"id": id, "status": saved["status"]}


def _task_at(req: Request, approval: Mapping[str, Any], place: int) -> Mapping[str, Any]:
    """Return the task at this place. Raises 40901 unless it waits for the caller."""
    tasks = approval["tasks"] if approval["status"] == "pending" else []
    if place >= len(tasks) or not _waits(tasks[place], req.actor.user_id):
        raise ApiError(CONFLICT, NO_TASK)
    task: Mapping[str, Any] = tasks[place]
    return task


async def _admit(req: Request) -> tuple[str, int]:
    """Let the person of the link act in this request; return the id of the approval and the place of the task.

    Raises 40400 for a wrong link and an expired one, 40100 without a log-in, and 40300 for another person and for one
    whose account is disabled.
    """
    id, place, user_id = _read_token(req)
    req.response_headers |= {"Cache-Control": "no-store"}
    if await req.part(Configs).value(LINK_WITHOUT_LOGIN):
        actor = await req.part(Accounts).actor_of(user_id)
    elif req.bearer is None:
        raise ApiError(UNAUTHENTICATED)
    else:
        actor = await req.part(Authenticator).authenticate(req.bearer, req.remote_ip)
    if actor is None or actor.user_id != user_id:
        raise ApiError(FORBIDDEN, NOT_YOUR_LINK)
    req.part(RateLimit).take(str(user_id))
    req.actor, req.scope = actor, await req.part(Authorizer).scope_of(actor)
    return id, place


def _read_token(req: Request) -> tuple[str, int, int]:
    """Return the id of the approval, the place of the task, and the person. Raises 40400."""
    id, *numbers, signature = [*req.body["token"].split("."), ""][:5]
    if len(numbers) == 3 and all(one.isascii() and one.isdigit() and len(one) < 12 for one in numbers):
        place, user_id, expires = map(int, numbers)
        signatures = Signatures(req.service.signing_secrets)
        if signatures.is_valid(_PURPOSE, _signed(id, place, user_id), expires, signature):
            return id, place, user_id
    raise ApiError(NOT_FOUND, BAD_LINK)


_ERRORS = (UNAUTHENTICATED, TOKEN_EXPIRED, PASSWORD_CHANGE_REQUIRED, RATE_LIMITED, FORBIDDEN)
_REFUSALS = (Refusal(NOT_FOUND, BAD_LINK), Refusal(FORBIDDEN, NOT_YOUR_LINK), *conflicts(NO_TASK))
ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/approvals/links/open",
        open_link,
        summary="Open the task of a link in a message",
        access=PUBLIC,
        body=OPEN_BODY,
        returns=LINKED,
        errors=_ERRORS,
        refusals=_REFUSALS,
        logged=False,
    ),
    route(
        "POST /api/v1/approvals/links/decide",
        decide,
        summary="Decide on the task of a link in a message",
        access=PUBLIC,
        body=DECIDE_BODY,
        returns=DECIDED,
        errors=_ERRORS,
        refusals=(*_REFUSALS, Refusal(FORBIDDEN, NOT_PERMITTED), REFUSES_OWN, *conflicts(NOT_ALLOWED, TOO_LONG)),
        events=(APPROVAL_FINISHED,),
    ),
)
