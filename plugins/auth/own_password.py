"""Changing the caller's own password."""

from __future__ import annotations

from typing import Any

from plugins.api import CONFLICT, SIGNED_IN, ApiError, Refusal, Request, Route, route
from plugins.api.errors import LOCKED
from plugins.auth.errors import LOGIN_REFUSED
from plugins.auth.lockout import count_failure, refuse_locked
from plugins.auth.login_log import note
from plugins.auth.messages import PASSWORD_CHANGED
from plugins.auth.records import PASSWORD_BODY
from plugins.auth.sessions import Sessions
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


ROUTES: tuple[Route, ...] = (
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
)
