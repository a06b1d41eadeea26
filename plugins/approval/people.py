"""Who is asked: users, holders of roles, leaders, and who stands in for them, as of now.

Whether somebody may be asked about their own request is a setting: who is left out is asked neither by a node that
names them, nor for somebody who delegated to them, nor by a transfer. Every node asks somebody: none is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from plugins.api import Service, may_decide_on_own
from plugins.approval.flow import Asked, people_behind
from plugins.approval.records import DELEGATIONS, MAX_PEOPLE
from plugins.rbac.api import USERS, Directory, Policy
from plugins.system.api import Configs

OWN_REQUESTS = "approval_own_requests"
_FIRST_USER = 1


class OwnRequestsSetting:
    """What the setting says of decisions on one's own requests, in a flow and at the record."""

    def __init__(self, configs: Configs) -> None:
        self._configs = configs

    async def allowed(self) -> bool:
        """Whether people may decide on what they asked for themselves."""
        return bool(await self._configs.value(OWN_REQUESTS) == "ask")


async def left_out(service: Service, behind: Iterable[int]) -> frozenset[int]:
    """Those of the people `behind` a request who are not asked about it; super administrators are exempt."""
    if await may_decide_on_own(service.parts):
        return frozenset()
    users = {user_id: await service.part(Directory).user(user_id) for user_id in behind}
    return frozenset(user_id for user_id, user in users.items() if not (user and user["is_super"]))


async def resolve(
    service: Service, approvers: Mapping[str, Any], case: Mapping[str, Any], now: datetime
) -> list[Asked]:
    """The people of a node, each once.

    Where it names only people who are left out, the initiator's leader is asked; where there is nobody, user 1.
    """
    initiator_id = case["initiator_id"]
    named = await named_people(service, approvers, initiator_id)
    spared = await left_out(service, people_behind(case))
    if named and spared.issuperset(named):
        named = [await _leader_above(service, initiator_id, 1, spared) or _FIRST_USER]
    asked: dict[int, Asked] = {}
    for user_id in [one for one in named if one not in spared] or [_FIRST_USER]:
        stand_in = await _stand_in(service, user_id, now, spared)
        asked.setdefault(stand_in, Asked(stand_in, user_id if stand_in != user_id else None))
    return list(asked.values())


async def named_people(service: Service, approvers: Mapping[str, Any] | None, initiator_id: int) -> list[int]:
    """The ids of the enabled people whom the declaration names, each once."""
    given = approvers or {}
    ids = list(given.get("users") or ())
    if given.get("department_leader"):
        departments = (await service.part(Policy).rules()).departments
        ids.append(departments.get(given["department_leader"], {}).get("leader_user_id"))
    if given.get("initiator_leader"):
        ids.append(await _leader_above(service, initiator_id, given["initiator_leader"]))
    if given.get("roles"):
        enabled = (await service.part(Policy).rules()).enabled(given["roles"])
        holders = await service.database.store(USERS).find(
            {"role_ids": {"$in": sorted(enabled)}, "status": "enabled"}, sort="id", limit=MAX_PEOPLE, fields=["status"]
        )
        ids += [user["id"] for user in holders]
    return (await _enabled(service, dict.fromkeys(ids)))[:MAX_PEOPLE]


async def _enabled(service: Service, ids: Iterable[int | None]) -> list[int]:
    directory = service.part(Directory)
    return [id for id in ids if id and (user := await directory.user(id)) and user["status"] == "enabled"]


async def _leader_above(
    service: Service, initiator_id: int, level: int, spared: frozenset[int] = frozenset()
) -> int | None:
    """The leader `level` steps above the initiator.

    Departments without one, or led by the initiator or by who is `spared`, do not count.
    """
    user = await service.part(Directory).user(initiator_id)
    departments = (await service.part(Policy).rules()).departments
    own = departments.get((user or {}).get("department_id") or 0)
    if own is None:
        return None
    chain = [own, *(departments[id] for id in reversed(own["ancestors"]) if id in departments)]
    leaders = [one["leader_user_id"] for one in chain if one["leader_user_id"] not in (None, initiator_id, *spared)]
    leaders = await _enabled(service, dict.fromkeys(leaders))
    return leaders[min(level, len(leaders)) - 1] if leaders else None


async def _stand_in(service: Service, user_id: int, now: datetime, spared: frozenset[int]) -> int:
    """Who answers for the person now; a delegate's own delegation counts, a circle ends where it closes.

    A delegation to who is `spared` does not count.
    """
    passed = [user_id]
    while True:
        found = await service.database.store(DELEGATIONS).find(
            {"user_id": passed[-1], "starts_at": {"$lte": now}, "ends_at": {"$gt": now}}, sort="-created_at", limit=1
        )
        delegate = found[0]["delegate_id"] if found else None
        if delegate is None or delegate in spared or delegate in passed or not await _enabled(service, [delegate]):
            return passed[-1]
        passed.append(delegate)
