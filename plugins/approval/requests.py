"""Requests of business plugins: by event, so that neither side knows the other.

`approval.requested` {biz_type, resource_id, title, record, own} starts one, about which the people `own` are not asked; `approval.cancelled` {biz_type, resource_id}
ends one whose record was taken back; `approval.finished` {biz_type, resource_id, outcome, by, reason, instance_id}
tells how one ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import CONFLICT, SYSTEM, Actor, ApiError, Message, Service, utc_now
from plugins.approval import flow
from plugins.approval.conditions import fits
from plugins.approval.desk import FINISHED, Desk, begin, save
from plugins.approval.messages import ALREADY_PENDING, NO_DEFINITION
from plugins.approval.records import DEFINITIONS
from plugins.approval.states import after
from plugins.system.api import Configs

WITHOUT_DEFINITION = "approval_without_definition"
_MAX_TITLE = 200


async def on_requested(service: Service, payload: Mapping[str, Any]) -> None:
    """Start the approval of a record, or go on with the one that came back; where no flow fits, what the setting says."""
    desk = _desk(service, payload)
    definition = await matching(service, payload["biz_type"], payload["record"])
    if definition is None:
        await _without_definition(desk, payload)
        return
    await service.database.transaction(lambda: _start(desk, payload, definition))


async def on_cancelled(service: Service, payload: Mapping[str, Any]) -> None:
    """End the approval of a record that was taken back or deleted; `approval.finished` says `withdrawn`."""
    desk = _desk(service, payload)

    async def work() -> None:
        before = await desk.store().find_one({**_resource(payload), "status": "pending"})
        if before is None:
            return
        case = flow.opened(before)
        flow.note(case, desk.actor.user_id, "withdraw", desk.now, payload.get("reason"))
        flow.close(case, after("withdraw"), desk.now)
        await save(desk, before, case)

    await service.database.transaction(work)


async def matching(service: Service, biz_type: str, record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The first enabled flow for this kind of record whose conditions hold."""
    flows = await service.database.store(DEFINITIONS).find({"biz_type": biz_type, "enabled": True}, sort="priority")
    return next((one for one in flows if fits(one["conditions"], record)), None)


def _desk(service: Service, payload: Mapping[str, Any]) -> Desk:
    request = payload.get("request")
    if request is not None:
        return Desk(service, request.actor, request.now, request)
    user_id = payload.get("initiator_id")
    return Desk(service, Actor(user_id=user_id) if user_id else SYSTEM, utc_now())


def _resource(payload: Mapping[str, Any]) -> dict[str, str]:
    return {"biz_type": payload["biz_type"], "resource_id": str(payload["resource_id"])}


async def _without_definition(desk: Desk, payload: Mapping[str, Any]) -> None:
    chosen = await desk.service.part(Configs).value(WITHOUT_DEFINITION)
    if chosen == "refuse":
        raise ApiError(CONFLICT, NO_DEFINITION)
    if chosen == "leave":
        return
    await desk.emit(
        FINISHED, **_resource(payload), outcome="approved", by=desk.actor.user_id, reason=None, instance_id=None
    )


async def _start(desk: Desk, payload: Mapping[str, Any], definition: Mapping[str, Any]) -> None:
    open_ones = {**_resource(payload), "status": {"$in": ["pending", "returned"]}}
    before = await desk.store().find_one(open_ones)
    if before is not None and before["status"] == "pending":
        raise ApiError(CONFLICT, ALREADY_PENDING)
    stored = before or await _created(desk, payload, definition)
    case = flow.opened(stored) | _shown(payload, definition)
    behind = {*flow.people_behind(stored), desk.actor.user_id, *payload.get("own", ())}
    case["behind"] = sorted(filter(None, behind))
    await begin(desk, case)
    await save(desk, stored, case)


async def _created(desk: Desk, payload: Mapping[str, Any], definition: Mapping[str, Any]) -> dict[str, Any]:
    values = {
        **flow.blank(desk.actor.user_id, definition["nodes"]),
        **_resource(payload),
        **_shown(payload, definition),
        "initiator_id": desk.actor.user_id,
    }
    return await desk.store().create(values)


def _shown(payload: Mapping[str, Any], definition: Mapping[str, Any]) -> dict[str, Any]:
    title = payload["title"]
    words = title.zh if isinstance(title, Message) else str(title)
    return {"title": words[:_MAX_TITLE], "record": dict(payload["record"]), "definition_id": definition["id"]}
