"""The log of log-ins, log-outs and other events of sessions.

Users sometimes type a password into the user name field, so an unknown name is logged as a keyed hash: attempts with
the same name have the same hash, a filter by the name finds them, and nobody can read the name.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any

from plugins.api import Page, Request
from plugins.api.errors import LOCKED, RATE_LIMITED
from plugins.api.ports import Metrics
from plugins.auth.errors import ACCOUNT_DISABLED, LOGIN_REFUSED
from plugins.auth.records import LOGIN_LOGS
from plugins.rbac.api import log_filter

_RESULTS: Mapping[int, str] = {
    0: "success",
    LOGIN_REFUSED.code: "refused",
    LOCKED.code: "locked",
    ACCOUNT_DISABLED.code: "disabled",
    RATE_LIMITED.code: "limited",  # counted once a minute for each address
}
_OTHER = "other"


class LoginMetrics:
    """Counts the log-ins of this process by their result, and the lockouts that they caused."""

    def __init__(self, metrics: Metrics) -> None:
        results = (*_RESULTS.values(), _OTHER)
        self._logins = metrics.counter("tradewind_logins_total", "Log-ins by their result", "result", results)
        self._lockouts = metrics.counter(
            "tradewind_lockouts_total", "Accounts and names that were locked", values=("",)
        )

    def count(self, event: str, code: int) -> None:
        """Count an event of the log-in log if it is a log-in or a lockout."""
        if event == "login":
            self._logins.add(_RESULTS.get(code, _OTHER))
        elif event == "lockout":
            self._lockouts.add()


_MASK = "unknown#"  # user names cannot contain `#`
_MASK_DIGITS = 8


async def note(
    req: Request, event: str, username: str, user: Mapping[str, Any] | None, code: int, session_id: str | None = None
) -> None:
    """Write one entry, and count it in the metrics. A `code` of 0 is a success."""
    req.part(LoginMetrics).count(event, code)
    await req.system_store(LOGIN_LOGS).create(
        {
            "at": req.now,
            "event": event,
            "username": username[:64],
            "user_id": user["id"] if user else None,
            "code": code,
            "address": req.remote_ip,
            "user_agent": req.headers.get("User-Agent", "")[:500],
            "request_id": req.id,
            "session_id": session_id,
        }
    )


async def note_typed(req: Request, event: str, typed: str, user: Mapping[str, Any] | None, code: int) -> None:
    """Write one entry about a typed name. `user` is None if the name is unknown."""
    await note(req, event, user["username"] if user else mask_name(req, typed), user, code)


def mask_name(req: Request, typed: str) -> str:
    """Return the text that the log holds for an unknown name."""
    return _mask(req.service.signing_secrets[0], typed) if typed else ""


async def page_of_logins(req: Request) -> Page:
    """Return a page of the entries that the query selects; a filter by `username` also finds its masked form."""
    query = dict(req.query)
    wanted = await log_filter(req)
    typed = query.pop("username", None)
    if typed is not None:
        masks = (_mask(secret, typed) for secret in req.service.signing_secrets)
        wanted |= {"username": {"$in": [typed, *masks]}}
    return await req.system_store(LOGIN_LOGS).page(query, wanted)


def _mask(secret: str, typed: str) -> str:
    digest = hmac.new(secret.encode(), b"login-log:" + typed.encode(), hashlib.sha256)
    return f"{_MASK}{digest.hexdigest()[:_MASK_DIGITS]}"
