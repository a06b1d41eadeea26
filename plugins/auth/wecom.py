"""Log-in through WeCom (企业微信): by a QR code, or without a scan in WeCom's own browser."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from plugins.api import PUBLIC, SIGNED_IN, ApiError, Refusal, Request, Route, route
from plugins.api.errors import DUPLICATE, LOCKED, RATE_LIMITED, unavailable
from plugins.api.ports import RateLimit
from plugins.api.requests import network_of
from plugins.auth import wecom_accounts, wecom_states
from plugins.auth.errors import ACCOUNT_DISABLED, WECOM_OFF, WECOM_REFUSED
from plugins.auth.key_ring import for_people
from plugins.auth.login import LOGIN, admit
from plugins.auth.login_log import note
from plugins.auth.login_rate import take_attempt
from plugins.auth.settings import AuthSettings
from plugins.auth.wecom_client import WecomClient, WecomUnavailable
from plugins.auth.wecom_states import BINDING, QR, SCAN_BODY
from plugins.auth.wecom_tokens import CorpToken

log = logging.getLogger("tradewind.auth")
_OWN_BROWSER = "wxwork/"  # in the `User-Agent` of WeCom's own browser, on phones and desktops


class QrRate(RateLimit):
    """Limits requests for the QR page per address, because each one stores a state in the database."""


async def qr(req: Request) -> dict[str, Any]:
    """Return the address of WeCom's page and a new state. Raises 40011 if WeCom is not configured.

    The page has a QR code; to WeCom's own browser it says at once who asks. WeCom sends the state back with the code.
    A request with a valid token binds the state to its session.
    """
    req.part(QrRate).take(network_of(req.remote_ip))
    settings = require_settings(req)
    state = await wecom_states.begin(req)
    req.response_headers["Cache-Control"] = "no-store"
    inside = _OWN_BROWSER in req.headers.get("User-Agent", "")
    return {"url": _page(settings, state, inside), "state": state, "inside": inside}


def _page(settings: AuthSettings, state: str, inside: bool) -> str:
    """Return the address of the page with the QR code, or of the one that WeCom's own browser passes without a scan."""
    common = {"agentid": settings.wecom_agent_id, "redirect_uri": settings.wecom_redirect_uri, "state": state}
    if not inside:
        query = {"login_type": "CorpApp", "appid": settings.wecom_corp_id, **common}
        return f"{settings.wecom_login_base}/wwlogin/sso/login?{urlencode(query)}"
    # https://developer.work.weixin.qq.com/document/path/91022
    query = {"appid": settings.wecom_corp_id, "response_type": "code", "scope": "snsapi_base", **common}
    return f"{settings.wecom_oauth_base}/connect/oauth2/authorize?{urlencode(query)}#wechat_redirect"


async def callback(req: Request) -> dict[str, Any]:
    """Log in as the user of the member who scanned. Raises 40011, 40303, 42300, 42900; 50300 if WeCom fails."""
    member, user = "", None
    try:
        member = await _identify_member(req, wecom_states.use_for_login)
        user = await wecom_accounts.user_of(req, member)
        wecom_accounts.refuse_disabled(user)
        return await admit(req, user, unchanged={"wecom_user_id": member}, username=user["username"])
    except ApiError as error:
        await note(req, "login", user["username"] if user else member, user, error.kind.code)
        raise


async def bind(req: Request) -> dict[str, Any]:
    """Bind the caller to the member who scanned, replacing any earlier binding.

    The state must have been issued to this session. Raises 40900 if another user is bound to the member.
    """
    member = await _identify_member(req, wecom_states.use_for_binding)
    await wecom_accounts.bind(req, member)
    return {"wecom_user_id": member}


async def unbind(req: Request) -> None:
    """End the caller's binding. Idempotent."""
    await wecom_accounts.unbind(req)


async def _identify_member(req: Request, use: Callable[[Request, str], Awaitable[None]]) -> str:
    """Use up the state and the code, and return the member who scanned. Raises 40011 and 50300."""
    require_settings(req)
    state = req.body["state"]
    await use(req, state)
    try:
        client, code = req.part(WecomClient), req.body["code"]
        return await req.part(CorpToken).used_for("auth/getuserinfo", lambda token: client.member(token, code))
    except WecomUnavailable as error:
        # nobody was logged in, so the client may retry with the same state
        await wecom_states.give_back(req, state)
        log.error("WeCom call failed", extra={"call": error.call, "reason": error.reason})
        raise unavailable() from error


def require_settings(req: Request) -> AuthSettings:
    """Return the settings. Raises 40011 if WeCom is not configured."""
    settings = req.service.settings_of(AuthSettings)
    if settings.wecom_missing:
        raise ApiError(WECOM_REFUSED, WECOM_OFF)
    return settings


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/auth/wecom/qr",
        qr,
        summary="Start a WeCom log-in, by QR code or in WeCom's own browser",
        access=PUBLIC,
        returns=QR,
        errors=(WECOM_REFUSED, RATE_LIMITED),
        description="Needs no token. With one, the state belongs to the session; `POST …/wecom/bind` accepts no "
        "other state. A browser on a page of the same origin gets a cookie, and the state works only in that "
        "browser.",
    ),
    route(
        "POST /api/v1/auth/wecom/callback",
        callback,
        summary="Log in with a WeCom scan",
        access=PUBLIC,
        body=SCAN_BODY,
        returns=LOGIN,
        errors=(WECOM_REFUSED, LOCKED),
        refusals=(Refusal(ACCOUNT_DISABLED),),
        attempt=take_attempt,
    ),
    for_people(
        route(
            "POST /api/v1/auth/wecom/bind",
            bind,
            summary="Link my account to a WeCom member",
            access=SIGNED_IN,
            body=SCAN_BODY,
            returns=BINDING,
            errors=(WECOM_REFUSED, DUPLICATE),
        )
    ),
    for_people(
        route("DELETE /api/v1/auth/wecom/bind", unbind, summary="Unlink my account from WeCom", access=SIGNED_IN)
    ),
)
