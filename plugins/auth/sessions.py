"""Sessions: begun at log-in, rotated at refresh, looked up for every request.

A refresh token is rotated by one conditional update. Reuse of a rotated token ends the session (RFC 9700 section
4.14.2), except within a short grace period, in which two tabs that refresh at once get the same successor.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from plugins.api import Actor, ApiError, Store, utc_now
from plugins.api.data import Database, RecordCache
from plugins.api.errors import UNAUTHENTICATED
from plugins.auth.errors import REFRESH_REFUSED
from plugins.auth.records import SESSIONS
from plugins.auth.settings import AuthSettings
from plugins.auth.tokens import Tokens
from plugins.rbac.api import Directory, Policy

log = logging.getLogger("tradewind.auth")
_BATCH = 1000


@dataclass(frozen=True)
class Issued:
    """A pair of tokens with their lifetimes and their user."""

    user: dict[str, Any]
    actor: Actor
    access_token: str
    refresh_token: str
    access_life: timedelta
    refresh_life: timedelta


class TokenReused(ApiError):
    """Raised when a refresh token is used twice; its session has been ended."""

    def __init__(self, session: dict[str, Any]) -> None:
        super().__init__(REFRESH_REFUSED)
        self.session = session


class Sessions:
    """All sessions, cached by id. A change of a session on any instance invalidates its entry."""

    def __init__(
        self, database: Database, directory: Directory, policy: Policy, tokens: Tokens, settings: AuthSettings
    ) -> None:
        self._database = database
        self._directory = directory
        self._policy = policy
        self._grace = timedelta(seconds=settings.refresh_grace_seconds)
        self._longest = timedelta(days=settings.session_days) if settings.session_days else None
        self.tokens = tokens
        self._seen: set[str] = set()
        self._live: RecordCache[str, dict[str, Any]] = RecordCache(self._load, size=50_000)
        database.changes.listen(SESSIONS.name, self._live.invalidate)

    def _store(self) -> Store:
        return self._database.store(SESSIONS)

    async def authenticate(self, token: str) -> Actor:
        """Return the actor of an access token.

        Raises 40101 if the token expired, and 40100 if it is invalid or its session or account is not live.
        """
        claims = self.tokens.read_access(token)
        session_id, user_id = claims["sid"], claims["user_id"]
        session = self._live.cached(session_id) or await self._live.get(session_id)
        if session is None or session["user_id"] != user_id:
            raise ApiError(UNAUTHENTICATED)
        user = self._directory.cached_user(user_id) or await self._directory.user(user_id)
        if user is None or user["status"] != "enabled":
            raise ApiError(UNAUTHENTICATED)
        self._seen.add(session_id)
        return await self._directory.actor(user, session_id)

    async def note_seen(self) -> None:
        """Write `last_seen_at` of the sessions that this instance served since the last call."""
        seen, self._seen = list(self._seen), set()
        for place in range(0, len(seen), _BATCH):
            live = {"_id": {"$in": seen[place : place + _BATCH]}, "ended_at": None}
            await self._store().update_many(live, {"$max": {"last_seen_at": utc_now()}})

    async def begin(self, user: dict[str, Any], address: str, user_agent: str) -> Issued:
        """Begin a session after a log-in."""
        now, session_id, jti = utc_now(), uuid.uuid4().hex, uuid.uuid4().hex
        await self._store().upsert(
            session_id,
            {
                "user_id": user["id"],
                "username": user["username"],
                "address": address,
                "user_agent": user_agent[:500],
                "created_at": now,
                "last_seen_at": now,
                "expires_at": self._end_of(now, self.tokens.refresh_life, now),
                "current_hash": _hash(jti),
                "previous_hash": None,
                "rotated_at": now,
                "ended_at": None,
            },
        )
        return await self._issue(user, jti, {"id": session_id, "created_at": now, "rotated_at": now})

    async def refresh(self, token: str) -> Issued:
        """Rotate a refresh token. Raises 40102 if it is refused, as `TokenReused` if it was used before."""
        claims = self.tokens.read_refresh(token)
        user = await self._directory.user(claims["user_id"])
        if user is None or user["status"] != "enabled":
            raise ApiError(REFRESH_REFUSED)
        jti, session = await self._rotate(claims)
        return await self._issue(user, jti, session)

    async def _rotate(self, claims: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Rotate the session; return the identifier of the new token, and the session."""
        now, session_id, given = utc_now(), claims["sid"], _hash(claims["jti"])
        successors = self.tokens.successors(claims["jti"])
        store = self._store()
        live = {"_id": session_id, "user_id": claims["user_id"], "ended_at": None}
        created_at = now if self._longest is None else await self._find_beginning(live, now)
        rotated = await store.update_where(
            {**live, "current_hash": given},
            {
                "current_hash": _hash(successors[0]),
                "previous_hash": given,
                "rotated_at": now,
                "last_seen_at": now,
                "expires_at": self._end_of(now, self.tokens.refresh_life, created_at),
            },
        )
        if rotated is not None:
            return successors[0], rotated
        session = await store.find_one(live)
        if session is None:
            raise ApiError(REFRESH_REFUSED)
        if session["previous_hash"] == given and now - session["rotated_at"] <= self._grace:
            return self._find_issued(successors, session), session
        if not await self.end({"_id": session_id}, "token_reuse"):
            raise ApiError(REFRESH_REFUSED)
        log.warning("refresh token reused", extra={"session_id": session_id, "session_user_id": claims["user_id"]})
        raise TokenReused(session)

    def _find_issued(self, successors: Sequence[str], session: dict[str, Any]) -> str:
        """Return the successor that was issued, possibly by an instance with another current key."""
        issued = next((jti for jti in successors if _hash(jti) == session["current_hash"]), None)
        if issued is None:
            raise ApiError(REFRESH_REFUSED)
        return issued

    async def _issue(self, user: dict[str, Any], jti: str, session: dict[str, Any]) -> Issued:
        session_id, rotated_at, now = session["id"], session["rotated_at"], utc_now()
        actor = await self._directory.actor(user, session_id)
        roles = (await self._policy.rules()).codes(actor.roles)
        access_end = self._end_of(now, self.tokens.access_life, session["created_at"])
        refresh_end = self._end_of(rotated_at, self.tokens.refresh_life, session["created_at"])
        access = self.tokens.access(user["id"], roles, session_id, uuid.uuid4().hex, now, access_end)
        refresh = self.tokens.refresh(user["id"], session_id, jti, refresh_end)
        return Issued(user, actor, access, refresh, access_end - now, refresh_end - rotated_at)

    def _end_of(self, since: datetime, life: timedelta, created_at: datetime) -> datetime:
        """Return `since` plus `life`, but no later than the end of a session that began at `created_at`."""
        return since + life if self._longest is None else min(since + life, created_at + self._longest)

    async def _find_beginning(self, live: dict[str, Any], now: datetime) -> datetime:
        """Return when a session began. Raises 40102 if it is over."""
        session = await self._store().find_one(live)
        if session is None or (self._longest is not None and session["created_at"] + self._longest <= now):
            raise ApiError(REFRESH_REFUSED)
        began: datetime = session["created_at"]
        return began

    async def end(self, filter: dict[str, Any], reason: str) -> int:
        """End the live sessions that match, and return how many. All instances then refuse their access tokens."""
        ended = {"$set": {"ended_at": utc_now(), "end_reason": reason}}
        return await self._store().update_many({"$and": [{"ended_at": None}, filter]}, ended)

    async def _load(self, session_id: str) -> dict[str, Any] | None:
        return await self._store().find_one({"_id": session_id, "ended_at": None})


def _hash(jti: str) -> str:
    return hashlib.sha256(jti.encode()).hexdigest()


def live_filter(now: datetime) -> dict[str, Any]:
    """Return the filter for live sessions."""
    return {"ended_at": None, "expires_at": {"$gt": now}}
