"""Nobody changes flows so that they themselves are asked, or copied, about requests about which they were not before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Request
from plugins.approval.panels import get_rule
from plugins.approval.people import PLACES
from plugins.approval.records import DEFINITIONS
from plugins.rbac.api import Directory, Policy, refuse_oneself

Flow = Mapping[str, Any]
_RULING = ("key", "mode", "on_reject", "deadline", "choice", "branches", "lanes")
_APPLYING = ("biz_type", "conditions", "enabled", "priority")  # these decide to which requests a flow applies


async def refuse_own_gain(req: Request, before: Flow | None, after: Flow | None) -> None:
    """Raise 40300 if the flow names the caller and changes, or if another one that names them may apply in its place.

    `before` is None for a new flow, `after` for one that is deleted. A flow names the holders of a role, and leaders.
    Super administrators are exempt, and logged.
    """
    changed = after is not None and (before is None or _deciding(before) != _deciding(after))
    if (changed and await _names_caller(req, after)) or await _uncovers_own(req, before, after):
        refuse_oneself(req, [req.actor.user_id])


async def _uncovers_own(req: Request, before: Flow | None, after: Flow | None) -> bool:
    if before is None or (after is not None and all(before[name] == after[name] for name in _APPLYING)):
        return False
    others = {"biz_type": before["biz_type"], "enabled": True, "_id": {"$ne": before["id"]}}
    flows = await req.system_store(DEFINITIONS).find(others) if before["enabled"] else []
    return any([await _names_caller(req, one) for one in flows])


async def _names_caller(req: Request, flow: Flow | None) -> bool:
    """Return whether the flow names the caller, one of their roles, or somebody's leader where they lead."""
    me, own = req.actor.user_id, await req.part(Directory).user(req.actor.user_id)
    roles = frozenset((own or {}).get("role_ids") or ())
    departments = (await req.part(Policy).rules()).departments.items()
    led = {id for id, one in departments if one["leader_user_id"] == me}
    return any(
        me in (one.get("users") or ())
        or not roles.isdisjoint(one.get("roles") or ())
        or one.get("department_leader") in led
        or (one.get("initiator_leader") and led)
        for one in _places(flow or {})
    )


def _places(flow: Flow) -> list[Flow]:
    """Return whom each node asks, also as substitutes, and whom the nodes and the flow copy."""
    nodes = [*(flow.get("nodes") or ()), flow]
    return [one.get(name) or {} for one in nodes for name in PLACES]


def _deciding(flow: Flow) -> Any:
    """Return what decides who is asked about what; what a form sends back as null makes no difference."""
    places = [{name: value for name, value in one.items() if value} for one in _places(flow)]
    modes = [(get_rule(node), {name: node.get(name) or None for name in _RULING}) for node in flow["nodes"]]
    return places, modes, [flow.get(name) for name in (*_APPLYING, "repeated")]
