"""Who is online, forced log-out, and the log of log-ins, for administrators (CONTRACT 4)."""

from __future__ import annotations

from typing import Any

from plugins.api import NOT_FOUND, ApiError, Page, Request
from plugins.auth.login import live
from plugins.auth.login_log import note, page_of_logins
from plugins.auth.records import SESSIONS
from plugins.auth.sessions import Sessions
from plugins.rbac.api import USERS, may_manage, of_people_seen

KICKED_OUT = "kicked_out"


async def list_sessions(req: Request) -> Page:
    """A page of the sessions that go on, of the people in the caller's data scope."""
    return await req.system_store(SESSIONS).page(req.query, live(req) | await of_people_seen(req))


async def end_session(req: Request) -> None:
    """Log somebody out on one device, on every instance."""
    session = await req.system_store(SESSIONS).find_one({"_id": req.path["id"], **live(req)})
    if session is None:
        raise ApiError(NOT_FOUND)
    user = await _subject(req, session["user_id"])
    await req.part(Sessions).end({"_id": session["id"]}, KICKED_OUT)
    await note(req, KICKED_OUT, user["username"], user, 0, session["id"])


async def kick_out(req: Request) -> None:
    """Log somebody out everywhere."""
    user = await _subject(req, req.path["id"])
    await req.part(Sessions).end({"user_id": user["id"]}, KICKED_OUT)
    await note(req, KICKED_OUT, user["username"], user, 0)


async def list_logins(req: Request) -> Page:
    """A page of log-ins, log-outs, lockouts and what else happened to sessions; `code` 0 is a success.

    Of the people in the caller's data scope; names that are nobody's are for those who see everybody.
    """
    return await page_of_logins(req)


async def _subject(req: Request, user_id: Any) -> dict[str, Any]:
    """The user, whom the caller must see (40400), and who must not stand above them (40302, 40300)."""
    user = await req.store(USERS).get(user_id)
    await may_manage(req, user)
    return user
