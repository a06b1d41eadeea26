"""The caller's own password and sessions."""

from __future__ import annotations

from typing import Any

from plugins.api import CONFLICT, NOT_FOUND, SIGNED_IN, ApiError, Page, Refusal, Request, Route, route
from plugins.api.errors import LOCKED
from plugins.auth.errors import LOGIN_REFUSED, NOT_YOUR_SESSION, PASSWORD_CHANGED
from plugins.auth.key_ring import for_people
from plugins.auth.lockout import count_failure, refuse_locked
from plugins.auth.login_log import note
from plugins.auth.records import OWN_SESSION, PASSWORD_BODY, SESSIONS
from plugins.auth.sessions import Sessions, live_filter
from plugins.rbac.api import USERS, Passwords, new_credentials


async def change_password(req: Request) -> None:
    """Change the caller's password and end all of the caller's sessions."""
    user = await req.system_store(USERS).get(req.actor.user_id)
    try:
        await _change_password(req, user)
    except ApiError as error:
        raise await _note_refusal(req, user, error) from None
    await _note_change(req, 0)


async def _note_refusal(req: Request, user: dict[str, Any], error: ApiError) -> ApiError:
    """Note the refused attempt, and return the error for the caller: that of a lock if this attempt led to one."""
    refusal = error
    if error.kind is LOGIN_REFUSED:
        refusal = await count_failure(req, user, user["username"]) or error
    await _note_change(req, refusal.kind.code)
    return refusal


async def _note_change(req: Request, code: int) -> None:
    actor = req.actor
    await note(req, "password_change", actor.username, {"id": actor.user_id}, code, actor.session_id)


async def _change_password(req: Request, user: dict[str, Any]) -> None:
    passwords = req.part(Passwords)
    refuse_locked(req, user)
    if not await passwords.matches(req.body["old_password"], user["password_hash"]):
        raise ApiError(LOGIN_REFUSED)
    changed = await new_credentials(passwords, req.body["new_password"], user, "new_password")

    async def work() -> None:
        # failed guesses may have locked the account meanwhile
        refuse_locked(req, await req.system_store(USERS).get(user["id"]))
        await req.system_store(USERS).update(
            user["id"],
            {**changed, "must_change_password": False},
            where={"password_hash": user["password_hash"]},
        )
        await req.part(Sessions).end({"user_id": user["id"]}, "password")

    await req.transaction(work)


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


_ROUTES = (
    route(
        "PUT /api/v1/auth/password",
        change_password,
        summary="Change my password",
        access=SIGNED_IN,
        body=PASSWORD_BODY,
        errors=(LOGIN_REFUSED, LOCKED),
        refusals=(Refusal(CONFLICT, hint=PASSWORD_CHANGED),),
        before_password_change=True,
    ),
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
ROUTES: tuple[Route, ...] = tuple(map(for_people, _ROUTES))
