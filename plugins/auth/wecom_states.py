"""The `state` values of WeCom log-ins in progress. Each works once, for five minutes, and only where it was issued.

An attacker who makes a victim's browser finish the attacker's scan logs the victim in as the attacker (RFC 6749 section
10.12), or binds the attacker's WeCom member to the victim's account. So a state issued to a session is bound to that
session, and one issued to a browser on a page of the service's own origin is bound to that browser by a cookie. Other
clients send no cookies; they must compare the state themselves.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import timedelta
from typing import Any

from plugins.api import ApiError, Collection, Index, Message, Request, boolean, shape, text, timestamp
from plugins.auth.cookies import OwnCookie, is_same_origin
from plugins.auth.errors import WECOM_REFUSED, WECOM_STATE_ELSEWHERE, WECOM_STATE_REFUSED
from plugins.auth.sessions import Sessions

# `id` is the SHA-256 of the state and `browser` that of the browser's cookie, so that someone who reads the
# database cannot finish another user's log-in
WECOM_STATES = Collection(
    name="auth_wecom_states",
    title="WecomState",
    plain=True,
    ids="text",
    default_sort="-expires_at",
    fields={
        "expires_at": timestamp(nullable=False, sort=True),
        "used_at": timestamp(),
    },
    indexes=(Index("expires_at", expire_seconds=0),),
    internal=("session_id", "browser"),
)

# one document for each application, so that all instances share its token
WECOM_TOKENS = Collection(
    name="auth_wecom_tokens",
    title="WecomToken",
    plain=True,
    ids="text",
    default_sort="-expires_at",
    fields={"expires_at": timestamp(nullable=False, sort=True)},
    indexes=(Index("expires_at", expire_seconds=0),),
    internal=("encrypted",),
)

SCAN_BODY = shape(
    "WecomScanBody",
    code=text(required=True, max_length=512, secret=True, example="the code of the callback address"),
    state=text(required=True, max_length=128, secret=True, example="the state of /wecom/qr"),
)
QR = shape(
    "WecomQr",
    url=text(nullable=False, max_length=4096, description="The page with the QR code: show it, or open it."),
    inside=boolean(
        nullable=False,
        description="Whether the request is of WeCom's own browser: `url` then has no QR code, and must be opened.",
    ),
    state=text(nullable=False, description="Valid once, for 5 minutes; WeCom returns it with the code."),
)
BINDING = shape("WecomBinding", wecom_user_id=text(nullable=False))


STATE_LIFE = timedelta(minutes=5)
_COOKIE = OwnCookie("wecom-browser")
_NONCE = re.compile(r"^[A-Za-z0-9_-]{43}$")


async def begin(req: Request) -> str:
    """Create a state, bound to the session and the browser of the request, if any."""
    state = secrets.token_urlsafe(32)
    owners = {"session_id": await _find_session(req), "browser": _keep_browser(req)}
    lasting = {"expires_at": req.now + STATE_LIFE, "used_at": None}
    await req.system_store(WECOM_STATES).create({**lasting, **owners}, id=_hash(state))
    return state


async def use_for_login(req: Request, state: str) -> None:
    """Use up a state that is not bound to another browser or session. Raises 40011."""
    mine = _hash(_COOKIE.read(req))
    # a browser on a page of the service's own origin got a bound state, so it may not finish another client's scan
    browsers = [mine] if is_same_origin(req) else [None, mine]
    await _use(req, state, {"browser": {"$in": browsers}, "session_id": {"$in": [None, await _find_session(req)]}})


async def use_for_binding(req: Request, state: str) -> None:
    """Use up a state that is bound to the caller's session. Raises 40011."""
    await _use(req, state, {"session_id": req.actor.session_id})


async def give_back(req: Request, state: str) -> None:
    """Make a used state usable again, because it has logged nobody in."""
    await req.system_store(WECOM_STATES).update_where({"_id": _hash(state)}, {"used_at": None})


async def _use(req: Request, state: str, owners: dict[str, Any]) -> None:
    """Use up the state by one conditional update, so that only one of two callers can. A refusal leaves it unused."""
    states = req.system_store(WECOM_STATES)
    usable = {"_id": _hash(state), "used_at": None, "expires_at": {"$gt": req.now}}
    if await states.update_where({**usable, **owners}, {"used_at": req.now}) is None:
        reason: Message = WECOM_STATE_ELSEWHERE if await states.find_one(usable) else WECOM_STATE_REFUSED
        raise ApiError(WECOM_REFUSED, reason)


async def _find_session(req: Request) -> str | None:
    """Return the session of the token, or None without a valid one: a public route ignores an invalid token."""
    if req.bearer is None:
        return None
    try:
        return (await req.part(Sessions).authenticate(req.bearer)).session_id
    except ApiError:
        return None


def _keep_browser(req: Request) -> str | None:
    """Set a cookie that identifies the browser in all its tabs, and return the hash to store; None for others."""
    if not is_same_origin(req):
        return None
    known = _COOKIE.read(req)
    nonce = known if _NONCE.match(known) else secrets.token_urlsafe(32)
    _COOKIE.write(req, nonce, STATE_LIFE)
    return _hash(nonce)


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()
