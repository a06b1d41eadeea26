"""The limit on log-in attempts per address, counted over all instances."""

from __future__ import annotations

from datetime import timedelta

from cachetools import TTLCache

from plugins.api import ApiError, Request, utc_now
from plugins.api.data import Database
from plugins.api.errors import RATE_LIMITED
from plugins.api.ports import RateLimit
from plugins.api.requests import network_of
from plugins.auth.login_log import note_typed
from plugins.auth.records import LOGIN_ATTEMPTS
from plugins.rbac.api import Directory

_REFUSED_ADDRESSES = 10_000


class LoginRate(RateLimit):
    """Limits log-in attempts per address, so that nobody can try one password against many users."""

    def __init__(self, database: Database, per_minute: int, on: bool = True) -> None:
        super().__init__(per_minute, on)
        self._database = database
        self._most = per_minute if on else None
        self._refused: TTLCache[str, bool] = TTLCache(_REFUSED_ADDRESSES, 60)

    async def attempt(self, key: str) -> None:
        """Count an attempt, in the process and over all instances. Raises 42900 with `Retry-After` above the limit."""
        self.take(key)  # first, so that a flood costs no database access
        if self._most is None:
            return
        now = utc_now()
        minute = now.replace(second=0, microsecond=0)
        counting = {"$inc": {"count": 1}, "$setOnInsert": {"expires_at": minute + timedelta(minutes=2)}}
        counted = await self._database.store(LOGIN_ATTEMPTS).upsert(f"{key[:64]} {minute:%Y%m%d%H%M}", {}, counting)
        if counted["count"] > self._most:
            raise ApiError(RATE_LIMITED, headers={"Retry-After": str(60 - now.second)})

    def first_refusal(self, key: str) -> bool:
        """Return whether this is the first refusal of `key` in a minute."""
        first = key not in self._refused
        if first:
            self._refused[key] = True
        return first


async def take_attempt(req: Request) -> None:
    """Count a log-in attempt before its body is checked. Raises 42900, which is logged once per minute and address."""
    rate, address = req.part(LoginRate), network_of(req.remote_ip)
    try:
        await rate.attempt(address)
    except ApiError as error:
        if rate.first_refusal(address):
            username = _read_username(req)
            user = await req.part(Directory).by_username(username) if username else None
            await note_typed(req, "login", username, user, error.kind.code)
        raise


def _read_username(req: Request) -> str:
    """Return the user name of a body that has not been validated, or an empty string."""
    try:
        sent = req.sent() if len(req.raw_body) <= req.service.settings.max_public_body_bytes else None
    except ApiError:
        return ""
    name = sent.get("username") if isinstance(sent, dict) else None
    return name if isinstance(name, str) else ""
