"""Authenticates callers: people by the tokens of their sessions, service accounts by keys, which begin with `tw_`.

All keys are in memory; a change of one on any instance loads them again.
"""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from datetime import datetime
from ipaddress import ip_address, ip_network
from typing import Any

from plugins.api import FORBIDDEN, Actor, ApiError, Refusal, Request, Route, utc_now
from plugins.api.data import CachedSnapshot, Database
from plugins.api.errors import UNAUTHENTICATED
from plugins.auth.errors import FOR_PEOPLE
from plugins.auth.sessions import Sessions
from plugins.rbac.api import KEY_PREFIX, SERVICE_KEYS, Directory, hash_of_key

_SESSION = "key:"  # begins the `session_id` of an actor with a key
log = logging.getLogger("tradewind.auth")


class KeyRing:
    """The keys of all service accounts, by their hashes, and the sessions of people."""

    def __init__(self, database: Database, directory: Directory, sessions: Sessions) -> None:
        self._database = database
        self._directory = directory
        self._sessions = sessions
        self._keys: CachedSnapshot[Mapping[str, dict[str, Any]]] = CachedSnapshot(self._load)
        self._used: dict[Any, datetime] = {}
        database.changes.listen(SERVICE_KEYS.name, self._keys.invalidate)

    def authenticate(self, token: str, address: str) -> Coroutine[Any, Any, Actor]:
        """Return the actor of an access token or of a key that is used from `address`. Raises 40100 and 40101."""
        if token.startswith(KEY_PREFIX):
            return self._actor_with(token, address)
        return self._sessions.authenticate(token)

    async def _actor_with(self, token: str, address: str) -> Actor:
        keys = self._keys.latest or await self._keys.current()
        key = keys.get(hash_of_key(token))
        if key is None:
            raise ApiError(UNAUTHENTICATED)
        user = self._directory.cached_user(key["account_id"]) or await self._directory.user(key["account_id"])
        fault = _fault(key, user, address)
        if user is None or fault:
            log.warning("key refused", extra={"key_id": str(key["id"]), "reason": fault, "address": address})
            raise ApiError(UNAUTHENTICATED)
        self._used[key["id"]] = utc_now()
        return await self._directory.actor(user, f"{_SESSION}{key['id']}")

    async def note_used(self) -> None:
        """Write `last_used_at` of the keys that were used on this instance since the last call."""
        used, self._used = self._used, {}
        for id, at in used.items():
            await self._database.store(SERVICE_KEYS).update_unversioned({"_id": id}, {"$max": {"last_used_at": at}})

    async def _load(self) -> Mapping[str, dict[str, Any]]:
        return {key["hash"]: key for key in await self._database.store(SERVICE_KEYS).find()}


def _fault(key: Mapping[str, Any], user: Mapping[str, Any] | None, address: str) -> str:
    """Return why a key is refused, for the log; an empty text if it is not."""
    if user is None or user["status"] != "enabled":
        return "the account is disabled or deleted"
    if key["expires_at"] is not None and key["expires_at"] <= utc_now():
        return "the key has expired"
    return "" if _is_within(address, key["addresses"] or ()) else "the address is not among those of the key"


def _is_within(address: str, listed: Any) -> bool:
    if not listed:
        return True
    try:
        caller = ip_address(address)
    except ValueError:  # a UNIX socket
        return False
    caller = getattr(caller, "ipv4_mapped", None) or caller
    return any(caller in ip_network(network, strict=False) for network in listed)


def for_people(route: Route) -> Route:
    """Return the route as one that service accounts may not use (40300), such as that of one's own password."""

    async def handle(req: Request) -> object:
        if req.actor.session_id.startswith(_SESSION):
            raise ApiError(FORBIDDEN, FOR_PEOPLE)
        return await route.handler(req)

    refusals = (*route.refusals, Refusal(FORBIDDEN, FOR_PEOPLE, exempt_super=True))
    return replace(route, handler=handle, refusals=refusals)
