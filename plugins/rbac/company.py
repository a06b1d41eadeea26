"""Who may do what and sees which rows at one moment: all people, with the roles, menus and departments of that time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plugins.api import Route
from plugins.api.data import Database, Scope
from plugins.api.records import Catalogue
from plugins.rbac.policy import Rules, load_rules
from plugins.rbac.records import USERS
from plugins.rbac.users import FIRST_USER

# a permission code and the name of a route that it guards, or `(code, "")` for the code itself, which front ends and
# rules check
Operation = tuple[str, str]
_READ = ("username", "real_name", "role_ids", "department_id", "status", "is_super")


class Operations:
    """The operations that roles allow."""

    def __init__(self, catalogue: Catalogue, rules: Rules) -> None:
        self._rules = rules
        self._guarded: dict[tuple[str, str], Route] = {
            (route.method, route.path): route for route in catalogue.routes if route.guarded
        }
        self._codes = catalogue.permissions
        self._known: dict[frozenset[int], frozenset[Operation]] = {}

    def of_roles(self, role_ids: frozenset[int]) -> frozenset[Operation]:
        """Return what these enabled roles allow together."""
        found = self._known.get(role_ids)
        if found is None:
            grant = self._rules.grant(role_ids)
            reached = (self._guarded[api] for api in grant.apis if api in self._guarded)
            held = ((code, "") for code in grant.permissions)
            found = self._known[role_ids] = frozenset((*((one.access, one.name) for one in reached), *held))
        return found

    def of_super(self) -> frozenset[Operation]:
        """Return what a super administrator may do: everything."""
        menus = (*self._rules.menus.values(), *self._rules.withdrawn.values())
        own = (menu["permission"] for menu in menus if menu.get("permission"))
        routes = ((route.access, route.name) for route in self._guarded.values())
        return frozenset((*routes, *((code, "") for code in (*self._codes, *own))))


def codes_of(operations: Iterable[Operation]) -> list[str]:
    """Return the permission codes of operations, sorted."""
    return sorted({code for code, _ in operations})


@dataclass(frozen=True)
class Company:
    """All people and the rules at one moment."""

    people: Mapping[int, Mapping[str, Any]]
    rules: Rules
    operations: Operations
    database: Database
    _scopes: dict[int, Scope] = field(default_factory=dict)

    @classmethod
    async def load(cls, database: Database, catalogue: Catalogue) -> Company:
        """Load the company as stored now; inside a transaction, with the changes that it has made."""
        rules = await load_rules(database)
        people = {user["id"]: user for user in await database.store(USERS).find(fields=_READ)}
        return cls(people, rules, Operations(catalogue, rules), database)

    def allowed(self, user_id: int) -> frozenset[Operation]:
        """Return what a person may do; nothing for one who is disabled or missing."""
        user = self._active(user_id)
        if user is None:
            return frozenset()
        return self.operations.of_super() if _is_super(user) else self.operations.of_roles(self._roles(user))

    async def scope(self, user_id: int) -> Scope:
        """Return the data scope of a person, in a form that is equal at two moments if it covers the same rows."""
        found = self._scopes.get(user_id)
        if found is None:
            scope = self._scope(self._active(user_id), user_id)
            found = self._scopes[user_id] = await self.database.keeping.narrow(scope, user_id)
        return found

    def _scope(self, user: Mapping[str, Any] | None, user_id: int) -> Scope:
        if user is None:
            return Scope()
        if _is_super(user):
            return Scope(everything=True)
        scope = self.rules.scope(self._roles(user), user_id, user["department_id"])
        return Scope(everything=True) if scope.everything else Scope() if scope.nothing else scope

    def is_super(self, user_id: int) -> bool:
        """Return whether a person is a super administrator with an enabled account."""
        user = self._active(user_id)
        return user is not None and _is_super(user)

    def _active(self, user_id: int) -> Mapping[str, Any] | None:
        user = self.people.get(user_id)
        return user if user is not None and user["status"] == "enabled" else None

    def _roles(self, user: Mapping[str, Any]) -> frozenset[int]:
        return self.rules.enabled(user["role_ids"] or ())


def _is_super(user: Mapping[str, Any]) -> bool:
    return bool(user["is_super"]) or user["id"] == FIRST_USER
