"""The corporation's access token, shared by all instances: it is stored encrypted in the database until it expires."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from datetime import timedelta
from typing import TypeVar

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from plugins.api import Store, utc_now
from plugins.api.data import Database, Lease
from plugins.auth.settings import AuthSettings
from plugins.auth.wecom_client import TokenRejected, WecomClient, WecomUnavailable
from plugins.auth.wecom_states import WECOM_TOKENS

Result = TypeVar("Result")
# a token is renewed this long before it expires, or this share of its lifetime if that is shorter
_MARGIN_SECONDS = 300.0
_MARGIN_SHARE = 0.1


class CorpToken:
    """The token of the WeCom application in the settings, encrypted with keys derived from the signing secrets."""

    def __init__(
        self, database: Database, client: WecomClient, settings: AuthSettings, signing_secrets: Sequence[str]
    ) -> None:
        self._database = database
        self._client = client
        self._cipher = MultiFernet([_cipher(secret) for secret in signing_secrets])
        self._id = _identify_application(settings)
        self._seconds = 2 * settings.wecom_request_seconds
        self._renewing: asyncio.Task[str] | None = None

    async def current(self, rejected: str | None = None) -> str:
        """Return a token other than the `rejected` one. Raises `WecomUnavailable`."""
        token = await self._load(rejected)
        if token is not None:
            return token
        if self._renewing is None or self._renewing.done():
            # an empty context is outside the caller's transaction, because the token must outlive a rollback
            self._renewing = asyncio.create_task(self._renew(rejected), context=Context())
        return await asyncio.shield(self._renewing)

    async def used_for(self, call: str, ask: Callable[[str], Awaitable[Result]]) -> Result:
        """Return what `ask` returns with the token; if WeCom rejects it, it is renewed once. Raises `WecomUnavailable`."""
        token = await self.current()
        try:
            return await ask(token)
        except TokenRejected:
            token = await self.current(rejected=token)
        try:
            return await ask(token)
        except TokenRejected as error:
            raise WecomUnavailable(call, "a new token is rejected") from error

    async def _renew(self, rejected: str | None) -> str:
        lease = Lease(self._database, f"auth:wecom-token:{self._id}", seconds=self._seconds)
        try:
            async with asyncio.timeout(self._seconds), lease:
                return await self._load(rejected) or await self._fetch()
        except TimeoutError as error:
            raise WecomUnavailable("gettoken", "not renewed in time") from error

    async def _fetch(self) -> str:
        token, life = await self._client.corp_token()
        await self._store().upsert(
            self._id,
            {
                "encrypted": self._cipher.encrypt(token.encode()),
                "expires_at": utc_now() + timedelta(seconds=life - min(_MARGIN_SECONDS, life * _MARGIN_SHARE)),
            },
        )
        return token

    async def _load(self, rejected: str | None) -> str | None:
        found = await self._store().find_one({"_id": self._id, "expires_at": {"$gt": utc_now()}})
        if found is None:
            return None
        try:
            token = self._cipher.decrypt(found["encrypted"]).decode()
        except InvalidToken:
            # the signing key was replaced
            return None
        return token if token != rejected else None

    def _store(self) -> Store:
        return self._database.store(WECOM_TOKENS)


def _cipher(secret: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"wecom-token:" + secret.encode()).digest()))


def _identify_application(settings: AuthSettings) -> str:
    """Return an id of the application, which differs by platform, corporation and secret, as the token does."""
    named = (settings.wecom_api_base, settings.wecom_corp_id, settings.wecom_secret.get_secret_value())
    return hashlib.sha256("\n".join(named).encode()).hexdigest()
