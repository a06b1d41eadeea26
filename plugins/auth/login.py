"""Log-in by password, refresh, log-out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import PUBLIC, SIGNED_IN, ApiError, Refusal, Request, Route, integer, invalid, route, shape, text
from plugins.api.errors import LOCKED, RATE_LIMITED
from plugins.auth import lockout
from plugins.auth.errors import ACCOUNT_DISABLED, LOGIN_REFUSED, REFRESH_REFUSED
from plugins.auth.key_ring import for_people
from plugins.auth.lockout import admitted, count_failure, refuse_locked, unlocked_filter
from plugins.auth.login_log import note, note_typed
from plugins.auth.login_rate import take_attempt
from plugins.auth.profile import PERMISSIONS, USER_INFO, user_info
from plugins.auth.records import LOGIN_BODY, REFRESH_BODY, SESSIONS
from plugins.auth.sessions import Issued, Sessions, TokenReused
from plugins.rbac.api import USERS, Directory, Passwords, Policy

_PAIR = {
    "accessToken": text(nullable=False, max_length=8192),
    "refreshToken": text(nullable=False, max_length=8192),
    "tokenType": text(nullable=False),
    "expiresIn": integer(nullable=False, description="Seconds."),
    "refreshExpiresIn": integer(nullable=False, description="Seconds."),
}
TOKENS = shape("Tokens", **_PAIR)
LOGIN = shape("Login", **_PAIR, userInfo=USER_INFO, permissions=PERMISSIONS)


async def login(req: Request) -> dict[str, Any]:
    """Check name and password, and begin a session. Raises 40010, 42300, 40303, 42900."""
    username, password = req.body["username"], req.body["password"]
    user = await req.part(Directory).by_username(username)
    unknown = await lockout.find(req, username) if lockout.are_locked(req) else None
    try:
        if user is None:
            refuse_locked(req, unknown)
        return await admit(req, *await _verify(req, user, password), username=username)
    except ApiError as error:
        raise await _note_refusal(req, username, user, error) from None


async def _note_refusal(req: Request, username: str, user: dict[str, Any] | None, error: ApiError) -> ApiError:
    """Note the refused attempt, and return the error for the caller: that of a lock if this attempt led to one."""
    refusal = error
    if error.kind is LOGIN_REFUSED:
        refusal = await count_failure(req, user, username) or error
    await note_typed(req, "login", username, user, refusal.kind.code)
    return refusal


async def _verify(
    req: Request, user: dict[str, Any] | None, password: str
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return the user, the values that the log-in sets, and the values that must not have changed meanwhile."""
    refuse_locked(req, user)
    passwords = req.part(Passwords)
    if not await passwords.matches(password, user["password_hash"] if user else None) or user is None:
        raise ApiError(LOGIN_REFUSED)
    if user["status"] != "enabled":
        raise ApiError(ACCOUNT_DISABLED)
    outdated = passwords.outdated(user["password_hash"])
    values = {"password_hash": await passwords.hash(password)} if outdated else {}
    return user, values, {"password_hash": user["password_hash"]}


async def admit(
    req: Request,
    user: dict[str, Any],
    values: Mapping[str, Any] | None = None,
    unchanged: Mapping[str, Any] | None = None,
    *,
    username: str,
) -> dict[str, Any]:
    """Begin a session for a log-in that passed every check, and return the response; the log names `username`.

    Sets `values` in the user record, which must still match `unchanged`, be enabled and not be locked. Both are written
    in one transaction, so an account that is disabled or gets a new password at the same time keeps no session.
    """

    async def work() -> Issued:
        user_now = await _record_login(req, user, values or {}, unchanged or {})
        return await req.part(Sessions).begin(user_now, req.remote_ip, req.headers.get("User-Agent", ""))

    issued = await req.transaction(work)
    await note(req, "login", username, user, 0, issued.actor.session_id)
    return {**_token_pair(issued), **await _session_data(req, issued)}


async def _record_login(
    req: Request, user: dict[str, Any], values: Mapping[str, Any], unchanged: Mapping[str, Any]
) -> dict[str, Any]:
    """Note the log-in and reset the failures. An account that was locked meanwhile stays locked."""
    same = {"_id": user["id"], "status": "enabled", **unchanged}
    noted = {name: {"$literal": value} for name, value in {**values, "last_login_at": req.now}.items()}
    unlocked = {"$and": [same, unlocked_filter(req, user)]}
    user_now = await req.system_store(USERS).update_unversioned(unlocked, [{"$set": {**noted, **admitted(req, user)}}])
    if user_now is None:
        refuse_locked(req, await req.part(Directory).by_username(user["username"]))
        raise ApiError(LOGIN_REFUSED)
    return user_now


async def refresh(req: Request) -> dict[str, Any]:
    """Exchange a refresh token for a new pair of tokens."""
    token = req.body.get("refreshToken") or req.body.get("refresh_token")
    if not token:
        raise invalid("refreshToken", "required")
    return _token_pair(await rotate(req, token))


async def rotate(req: Request, token: str) -> Issued:
    """Exchange a refresh token for a new pair of tokens, and log its reuse. Raises 40102."""
    try:
        return await req.part(Sessions).refresh(token)
    except TokenReused as reused:
        session = reused.session
        await note(
            req, "token_reuse", session["username"], {"id": session["user_id"]}, REFRESH_REFUSED.code, session["id"]
        )
        raise


async def logout(req: Request) -> None:
    """End the session of this request."""
    await req.part(Sessions).end({"_id": req.actor.session_id}, "logout")
    await note(req, "logout", req.actor.username, {"id": req.actor.user_id}, 0, req.actor.session_id)


async def end_session_of(req: Request, token: str) -> None:
    """End the session of a refresh token, unless it is over. Raises 40102 if the token is invalid or expired."""
    sessions = req.part(Sessions)
    claims = sessions.tokens.read_refresh(token)
    own = {"_id": claims["sid"], "user_id": claims["user_id"]}
    session = await req.system_store(SESSIONS).find_one(own)
    if session is not None and await sessions.end(own, "logout"):
        await note(req, "logout", session["username"], {"id": session["user_id"]}, 0, session["id"])


async def _session_data(req: Request, issued: Issued) -> dict[str, Any]:
    """Return `userInfo` and `permissions` of a log-in."""
    return {
        "userInfo": await user_info(req, issued.user, issued.actor),
        "permissions": await req.part(Policy).permissions(issued.actor),
    }


def _token_pair(issued: Issued) -> dict[str, Any]:
    return {
        "accessToken": issued.access_token,
        "refreshToken": issued.refresh_token,
        "tokenType": "Bearer",
        "expiresIn": int(issued.access_life.total_seconds()),
        "refreshExpiresIn": int(issued.refresh_life.total_seconds()),
    }


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/auth/login",
        login,
        summary="Log in",
        access=PUBLIC,
        body=LOGIN_BODY,
        returns=LOGIN,
        attempt=take_attempt,
        errors=(LOGIN_REFUSED, LOCKED, RATE_LIMITED),
        refusals=(Refusal(ACCOUNT_DISABLED),),
    ),
    route(
        "POST /api/v1/auth/refresh",
        refresh,
        summary="Exchange a refresh token for new tokens",
        access=PUBLIC,
        body=REFRESH_BODY,
        returns=TOKENS,
        errors=(REFRESH_REFUSED,),
    ),
    for_people(
        route("POST /api/v1/auth/logout", logout, summary="Log out", access=SIGNED_IN, before_password_change=True)
    ),
)
