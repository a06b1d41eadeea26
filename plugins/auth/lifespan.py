"""What the plugin does at start and at shutdown."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any

from plugins.api import Service
from plugins.api.data import Jobs
from plugins.api.errors import DatabaseUnavailable
from plugins.api.ports import Authenticator, Metrics
from plugins.auth.key_ring import KeyRing
from plugins.auth.login_log import LoginMetrics
from plugins.auth.login_rate import LoginRate
from plugins.auth.sessions import Sessions
from plugins.auth.settings import WECOM_NEEDS, AuthSettings
from plugins.auth.tokens import Tokens
from plugins.auth.wecom import QrRate
from plugins.auth.wecom_client import WecomClient
from plugins.auth.wecom_messages import WecomMessages
from plugins.auth.wecom_tokens import CorpToken
from plugins.rbac.api import Directory, Policy

log = logging.getLogger("tradewind.auth")


@asynccontextmanager
async def start(service: Service) -> AsyncIterator[None]:
    """Provide the sessions, the limits and metrics of log-ins, and what log-in with WeCom needs."""
    settings = service.settings_of(AuthSettings)
    tokens = Tokens(
        service.signing_secrets,
        timedelta(minutes=settings.access_token_minutes),
        timedelta(days=settings.refresh_token_days),
    )
    sessions = Sessions(service.database, service.part(Directory), service.part(Policy), tokens, settings)
    service.provide(LoginMetrics, LoginMetrics(service.part(Metrics)))
    keys = KeyRing(service.database, service.part(Directory), sessions)
    service.provide(Authenticator, keys)
    service.provide(KeyRing, keys)
    service.provide(Sessions, sessions)
    service.part(Jobs).spawn("auth.seen", _write_last_seen(sessions, keys, settings.session_seen_seconds))
    limited = service.settings.rate_limits == "on"
    service.provide(LoginRate, LoginRate(service.database, settings.logins_per_minute, limited))
    with _provide_wecom(service, settings):
        yield


@contextmanager
def _provide_wecom(service: Service, settings: AuthSettings) -> Iterator[None]:
    missing = settings.wecom_missing
    if 0 < len(missing) < len(WECOM_NEEDS):
        log.warning("WeCom log-in is off: settings are missing", extra={"missing": missing})
    client = WecomClient(settings)
    service.provide(WecomClient, client)
    tokens = CorpToken(service.database, client, settings, service.signing_secrets)
    service.provide(CorpToken, tokens)
    service.provide(WecomMessages, WecomMessages(client, tokens, settings))
    service.provide(QrRate, QrRate(settings.logins_per_minute, service.settings.rate_limits == "on"))
    try:
        yield
    finally:
        client.close()


async def _write_last_seen(sessions: Sessions, keys: KeyRing, seconds: float) -> None:
    """Write when sessions and keys were last used, periodically; each instance for those that it has served."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await sessions.note_seen()
            await keys.note_used()
        except DatabaseUnavailable:
            log.warning("last_seen_at was not written: the database is out of reach")


async def end_sessions(service: Service, payload: Mapping[str, Any]) -> None:
    """End the sessions of a user who is disabled, deleted or given a new password."""
    await service.part(Sessions).end({"user_id": payload["user_id"]}, payload["reason"])
