"""Approvals as records: drafts, lists, and the boxes of initiators and approvers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from plugins.api import FORBIDDEN, ApiError, Page, Request, Route, choice, route
from plugins.api.errors import DUPLICATE, STALE
from plugins.api.records import FINAL, with_version
from plugins.approval import flow
from plugins.approval.bodies import COUNTS
from plugins.approval.conditions import check_storable
from plugins.approval.forms import check_record
from plugins.approval.messages import INITIATOR_ONLY, NOT_ALLOWED, ONLY_INITIATOR
from plugins.approval.names import add_names, add_people
from plugins.approval.records import DEFINITIONS, INSTANCES, ROW, ROW_FIELDS, SHOWN
from plugins.approval.states import STATES

# box → the field that holds its people
_BOXES = {"todo": "todo", "done": "done", "mine": "initiator_id", "copied": "copied"}
_BOX = ("分类", "Box")
_TASK_BOX_QUERY = {"box": choice("todo", "done", label=_BOX, default="todo", nullable=False, example="todo")}
_BOX_QUERY = {
    "box": choice(
        "mine",
        "copied",
        "todo",
        "done",
        label=_BOX,
        nullable=False,
        example="mine",
        description="Unless given, all approvals that the caller may see.",
    )
}


async def list_instances(req: Request) -> Page:
    """Return a page of the approvals that the caller may see, or of those in one of the caller's boxes."""
    box = req.query.get("box")
    if box is None:
        return await add_names(req, await req.store(INSTANCES).page(req.query, fields=ROW_FIELDS, shown=ROW_FIELDS))
    return await _list_box(req, box)


async def list_tasks(req: Request) -> Page:
    """Return a page of the approvals with tasks of the caller, pending or completed."""
    return await _list_box(req, req.query["box"])


async def count_boxes(req: Request) -> dict[str, int]:
    """Return how many approvals each of the caller's boxes holds."""
    store = req.system_store(INSTANCES)
    counts = await asyncio.gather(*(store.count({field: req.actor.user_id}) for field in _BOXES.values()))
    return dict(zip(_BOXES, counts, strict=True))


async def _list_box(req: Request, box: str) -> Page:
    # without data scope: the box itself limits the rows to the caller
    mine = {_BOXES[box]: req.actor.user_id}
    return await add_names(
        req, await req.system_store(INSTANCES).page(req.query, mine, fields=ROW_FIELDS, shown=ROW_FIELDS)
    )


async def read(req: Request) -> dict[str, Any]:
    """Return one approval, with the names of all people that it mentions."""
    return await add_people(req, await req.store(INSTANCES).get(req.path["id"]))


async def create(req: Request) -> dict[str, Any]:
    """Create a draft of a request that belongs to no business record."""
    check_storable("record", req.body.get("record"))
    values = {**req.body, **flow.initial_values(req.actor.user_id, ()), **await _derive_from_definition(req)}
    if "biz_type" in values:
        values["record"] = await check_record(req, values["biz_type"], values.get("record") or {})
    made = await req.store(INSTANCES).create({**values, "initiator_id": req.actor.user_id, "resource_id": None})
    return await add_people(req, made)


async def update(req: Request) -> dict[str, Any]:
    """Change a draft, or a returned or withdrawn request. Only its initiator chooses another flow, and so who decides."""
    before = await _check_may_change(req)
    chosen = req.body.get("definition_id", before["definition_id"])
    if chosen != before["definition_id"] and req.actor.user_id != before["initiator_id"] and not req.actor.is_super:
        raise ApiError(FORBIDDEN, ONLY_INITIATOR)
    values = {**req.body, **await _derive_from_definition(req)}
    if not {"record", "definition_id"}.isdisjoint(values):
        values["kept"] = []  # who agreed did so about other content
        check_storable("record", values.get("record"))
        biz_type = values.get("biz_type") or before["biz_type"]
        values["record"] = await check_record(req, biz_type, values.get("record", before["record"]) or {})
    version = values.pop("version")
    changed = await req.store(INSTANCES).update(
        req.path["id"], values, version=version, where=_changeable_filter(), reason=NOT_ALLOWED
    )
    return await add_people(req, changed)


async def _derive_from_definition(req: Request) -> dict[str, Any]:
    """Return the values that follow from the flow in the body; an empty dict if there is no such flow."""
    definition = await req.system_store(DEFINITIONS).find_one({"_id": req.body.get("definition_id")})
    return {"biz_type": definition["biz_type"], "nodes": definition["nodes"]} if definition else {}


async def delete(req: Request) -> None:
    """Delete a draft, or a returned or withdrawn request."""
    await _check_may_change(req)
    await req.store(INSTANCES).delete(req.path["id"], where=_changeable_filter(), reason=NOT_ALLOWED)


async def _check_may_change(req: Request) -> Mapping[str, Any]:
    """Return the request. Raises 40300 if the caller sees it only as an approver or a copied person."""
    instance = await req.store(INSTANCES).get(req.path["id"])
    if instance["initiator_id"] != req.actor.user_id and not await is_in_scope(req, instance):
        raise ApiError(FORBIDDEN, ONLY_INITIATOR)
    return instance


async def is_in_scope(req: Request, instance: Mapping[str, Any]) -> bool:
    """Return whether the caller's data scope alone shows the approval."""
    by_scope = req.service.database.store(INSTANCES, req.actor, replace(req.scope, user_id=None), req.now)
    return await by_scope.find_one({"_id": instance["id"]}) is not None


def _changeable_filter() -> dict[str, Any]:
    return {**STATES.allows("submit"), "resource_id": None}


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/approvals/instances",
        list_instances,
        summary="List approvals",
        access="approval:instance:list",
        query={**INSTANCES.list_query, **_BOX_QUERY},
        returns=ROW,
        paged=True,
        collection=INSTANCES.name,
    ),
    route(
        "GET /api/v1/approvals/instances/{id}",
        read,
        summary="Read an approval",
        access="approval:instance:read",
        returns=SHOWN,
        collection=INSTANCES.name,
    ),
    route(
        "POST /api/v1/approvals/instances",
        create,
        summary="Create an approval",
        access="approval:instance:create",
        body=INSTANCES.create,
        returns=SHOWN,
        collection=INSTANCES.name,
        errors=(DUPLICATE,),
    ),
    route(
        "PATCH /api/v1/approvals/instances/{id}",
        update,
        summary="Change an approval",
        access="approval:instance:update",
        body=INSTANCES.update,
        returns=SHOWN,
        collection=INSTANCES.name,
        errors=(DUPLICATE, STALE),
        refusals=INITIATOR_ONLY,
    ),
    with_version(
        INSTANCES,
        route(
            "DELETE /api/v1/approvals/instances/{id}",
            delete,
            summary="Delete an approval",
            description=FINAL,
            access="approval:instance:delete",
            collection=INSTANCES.name,
            refusals=INITIATOR_ONLY,
        ),
    ),
    route(
        "GET /api/v1/approvals/tasks",
        list_tasks,
        summary="List my pending or completed tasks",
        title=("我的审批", "My approvals"),
        access="approval:task:list",
        query={**INSTANCES.list_query, **_TASK_BOX_QUERY},
        returns=ROW,
        paged=True,
    ),
    route(
        "GET /api/v1/approvals/counts",
        count_boxes,
        summary="Count the approvals in my boxes",
        access="approval:task:list",
        returns=COUNTS,
    ),
)
