"""Resolves approvers to people: users, holders of roles, leaders, and their delegates, as of now.

An option says whether people may decide on their own requests. If not, they are excluded as approvers of a node, as
delegates and as targets of a transfer. No node is skipped: where people lack, its rule for absence acts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from plugins.api import Service
from plugins.api.ports import OwnRequests, may_decide_on_own
from plugins.approval.flow import Assignee, Panel, count_needed, people_behind
from plugins.approval.options import OWN_REQUESTS
from plugins.approval.records import DELEGATIONS, MAX_PEOPLE
from plugins.rbac.api import USERS, Directory, Policy
from plugins.system.api import Configs

DEFAULT_RULE = "leader"
_FIRST_USER = 1


class OwnRequestsSetting(OwnRequests):
    """The option about decisions on one's own requests, in flows and at records."""

    def __init__(self, configs: Configs) -> None:
        self._configs = configs

    async def allowed(self) -> bool:
        """Return whether people may decide on their own requests."""
        return bool(await self._configs.value(OWN_REQUESTS) == "ask")


async def find_excluded(service: Service, behind: Iterable[int]) -> frozenset[int]:
    """Return those of the people `behind` a request who may not decide on it. Super administrators are exempt."""
    if await may_decide_on_own(service.parts):
        return frozenset()
    users = {user_id: await service.part(Directory).user(user_id) for user_id in behind}
    return frozenset(user_id for user_id, user in users.items() if not (user and user["is_super"]))


async def resolve_approvers(
    service: Service, node: Mapping[str, Any], approval: Mapping[str, Any], now: datetime
) -> Panel:
    """Return the people of a node, each once. For those who lack, the node's rule for absence names others.

    People who may not decide on the request are not counted as named. The panel is incomplete if nobody is left whom
    the rule could name.
    """
    excluded = await find_excluded(service, people_behind(approval))
    places = await find_places(service, node["approvers"], approval["initiator_id"])
    places = [one for one in places if one not in excluded]
    named = [one for one in dict.fromkeys(places) if one is not None]
    needed, asked = count_needed(node["mode"], len(places)), dict[int, Assignee]()
    stand_ins = {one: await find_delegate(service, one, now, excluded) for one in named}
    # those who are there first, so that nobody's own place counts as the place of a person who delegated to them
    for user_id in sorted(named, key=lambda one: stand_ins[one] != one):
        delegate = stand_ins[user_id]
        if delegate is not None:
            asked.setdefault(delegate, stand_in(delegate, user_id))
    vacant = [one for one in named if not any(one in (each.user_id, each.on_behalf_of) for each in asked.values())]
    for substitute in await find_substitutes(service, node, approval, excluded):
        delegate = await find_delegate(service, substitute, now, excluded)
        if len(asked) < needed and delegate is not None and delegate not in asked:
            asked[delegate] = Assignee(delegate, vacant.pop(0) if vacant else None, get_rule(node))
    return Panel(list(asked.values()), needed)


def stand_in(user_id: int, place_of: int) -> Assignee:
    """Return the assignee for a person's own place or for that of somebody who delegated to them."""
    return Assignee(user_id) if user_id == place_of else Assignee(user_id, place_of, "delegate")


def get_rule(node: Mapping[str, Any]) -> str:
    """Return the rule of a node for absent people."""
    return str(node.get("absent") or DEFAULT_RULE)


async def resolve_people(service: Service, approvers: Mapping[str, Any] | None, initiator_id: int) -> list[int]:
    """Return the ids of the enabled people that `approvers` names, each once and at most `MAX_PEOPLE`."""
    places = await find_places(service, approvers or {}, initiator_id)
    return await filter_enabled(service, [one for one in dict.fromkeys(places) if one is not None])


async def names_anybody(service: Service, approvers: Mapping[str, Any]) -> bool:
    """Return whether `approvers` names at least one enabled person now, or the leader of whoever the initiator will be."""
    return bool(approvers.get("initiator_leader") or await resolve_people(service, approvers, _FIRST_USER))


async def find_places(service: Service, approvers: Mapping[str, Any], initiator_id: int) -> list[int | None]:
    """Return the person of each place that `approvers` names, at most `MAX_PEOPLE`.

    The place of a leader is None where there is no such leader, and names a person again who has another place.
    Holders of roles have one place each, and none besides another one. People named in person may be disabled.
    """
    rules = await service.part(Policy).rules()
    places: list[int | None] = list(approvers.get("users") or ())
    if approvers.get("department_leader"):
        places.append(rules.departments.get(approvers["department_leader"], {}).get("leader_user_id"))
    if approvers.get("initiator_leader"):
        leaders = await _find_leaders(service, initiator_id)
        places.append(leaders[min(approvers["initiator_leader"], len(leaders)) - 1] if leaders else None)
    if approvers.get("roles"):
        enabled = sorted(rules.enabled(approvers["roles"]))
        holders = await service.database.store(USERS).find(
            {"role_ids": {"$in": enabled}, "status": "enabled"}, sort="id", limit=MAX_PEOPLE, fields=["status"]
        )
        places += [user["id"] for user in holders if user["id"] not in places]
    return places[:MAX_PEOPLE]


async def filter_enabled(service: Service, ids: Iterable[int]) -> list[int]:
    """Return those of the people whose accounts are enabled."""
    directory = service.part(Directory)
    return [id for id in ids if (user := await directory.user(id)) and user["status"] == "enabled"]


async def find_substitutes(
    service: Service, node: Mapping[str, Any], approval: Mapping[str, Any], excluded: frozenset[int]
) -> list[int]:
    """Return whom the node's rule for absence asks, in this order, if people lack.

    `leader`: the leaders above the initiator; `substitute`: the substitutes of the node; after both user 1. `refuse`:
    nobody.
    """
    rule, initiator_id = get_rule(node), approval["initiator_id"]
    if rule == "refuse":
        return []
    if rule == "substitute":
        found = await resolve_people(service, node.get("substitutes"), initiator_id)
    else:
        found = await _find_leaders(service, initiator_id)
    return [one for one in dict.fromkeys([*found, _FIRST_USER]) if one not in excluded]


async def _find_leaders(service: Service, initiator_id: int) -> list[int]:
    """Return the enabled leaders above the initiator, the nearest first.

    Departments without a leader, or led by the initiator, do not count.
    """
    user = await service.part(Directory).user(initiator_id)
    chain = (await service.part(Policy).rules()).leaders((user or {}).get("department_id"))
    return await filter_enabled(service, [one for one in chain if one != initiator_id])


async def find_delegate(service: Service, user_id: int, now: datetime, excluded: frozenset[int]) -> int | None:
    """Return who decides in place of a person now; None if the account is disabled.

    Delegations of a delegate count too; a cycle ends before it closes. Delegations to `excluded` people do not count.
    """
    if not await filter_enabled(service, [user_id]):
        return None
    visited = [user_id]
    while True:
        found = await service.database.store(DELEGATIONS).find(
            {"user_id": visited[-1], "starts_at": {"$lte": now}, "ends_at": {"$gt": now}}, sort="-created_at", limit=1
        )
        delegate = found[0]["delegate_id"] if found else None
        if (
            delegate is None
            or delegate in excluded
            or delegate in visited
            or not await filter_enabled(service, [delegate])
        ):
            return visited[-1]
        visited.append(delegate)
