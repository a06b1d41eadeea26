"""QR-code log-in through WeCom, 企业微信 (SPEC 5.4, CONTRACT 3)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

from plugins.api import WECOM_REFUSED, ApiError, RateLimit, Request, network_of, unavailable
from plugins.auth import wecom_accounts, wecom_states
from plugins.auth.login import admit
from plugins.auth.login_log import note
from plugins.auth.messages import WECOM_OFF
from plugins.auth.settings import AuthSettings
from plugins.auth.wecom_client import TokenRejected, WecomClient, WecomUnavailable
from plugins.auth.wecom_tokens import CorpToken

log = logging.getLogger("tradewind.auth")


class QrRate(RateLimit):
    """QR pages by address: each keeps a state in the database."""


async def qr(req: Request) -> dict[str, Any]:
    """The address of WeCom's QR page and the state that comes back from it; 40011 when WeCom is not configured.

    With a good token the state is the session's.
    """
    req.part(QrRate).take(network_of(req.remote_ip))
    settings = _configured(req)
    state = await wecom_states.begin(req)
    req.answer_headers["Cache-Control"] = "no-store"
    query = {
        "login_type": "CorpApp",
        "appid": settings.wecom_corp_id,
        "agentid": settings.wecom_agent_id,
        "redirect_uri": settings.wecom_redirect_uri,
        "state": state,
    }
    return {"url": f"{settings.wecom_login_base}/wwlogin/sso/login?{urlencode(query)}", "state": state}


async def callback(req: Request) -> dict[str, Any]:
    """Log in as the user of the member who scanned. Refusals: 40011, 40303, 42300, 42900; 50300 with WeCom away."""
    member, user = "", None
    try:
        member = await _member(req, wecom_states.use_for_login)
        user = await wecom_accounts.user_of(req, member)
        wecom_accounts.refuse_disabled(user)
        return await admit(req, user, unchanged={"wecom_user_id": member}, username=user["username"])
    except ApiError as error:
        await note(req, "login", user["username"] if user else member, user, error.kind.code)
        raise


async def bind(req: Request) -> dict[str, Any]:
    """Bind the caller to the member who scanned, in place of an earlier one; 40900 when another user is bound.

    The state must be one that this session asked for.
    """
    member = await _member(req, wecom_states.use_for_binding)
    await wecom_accounts.bind(req, member)
    return {"wecom_user_id": member}


async def unbind(req: Request) -> None:
    """End the caller's binding; repeatable."""
    await wecom_accounts.unbind(req)


async def _member(req: Request, use: Callable[[Request, str], Awaitable[None]]) -> str:
    """Who scanned: use up the state, and the code at WeCom. Raises 40011 and 50300."""
    _configured(req)
    state = req.body["state"]
    await use(req, state)
    try:
        return await _exchange(req, req.body["code"])
    except WecomUnavailable as error:
        # nobody was logged in: the client may come again with the same state
        await wecom_states.give_back(req, state)
        log.error("WeCom call failed", extra={"call": error.call, "reason": error.reason})
        raise unavailable() from error


async def _exchange(req: Request, code: str) -> str:
    """The member of a code; a token that WeCom does not accept any more is renewed once."""
    tokens, client = req.part(CorpToken), req.part(WecomClient)
    token = await tokens.current()
    try:
        return await client.member(token, code)
    except TokenRejected:
        token = await tokens.current(rejected=token)
    try:
        return await client.member(token, code)
    except TokenRejected as error:
        raise WecomUnavailable("auth/getuserinfo", "a new token is rejected") from error


def _configured(req: Request) -> AuthSettings:
    settings = req.service.settings_of(AuthSettings)
    if settings.wecom_missing:
        raise ApiError(WECOM_REFUSED, WECOM_OFF)
    return settings
