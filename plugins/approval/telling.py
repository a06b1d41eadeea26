"""Tells people of what would wait unseen: records to which no flow applies, and tasks of disabled accounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plugins.api import NOTIFY, Actor, Collection, Message, Service
from plugins.api.records import Catalogue, approving_route
from plugins.approval.engine import ApprovalContext
from plugins.approval.messages import LEFT_TASKS, NO_FLOW, WAITS_FOR
from plugins.approval.records import INSTANCES
from plugins.rbac.api import Directory, Policy, people_permitted

REASSIGN = "approval:instance:reassign"
_MOST = 200  # requests whose initiators are told; people who are told of a request without a flow
_LOOKED_AT = 1_000  # people of whom it is found out whether they see a request without a flow
_READ = ("title", "biz_type", "resource_id", "initiator_id")


async def tell_permitted(context: ApprovalContext, payload: Mapping[str, Any]) -> None:
    """Notify whoever may approve the record of a request to which no flow applies, and sees it.

    Of more than 200 people the super administrators are left out first.
    """
    service, catalogue = context.service, context.service.part(Catalogue)
    collection = catalogue.biz_types.get(payload["biz_type"])
    route = approving_route(catalogue.routes, collection) if collection is not None else None
    if collection is None or route is None:
        return
    behind = {context.actor.user_id, *payload.get("own", ())}
    people = [one for one in await people_permitted(service, route.access) if one not in behind]
    id, title = str(payload["resource_id"]), payload["title"]
    words = title if isinstance(title, Message) else Message(str(title), str(title))
    await context.emit(
        NOTIFY,
        user_ids=await _who_see(service, people[:_LOOKED_AT], collection, id),
        kind="approval_task",
        title=Message(NO_FLOW.zh.replace("{title}", words.zh), NO_FLOW.en.replace("{title}", words.en)),
        link=route.path.removeprefix("/api/v1").rpartition("/")[0].replace("{id}", id),
        data={"biz_type": payload["biz_type"], "resource_id": id},
    )


async def _who_see(service: Service, people: Sequence[int], collection: Collection, id: str) -> list[int]:
    """Return at most `_MOST` of these people who see the record."""
    seeing, supers = list[int](), list[int]()
    for user_id in people:
        if len(seeing) == _MOST:
            break
        actor = await service.part(Directory).actor_of(user_id)
        if actor is not None and (actor.is_super or await _sees(service, actor, collection, id)):
            (supers if actor.is_super else seeing).append(user_id)
    return [*seeing, *supers][:_MOST]


async def _sees(service: Service, actor: Actor, collection: Collection, id: str) -> bool:
    scope = await service.part(Policy).scope_of(actor)
    store = service.database.store(collection, actor, scope)
    return await store.find_one({"_id": collection.parse_id(id)}) is not None


async def on_sessions_void(service: Service, payload: Mapping[str, Any]) -> None:
    """Tell initiators, and whoever may reassign, of the requests that wait for a person who was disabled."""
    user_id = payload["user_id"]
    if payload["reason"] == "password":
        return
    waiting = await service.database.store(INSTANCES).find({"todo": user_id}, limit=_MOST, fields=_READ)
    if not waiting:
        return
    user = await service.part(Directory).user(user_id) or {}
    name, request = user.get("real_name") or user.get("username") or str(user_id), {"request": payload.get("request")}
    for one in waiting:
        about = {"instance_id": str(one["id"]), "biz_type": one["biz_type"], "resource_id": one["resource_id"]}
        message = {"kind": "approval_task", "link": f"/approval/instances/{one['id']}", "data": about}
        title = WAITS_FOR.filled(name=name, title=one["title"])
        await service.events.emit(NOTIFY, {"user_ids": [one["initiator_id"]], "title": title, **message, **request})
    managers = [one for one in await people_permitted(service, REASSIGN) if one != user_id]
    count = await service.database.store(INSTANCES).count({"todo": user_id})
    title = LEFT_TASKS.filled(name=name, count=count)
    told = {"user_ids": managers, "kind": "approval_task", "title": title, "link": "/approval/instances"}
    await service.events.emit(NOTIFY, {**told, "data": {"user_id": user_id}, **request})
