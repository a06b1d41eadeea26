"""The log of log-ins and what else happens to sessions."""

from __future__ import annotations

from typing import Any

from plugins.api import Request
from plugins.auth.records import LOGIN_LOGS


async def note(
    req: Request, event: str, username: str, user: dict[str, Any] | None, code: int, session_id: str | None = None
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
