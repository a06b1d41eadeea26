"""Nobody grants wider than they hold (CONTRACT 5): not a menu, an API, a role, a data scope or a department."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plugins.api import FORBIDDEN, SUPER_ONLY, ApiError, Message, Request, Scope
from plugins.rbac.messages import NO_GRANTING, SUPER_BY_SUPER, WIDER_APIS, WIDER_MENUS, WIDER_SCOPE
from plugins.rbac.policy import Policy, Rules
from plugins.rbac.records import USERS

Record = Mapping[str, Any]
_NEEDS = {"department": ("department", "department_and_below"), "department_and_below": ("department_and_below",)}
_GRANTING = ("PUT", "/api/v1/system/roles/{id}/menus")
_NOBODY: Record = {"id": 0, "role_ids": (), "department_id": None}


def refused(reason: Message) -> ApiError:
    """The 40300 of an attempt to widen rights."""
    return ApiError(FORBIDDEN, reason)


async def may_grant_menus(req: Request, menu_ids: Iterable[int]) -> None:
    """The caller holds every one of these menus."""
    if not req.actor.is_super:
        rules = await req.part(Policy).rules()
        if not frozenset(menu_ids) <= rules.grant(req.actor.roles).menu_ids:
            raise refused(WIDER_MENUS)


async def may_set_menus(req: Request) -> None:
    """Whoever grants menus with the role itself may grant them by the route that is there for it, too."""
    if not req.actor.is_super and _GRANTING not in (await req.part(Policy).rules()).grant(req.actor.roles).apis:
        raise refused(NO_GRANTING)


async def may_bind(req: Request, after: Record, before: Record | None = None) -> None:
    """The caller holds every API and permission code that the menu gains: its holders get them by this."""
    if req.actor.is_super:
        return
    own = (await req.part(Policy).rules()).grant(req.actor.roles)
    gained = _apis(after) - _apis(before or {})
    permission = after.get("permission")
    known = permission is None or permission == (before or {}).get("permission") or permission in own.permissions
    if not gained <= own.apis or not known:
        raise refused(WIDER_APIS)


async def may_define_scope(req: Request, role: Record) -> None:
    """The caller's own roles reach as far as a role with this data scope would, whoever holds it."""
    kind = role.get("data_scope", "self")
    if req.scope.everything or kind == "self":
        return
    if kind == "custom":
        if not frozenset(role.get("data_scope_department_ids") or ()) <= req.scope.department_ids:
            raise refused(WIDER_SCOPE)
        return
    rules = await req.part(Policy).rules()
    held = {rules.roles[id]["data_scope"] for id in req.actor.roles if id in rules.roles}
    if not held & set(_NEEDS.get(kind, ())):
        raise refused(WIDER_SCOPE)


async def may_change_role(req: Request, before: Record, after: Record | None = None) -> None:
    """A role's rights are changed by those who hold all of them: before, and afterwards, for each who holds it."""
    if req.actor.is_super:
        return
    rules = await req.part(Policy).rules()
    await may_grant_menus(req, rules.grant(frozenset({before["id"]})).menu_ids)
    await may_define_scope(req, before)
    if after is not None:
        await may_define_scope(req, after)
        for department_id in await _departments_of_holders(req, before["id"]):
            held, given = (rules.reach(role, 0, department_id) for role in (before, after))
            _refuse_more_rows(req, held, given)


async def may_give(req: Request, after: Record, before: Record = _NOBODY) -> None:
    """Whatever menus and rows a person gains, by roles, department or password, the caller holds.

    Roles count whether they are enabled or not.
    """
    if req.actor.is_super:
        return
    rules = await req.part(Policy).rules()
    held, given = _menus(rules, before), _menus(rules, after)
    if not given - held <= rules.grant(req.actor.roles).menu_ids:
        raise refused(WIDER_MENUS)
    _refuse_more_rows(req, _rows(rules, before), _rows(rules, after))


async def may_place(req: Request, department_id: int | None) -> None:
    """The department lies within the caller's own data scope."""
    outside = department_id is None or department_id not in req.scope.department_ids
    if not req.scope.everything and outside:
        raise refused(WIDER_SCOPE)


def may_set_super(req: Request, values: Record, current: bool = False) -> None:
    """`is_super` is written by super administrators alone."""
    if values.get("is_super", current) != current and not req.actor.is_super:
        raise ApiError(SUPER_ONLY, SUPER_BY_SUPER)


def guard_super(req: Request, user: Record) -> None:
    """Who may edit accounts does not touch one that stands above them."""
    if user["is_super"] and not req.actor.is_super:
        raise ApiError(SUPER_ONLY, SUPER_BY_SUPER)


def _refuse_more_rows(req: Request, before: Scope, after: Scope) -> None:
    known = req.scope.department_ids | before.department_ids
    within = not after.everything and after.department_ids <= known
    if not (req.scope.everything or before.everything or within):
        raise refused(WIDER_SCOPE)


async def _departments_of_holders(req: Request, role_id: int) -> list[int | None]:
    groups = await req.system_store(USERS).aggregate(
        [{"$match": {"role_ids": role_id}}, {"$group": {"_id": "$department_id"}}]
    )
    return [group["_id"] for group in groups]


def _roles(rules: Rules, user: Record) -> frozenset[int]:
    return frozenset(id for id in user.get("role_ids") or () if id in rules.roles)


def _menus(rules: Rules, user: Record) -> frozenset[int]:
    return rules.grant(_roles(rules, user)).menu_ids


def _rows(rules: Rules, user: Record) -> Scope:
    return rules.scope(_roles(rules, user), user.get("id", 0), user.get("department_id"))


def _apis(menu: Record) -> frozenset[tuple[str, str]]:
    return frozenset((api["method"], api["path"]) for api in menu.get("apis") or ())
