"""Locks accounts after failed log-ins, which are counted over all instances."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from plugins.api import LOCKED, ApiError, Request, Store
from plugins.auth import unknown_names
from plugins.auth.login_log import note_typed
from plugins.auth.records import UNKNOWN_NAMES
from plugins.auth.settings import AuthSettings
from plugins.rbac.api import USERS

_NOBODY = 0


def unlocked_filter(req: Request) -> dict[str, Any]:
    """Return the filter for accounts that are not locked."""
    return {"$or": [{"locked_until": None}, {"locked_until": {"$lte": req.now}}]}


def refuse_locked(req: Request, user: dict[str, Any] | None) -> None:
    """Raise 42300 with `Retry-After` if the account is locked."""
    until = user.get("locked_until") if user else None
    if until is not None and until > req.now:
        wait = math.ceil((until - req.now).total_seconds())
        raise ApiError(LOCKED, headers={"Retry-After": str(max(1, wait))})


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
    if user is None and unknown_names.are_locked(req):
        return req.system_store(UNKNOWN_NAMES), unknown_names.key_of(req, typed)
    return req.system_store(USERS), user["id"] if user else _NOBODY


async def _increase_failures(req: Request, user: dict[str, Any] | None, typed: str) -> bool:
    """Count a failure in one atomic step and lock the account at the limit. Returns False if it is locked already."""
    settings = req.service.settings_of(AuthSettings)
    life = timedelta(minutes=settings.lockout_minutes)
    until, alike = req.now + life, unknown_names.are_locked(req)
    earlier: Any = {"$ifNull": ["$failures", 0]}
    if alike:
        await unknown_names.begin(req, typed, until)
        # the failures of an unknown name expire after `life`, so those of an account must expire as well
        earlier = {"$cond": [{"$gt": ["$failed_at", req.now - life]}, earlier, 0]}
    counted = {"$add": [earlier, 1]}
    full = {"$gte": [counted, settings.lockout_failures]}
    changes = {
        "failures": {"$cond": [full, 0, counted]},
        "locked_until": {"$cond": [full, until, "$locked_until"]},
        **({"failed_at": req.now} if alike else {}),
        **({"expires_at": until} if alike and user is None else {}),
    }
    store, id = _find_counter(req, user, typed)
    changed = await store.update_unversioned({"$and": [{"_id": id}, unlocked_filter(req)]}, [{"$set": changes}])
    if changed and changed["failures"] == 0:
        await note_typed(req, "lockout", typed, changed if user else None, LOCKED.code)
    return changed is not None
