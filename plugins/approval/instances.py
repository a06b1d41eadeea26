"""Approvals as records: drafts of one's own, and the lists of those who ask and are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from plugins.api import FORBIDDEN, ApiError, Page, Request
from plugins.approval import flow
from plugins.approval.conditions import check_storable
from plugins.approval.messages import NOT_ALLOWED, ONLY_INITIATOR
from plugins.approval.names import with_names, with_people
from plugins.approval.records import DEFINITIONS, INSTANCES, ROW_FIELDS
from plugins.approval.states import allows

_BOXES = {"todo": "todo", "done": "done", "mine": "initiator_id", "copied": "copied"}


async def list_instances(req: Request) -> Page:
    """A page of what the caller's data scope shows and what was shared with them, or of one box."""
    box = req.query.get("box")
    if box is None:
        return await with_names(req, await req.store(INSTANCES).page(req.query, fields=ROW_FIELDS, shown=ROW_FIELDS))
    return await _box(req, box)


async def list_tasks(req: Request) -> Page:
    """A page of what the caller has to answer, or has answered."""
    return await _box(req, req.query["box"])


async def count_boxes(req: Request) -> dict[str, int]:
    """How many approvals each of the caller's boxes holds."""
    store = req.system_store(INSTANCES)
    counts = await asyncio.gather(*(store.count({field: req.actor.user_id}) for field in _BOXES.values()))
    return dict(zip(_BOXES, counts, strict=True))


async def _box(req: Request, box: str) -> Page:
    # being in the box is what makes it visible, whatever the data scope
    mine = {_BOXES[box]: req.actor.user_id}
    return await with_names(
        req, await req.system_store(INSTANCES).page(req.query, mine, fields=ROW_FIELDS, shown=ROW_FIELDS)
    )


async def read(req: Request) -> dict[str, Any]:
    """One approval, with the names of those whom it mentions."""
    return await with_people(req, await req.store(INSTANCES).get(req.path["id"]))


async def create(req: Request) -> dict[str, Any]:
    """A draft that asks for approval of what no business plugin keeps."""
    check_storable("record", req.body.get("record"))
    values = {**req.body, **flow.blank(req.actor.user_id, ()), **await _of_definition(req)}
    made = await req.store(INSTANCES).create({**values, "initiator_id": req.actor.user_id, "resource_id": None})
    return await with_people(req, made)


async def update(req: Request) -> dict[str, Any]:
    """Change a draft, or what came back."""
    await _check_whose(req)
    values = {**req.body, **await _of_definition(req)}
    version = values.pop("version")
    check_storable("record", values.get("record"))
    changed = await req.store(INSTANCES).update(
        req.path["id"], values, version=version, where=_own_to_change(), reason=NOT_ALLOWED
    )
    return await with_people(req, changed)


async def _of_definition(req: Request) -> dict[str, Any]:
    """What follows from the flow that the body names."""
    definition = await req.system_store(DEFINITIONS).find_one({"_id": req.body.get("definition_id")})
    return {"biz_type": definition["biz_type"], "nodes": definition["nodes"]} if definition else {}


async def delete(req: Request) -> None:
    """Delete what is not under way and was not decided."""
    await _check_whose(req)
    await req.store(INSTANCES).delete(req.path["id"], where=_own_to_change(), reason=NOT_ALLOWED)


async def _check_whose(req: Request) -> None:
    """Who only sees a request because they are asked, or were told, leaves it as it is (40300)."""
    instance = await req.store(INSTANCES).get(req.path["id"])
    if instance["initiator_id"] != req.actor.user_id and not await in_scope(req, instance):
        raise ApiError(FORBIDDEN, ONLY_INITIATOR)


async def in_scope(req: Request, instance: Mapping[str, Any]) -> bool:
    """Whether the caller's data scope shows it, though nobody had shared it with them."""
    by_scope = req.service.database.store(INSTANCES, req.actor, replace(req.scope, user_id=None), req.now)
    return await by_scope.find_one({"_id": instance["id"]}) is not None


def _own_to_change() -> dict[str, Any]:
    return {**allows("submit"), "resource_id": None}
