"""The caller's own sessions: listing them, and ending one."""

from __future__ import annotations

from plugins.api import NOT_FOUND, SIGNED_IN, ApiError, Page, Refusal, Request, Route, route
from plugins.auth.messages import NOT_YOUR_SESSION
from plugins.auth.records import OWN_SESSION, SESSIONS
from plugins.auth.sessions import Sessions, live_filter


async def list_sessions(req: Request) -> Page:
    """Return a page of the caller's sessions; `current` marks the one of this request."""
    page = await req.system_store(SESSIONS).page(req.query, live_filter(req.now) | {"user_id": req.actor.user_id})
    for session in page.items:
        session["current"] = session["id"] == req.actor.session_id
    return page


async def end_session(req: Request) -> None:
    """End one of the caller's sessions. Raises 40400 if it is not live or belongs to another user."""
    own = {"_id": req.path["id"], **live_filter(req.now), "user_id": req.actor.user_id}
    session = await req.system_store(SESSIONS).find_one(own)
    if session is None:
        raise ApiError(NOT_FOUND)
    await req.part(Sessions).end({"_id": session["id"]}, "logout")


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/auth/sessions",
        list_sessions,
        summary="List my sessions",
        access=SIGNED_IN,
        query=SESSIONS.list_query,
        returns=OWN_SESSION,
        paged=True,
    ),
    route(
        "DELETE /api/v1/auth/sessions/{id}",
        end_session,
        summary="Log out one of my devices",
        access=SIGNED_IN,
        refusals=(Refusal(NOT_FOUND, hint=NOT_YOUR_SESSION),),
    ),
)
