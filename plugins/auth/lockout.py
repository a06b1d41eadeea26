"""Locks accounts after failed log-ins, which are counted over all instances.

Each network from which a person has logged in has a count and a lock of its own. So strangers who guess lock the account
for themselves, and the person still logs in from where they usually do.

Unknown user names are locked like accounts if the setting `lock_unknown_names` hides which names exist. Unknown and
existing names cost the same work, so neither the response nor its time differs. A typed name is stored as a keyed hash,
for as long as a failed log-in counts.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from datetime import datetime, timedelta
from typing import Any

from plugins.api import ApiError, Request, Store
from plugins.api.errors import LOCKED
from plugins.api.requests import network_of
from plugins.auth.login_log import note_typed
from plugins.auth.records import UNKNOWN_NAMES
from plugins.auth.settings import AuthSettings
from plugins.rbac.api import USERS


def are_locked(req: Request) -> bool:
    """Return whether unknown names are locked."""
    return req.service.settings_of(AuthSettings).lock_unknown_names


def key_of(req: Request, typed: str) -> str:
    """Return the keyed hash that identifies a name in the database."""
    secret = req.service.signing_secrets[0].encode()
    return hmac.new(secret, b"unknown-name:" + typed.encode(), hashlib.sha256).hexdigest()


async def find(req: Request, typed: str) -> dict[str, Any] | None:
    """Return the record that counts the failed log-ins with a name, or None."""
    return await req.system_store(UNKNOWN_NAMES).find_one({"_id": key_of(req, typed)})


async def begin(req: Request, typed: str, until: datetime) -> None:
    """Create the record that counts the failed log-ins with a name, unless it exists. It expires by itself."""
    fresh = {"failures": 0, "locked_until": None, "failed_at": req.now, "expires_at": until}
    await req.system_store(UNKNOWN_NAMES).upsert(key_of(req, typed), {}, {"$setOnInsert": fresh})


_NOBODY = 0
_MOST_NETWORKS = 20
_NETWORKS: Any = {"$ifNull": ["$networks", []]}
_NETWORK_LOCKS: Any = {"$ifNull": ["$network_locks", []]}


def _known_network(req: Request, user: dict[str, Any] | None) -> str | None:
    """Return the network of the request if the person has logged in from there, else None."""
    network = network_of(req.remote_ip)
    return network if user and network in (user.get("networks") or ()) else None


def unlocked_filter(req: Request, user: dict[str, Any] | None) -> dict[str, Any]:
    """Return the filter for accounts that are not locked for the network of the request."""
    network = _known_network(req, user)
    if network is None:
        return {"$or": [{"locked_until": None}, {"locked_until": {"$lte": req.now}}]}
    return {"network_locks": {"$not": {"$elemMatch": {"network": network, "locked_until": {"$gt": req.now}}}}}


def admitted(req: Request, user: dict[str, Any]) -> dict[str, Any]:
    """Return the expressions that reset the failures at a log-in and make its network known.

    A lock for strangers stays if the log-in comes from a network that was known before.
    """
    network, known = network_of(req.remote_ip), _known_network(req, user) is not None
    others = {"$filter": {"input": _NETWORKS, "cond": {"$ne": ["$$this", {"$literal": network}]}}}
    return {
        "failures": 0,
        "networks": {"$slice": [{"$concatArrays": [{"$literal": [network]}, others]}, _MOST_NETWORKS]},
        "network_locks": _locks_where("$ne", network),
        **({} if known else {"locked_until": None}),
    }


def _locks_where(comparison: str, network: str) -> dict[str, Any]:
    condition = {comparison: ["$$this.network", {"$literal": network}]}
    return {"$filter": {"input": _NETWORK_LOCKS, "cond": condition}}


def refuse_locked(req: Request, user: dict[str, Any] | None) -> None:
    """Raise 42300 with `Retry-After` if the account is locked for the network of the request."""
    until = _count_of(req, user).get("locked_until")
    if until is not None and until > req.now:
        wait = math.ceil((until - req.now).total_seconds())
        raise ApiError(LOCKED, headers={"Retry-After": str(max(1, wait))})


def _count_of(req: Request, user: dict[str, Any] | None) -> dict[str, Any]:
    """Return what holds `failures` and `locked_until` for the network of the request; empty before the first failure."""
    network = _known_network(req, user)
    if network is None:
        return user or {}
    locks = (user or {}).get("network_locks") or ()
    return next((lock for lock in locks if lock["network"] == network), {})


async def count_failure(req: Request, user: dict[str, Any] | None, typed: str) -> ApiError | None:
    """Count a failed log-in. Returns a 42300 if the account was locked while the password was checked, else None.

    The right password gets the same 42300 in that case, so an attacker learns nothing from many guesses at the same
    time. An unknown name costs the same work.
    """
    store, id = _find_counter(req, user, typed)
    if await _increase_failures(req, user, typed) or id == _NOBODY:
        return None
    try:
        refuse_locked(req, await store.find_one({"_id": id}))
    except ApiError as locked:
        return locked
    return None


def _find_counter(req: Request, user: dict[str, Any] | None, typed: str) -> tuple[Store, Any]:
    """Return the store and the id of the record that counts the failures of an account or an unknown name."""
    if user is None and are_locked(req):
        return req.system_store(UNKNOWN_NAMES), key_of(req, typed)
    return req.system_store(USERS), user["id"] if user else _NOBODY


async def _increase_failures(req: Request, user: dict[str, Any] | None, typed: str) -> bool:
    """Count a failure in one atomic step and lock the account at the limit. Returns False if it is locked already."""
    until, alike = req.now + _life(req), are_locked(req)
    if alike:
        await begin(req, typed, until)
    network = _known_network(req, user)
    if network is None:
        changes = _counted(req, "$") | ({"expires_at": until} if alike and user is None else {})
    else:
        following = {"network": {"$literal": network}, **_counted(req, "$$count.")}
        mine = {"$let": {"vars": {"count": {"$first": _locks_where("$eq", network)}}, "in": following}}
        changes = {"network_locks": {"$concatArrays": [_locks_where("$ne", network), [mine]]}}
    store, id = _find_counter(req, user, typed)
    changed = await store.update_unversioned({"$and": [{"_id": id}, unlocked_filter(req, user)]}, [{"$set": changes}])
    if changed and _count_of(req, changed)["failures"] == 0:
        await note_typed(req, "lockout", typed, changed if user else None, LOCKED.code)
    return changed is not None


def _counted(req: Request, count: str) -> dict[str, Any]:
    """Return the expressions for what holds `failures` and `locked_until` after one more failure; it is at `count`."""
    alike, life = are_locked(req), _life(req)
    earlier: Any = {"$ifNull": [f"{count}failures", 0]}
    if alike:
        # the failures of an unknown name expire after `life`, so those of an account must expire as well
        earlier = {"$cond": [{"$gt": [f"{count}failed_at", req.now - life]}, earlier, 0]}
    following = {"$add": [earlier, 1]}
    full = {"$gte": [following, req.service.settings_of(AuthSettings).lockout_failures]}
    return {
        "failures": {"$cond": [full, 0, following]},
        "locked_until": {"$cond": [full, req.now + life, {"$ifNull": [f"{count}locked_until", None]}]},
        **({"failed_at": req.now} if alike else {}),
    }


def _life(req: Request) -> timedelta:
    return timedelta(minutes=req.service.settings_of(AuthSettings).lockout_minutes)
