"""Routes, menus, roles and people: what nobody may use, what leads nowhere, and which accounts are at risk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any

from handlers.catalogue.declarations import Catalogue
from plugins.commands.diagnosis.findings import Finding
from plugins.rbac.policy import Rules

Record = dict[str, Any]
PASSWORD_DAYS = 30
_NAMED = 5


def check_access(catalogue: Catalogue, rules: Rules, users: list[Record], now: datetime) -> Iterator[Finding]:
    """Yield what is wrong with permissions, roles and accounts."""
    yield from _routes_and_entries(catalogue, rules)
    if any(not user["is_super"] for user in users):  # without anybody else it is no news
        yield from _codes(catalogue, rules, users)
    yield from _roles(rules)
    yield from _people(rules, users, now)


def check_default_roles(codes: Iterable[str], rules: Rules) -> Iterator[Finding]:
    """Yield a finding for each default role for users of a first WeCom scan that is not an enabled role."""
    enabled = set(rules.codes(rules.enabled(rules.roles)))
    for code in codes:
        if code not in enabled:
            advice = f"no enabled role has the code {code}: first scans are refused"
            yield Finding("error", "default-role", "TRADEWIND_WECOM_DEFAULT_ROLE", advice)


def _routes_and_entries(catalogue: Catalogue, rules: Rules) -> Iterator[Finding]:
    routes = {(route.method, route.path): route for route in catalogue.routes}
    entries: set[tuple[str, str]] = set()
    for menu in rules.menus.values():
        for api in menu["apis"] or ():
            entry = (api["method"], api["path"])
            entries.add(entry)
            if entry not in routes:
                advice = f"no route answers it: take it out of menu {menu['code']}"
                yield Finding("warning", "entry-without-route", " ".join(entry), advice)
    for entry, route in routes.items():
        if route.guarded and entry not in entries:
            advice = f"no menu declares it, so nobody can be granted {route.access}: start the server once"
            yield Finding("error", "route-without-entry", " ".join(entry), advice)


def _codes(catalogue: Catalogue, rules: Rules, users: list[Record]) -> Iterator[Finding]:
    held: set[str] = set()
    for user in users:
        if user["status"] == "enabled":
            held |= rules.grant(rules.enabled(user["role_ids"] or ())).permissions
    free: dict[str, list[str]] = defaultdict(list)
    for code in catalogue.permissions:
        if code not in held:
            resource, _, action = code.rpartition(":")
            free[resource].append(action)
    for resource, actions in free.items():
        advice = f"held by super administrators alone: {', '.join(actions)}"
        yield Finding("note", "code-nobody-holds", resource, advice)


def _roles(rules: Rules) -> Iterator[Finding]:
    for id in rules.enabled(rules.roles):
        role = rules.roles[id]
        # directories alone lead nowhere: the menu tree of a person leaves them out
        if all(rules.menus[menu]["type"] == "directory" for menu in rules.grant(frozenset({id})).menu_ids):
            yield Finding("warning", "role-grants-nothing", role["code"], "grant it menus, or disable it")
        named = set(role["data_scope_department_ids"] or ())
        if role["data_scope"] == "custom" and not named & rules.departments.keys():
            yield Finding(
                "warning", "role-sees-nothing", role["code"], "its data scope names no department that exists"
            )


def _without_role(rules: Rules, users: list[Record]) -> Iterator[Finding]:
    names = [
        user["username"]
        for user in users
        if user["status"] == "enabled" and not user["is_super"] and not rules.enabled(user["role_ids"] or ())
    ]
    if names:
        shown = ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
        advice = f"hold no enabled role, can log in and do nothing: {shown}"
        yield Finding("note", "user-without-role", f"{len(names)} users", advice)


def _people(rules: Rules, users: list[Record], now: datetime) -> Iterator[Finding]:
    supers = [user for user in users if user["is_super"]]
    if not any(user["status"] == "enabled" for user in supers):
        yield Finding("error", "no-super-administrator", "users", "nobody enabled is a super administrator")
    yield from _without_role(rules, users)
    for user in supers:
        if user["status"] != "enabled":
            advice = "disabled, but would be a super administrator again when enabled"
            yield Finding("warning", "disabled-super-administrator", user["username"], advice)
    for user in users:
        old = user["updated_at"] < now - timedelta(days=PASSWORD_DAYS)
        if user["must_change_password"] and user["status"] == "enabled" and old:
            advice = (
                f"an initial password has been waiting for over {PASSWORD_DAYS} days: reset it, or disable the user"
            )
            yield Finding("warning", "password-never-changed", user["username"], advice)
