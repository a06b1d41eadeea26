"""Who is asked: users, holders of roles, leaders, and who stands in for them, as of now.

Whether somebody may be asked about their own request is a setting: who is left out is asked neither by a node that
names them, nor for somebody who delegated to them, nor by a transfer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from plugins.api import Service
from plugins.approval.flow import Asked
from plugins.approval.records import DELEGATIONS, MAX_PEOPLE
from plugins.rbac.api import USERS, Directory, Policy
from plugins.system.api import Configs

OWN_REQUESTS = "approval_own_requests"
_FIRST_USER = 1


async def left_out(service: Service, initiator_id: int) -> int | None:
    """The initiator, where the setting says that nobody is asked about their own request."""
    return initiator_id if await service.part(Configs).value(OWN_REQUESTS) == "leave_out" else None


async def resolve(
    service: Service, approvers: Mapping[str, Any], initiator_id: int, now: datetime
) -> list[Asked]:  # fmt: skip
    """The people of a node, each once: in place of an initiator who is left out their leader; of nobody user 1."""
    named = await named_people(service, approvers, initiator_id)
    spared = await left_out(service, initiator_id)
    if named == [spared]:
        named = [await _leader_above(service, initiator_id, 1) or _FIRST_USER]
    asked: dict[int, Asked] = {}
    for user_id in [one for one in named if one != spared] or [_FIRST_USER]:
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


async def _leader_above(service: Service, initiator_id: int, level: int) -> int | None:
    """The leader `level` steps above the initiator: departments without one, or led by the initiator, do not count."""
    user = await service.part(Directory).user(initiator_id)
    departments = (await service.part(Policy).rules()).departments
    own = departments.get((user or {}).get("department_id") or 0)
    if own is None:
        return None
    chain = [own, *(departments[id] for id in reversed(own["ancestors"]) if id in departments)]
    leaders = [one["leader_user_id"] for one in chain if one["leader_user_id"] not in (None, initiator_id)]
    leaders = await _enabled(service, dict.fromkeys(leaders))
    return leaders[min(level, len(leaders)) - 1] if leaders else None


async def _stand_in(service: Service, user_id: int, now: datetime, spared: int | None) -> int:
    """Who answers for the person now; a delegate's own delegation counts, a circle ends where it closes.

    A delegation to who is `spared` does not count.
    """
    passed = [user_id]
    while True:
        found = await service.database.store(DELEGATIONS).find(
            {"user_id": passed[-1], "starts_at": {"$lte": now}, "ends_at": {"$gt": now}}, sort="-created_at", limit=1
        )
        delegate = found[0]["delegate_id"] if found else None
        if delegate is None or delegate == spared or delegate in passed or not await _enabled(service, [delegate]):
            return passed[-1]
        passed.append(delegate)
