"""The policy in memory: role → API entries, permission codes and rows.

A snapshot holds all roles, menus and departments; a change on any instance reloads it. Each request costs one look-up
in a set: the grant of a set of roles is computed once and cached until the policy changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lru import LRU

from plugins.api import Actor, Route, Service
from plugins.api.data import CachedSnapshot, Database, Scope
from plugins.api.ports import Departments
from plugins.rbac.records import DEPARTMENTS, MENUS, ROLES, USERS

EVERYTHING = "*:*:*"
_GRANTS = 10_000  # sets of roles whose grants are cached
SCOPE_ORDER = ("all", "department_and_below", "department", "custom", "self")


@dataclass(frozen=True)
class Grant:
    """The rights of a set of roles."""

    apis: frozenset[tuple[str, str]] = frozenset()
    permissions: frozenset[str] = frozenset()
    menu_ids: frozenset[int] = frozenset()


@dataclass
class Rules:
    """A snapshot of the policy."""

    roles: Mapping[int, dict[str, Any]]
    menus: Mapping[int, dict[str, Any]]
    departments: Mapping[int, dict[str, Any]]
    below: Mapping[int, frozenset[int]]
    # menus that no loaded plugin declares: they grant nothing until the plugin is loaded again
    withdrawn: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    _grants: LRU[frozenset[int], Grant] = field(default_factory=lambda: LRU(_GRANTS))
    # by session: the user record, and the actor made from it; discarded with the snapshot
    actors: LRU[str, tuple[dict[str, Any], Actor]] = field(default_factory=lambda: LRU(_GRANTS))
    # by session: the data scope of this actor with this snapshot of the keepers
    scopes: LRU[str, tuple[Actor, object, Scope]] = field(default_factory=lambda: LRU(_GRANTS))

    def enabled(self, role_ids: Iterable[int]) -> frozenset[int]:
        """Return the roles that exist and are enabled."""
        return frozenset(id for id in role_ids if id in self.roles and self.roles[id]["status"] == "enabled")

    def grant(self, role_ids: frozenset[int]) -> Grant:
        """Return the union of what these enabled roles allow."""
        found = self._grants.get(role_ids)
        if found is None:
            found = self._grants[role_ids] = self._union(role_ids)
        return found

    def _union(self, role_ids: frozenset[int]) -> Grant:
        granted = [menu for menu in self.menus.values() if role_ids & frozenset(menu["role_ids"])]
        return Grant(
            apis=frozenset((api["method"], api["path"]) for menu in granted for api in menu["apis"] or ()),
            permissions=frozenset(menu["permission"] for menu in granted if menu.get("permission")),
            menu_ids=frozenset(menu["id"] for menu in granted),
        )

    def menu_ids(self, role_ids: frozenset[int]) -> frozenset[int]:
        """Return the menus that these roles grant, including withdrawn ones."""
        withdrawn = (id for id, menu in self.withdrawn.items() if role_ids & frozenset(menu["role_ids"]))
        return self.grant(role_ids).menu_ids.union(withdrawn)

    def scope(self, role_ids: Iterable[int], user_id: int, department_id: int | None) -> Scope:
        """Return the union of the rows that a user of this department sees by these roles."""
        reached = [self.reach(self.roles[id], user_id, department_id) for id in role_ids if id in self.roles]
        return unite(reached, user_id)

    def reach(self, role: Mapping[str, Any], user_id: int, department_id: int | None) -> Scope:
        """Return the rows that a user of this department sees by one role."""
        kind = role["data_scope"]
        if kind == "all":
            return Scope(everything=True)
        if kind == "custom":
            return Scope(department_ids=frozenset(role.get("data_scope_department_ids") or ()))
        if kind == "self" or department_id is None:
            return Scope(creator_id=user_id)
        if kind == "department":
            return Scope(department_ids=frozenset({department_id}))
        return Scope(department_ids=self.below.get(department_id, frozenset({department_id})))

    def leaders(self, department_id: int | None) -> list[int]:
        """Return the leaders of a department and of those above it, the nearest first, each once."""
        own = self.departments.get(department_id or 0)
        above = [self.departments[id] for id in reversed(own["ancestors"]) if id in self.departments] if own else []
        named = (one["leader_user_id"] for one in (own, *above) if one)
        return [id for id in dict.fromkeys(named) if id is not None]

    def widest(self, role_ids: Iterable[int]) -> str | None:
        """Return the widest data scope among the roles, for display."""
        held = {self.roles[id]["data_scope"] for id in role_ids if id in self.roles}
        return next((kind for kind in SCOPE_ORDER if kind in held), None)

    def codes(self, role_ids: Iterable[int]) -> list[str]:
        """Return the codes of the roles, sorted."""
        return sorted(self.roles[id]["code"] for id in role_ids if id in self.roles)


def unite(scopes: Sequence[Scope], user_id: int) -> Scope:
    """Return the rows that a user sees by any of the scopes."""
    if any(scope.everything for scope in scopes):
        return Scope(everything=True, user_id=user_id)
    departments = frozenset[int]().union(*(scope.department_ids for scope in scopes))
    own = any(scope.creator_id is not None for scope in scopes)
    return Scope(department_ids=departments, creator_id=user_id if own else None, user_id=user_id)


async def load_rules(database: Database) -> Rules:
    """Return the rules as stored now; inside a transaction, with the changes that it has made."""
    roles = {role["id"]: role for role in await database.store(ROLES).find()}
    menus: dict[int, dict[str, Any]] = {}
    withdrawn: dict[int, dict[str, Any]] = {}
    for menu in await database.store(MENUS).find():
        (withdrawn if menu.get("withdrawn") else menus)[menu["id"]] = menu
    departments = {one["id"]: one for one in await database.store(DEPARTMENTS).find()}
    below: dict[int, set[int]] = {id: {id} for id in departments}
    for id, department in departments.items():
        for ancestor in department.get("ancestors") or ():
            below.setdefault(ancestor, {ancestor}).add(id)
    return Rules(roles, menus, departments, {id: frozenset(ids) for id, ids in below.items()}, withdrawn)


class Policy(Departments):
    """The ports `Authorizer` and `Departments` of the core, over the current `snapshot` of the rules."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.snapshot = CachedSnapshot(partial(load_rules, database))
        for collection in (ROLES, MENUS, DEPARTMENTS):
            database.changes.listen(collection.name, self.snapshot.invalidate)

    def rules(self) -> Awaitable[Rules]:
        """Return the rules, as of the last change event or later."""
        return self.snapshot.current()

    async def allows(self, actor: Actor, route: Route) -> bool:
        """Return whether a role of the actor grants the route's API entry."""
        rules = self.snapshot.latest or await self.snapshot.current()
        return (route.method, route.path) in rules.grant(actor.roles).apis

    async def scope_of(self, actor: Actor) -> Scope:
        """Return the data scope of the actor: the rows that they see."""
        if actor.is_super:
            return Scope(everything=True, user_id=actor.user_id)
        rules, keeping = self.snapshot.latest or await self.snapshot.current(), self._database.keeping
        kept = keeping.snapshot.latest
        known = rules.scopes.get(actor.session_id)
        if known is not None and known[0] is actor and known[1] is kept:
            return known[2]
        scope = await keeping.narrow(rules.scope(actor.roles, actor.user_id, actor.department_id), actor.user_id)
        if kept is not None:  # otherwise it is not known which snapshot narrowed the scope
            rules.scopes[actor.session_id] = (actor, kept, scope)
        return scope

    async def below(self, id: int) -> frozenset[int]:
        """Return the department and all below it."""
        return (await self.rules()).below.get(id, frozenset({id}))

    async def holds(self, actor: Actor, permission: str) -> bool:
        """Return whether the actor has a permission code; super administrators have all."""
        return actor.is_super or permission in (await self.rules()).grant(actor.roles).permissions

    async def permissions(self, actor: Actor) -> list[str]:
        """Return the permission codes of the actor, sorted."""
        if actor.is_super:
            return [EVERYTHING]
        return sorted((await self.rules()).grant(actor.roles).permissions)


async def people_permitted(service: Service, permission: str) -> list[int]:
    """Return the ids of the enabled users who hold a permission code, including super administrators."""
    rules = await service.part(Policy).rules()
    roles = [id for id in rules.enabled(rules.roles) if permission in rules.grant(frozenset({id})).permissions]
    holders = {"status": "enabled", "$or": [{"is_super": True}, {"_id": 1}, {"role_ids": {"$in": roles}}]}
    return [user["id"] for user in await service.database.store(USERS).find(holders, fields=["username"])]
