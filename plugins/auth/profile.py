"""The caller's own profile. Its `user` has the same shape as the `userInfo` of a log-in, which vben-admin expects."""

from __future__ import annotations

from typing import Any

from plugins.api import (
    SIGNED_IN,
    Actor,
    ApiError,
    Request,
    Route,
    array,
    boolean,
    choice,
    integer,
    obj,
    route,
    shape,
    text,
    timestamp,
)
from plugins.api.errors import UNAUTHENTICATED
from plugins.auth.key_ring import for_people
from plugins.auth.records import PROFILE_BODY
from plugins.rbac.api import USERS, Directory, Policy

HOME = "/dashboard"

USER_INFO = shape(
    "UserInfo",
    userId=integer(nullable=False),
    username=text(nullable=False),
    realName=text(nullable=False),
    avatar=text(),
    email=text(),
    mobile=text(),
    department=obj("DepartmentName", {"id": integer(nullable=False), "name": text(nullable=False)}),
    roles=array(text(nullable=False), max_items=1000, nullable=False),
    dataScope=choice("all", "department", "department_and_below", "self", "custom"),
    isSuper=boolean(nullable=False),
    mustChangePassword=boolean(nullable=False),
    homePath=text(nullable=False),
    lastLoginAt=timestamp(),
)
PERMISSIONS = array(text(nullable=False), max_items=10_000, nullable=False)
PROFILE = shape("Profile", user=USER_INFO, permissions=PERMISSIONS)


async def read(req: Request) -> dict[str, Any]:
    """Return the caller's user data and permission codes."""
    user = await req.part(Directory).user(req.actor.user_id)
    if user is None:
        raise ApiError(UNAUTHENTICATED)
    return {"user": await user_info(req, user, req.actor), "permissions": await codes(req)}


async def update(req: Request) -> dict[str, Any]:
    """Change the caller's name, e-mail address, mobile number and avatar."""
    user = await req.system_store(USERS).update(req.actor.user_id, req.body)
    return {"user": await user_info(req, user, req.actor), "permissions": await codes(req)}


async def codes(req: Request) -> list[str]:
    """Return the caller's permission codes."""
    return await req.part(Policy).permissions(req.actor)


async def user_info(req: Request, user: dict[str, Any], actor: Actor) -> dict[str, Any]:
    """Return the user in the shape of `USER_INFO`."""
    rules = await req.part(Policy).rules()
    department = rules.departments.get(user.get("department_id") or 0)
    return {
        "userId": user["id"],
        "username": user["username"],
        "realName": user.get("real_name") or user["username"],
        "avatar": user.get("avatar"),
        "email": user.get("email"),
        "mobile": user.get("mobile"),
        "department": department,
        "roles": rules.codes(actor.roles),
        "dataScope": "all" if actor.is_super else rules.widest(actor.roles),
        "isSuper": actor.is_super,
        "mustChangePassword": actor.must_change_password,
        "homePath": user.get("home_path") or HOME,
        "lastLoginAt": user.get("last_login_at"),
    }


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/auth/profile",
        read,
        summary="Read my profile",
        access=SIGNED_IN,
        returns=PROFILE,
        before_password_change=True,
    ),
    for_people(
        route(
            "PATCH /api/v1/auth/profile",
            update,
            summary="Change my profile",
            access=SIGNED_IN,
            body=PROFILE_BODY,
            returns=PROFILE,
            before_password_change=True,
        )
    ),
    route(
        "GET /api/v1/auth/codes",
        codes,
        summary="List my permission codes",
        access=SIGNED_IN,
        returns=PERMISSIONS,
        before_password_change=True,
    ),
)
