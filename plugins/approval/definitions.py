"""Approval flows and their validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Request, Route, crud
from plugins.api.data import restore
from plugins.api.errors import FieldError, ValidationFailed
from plugins.approval.condition_checks import find_faults, placed_conditions
from plugins.approval.conditions import check_storable
from plugins.approval.editors import refuse_own_gain
from plugins.approval.flow_check import refuse_faulty
from plugins.approval.panels import DEFAULT_RULE
from plugins.approval.people import PLACES, names_anybody
from plugins.approval.record_types import ApprovalDefinition
from plugins.approval.records import DEFINITIONS, INITIATOR
from plugins.approval.tree import find_tree_faults, parts_of
from plugins.rbac.api import DEPARTMENTS, REFUSES_ONESELF, ROLES, USERS

_REFERENCES = {"users": USERS, "roles": ROLES, "department_leader": DEPARTMENTS}
_CHECKED = frozenset({"biz_type", "conditions", "nodes", "enabled"})
_NODE_DEFAULTS = {"mode": "any", "on_reject": "end", "absent": DEFAULT_RULE, "approvers": {}}


async def create(req: Request) -> ApprovalDefinition:
    """Create a flow, which does not ask or copy the caller."""
    values = await _validate(req, {}, req.body)
    await refuse_own_gain(req, None, values)
    return await req.store(DEFINITIONS).create(values)


async def update(req: Request) -> ApprovalDefinition:
    """Change a flow. Approvals under way keep the nodes that they started with."""
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(DEFINITIONS).get(req.path["id"])
    if before["version"] != version:
        # so that the check below applies to the version that is changed
        raise await req.store(DEFINITIONS).stale(before["id"], version)
    values = await _validate(req, before, values)
    await refuse_own_gain(req, before, {**before, **values})
    return await req.store(DEFINITIONS).update(before["id"], values, version=version)


async def delete(req: Request) -> None:
    """Delete a flow, unless another one that asks or copies the caller may apply instead."""
    before = await req.store(DEFINITIONS).get(req.path["id"])
    await refuse_own_gain(req, before, None)
    await req.store(DEFINITIONS).delete(before["id"])


async def undelete(req: Request) -> ApprovalDefinition:
    """Restore a deleted flow, which does not ask or copy the caller; one that could not be enabled now is disabled."""
    store = req.store(DEFINITIONS)

    async def work() -> ApprovalDefinition:
        await refuse_own_gain(req, None, await store.deleted.get(req.path["id"]))
        restored = await restore(req.service.database, store, req.path["id"])
        if not restored["enabled"] or await _can_run(req, restored):
            return restored
        return await store.update(restored["id"], {"enabled": False})

    return await req.transaction(work)


async def _can_run(req: Request, flow: Mapping[str, Any]) -> bool:
    try:
        await _validate(req, {}, {name: flow[name] for name in (*_CHECKED, "copies")})
    except ValidationFailed:
        return False
    return True


async def _validate(req: Request, before: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with defaults for their nodes. Raises 40001 for a flow that could not run, or would never."""
    faults: list[FieldError] = []
    nodes = [{**_NODE_DEFAULTS, **_drop_nulls(node)} for node in values.get("nodes") or ()]
    keys = [INITIATOR, *(node["key"] for node in nodes)]
    for number, node in enumerate(nodes):
        if node["key"] in keys[: number + 1]:
            faults.append(FieldError(f"nodes[{number}].key", "duplicate"))
        faults += await _find_faults(req, f"nodes[{number}]", node)
    faults += await _find_missing(req, "copies", values.get("copies") or {})
    faults += [] if faults else find_tree_faults(nodes)
    if values.get("enabled") or not {"biz_type", "conditions", "nodes"}.isdisjoint(values):
        faults += await find_faults(req.service, {**before, **values})
    merged = {"enabled": True, "conditions": [], **before, **values}
    if faults:
        raise ValidationFailed(faults)
    if merged["enabled"] and not _CHECKED.isdisjoint(values):
        await refuse_faulty(req, {**merged, **({"nodes": nodes} if nodes else {})})
    for where, condition in placed_conditions(values):
        check_storable(f"{where}.value", condition.get("value"))
    return {**values, **({"nodes": nodes} if "nodes" in values else {})}


async def _find_faults(req: Request, where: str, node: Mapping[str, Any]) -> list[FieldError]:
    """Return the faults of one node by itself."""
    missing = [await _find_missing(req, f"{where}.{name}", node.get(name) or {}) for name in PLACES]
    faults = [fault for found in missing for fault in found]
    if not faults and not parts_of(node) and not await names_anybody(req.service, node["approvers"], req.now):
        faults.append(FieldError(f"{where}.approvers", "required"))
    deadline = node.get("deadline") or {}
    if deadline.get("then") == "agree" and node["mode"] != "any":
        faults.append(FieldError(f"{where}.deadline.then", "invalid"))  # several signatures are several persons
    if (deadline.get("remind") or 0) >= deadline.get("hours", 1):
        faults.append(FieldError(f"{where}.deadline.remind", "maximum"))
    names = [branch["name"] for branch in node.get("branches") or ()]
    faults += [
        FieldError(f"{where}.branches[{at}].name", "duplicate") for at, one in enumerate(names) if one in names[:at]
    ]
    empty = [at for at, lane in enumerate(node.get("lanes") or ()) if not lane["nodes"]]
    return faults + [FieldError(f"{where}.lanes[{at}].nodes", "minItems") for at in empty]


def _drop_nulls(node: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if value is not None}


async def _find_missing(req: Request, where: str, approvers: Mapping[str, Any]) -> list[FieldError]:
    faults = []
    for name, collection in _REFERENCES.items():
        given = approvers.get(name) or []
        ids = given if isinstance(given, list) else [given]
        if ids and await req.system_store(collection).count({"_id": {"$in": ids}}) != len(ids):
            faults.append(FieldError(f"{where}.{name}", "reference"))
    return faults


ROUTES: tuple[Route, ...] = (
    *crud(
        DEFINITIONS,
        at="/api/v1/approvals/definitions",
        resource="approval:definition",
        create=create,
        update=update,
        delete=delete,
        restore=undelete,
        refusals=(REFUSES_ONESELF,),
    ),
)
