"""Flows: what they must be to work, and what they would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import FieldError, Request, ValidationFailed, invalid
from plugins.approval.conditions import check_storable, fits
from plugins.approval.flow import Asked
from plugins.approval.names import name_of
from plugins.approval.people import named_people, resolve
from plugins.approval.records import DEFINITIONS, INITIATOR
from plugins.rbac.api import DEPARTMENTS, ROLES, USERS, Directory

_REFERENCES = {"users": USERS, "roles": ROLES, "department_leader": DEPARTMENTS}
# these compare with something; with the others null says something too
_WITH_VALUE = ("gt", "gte", "lt", "lte", "in", "not_in", "contains")
_NODE_DEFAULTS = {"mode": "any", "on_reject": "end"}


async def create(req: Request) -> dict[str, Any]:
    """A new flow."""
    return await req.store(DEFINITIONS).create(await _checked(req, req.body))


async def update(req: Request) -> dict[str, Any]:
    """Change a flow; approvals under way keep the nodes that they started with."""
    values = dict(req.body)
    version = values.pop("version")
    await req.store(DEFINITIONS).get(req.path["id"])
    return await req.store(DEFINITIONS).update(req.path["id"], await _checked(req, values), version=version)


async def simulate(req: Request) -> dict[str, Any]:
    """Who would be asked now, node by node, before anyone is."""
    definition = await req.store(DEFINITIONS).get(req.path["id"])
    initiator_id = req.body.get("initiator_id") or req.actor.user_id
    if await req.part(Directory).user(initiator_id) is None:
        raise invalid("initiator_id", "reference")
    nodes, case = [], {"initiator_id": initiator_id}
    for node in definition["nodes"]:
        asked = await resolve(req.service, node["approvers"], case, req.now)
        nodes.append({**node, "approvers": [await _with_name(req, one) for one in asked]})
    copies = await named_people(req.service, definition["copies"], initiator_id)
    return {
        "matches": fits(definition["conditions"], req.body.get("record") or {}),
        "nodes": nodes,
        "copies": [await _with_name(req, Asked(user_id)) for user_id in copies],
    }


async def _with_name(req: Request, one: Asked) -> dict[str, Any]:
    name = await name_of(req.service, one.user_id)
    return {"user_id": one.user_id, "name": name, "on_behalf_of": one.on_behalf_of}


async def _checked(req: Request, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with the defaults of their nodes; 40001 for what no approval could follow."""
    faults: list[FieldError] = []
    nodes = [{**_NODE_DEFAULTS, **_given(node)} for node in values.get("nodes") or ()]
    keys = [INITIATOR, *(node["key"] for node in nodes)]
    for number, node in enumerate(nodes):
        if node["key"] in keys[: number + 1]:
            faults.append(FieldError(f"nodes[{number}].key", "duplicate"))
        faults += await _missing(req, f"nodes[{number}].approvers", node["approvers"])
    faults += await _missing(req, "copies", values.get("copies") or {})
    faults += [
        FieldError(f"conditions[{number}].value", "required")
        for number, condition in enumerate(values.get("conditions") or ())
        if condition["op"] in _WITH_VALUE and condition.get("value") is None
    ]
    if faults:
        raise ValidationFailed(faults)
    for number, condition in enumerate(values.get("conditions") or ()):
        check_storable(f"conditions[{number}].value", condition.get("value"))
    return {**values, **({"nodes": nodes} if "nodes" in values else {})}


def _given(node: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if value is not None}


async def _missing(req: Request, where: str, approvers: Mapping[str, Any]) -> list[FieldError]:
    faults = []
    for name, collection in _REFERENCES.items():
        given = approvers.get(name) or []
        ids = given if isinstance(given, list) else [given]
        if ids and await req.system_store(collection).count({"_id": {"$in": ids}}) != len(ids):
            faults.append(FieldError(f"{where}.{name}", "reference"))
    return faults
