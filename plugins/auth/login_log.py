"""The log of log-ins and what else happens to sessions.

People type passwords where a user name belongs. So a name that nobody has is written down as a keyed hash: attempts on
the same name are seen to be on one, who knows the name finds them, and nobody reads it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from plugins.api import Page, Request
from plugins.auth.records import LOGIN_LOGS
from plugins.rbac.api import of_log

_MASK = "unknown#"  # no user name has such a character
_MASK_DIGITS = 8


async def note(
    req: Request, event: str, username: str, user: Mapping[str, Any] | None, code: int, session_id: str | None = None
) -> None:
    """Write one entry; `code` 0 is a success."""
    await req.system_store(LOGIN_LOGS).create({
        "at": req.now,
        "event": event,
        "username": username[:64],
        "user_id": user["id"] if user else None,
        "code": code,
        "address": req.remote_ip,
        "user_agent": req.headers.get("User-Agent", "")[:500],
        "request_id": req.id,
        "session_id": session_id,
    })  # fmt: skip


async def note_typed(req: Request, event: str, typed: str, user: Mapping[str, Any] | None, code: int) -> None:
    """Write one entry about a name that somebody typed; `user` None: nobody has it."""
    await note(req, event, user["username"] if user else masked(req, typed), user, code)


def masked(req: Request, typed: str) -> str:
    """What stands in the log for a name that nobody has."""
    return _mask(req.service.signing_secrets[0], typed) if typed else ""


async def page_of_logins(req: Request) -> Page:
    """A page of the entries that the query asks for; a `username` finds its masked form too."""
    query = dict(req.query)
    wanted = await of_log(req)
    typed = query.pop("username", None)
    if typed is not None:
        masks = (_mask(secret, typed) for secret in req.service.signing_secrets)
        wanted |= {"username": {"$in": [typed, *masks]}}
    return await req.system_store(LOGIN_LOGS).page(query, wanted)


def _mask(secret: str, typed: str) -> str:
    digest = hmac.new(secret.encode(), b"login-log:" + typed.encode(), hashlib.sha256)
    return f"{_MASK}{digest.hexdigest()[:_MASK_DIGITS]}"
