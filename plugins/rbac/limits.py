"""Limits of administration: users grant only rights that they hold, and withdraw only rights that they hold.

Without the second rule a user could weaken an account with more rights and then take it over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plugins.api import FORBIDDEN, ApiError, Message, Refusal, Request
from plugins.api.data import Scope
from plugins.api.errors import SUPER_ONLY, missing_permission
from plugins.rbac.deciding import is_named, refuse_decisions_beyond
from plugins.rbac.messages import (
    DECIDES_BEYOND,
    DEPARTMENT_OUTSIDE,
    HOLDERS_BEYOND,
    HOLDS_MORE,
    MENU_CODE,
    MENU_NOT_HELD,
    NO_GRANTING,
    OF_SUPER,
    SUPER_BY_SUPER,
    WIDER_APIS,
    WIDER_DECISIONS,
    WIDER_MENUS,
    WIDER_SCOPE,
)
from plugins.rbac.policy import Policy, Rules
from plugins.rbac.records import USERS

Record = Mapping[str, Any]
_NEEDS = {"department": ("department", "department_and_below"), "department_and_below": ("department_and_below",)}
_GRANTING = ("PUT", "/api/v1/system/roles/{id}/menus")
_NOBODY: Record = {"id": 0, "role_ids": (), "department_id": None}


def missing_rights(*sentences: Message) -> tuple[Refusal, ...]:
    """Return a 40300 refusal for each message, for declarations of routes. Super administrators never get it."""
    return tuple(Refusal(FORBIDDEN, sentence, exempt_super=True) for sentence in sentences)


# the refusals that `may_manage` raises
MANAGING = (*missing_rights(HOLDS_MORE, DECIDES_BEYOND), Refusal(SUPER_ONLY, OF_SUPER, exempt_super=True))
# the refusals that `may_change_role` raises
CHANGING_ROLES = missing_rights(WIDER_MENUS, WIDER_SCOPE, WIDER_DECISIONS, HOLDERS_BEYOND)


def make_refusal(reason: Message) -> ApiError:
    """Return the 40300 error for rights that the caller does not hold."""
    return ApiError(FORBIDDEN, reason)


# -- accounts


async def may_manage(req: Request, user: Record) -> None:
    """Require that the caller holds every right of this user, so that control of the account adds no rights.

    Disabled roles count too, and what the user decides on. Users may always manage their own account.
    """
    await may_replace(req, user)
    if req.actor.is_super or user["id"] == req.actor.user_id:
        return
    await refuse_decisions_beyond(req, user["id"])
    if await is_named(req, frozenset(user.get("role_ids") or ()) - req.actor.roles):
        raise make_refusal(DECIDES_BEYOND)


async def may_replace(req: Request, user: Record) -> None:
    """Require that the caller holds the menus and rows of this user, to let somebody else lead in their place."""
    if req.actor.is_super or user["id"] == req.actor.user_id:
        return
    guard_super(req, user)
    if _holds_more(req, await req.part(Policy).rules(), user):
        raise make_refusal(HOLDS_MORE)


async def may_give(req: Request, after: Record, before: Record = _NOBODY) -> None:
    """Require that the caller holds all that a user gains by new roles or a new department.

    That is menus, rows, and a role itself if flows name it.
    """
    if req.actor.is_super:
        return
    rules = await req.part(Policy).rules()
    held, given = _menus(rules, before), _menus(rules, after)
    if not given - held <= rules.menu_ids(req.actor.roles):
        raise make_refusal(WIDER_MENUS)
    _refuse_more_rows(req, _rows(rules, before), _rows(rules, after))
    await _may_enrol(req, frozenset(after.get("role_ids") or ()).difference(before.get("role_ids") or ()))


async def _may_enrol(req: Request, role_ids: frozenset[int]) -> None:
    """Require that the caller holds those of the roles that flows name: their holders decide, or are copied."""
    if await is_named(req, role_ids - req.actor.roles):
        raise make_refusal(WIDER_DECISIONS)


def may_place(req: Request, department_id: int | None) -> None:
    """Require that the department lies within the caller's data scope."""
    outside = department_id is None or department_id not in req.scope.department_ids
    if not req.scope.everything and outside:
        raise make_refusal(DEPARTMENT_OUTSIDE)


def may_set_super(req: Request, values: Record, current: bool = False) -> None:
    """Require a super administrator for a change of `is_super`."""
    if values.get("is_super", current) != current and not req.actor.is_super:
        raise ApiError(SUPER_ONLY, SUPER_BY_SUPER)


def guard_super(req: Request, user: Record) -> None:
    """Require a super administrator for a change of a super administrator's account."""
    if user["is_super"] and not req.actor.is_super:
        raise ApiError(SUPER_ONLY, OF_SUPER)


# -- roles


async def may_grant_menus(req: Request, menu_ids: Iterable[int]) -> None:
    """Require that the caller holds all these menus."""
    if not req.actor.is_super:
        rules = await req.part(Policy).rules()
        if not frozenset(menu_ids) <= rules.menu_ids(req.actor.roles):
            raise make_refusal(WIDER_MENUS)


async def may_set_menus(req: Request) -> None:
    """Require the API entry of `PUT …/menus` also where menus are granted by writing the role itself."""
    if not req.actor.is_super and _GRANTING not in (await req.part(Policy).rules()).grant(req.actor.roles).apis:
        raise missing_permission(req, "system:role:grant", NO_GRANTING)


async def may_define_scope(req: Request, role: Record) -> None:
    """Require that the caller's data scope is at least as wide as that of the role, whoever holds the role."""
    kind = role.get("data_scope", "self")
    if req.scope.everything or kind == "self":
        return
    if kind == "custom":
        if not frozenset(role.get("data_scope_department_ids") or ()) <= req.scope.department_ids:
            raise make_refusal(WIDER_SCOPE)
        return
    rules = await req.part(Policy).rules()
    held = {rules.roles[id]["data_scope"] for id in req.actor.roles if id in rules.roles}
    if not held & set(_NEEDS.get(kind, ())):
        raise make_refusal(WIDER_SCOPE)


async def may_change_role(req: Request, before: Record, after: Record | None = None) -> None:
    """Require that the caller holds all rights of the role and may manage every user who holds it.

    `after` is None if the role is deleted, or if only its menus change: `may_grant_menus` checks the new menus.
    """
    if req.actor.is_super:
        return
    rules = await req.part(Policy).rules()
    await may_grant_menus(req, rules.menu_ids(frozenset({before["id"]})))
    await may_define_scope(req, before)
    holders = await _list_holders(req, before["id"])
    for holder in holders:
        own = holder["id"] == req.actor.user_id
        if not own and (_is_outside_scope(req, holder) or _holds_more(req, rules, holder)):
            raise make_refusal(HOLDERS_BEYOND)
    if after is not None:
        await may_define_scope(req, after)
        if before["status"] != after["status"] == "enabled":
            await _may_enrol(req, frozenset({before["id"]}))
        for department_id in {holder["department_id"] for holder in holders}:
            held, given = (rules.reach(role, 0, department_id) for role in (before, after))
            _refuse_more_rows(req, held, given)


# -- menus


async def may_bind(req: Request, before: Record | None, after: Record | None) -> None:
    """Require that the caller holds each API and permission code that a menu gains or loses, and may change its grants.

    `before` is None for a new menu, `after` for a menu that is deleted.
    """
    if req.actor.is_super:
        return
    if before and after and before["code"] != after["code"]:
        # the next start binds the declared APIs to the menu with the declared code
        raise ApiError(SUPER_ONLY, MENU_CODE)
    rules = await req.part(Policy).rules()
    own = rules.grant(req.actor.roles)
    apis = _apis(before) ^ _apis(after)
    permissions = _permissions(before) ^ _permissions(after)
    gone = after is None and before is not None and before.get("withdrawn")
    if not gone and not (apis <= own.apis and permissions <= own.permissions):
        raise make_refusal(WIDER_APIS)
    if before and (apis or permissions or after is None):
        await _may_change_grants(req, rules, before)


async def _may_change_grants(req: Request, rules: Rules, menu: Record) -> None:
    """Require that the caller holds the menu and may change each role that grants it.

    The caller need not hold a menu that no loaded plugin declares and no role grants.
    """
    declared = menu.get("declared") and not menu.get("withdrawn")
    if (declared or menu["role_ids"]) and menu["id"] not in rules.menu_ids(req.actor.roles):
        raise make_refusal(MENU_NOT_HELD)
    for role_id in menu["role_ids"]:
        if role_id in rules.roles:
            await may_change_role(req, rules.roles[role_id])


# -- comparisons


def _holds_more(req: Request, rules: Rules, user: Record) -> bool:
    within = _menus(rules, user) <= rules.menu_ids(req.actor.roles)
    return not (within and req.scope.covers(_rows(rules, user)))


def _is_outside_scope(req: Request, user: Record) -> bool:
    return not (req.scope.everything or user["department_id"] in req.scope.department_ids)


async def _list_holders(req: Request, role_id: int) -> list[dict[str, Any]]:
    """Return one holder of the role for each combination of roles and department, except super administrators."""
    alike = {"role_ids": "$role_ids", "department_id": "$department_id"}
    groups = await req.system_store(USERS).aggregate(
        [
            {"$match": {"role_ids": role_id, "is_super": {"$ne": True}}},
            # the caller's account forms a separate group, so that it never represents another user
            {"$group": {"_id": {**alike, "own": {"$eq": ["$_id", req.actor.user_id]}}, "id": {"$first": "$_id"}}},
        ]
    )
    return [{"department_id": None, **group["_id"], "id": group["id"]} for group in groups]


def _refuse_more_rows(req: Request, before: Scope, after: Scope) -> None:
    known = req.scope.department_ids | before.department_ids
    within = not after.everything and after.department_ids <= known
    if not (req.scope.everything or before.everything or within):
        raise make_refusal(WIDER_SCOPE)


def _roles(rules: Rules, user: Record) -> frozenset[int]:
    return frozenset(id for id in user.get("role_ids") or () if id in rules.roles)


def _menus(rules: Rules, user: Record) -> frozenset[int]:
    return rules.menu_ids(_roles(rules, user))


def _rows(rules: Rules, user: Record) -> Scope:
    return rules.scope(_roles(rules, user), user.get("id", 0), user.get("department_id"))


def _apis(menu: Record | None) -> frozenset[tuple[str, str]]:
    return frozenset((api["method"], api["path"]) for api in (menu or {}).get("apis") or ())


def _permissions(menu: Record | None) -> frozenset[str]:
    return frozenset(filter(None, [(menu or {}).get("permission")]))
