"""Requests of business plugins, by events, so that neither side imports the other.

`approval.requested {biz_type, resource_id, title, record, own}` starts an approval, on which the people in `own` may
not decide.
`approval.cancelled {biz_type, resource_id}` ends the approval of a record that was withdrawn or deleted.
`approval.finished {biz_type, resource_id, outcome, by, reason, instance_id}` reports how an approval ended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plugins.api import CONFLICT, Actor, ApiError, Message, Service, utc_now
from plugins.api.data import Database
from plugins.api.events import APPROVAL_FINISHED
from plugins.api.ports import Approvals
from plugins.api.records import Catalogue
from plugins.api.requests import SYSTEM
from plugins.approval import flow
from plugins.approval.conditions import matches
from plugins.approval.engine import ApprovalContext, begin, save
from plugins.approval.facts import gather_facts
from plugins.approval.messages import ALREADY_PENDING, NO_DEFINITION
from plugins.approval.options import WITHOUT_DEFINITION
from plugins.approval.record_types import ApprovalDefinition
from plugins.approval.records import DEFINITIONS, INSTANCES
from plugins.approval.states import STATES
from plugins.approval.telling import tell_permitted
from plugins.system.api import Configs

_MAX_TITLE = 200


async def on_requested(service: Service, payload: Mapping[str, Any]) -> None:
    """Start the approval of a record, or resume a returned one. If no flow matches, an option decides."""
    context = _build_context(service, payload)
    definition = await find_definition(service, payload["biz_type"], payload["record"], context.actor.user_id)
    if definition is None:
        await _apply_fallback(context, payload)
        return
    await service.database.transaction(lambda: _start(context, payload, definition))


async def on_cancelled(service: Service, payload: Mapping[str, Any]) -> None:
    """End the approval of a record that was withdrawn or deleted; the outcome is `withdrawn`."""
    context = _build_context(service, payload)

    async def work() -> None:
        before = await context.store().find_one({**_resource_key(payload), "status": "pending"})
        if before is None:
            return
        approval = flow.copy_approval(before)
        flow.add_history(approval, context.actor.user_id, "withdraw", context.now, payload.get("reason"))
        flow.close(approval, STATES.after("withdraw"), context.now)
        await save(context, before, approval)

    await service.database.transaction(work)


async def find_definition(
    service: Service, biz_type: str, record: Mapping[str, Any], initiator_id: int | None = None
) -> ApprovalDefinition | None:
    """Return the first enabled flow for this type of record whose conditions hold, by priority, or None."""
    flows = await find_enabled(service, biz_type)
    conditions = [condition for one in flows for condition in one["conditions"]]
    return first_of(flows, await gather_facts(service, biz_type, conditions, record, initiator_id))


async def find_enabled(service: Service, biz_type: str) -> Sequence[ApprovalDefinition]:
    """Return the enabled flows for this type of record, by priority."""
    return await service.database.store(DEFINITIONS).find({"biz_type": biz_type, "enabled": True}, sort="priority")


def first_of(flows: Sequence[ApprovalDefinition], record: Mapping[str, Any]) -> ApprovalDefinition | None:
    """Return the first of these flows whose conditions hold, or None."""
    return next((one for one in flows if matches(one["conditions"], record)), None)


async def applies(
    service: Service, definition: Mapping[str, Any], record: Mapping[str, Any], initiator_id: int
) -> bool:
    """Return whether a request of one's own with these values may go through this flow.

    Its conditions hold, and no other flow whose conditions hold comes before it by priority. Of several with the same
    priority the initiator chooses.
    """
    biz_type, conditions = definition["biz_type"], definition["conditions"]
    first = await find_definition(service, biz_type, record, initiator_id)
    due = first is None or first["priority"] >= definition["priority"]
    return due and matches(conditions, await gather_facts(service, biz_type, conditions, record, initiator_id))


def _build_context(service: Service, payload: Mapping[str, Any]) -> ApprovalContext:
    request = payload.get("request")
    if request is not None:
        return ApprovalContext(service, request.actor, request.now, request)
    user_id = payload.get("initiator_id")
    return ApprovalContext(service, Actor(user_id=user_id) if user_id else SYSTEM, utc_now())


def _resource_key(payload: Mapping[str, Any]) -> dict[str, str]:
    return {"biz_type": payload["biz_type"], "resource_id": str(payload["resource_id"])}


async def _apply_fallback(context: ApprovalContext, payload: Mapping[str, Any]) -> None:
    chosen = await context.service.part(Configs).value(WITHOUT_DEFINITION)
    if chosen == "refuse":
        raise ApiError(CONFLICT, NO_DEFINITION)
    if chosen == "leave":
        await tell_permitted(context, payload)
        return
    await context.emit(
        APPROVAL_FINISHED,
        **_resource_key(payload),
        outcome="approved",
        by=context.actor.user_id,
        reason=None,
        instance_id=None,
    )


class PendingApprovals(Approvals):
    """The approvals that wait for somebody."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def pending(self, biz_type: str, resource_id: str) -> str | None:
        """Return the id of the approval that the record waits for."""
        about = {"biz_type": biz_type, "resource_id": resource_id, "status": STATES.after("submit")}
        found = await self._database.store(INSTANCES).find_one(about)
        return str(found["id"]) if found else None


async def _start(context: ApprovalContext, payload: Mapping[str, Any], definition: Mapping[str, Any]) -> None:
    open_ones = {**_resource_key(payload), "status": {"$in": ["pending", "returned"]}}
    before = await context.store().find_one(open_ones)
    if before is not None and before["status"] == "pending":
        raise ApiError(CONFLICT, ALREADY_PENDING)
    stored = before or await _create(context, payload, definition)
    approval = flow.copy_approval(stored) | _record_values(payload, definition)
    if _typed(context.service, stored) != _typed(context.service, approval):
        approval["kept"] = []  # who agreed did so about other content
    behind = {*flow.people_behind(stored), context.actor.user_id, *payload.get("own", ())}
    approval["behind"] = sorted(filter(None, behind))
    await begin(context, approval)
    await save(context, stored, approval)


def _typed(service: Service, approval: Mapping[str, Any]) -> dict[str, Any]:
    """Return what people entered of the record of an approval, without what the service adds."""
    collection, record = service.part(Catalogue).biz_types.get(approval["biz_type"]), approval["record"]
    names = record.keys() if collection is None else record.keys() & (collection.create.fields or {}).keys()
    return {name: record[name] for name in names}


async def _create(
    context: ApprovalContext, payload: Mapping[str, Any], definition: Mapping[str, Any]
) -> dict[str, Any]:
    values = {
        **flow.initial_values(context.actor.user_id, definition["nodes"]),
        **_resource_key(payload),
        **_record_values(payload, definition),
        "initiator_id": context.actor.user_id,
    }
    return await context.store().create(values)


def _record_values(payload: Mapping[str, Any], definition: Mapping[str, Any]) -> dict[str, Any]:
    title = payload["title"]
    words = title.zh if isinstance(title, Message) else str(title)
    return {"title": words[:_MAX_TITLE], "record": dict(payload["record"]), "definition_id": definition["id"]}
