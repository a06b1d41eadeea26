"""Log-in, refresh, log-out, the person and their menus, in the shapes that `apps/web-antd` of vben-admin 5 expects.

The refresh token is in a cookie that no script can read. It is set for pages of the service's own origin and accepted
from these alone, so no other site can use or end a session (cross-site request forgery).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from plugins.api import PUBLIC, SIGNED_IN, ApiError, Refusal, Request, Route, array, boolean, route, shape, text
from plugins.api.errors import LOCKED, RATE_LIMITED
from plugins.auth import api as auth
from plugins.auth.api import ACCOUNT_DISABLED, LOGIN_BODY, LOGIN_REFUSED, REFRESH_REFUSED, OwnCookie
from plugins.rbac.api import MENU_NODE, Policy, own_tree

_COOKIE = OwnCookie("vben-refresh")
_NOW = timedelta()
_ALIASES = {"message": "msg"}
_CODES = array(text(nullable=False), max_items=10_000, nullable=False)
# vben sends an option of its HTTP client as the body
_NO_BODY = shape("VbenBody", withCredentials=boolean(description="Sent by vben-admin; without meaning."))

LOGIN_FORM = LOGIN_BODY.but(
    title="VbenLoginBody",
    fields={
        **(LOGIN_BODY.fields or {}),
        "captcha": boolean(description="The slider of vben-admin's form; not checked."),
        "selectAccount": text(max_length=64, description="The choice of an account in vben-admin's form; not used."),
    },
)
TOKEN = shape("VbenToken", accessToken=text(nullable=False, max_length=8192))
USER = shape(
    "VbenUser",
    userId=text(nullable=False),
    username=text(nullable=False),
    realName=text(nullable=False),
    avatar=text(),
    desc=text(nullable=False, description="The department."),
    homePath=text(nullable=False, description="The page after log-in: one of the caller's menus."),
    roles=_CODES,
)


async def login(req: Request) -> dict[str, Any]:
    """Log in as `POST /api/v1/auth/login` does, and put the refresh token into the cookie."""
    session = await auth.login(req)
    if auth.is_same_origin(req):
        _COOKIE.write(req, session["refreshToken"], timedelta(seconds=session["refreshExpiresIn"]))
    return session


async def refresh(req: Request) -> bytes:
    """Rotate the refresh token of the cookie, and return the new access token alone. Raises 40102."""
    try:
        issued = await auth.rotate(req, _own_token(req))
    except ApiError as error:
        if error.kind is REFRESH_REFUSED:
            _forget(req)
        raise
    _COOKIE.write(req, issued.refresh_token, issued.refresh_life)
    return f'"{issued.access_token}"'.encode()


async def logout(req: Request) -> None:
    """End the session of the cookie, if there is one, and remove the cookie."""
    try:
        await auth.end_session_of(req, _own_token(req))
    except ApiError as error:
        if error.kind is not REFRESH_REFUSED:
            raise
    _forget(req)


def _own_token(req: Request) -> str:
    """Return the refresh token of the cookie. Raises 40102 without one, or if another site sends the request."""
    token = _COOKIE.read(req) if auth.is_same_origin(req) else ""
    if not token:
        raise ApiError(REFRESH_REFUSED)
    return token


def _forget(req: Request) -> None:
    if auth.is_same_origin(req):
        _COOKIE.write(req, "", _NOW)


async def user(req: Request) -> dict[str, Any]:
    """Return the caller. A super administrator has every role, as vben-admin compares them one by one."""
    known = (await auth.read(req))["user"]
    rules = await req.part(Policy).rules()
    paths = [*_pages(await own_tree(req))]
    home = known["homePath"]
    return {
        **known,
        "userId": str(known["userId"]),
        "desc": (known["department"] or {}).get("name", ""),
        "homePath": home if home in paths else next(iter(paths), home),
        "roles": rules.codes(rules.enabled(rules.roles)) if req.actor.is_super else known["roles"],
    }


def _pages(nodes: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the paths of the pages of a menu tree, in order."""
    for node in nodes:
        if node["type"] == "menu":
            yield node["path"]
        yield from _pages(node["children"])


async def codes(req: Request) -> list[str]:
    """Return the permission codes; a super administrator has every one, for vben-admin knows no wildcard."""
    if not req.actor.is_super:
        return await auth.codes(req)
    menus = (await req.part(Policy).rules()).menus.values()
    return sorted({menu["permission"] for menu in menus if menu.get("permission")})


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/auth/login",
        login,
        summary="Log in to vben-admin",
        access=PUBLIC,
        body=LOGIN_FORM,
        returns=TOKEN,
        attempt=auth.take_attempt,
        errors=(LOGIN_REFUSED, LOCKED, RATE_LIMITED),
        refusals=(Refusal(ACCOUNT_DISABLED),),
        aliases=_ALIASES,
        description="The refresh token is set as a cookie if a page of the same origin asks.",
    ),
    route(
        "POST /api/auth/refresh",
        refresh,
        summary="Get a new access token for vben-admin",
        access=PUBLIC,
        body=_NO_BODY,
        bare="application/json",
        errors=(REFRESH_REFUSED,),
        aliases=_ALIASES,
        description="The response is the access token as a JSON string, without an envelope. "
        "The refresh token of the cookie is exchanged for a new one.",
    ),
    route(
        "POST /api/auth/logout",
        logout,
        summary="Log out of vben-admin",
        access=PUBLIC,
        body=_NO_BODY,
        aliases=_ALIASES,
        description="Ends the session of the cookie; without one nothing happens.",
    ),
    route(
        "GET /api/auth/codes",
        codes,
        summary="List my permission codes for vben-admin",
        access=SIGNED_IN,
        returns=_CODES,
        before_password_change=True,
        aliases=_ALIASES,
    ),
    route(
        "GET /api/user/info",
        user,
        summary="Read who I am for vben-admin",
        access=SIGNED_IN,
        returns=USER,
        before_password_change=True,
        aliases=_ALIASES,
    ),
    route(
        "GET /api/menu/all",
        own_tree,
        summary="List my menus for vben-admin",
        access=SIGNED_IN,
        returns=array(MENU_NODE, max_items=1000, nullable=False),
        aliases=_ALIASES,
    ),
)
