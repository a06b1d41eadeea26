"""For administrators: live sessions, forced log-out, the log-in log."""

from __future__ import annotations

from typing import Any

from plugins.api import NOT_FOUND, ApiError, Page, Refusal, Request, Route, route
from plugins.auth.errors import NO_SESSION
from plugins.auth.login_log import note, page_of_logins
from plugins.auth.records import LOGIN_LOGS, SESSIONS
from plugins.auth.sessions import Sessions, live_filter
from plugins.rbac.api import MANAGING, OUTCOME, USERS, may_manage, visible_users_filter

KICKED_OUT = "kicked_out"


async def list_sessions(req: Request) -> Page:
    """Return a page of the live sessions of users in the caller's data scope."""
    return await req.system_store(SESSIONS).page(req.query, live_filter(req.now) | await visible_users_filter(req))


async def end_session(req: Request) -> None:
    """End one session of a user; all instances refuse its access tokens from then on."""
    session = await req.system_store(SESSIONS).find_one({"_id": req.path["id"], **live_filter(req.now)})
    if session is None:
        raise ApiError(NOT_FOUND)
    user = await _get_manageable_user(req, session["user_id"])
    await req.part(Sessions).end({"_id": session["id"]}, KICKED_OUT)
    await note(req, KICKED_OUT, user["username"], user, 0, session["id"])


async def kick_out(req: Request) -> None:
    """End all sessions of a user."""
    user = await _get_manageable_user(req, req.path["id"])
    await req.part(Sessions).end({"user_id": user["id"]}, KICKED_OUT)
    await note(req, KICKED_OUT, user["username"], user, 0)


async def list_logins(req: Request) -> Page:
    """Return a page of the log-in log, for users in the caller's data scope. A `code` of 0 is a success.

    Only callers who see all users see the entries of unknown names.
    """
    return await page_of_logins(req)


async def _get_manageable_user(req: Request, user_id: Any) -> dict[str, Any]:
    """Return a user whom the caller may manage.

    Raises 40400 outside the caller's data scope, and 40300 or 40302 as `may_manage` does.
    """
    user = await req.store(USERS).get(user_id)
    await may_manage(req, user)
    return user


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/sessions",
        list_sessions,
        summary="List sessions",
        access="system:session:list",
        query=SESSIONS.list_query,
        returns=SESSIONS.read,
        paged=True,
    ),
    route(
        "DELETE /api/v1/system/sessions/{id}",
        end_session,
        summary="Log a user out on one device",
        access="system:session:delete",
        refusals=(*MANAGING, Refusal(NOT_FOUND, hint=NO_SESSION)),
    ),
    route(
        "DELETE /api/v1/system/users/{id}/sessions",
        kick_out,
        summary="Log a user out everywhere",
        access="system:user:kick-out",
        collection=USERS.name,
        refusals=MANAGING,
    ),
    route(
        "GET /api/v1/system/login-logs",
        list_logins,
        summary="List log-ins and failed attempts",
        access="system:login-log:list",
        query={**LOGIN_LOGS.list_query, "outcome": OUTCOME},
        record=LOGIN_LOGS,
        paged=True,
    ),
)
