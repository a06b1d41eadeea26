"""Log-in, tokens, sessions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from plugins.api import (
    ACCOUNT_DISABLED,
    CONFLICT,
    DUPLICATE,
    LOCKED,
    LOGIN_REFUSED,
    NOT_FOUND,
    PUBLIC,
    RATE_LIMITED,
    REFRESH_REFUSED,
    SIGNED_IN,
    WECOM_REFUSED,
    Authenticator,
    DatabaseUnavailable,
    Jobs,
    Menu,
    Message,
    Plugin,
    Refusal,
    Service,
    integer,
    obj,
    route,
    text,
)  # fmt: skip
from plugins.auth import admin_sessions, login, messages, profile, wecom
from plugins.auth.records import (
    LOGIN_ATTEMPTS,
    LOGIN_BODY,
    LOGIN_LOGS,
    OWN_SESSION,
    PASSWORD_BODY,
    PROFILE_BODY,
    REFRESH_BODY,
    SESSIONS,
    UNKNOWN_NAMES,
)  # fmt: skip
from plugins.auth.sessions import Sessions
from plugins.auth.settings import WECOM_NEEDS, AuthSettings
from plugins.auth.tokens import Tokens
from plugins.auth.wecom_client import WecomClient
from plugins.auth.wecom_records import BINDING, QR, SCAN_BODY, WECOM_STATES, WECOM_TOKENS
from plugins.auth.wecom_tokens import CorpToken
from plugins.rbac.api import MANAGING, OUTCOME, USERS, Directory, Policy

AT = "/api/v1/auth"
SYSTEM = "/api/v1/system"
log = logging.getLogger("tradewind.auth")
_PAIR = {
    "accessToken": text(nullable=False, max_length=8192),
    "refreshToken": text(nullable=False, max_length=8192),
    "tokenType": text(nullable=False),
    "expiresIn": integer(nullable=False, description="Seconds."),
    "refreshExpiresIn": integer(nullable=False, description="Seconds."),
}
TOKENS = obj("Tokens", _PAIR, nullable=False)
LOGIN = obj("Login", {**_PAIR, "userInfo": profile.USER_INFO, "permissions": profile.PERMISSIONS}, nullable=False)


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Offer the sessions; end those of whoever is disabled, deleted or given a new password."""
    settings = service.settings_of(AuthSettings)
    tokens = Tokens(
        service.signing_secrets,
        timedelta(minutes=settings.access_token_minutes),
        timedelta(days=settings.refresh_token_days),
    )
    sessions = Sessions(service.database, service.part(Directory), service.part(Policy), tokens, settings)
    service.provide(Authenticator, sessions)
    service.provide(Sessions, sessions)
    service.part(Jobs).spawn("auth.seen", _keep_seen(sessions, settings.session_seen_seconds))
    limited = service.settings.rate_limits == "on"
    rate = login.LoginRate(service.database, settings.logins_per_minute, limited)
    service.provide(login.LoginRate, rate)
    service.events.listen("rbac.user.sessions_void", partial(_end_sessions, sessions))
    with _wecom(service, settings):
        yield


@contextmanager
def _wecom(service: Service, settings: AuthSettings) -> Iterator[None]:
    """Offer what talks to WeCom."""
    missing = settings.wecom_missing
    if 0 < len(missing) < len(WECOM_NEEDS):
        log.warning("WeCom log-in is off: settings are missing", extra={"missing": missing})
    client = WecomClient(settings)
    service.provide(WecomClient, client)
    service.provide(CorpToken, CorpToken(service.database, client, settings, service.signing_secrets))
    service.provide(wecom.QrRate, wecom.QrRate(settings.logins_per_minute, service.settings.rate_limits == "on"))
    try:
        yield
    finally:
        client.close()


async def _keep_seen(sessions: Sessions, seconds: float) -> None:
    """Note again and again who is there; every instance knows its own people."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await sessions.note_seen()
        except DatabaseUnavailable:
            log.warning("who is there was not noted: the database is out of reach")


async def _end_sessions(sessions: Sessions, payload: Mapping[str, Any]) -> None:
    await sessions.end({"user_id": payload["user_id"]}, payload["reason"])


_NO_SESSION = Refusal(NOT_FOUND, when=messages.NO_SESSION)
_NOT_YOURS = Refusal(NOT_FOUND, when=messages.NOT_YOUR_SESSION)
_own: dict[str, Any] = {"access": SIGNED_IN, "tag": "auth", "before_password_change": True}

plugin = Plugin(
    name="auth",
    title=Message("登录", "Log-in"),
    requires=("rbac",),
    settings=AuthSettings,
    provides=(Authenticator,),
    start=start,
    collections=(SESSIONS, LOGIN_LOGS, LOGIN_ATTEMPTS, UNKNOWN_NAMES, WECOM_STATES, WECOM_TOKENS),
    routes=(
        route(f"POST {AT}/login", login.login, summary="Log in", access=PUBLIC, body=LOGIN_BODY, returns=LOGIN, tag="auth",
              attempt=login.take_attempt, errors=(LOGIN_REFUSED, LOCKED, RATE_LIMITED), refusals=(Refusal(ACCOUNT_DISABLED),)),
        route(f"POST {AT}/refresh", login.refresh, summary="Exchange a refresh token", access=PUBLIC, body=REFRESH_BODY,
              returns=TOKENS, errors=(REFRESH_REFUSED,), tag="auth"),
        route(f"POST {AT}/logout", login.logout, summary="Log out", **_own),
        route(f"GET {AT}/profile", profile.read, summary="Who I am", returns=profile.PROFILE, **_own),
        route(f"PATCH {AT}/profile", profile.update, summary="Change my profile", body=PROFILE_BODY,
              returns=profile.PROFILE, **_own),
        route(f"PUT {AT}/password", login.change_password, summary="Change my password", body=PASSWORD_BODY,
              errors=(LOGIN_REFUSED, LOCKED), refusals=(Refusal(CONFLICT, when=messages.PASSWORD_CHANGED),), **_own),
        route(f"GET {AT}/codes", profile.codes, summary="My permission codes", returns=profile.PERMISSIONS, **_own),
        route(f"GET {AT}/sessions", login.own_sessions, summary="My devices", access=SIGNED_IN, tag="auth",
              query=SESSIONS.list_query, returns=OWN_SESSION, paged=True),
        route(f"DELETE {AT}/sessions/{{id}}", login.end_own_session, summary="Log one of my devices out",
              access=SIGNED_IN, refusals=(_NOT_YOURS,), tag="auth"),
        route(f"GET {AT}/wecom/qr", wecom.qr, summary="What the WeCom QR page needs", access=PUBLIC, returns=QR,
              errors=(WECOM_REFUSED, RATE_LIMITED), tag="auth",
              description="Needs no token; with one the state is the session's, and `POST …/wecom/bind` takes no other. "
                          "A browser on a page of the same origin is given a cookie, and its state works there alone."),
        route(f"POST {AT}/wecom/callback", wecom.callback, summary="Log in by a WeCom scan", access=PUBLIC,
              body=SCAN_BODY, returns=LOGIN, errors=(WECOM_REFUSED, LOCKED), refusals=(Refusal(ACCOUNT_DISABLED),),
              attempt=login.take_attempt, tag="auth"),
        route(f"POST {AT}/wecom/bind", wecom.bind, summary="Bind me to a WeCom member", access=SIGNED_IN,
              body=SCAN_BODY, returns=BINDING, errors=(WECOM_REFUSED, DUPLICATE), tag="auth"),
        route(f"DELETE {AT}/wecom/bind", wecom.unbind, summary="End my WeCom binding", access=SIGNED_IN, tag="auth"),
        route(f"GET {SYSTEM}/sessions", admin_sessions.list_sessions, summary="Who is online", access="system:session:list",
              query=SESSIONS.list_query, returns=SESSIONS.read, paged=True, tag="system"),
        route(f"DELETE {SYSTEM}/sessions/{{id}}", admin_sessions.end_session, summary="Log somebody out on one device",
              access="system:session:delete", refusals=(*MANAGING, _NO_SESSION), tag="system"),
        route(f"DELETE {SYSTEM}/users/{{id}}/sessions", admin_sessions.kick_out, summary="Log somebody out everywhere",
              access="system:user:kick-out", refusals=MANAGING, tag="system", collection=USERS.name),
        route(f"GET {SYSTEM}/login-logs", admin_sessions.list_logins, summary="Who logged in, and who failed to",
              access="system:login-log:list", query={**LOGIN_LOGS.list_query, "outcome": OUTCOME},
              returns=LOGIN_LOGS.read, paged=True, tag="system", collection=LOGIN_LOGS.name),
    ),
    menus=(
        Menu("system.session", Message("在线用户", "Who is online"), path="/system/sessions", parent="system",
             resource="system:session", icon="lucide:monitor-smartphone", order=7),
        Menu("system.login-log", Message("登录日志", "Log-in log"), path="/system/login-logs", parent="system",
             resource="system:login-log", icon="lucide:key-round", order=9),
    ),
    permissions={
        "system:session:delete": Message("强制下线", "Log out"),
        "system:user:kick-out": Message("强制下线", "Log out everywhere"),
    },
)  # fmt: skip
