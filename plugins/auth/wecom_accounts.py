"""Bindings of WeCom members to users, and what the first scan of a member does."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from plugins.api import CONFLICT, ApiError, Request
from plugins.api.errors import DUPLICATE
from plugins.auth.errors import ACCOUNT_DISABLED, WECOM_BOUND_BY_ANOTHER, WECOM_NO_ACCOUNT, WECOM_NO_ROLE, WECOM_REFUSED
from plugins.auth.settings import AuthSettings
from plugins.rbac.api import ROLES, USERS, Passwords, credentials

_FIRST_USER = 1
_LONGEST_NAME = 60
_NAME_ATTEMPTS = 10


async def user_of(req: Request, member: str) -> dict[str, Any]:
    """Return the user who is bound to a WeCom member. Raises 40011 if there is none.

    The first scan of a member links a user, creates one, or is refused: see the setting `wecom_first_scan`.
    """
    bound = await _find_bound(req, member)
    if bound is not None:
        return bound
    first_scan = _FIRST_SCAN[req.service.settings_of(AuthSettings).wecom_first_scan]
    try:
        return await first_scan(req, member)
    except ApiError as error:
        if error.kind not in (CONFLICT, DUPLICATE):
            raise
    # a concurrent scan of the same member came first, or the user of that name cannot be linked
    bound = await _find_bound(req, member)
    if bound is None:
        raise ApiError(WECOM_REFUSED, WECOM_NO_ACCOUNT)
    return bound


async def bind(req: Request, member: str) -> None:
    """Bind the caller to a member, replacing any earlier binding. Raises 40900 if another user is bound to it."""
    user = await req.system_store(USERS).get(req.actor.user_id)
    if user.get("wecom_user_id") == member:
        return
    try:
        await req.system_store(USERS).update(user["id"], {"wecom_user_id": member})
    except ApiError as error:
        if error.kind is not DUPLICATE:
            raise
        raise ApiError(DUPLICATE, WECOM_BOUND_BY_ANOTHER, data=error.data) from error


async def unbind(req: Request) -> None:
    """Remove the caller's binding, if any."""
    user = await req.system_store(USERS).get(req.actor.user_id)
    if user.get("wecom_user_id") is not None:
        await req.system_store(USERS).update(user["id"], {"wecom_user_id": None})


def refuse_disabled(user: dict[str, Any]) -> None:
    """Raise 40303 unless the account is enabled."""
    if user["status"] != "enabled":
        raise ApiError(ACCOUNT_DISABLED)


async def _find_bound(req: Request, member: str) -> dict[str, Any] | None:
    return await req.system_store(USERS).find_one({"wecom_user_id": member})


async def _link(req: Request, member: str) -> dict[str, Any]:
    """Bind the member to the only user whose name equals the member's id; case is ignored, as in WeCom's ids."""
    named = await req.system_store(USERS).find({"username": _ignore_case(re.escape(member))}, limit=2)
    if len(named) != 1:
        raise ApiError(WECOM_REFUSED, WECOM_NO_ACCOUNT)
    refuse_disabled(named[0])
    # a matching name is too little proof for a super administrator, who must log in and bind the account instead
    free = {"wecom_user_id": None, "is_super": False, "service": {"$ne": True}, "_id": {"$ne": _FIRST_USER}}
    return await req.system_store(USERS).update(named[0]["id"], {"wecom_user_id": member}, where=free)


async def _create(req: Request, member: str) -> dict[str, Any]:
    """Create a user with the default roles and a random password, which is not returned."""
    passwords = req.part(Passwords)
    unknown = credentials(passwords, await passwords.hash(passwords.make()))
    return await create_account(req, member, {"wecom_user_id": member, **unknown})


async def create_account(req: Request, member: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Create a user for a member, with the default roles, and these values besides. Raises 40011 without a free name."""
    made = {"role_ids": await _get_default_roles(req), "must_change_password": False, **values}
    for _ in range(_NAME_ATTEMPTS):
        try:
            return await req.system_store(USERS).create({**made, "username": await _find_free_name(req, member)})
        except ApiError as error:
            # the name may have been taken since the look-up
            if error.kind is not DUPLICATE or error.data != {"field": "username"}:
                raise
    raise ApiError(WECOM_REFUSED, WECOM_NO_ACCOUNT)


def may_be_linked(user: Mapping[str, Any]) -> bool:
    """Return whether a matching name is proof enough: not for super administrators, and not for other members."""
    special = user["is_super"] or user.get("service") or user["id"] == _FIRST_USER
    return not special and user["status"] == "enabled" and user.get("wecom_user_id") is None


async def _refuse(req: Request, member: str) -> dict[str, Any]:
    raise ApiError(WECOM_REFUSED, WECOM_NO_ACCOUNT)


_FIRST_SCAN: Mapping[str, Callable[[Request, str], Awaitable[dict[str, Any]]]] = {
    "link": _link,
    "create": _create,
    "refuse": _refuse,
}


async def _get_default_roles(req: Request) -> list[int]:
    codes = frozenset(req.service.settings_of(AuthSettings).wecom_default_role)
    roles = await req.system_store(ROLES).find({"code": {"$in": sorted(codes)}, "status": "enabled"})
    if len(roles) != len(codes):
        raise ApiError(WECOM_REFUSED, WECOM_NO_ROLE)
    return [role["id"] for role in roles]


async def _find_free_name(req: Request, member: str) -> str:
    """Return the member's id as a user name, with a number appended if it is taken."""
    name = re.sub(r"[^\w.@-]", "-", member)[:_LONGEST_NAME]
    if len(name) < 2:
        name = f"wecom-{name}"
    similar = await req.system_store(USERS).find({"username": _ignore_case(f"{re.escape(name)}(-[0-9]+)?")})
    taken = {user["username"].lower() for user in similar}
    candidates = [name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))]
    return next(candidate for candidate in candidates if candidate.lower() not in taken)


def _ignore_case(pattern: str) -> dict[str, Any]:
    return {"$regex": f"^{pattern}$", "$options": "i"}
