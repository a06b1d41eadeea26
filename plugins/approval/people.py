"""Resolves approvers to people: users, holders of roles, leaders, and their delegates, as of now.

An option says whether people may decide on their own requests. If not, they are excluded as approvers of a node, as
delegates and as targets of a transfer. Every node asks somebody; no node is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from plugins.api import Service, may_decide_on_own
from plugins.approval.flow import Assignee, people_behind
from plugins.approval.options import OWN_REQUESTS
from plugins.approval.records import DELEGATIONS, MAX_PEOPLE
from plugins.rbac.api import USERS, Directory, Policy
from plugins.system.api import Configs

_FIRST_USER = 1


class OwnRequestsSetting:
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
    service: Service, approvers: Mapping[str, Any], approval: Mapping[str, Any], now: datetime
) -> list[Assignee]:
    """Return the people of a node, each once.

    If all of them are excluded, the initiator's leader is asked instead; if there is nobody, user 1.
    """
    initiator_id = approval["initiator_id"]
    named = await resolve_people(service, approvers, initiator_id)
    excluded = await find_excluded(service, people_behind(approval))
    if named and excluded.issuperset(named):
        named = [await _find_leader(service, initiator_id, 1, excluded) or _FIRST_USER]
    asked: dict[int, Assignee] = {}
    for user_id in [one for one in named if one not in excluded] or [_FIRST_USER]:
        delegate = await _find_delegate(service, user_id, now, excluded)
        asked.setdefault(delegate, Assignee(delegate, user_id if delegate != user_id else None))
    return list(asked.values())


async def resolve_people(service: Service, approvers: Mapping[str, Any] | None, initiator_id: int) -> list[int]:
    """Return the ids of the enabled people that `approvers` names, each once and at most `MAX_PEOPLE`."""
    given = approvers or {}
    ids = list(given.get("users") or ())
    if given.get("department_leader"):
        departments = (await service.part(Policy).rules()).departments
        ids.append(departments.get(given["department_leader"], {}).get("leader_user_id"))
    if given.get("initiator_leader"):
        ids.append(await _find_leader(service, initiator_id, given["initiator_leader"]))
    if given.get("roles"):
        enabled = (await service.part(Policy).rules()).enabled(given["roles"])
        holders = await service.database.store(USERS).find(
            {"role_ids": {"$in": sorted(enabled)}, "status": "enabled"}, sort="id", limit=MAX_PEOPLE, fields=["status"]
        )
        ids += [user["id"] for user in holders]
    return (await _filter_enabled(service, dict.fromkeys(ids)))[:MAX_PEOPLE]


async def _filter_enabled(service: Service, ids: Iterable[int | None]) -> list[int]:
    directory = service.part(Directory)
    return [id for id in ids if id and (user := await directory.user(id)) and user["status"] == "enabled"]


async def find_substitutes(service: Service, approval: Mapping[str, Any], excluded: frozenset[int]) -> list[int]:
    """Return who is asked if the people of a node may not decide: the leader of the initiator, then user 1."""
    leader = await _find_leader(service, approval["initiator_id"], 1, excluded)
    return [one for one in (leader, _FIRST_USER) if one is not None]


async def _find_leader(
    service: Service, initiator_id: int, level: int, excluded: frozenset[int] = frozenset()
) -> int | None:
    """Return the leader `level` steps above the initiator, or the highest one if there are fewer.

    Departments without a leader, or led by the initiator or an `excluded` person, do not count.
    """
    user = await service.part(Directory).user(initiator_id)
    chain = (await service.part(Policy).rules()).leaders((user or {}).get("department_id"))
    leaders = await _filter_enabled(service, [one for one in chain if one not in (initiator_id, *excluded)])
    return leaders[min(level, len(leaders)) - 1] if leaders else None


async def _find_delegate(service: Service, user_id: int, now: datetime, excluded: frozenset[int]) -> int:
    """Return who decides in place of a person now. Delegations of a delegate count too; a cycle ends before it closes.

    Delegations to `excluded` people do not count.
    """
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
            or not await _filter_enabled(service, [delegate])
        ):
            return visited[-1]
        visited.append(delegate)
