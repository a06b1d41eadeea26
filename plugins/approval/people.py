"""Reads the people of a moment from the database: accounts, roles, leaders, delegations, and who is away.

An option says whether people may decide on their own requests. If not, they are excluded as approvers of a node, as
delegates and as targets of a transfer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from plugins.api import Service
from plugins.api.ports import Absences, OwnRequests, may_decide_on_own
from plugins.approval.options import OWN_REQUESTS
from plugins.approval.panels import FIRST_USER, Person, Staff
from plugins.approval.records import DELEGATIONS, MAX_PEOPLE
from plugins.rbac.api import USERS, Directory, Policy, Rules
from plugins.system.api import Configs

DECIDE = "approval:task:agree"
PLACES = ("approvers", "substitutes", "copies")


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


async def load_staff(
    service: Service, nodes: Sequence[Mapping[str, Any]], initiators: Iterable[int], now: datetime, *others: int
) -> Staff:
    """Return whoever the nodes, and what else has places for people, can ask about requests of these initiators now."""
    rules, directory = await service.part(Policy).rules(), service.part(Directory)
    places = [place for node in nodes for place in places_of(node)]
    holders = {
        roles: await _find_holders(service, rules, roles)
        for roles in {frozenset(one["roles"]) for one in places if one.get("roles")}
    }
    rows = await service.database.store(DELEGATIONS).find(
        {"starts_at": {"$lte": now}, "ends_at": {"$gt": now}}, sort="-created_at"
    )
    delegates = {row["user_id"]: row["delegate_id"] for row in reversed(rows)}
    led = {one["department_leader"] for one in places if one.get("department_leader")}
    department_leaders = {id: rules.departments.get(id, {}).get("leader_user_id") for id in led}
    waiting = {FIRST_USER, *initiators, *others, *(one for found in holders.values() for one in found)}
    waiting.update(one for place in places for one in place.get("users") or ())
    waiting.update(one for one in department_leaders.values() if one is not None)
    people: dict[int, Person] = {}
    while waiting:
        user_id = waiting.pop()
        user = await directory.user(user_id)
        people[user_id] = person = _to_person(rules, user)
        related = {*person.leaders, *filter(None, [delegates.get(user_id)])}
        waiting |= related - people.keys()
    away = await service.part(Absences).away(sorted(people), now)
    known = {id: replace(one, away=id in away) for id, one in people.items()}
    return Staff(known, department_leaders, holders, delegates, await may_decide_on_own(service.parts))


def places_of(node: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield whom a node, or a flow, names: as approvers, as substitutes, or to be copied."""
    yield from (node[name] for name in PLACES if node.get(name))


def _to_person(rules: Rules, user: Mapping[str, Any] | None) -> Person:
    if user is None:
        return Person(enabled=False)
    is_super = bool(user.get("is_super"))
    grant = rules.grant(rules.enabled(user.get("role_ids") or ()))
    may_decide = is_super or user["id"] == FIRST_USER or DECIDE in grant.permissions
    leaders = tuple(rules.leaders(user.get("department_id")))
    return Person(user["status"] == "enabled", may_decide, is_super=is_super, leaders=leaders)


async def _find_holders(service: Service, rules: Rules, roles: frozenset[int]) -> list[int]:
    enabled = {"role_ids": {"$in": sorted(rules.enabled(roles))}, "status": "enabled"}
    rows = await service.database.store(USERS).find(enabled, sort="id", limit=MAX_PEOPLE, fields=["status"])
    return [row["id"] for row in rows]


async def resolve_people(
    service: Service, approvers: Mapping[str, Any] | None, initiator_id: int, now: datetime
) -> list[int]:
    """Return the ids of the enabled people that `approvers` names, each once and at most `MAX_PEOPLE`."""
    staff = await load_staff(service, [{"approvers": approvers or {}}], [initiator_id], now)
    return staff.named(approvers, initiator_id)


async def filter_enabled(service: Service, ids: Iterable[int]) -> list[int]:
    """Return those of the people whose accounts are enabled."""
    directory = service.part(Directory)
    return [id for id in ids if (user := await directory.user(id)) and user["status"] == "enabled"]


async def names_anybody(service: Service, approvers: Mapping[str, Any], now: datetime) -> bool:
    """Return whether `approvers` names at least one enabled person, or the leader of whoever the initiator will be."""
    return bool(approvers.get("initiator_leader") or await resolve_people(service, approvers, FIRST_USER, now))
