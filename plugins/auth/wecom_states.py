"""The states of running WeCom log-ins: each is good once, for five minutes, and where it was asked for alone.

Whoever makes a victim's browser finish a scan of their own logs the victim in as themselves (RFC 6749 section 10.12),
or binds their own WeCom member to the victim's account. So a state that a session asked for is that session's, and one
that a browser asked for on a page of the service's own origin is that browser's, by a cookie. Other clients have no
cookies here; their states are as good as the comparison that the client makes.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import timedelta
from typing import Any

from tornado.httputil import parse_cookie

from plugins.api import WECOM_REFUSED, ApiError, Message, Request
from plugins.auth.messages import WECOM_STATE_ELSEWHERE, WECOM_STATE_REFUSED
from plugins.auth.sessions import Sessions
from plugins.auth.wecom_records import WECOM_STATES

STATE_LIFE = timedelta(minutes=5)
_COOKIE = "wecom-browser"
_NONCE = re.compile(r"^[A-Za-z0-9_-]{43}$")
_LOCAL = re.compile(r"^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$")


async def begin(req: Request) -> str:
    """A new state, which belongs to the session and to the browser that asks, where there is one."""
    state = secrets.token_urlsafe(32)
    owners = {"session_id": await _session_of(req), "browser": _keep_browser(req)}
    lasting = {"expires_at": req.now + STATE_LIFE, "used_at": None}
    await req.system_store(WECOM_STATES).create({**lasting, **owners}, id=_hash(state))
    return state


async def use_for_login(req: Request, state: str) -> None:
    """Use a state up that this browser and this session asked for, or anybody who has neither. Raises 40011."""
    mine = _hash(_cookie(req))
    # a browser of the same origin has asked as one, and nobody finishes another's scan in it
    browsers = [mine] if _of_same_origin(req) else [None, mine]
    await _use(req, state, {"browser": {"$in": browsers}, "session_id": {"$in": [None, await _session_of(req)]}})


async def use_for_binding(req: Request, state: str) -> None:
    """Use a state up that the caller's session asked for. Raises 40011."""
    await _use(req, state, {"session_id": req.actor.session_id})


async def give_back(req: Request, state: str) -> None:
    """Let a used state be used again: nobody was logged in by it."""
    await req.system_store(WECOM_STATES).change_one({"_id": _hash(state)}, {"used_at": None})


async def _use(req: Request, state: str, owners: dict[str, Any]) -> None:
    """One conditional update, so that of two callers one gets through; what is refused is not used up."""
    states = req.system_store(WECOM_STATES)
    usable = {"_id": _hash(state), "used_at": None, "expires_at": {"$gt": req.now}}
    if await states.change_one({**usable, **owners}, {"used_at": req.now}) is None:
        reason: Message = WECOM_STATE_ELSEWHERE if await states.find_one(usable) else WECOM_STATE_REFUSED
        raise ApiError(WECOM_REFUSED, reason)


async def _session_of(req: Request) -> str | None:
    """The session of a token that is good; a public route does not fail on one that is not."""
    if req.bearer is None:
        return None
    try:
        return (await req.part(Sessions).authenticate(req.bearer)).session_id
    except ApiError:
        return None


def _keep_browser(req: Request) -> str | None:
    """Let the browser be known by a cookie, the same one in all its tabs; what is stored of it."""
    if not _of_same_origin(req):
        return None
    known = _cookie(req)
    nonce = known if _NONCE.match(known) else secrets.token_urlsafe(32)
    name = _cookie_name(req)
    secure = "; Secure" if name != _COOKIE else ""
    life = int(STATE_LIFE.total_seconds())
    req.answer_headers["Set-Cookie"] = f"{name}={nonce}; Max-Age={life}; Path=/; HttpOnly; SameSite=Strict{secure}"
    return _hash(nonce)


def _of_same_origin(req: Request) -> bool:
    """Whether a browser asks from a page of the service's own origin: such requests alone carry cookies unasked.

    Pages cannot write this field (https://www.w3.org/TR/fetch-metadata/), and browsers send it to secure or local
    addresses alone.
    """
    return req.headers.get("Sec-Fetch-Site") == "same-origin"


def _cookie(req: Request) -> str:
    return parse_cookie(req.headers.get("Cookie", "")).get(_cookie_name(req), "")


def _cookie_name(req: Request) -> str:
    """With the prefix no other host writes the cookie (RFC 6265bis section 4.1.3.2); not every browser has it locally."""
    return _COOKIE if _LOCAL.match(req.headers.get("Host", "")) else f"__Host-{_COOKIE}"


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()
