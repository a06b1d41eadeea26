"""Demonstration data: flows and pending requests."""

from __future__ import annotations

from functools import partial

from plugins.api import Actor, Service, utc_now
from plugins.approval import flow
from plugins.approval.engine import ApprovalContext, begin, save
from plugins.approval.record_types import ApprovalDefinition
from plugins.approval.records import DEFINITIONS, INSTANCES
from plugins.rbac.api import Directory

_LEADER = {"key": "leader", "name": "部门负责人", "mode": "any", "on_reject": "end"}
_BOARD = {"key": "board", "name": "总经理", "approvers": {"users": [1]}, "mode": "any", "on_reject": "back"}
_REQUESTS = (("采购办公用品", "860.00"), ("客户答谢会场地", "12000.00"), ("上海出差", "3200.00"))


async def load(service: Service) -> None:
    """Create a flow for large contracts, one for general requests, and three requests of the sales person."""
    people = [await service.part(Directory).by_username(name) for name in ("manager", "sales")]
    manager, sales = people
    if manager is None or sales is None:
        return
    leader = {**_LEADER, "approvers": {"users": [manager["id"]]}}
    store = service.database.store(DEFINITIONS)
    large = {"field": "amount", "op": "gte", "value": "500000.00"}
    await store.create(
        {"name": "大额合同审批", "biz_type": "CONTRACT", "conditions": [large], "nodes": [leader, _BOARD]}
    )
    general = await store.create(
        {"name": "通用审批", "biz_type": "GENERAL", "nodes": [leader], "copies": {"users": [1]}}
    )
    actor = Actor(user_id=sales["id"], username=sales["username"], department_id=sales["department_id"])
    context = ApprovalContext(service, actor, utc_now())
    for title, amount in _REQUESTS:
        await service.database.transaction(partial(_ask, context, general, title, amount))


async def _ask(context: ApprovalContext, definition: ApprovalDefinition, title: str, amount: str) -> None:
    values = {
        **flow.initial_values(context.actor.user_id, definition["nodes"]),
        "title": title,
        "record": {"amount": amount},
        "definition_id": definition["id"],
        "biz_type": definition["biz_type"],
        "resource_id": None,
        "initiator_id": context.actor.user_id,
    }
    draft = await context.service.database.store(INSTANCES, context.actor).create(values)
    approval = flow.copy_approval(draft)
    await begin(context, approval)
    await save(context, draft, approval)
