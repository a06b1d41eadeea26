"""Sessions: begun at log-in, rotated at refresh, ended by many; looked up for every request.

The rotation is one conditional update. A token that was rotated away and comes again ends the session (RFC 9700
section 4.14.2), but for a short grace in which two racing tabs are given the same successor.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from plugins.api import REFRESH_REFUSED, UNAUTHENTICATED, Actor, ApiError, Database, RecordCache, Store, utc_now
from plugins.auth.records import SESSIONS
from plugins.auth.settings import AuthSettings
from plugins.auth.tokens import Tokens
from plugins.rbac.api import Directory, Policy

log = logging.getLogger("tradewind.auth")
_AT_ONCE = 1000


@dataclass(frozen=True)
class Issued:
    """A pair of tokens and whose they are."""

    user: dict[str, Any]
    actor: Actor
    access_token: str
    refresh_token: str


class TokenReused(ApiError):
    """A refresh token that was used before; its session was ended."""

    def __init__(self, session: dict[str, Any]) -> None:
        super().__init__(REFRESH_REFUSED)
        self.session = session


class Sessions:
    """All sessions, through one cache that every change of them empties."""

    def __init__(
        self, database: Database, directory: Directory, policy: Policy, tokens: Tokens, settings: AuthSettings
    ) -> None:
        self._database = database
        self._directory = directory
        self._policy = policy
        self._grace = timedelta(seconds=settings.refresh_grace_seconds)
        self.tokens = tokens
        self._seen: set[str] = set()
        self._live: RecordCache[str, dict[str, Any]] = RecordCache(self._load, size=50_000)
        database.changes.listen(SESSIONS.name, self._live.invalidate)

    def _store(self) -> Store:
        return self._database.store(SESSIONS)

    async def authenticate(self, token: str) -> Actor:
        """The person of an access token whose session lives and whose account is enabled (SPEC 5.1)."""
        claims = self.tokens.read_access(token)
        session = await self._live.get(claims["sid"])
        if session is None or session["user_id"] != claims["user_id"]:
            raise ApiError(UNAUTHENTICATED)
        user = await self._directory.user(claims["user_id"])
        if user is None or user["status"] != "enabled":
            raise ApiError(UNAUTHENTICATED)
        self._seen.add(claims["sid"])
        return await self._directory.actor(user, claims["sid"])

    async def note_seen(self) -> None:
        """Write down who asked for something on this instance since the last time."""
        seen, self._seen = list(self._seen), set()
        for place in range(0, len(seen), _AT_ONCE):
            there = {"_id": {"$in": seen[place : place + _AT_ONCE]}, "ended_at": None}
            await self._store().change_many(there, {"$max": {"last_seen_at": utc_now()}})

    async def begin(self, user: dict[str, Any], address: str, user_agent: str) -> Issued:
        """A new session after a log-in."""
        now, session_id, jti = utc_now(), uuid.uuid4().hex, uuid.uuid4().hex
        await self._store().upsert(session_id, {
            "user_id": user["id"],
            "username": user["username"],
            "address": address,
            "user_agent": user_agent[:500],
            "created_at": now,
            "last_seen_at": now,
            "expires_at": now + self.tokens.refresh_life,
            "current_hash": _hash(jti),
            "previous_hash": None,
            "rotated_at": now,
            "ended_at": None,
        })  # fmt: skip
        return await self._issue(user, session_id, jti, now)

    async def refresh(self, token: str) -> Issued:
        """Rotate a refresh token; raises 40102, and `TokenReused` for one that was used before."""
        claims = self.tokens.read_refresh(token)
        user = await self._directory.user(claims["user_id"])
        if user is None or user["status"] != "enabled":
            raise ApiError(REFRESH_REFUSED)
        jti, rotated_at = await self._rotate(claims)
        return await self._issue(user, claims["sid"], jti, rotated_at)

    async def _rotate(self, claims: dict[str, Any]) -> tuple[str, datetime]:
        """The successor's identifier, and when it was made."""
        now, session_id, given = utc_now(), claims["sid"], _hash(claims["jti"])
        successors = self.tokens.successors(claims["jti"])
        store = self._store()
        rotated = await store.change_one(
            {"_id": session_id, "user_id": claims["user_id"], "current_hash": given, "ended_at": None},
            {"current_hash": _hash(successors[0]), "previous_hash": given, "rotated_at": now, "last_seen_at": now,
             "expires_at": now + self.tokens.refresh_life},
        )  # fmt: skip
        if rotated is not None:
            return successors[0], now
        session = await store.find_one({"_id": session_id, "user_id": claims["user_id"], "ended_at": None})
        if session is None:
            raise ApiError(REFRESH_REFUSED)
        if session["previous_hash"] == given and now - session["rotated_at"] <= self._grace:
            return self._unused(successors, session), session["rotated_at"]
        if not await self.end({"_id": session_id}, "token_reuse"):
            raise ApiError(REFRESH_REFUSED)
        log.warning("refresh token reused", extra={"session_id": session_id, "session_user_id": claims["user_id"]})
        raise TokenReused(session)

    def _unused(self, successors: Sequence[str], session: dict[str, Any]) -> str:
        """The successor that was handed out, maybe by an instance whose current key is another."""
        handed_out = next((jti for jti in successors if _hash(jti) == session["current_hash"]), None)
        if handed_out is None:
            raise ApiError(REFRESH_REFUSED)
        return handed_out

    async def _issue(self, user: dict[str, Any], session_id: str, jti: str, rotated_at: datetime) -> Issued:
        actor = await self._directory.actor(user, session_id)
        roles = (await self._policy.rules()).codes(actor.roles)
        access = self.tokens.access(user["id"], roles, session_id, uuid.uuid4().hex, utc_now())
        return Issued(user, actor, access, self.tokens.refresh(user["id"], session_id, jti, rotated_at))

    async def end(self, filter: dict[str, Any], reason: str) -> int:
        """End the live sessions that match; their access tokens stop on every instance."""
        ended = {"$set": {"ended_at": utc_now(), "end_reason": reason}}
        return await self._store().change_many({"$and": [{"ended_at": None}, filter]}, ended)

    async def _load(self, session_id: str) -> dict[str, Any] | None:
        return await self._store().find_one({"_id": session_id, "ended_at": None})


def _hash(jti: str) -> str:
    return hashlib.sha256(jti.encode()).hexdigest()
