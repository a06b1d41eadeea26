"""Log-in, refresh, log-out (SPEC 5.1, 5.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from cachetools import TTLCache

from plugins.api import (
    ACCOUNT_DISABLED,
    LOCKED,
    LOGIN_REFUSED,
    NOT_FOUND,
    RATE_LIMITED,
    REFRESH_REFUSED,
    ApiError,
    Database,
    Page,
    RateLimit,
    Request,
    Store,
    invalid,
    network_of,
    utc_now,
)  # fmt: skip
from plugins.auth import unknown_names
from plugins.auth.login_log import note, note_typed
from plugins.auth.profile import user_info
from plugins.auth.records import LOGIN_ATTEMPTS, SESSIONS, UNKNOWN_NAMES
from plugins.auth.sessions import Issued, Sessions, TokenReused
from plugins.auth.settings import AuthSettings
from plugins.rbac.api import USERS, Directory, Passwords, Policy, new_credentials

NOBODY = 0
_REFUSED_ADDRESSES = 10_000


class LoginRate(RateLimit):
    """Log-in attempts by address, over all instances: it stops the spraying of one password over many users."""

    def __init__(self, database: Database, per_minute: int, on: bool = True) -> None:
        super().__init__(per_minute, on)
        self._database = database
        self._most = per_minute if on else None
        self._refused: TTLCache[str, bool] = TTLCache(_REFUSED_ADDRESSES, 60)

    async def attempt(self, key: str) -> None:
        """Count an attempt, here and with the other instances; raises 42900 with `Retry-After`."""
        self.take(key)  # a flood costs no database
        if self._most is None:
            return
        now = utc_now()
        minute = now.replace(second=0, microsecond=0)
        counting = {"$inc": {"count": 1}, "$setOnInsert": {"expires_at": minute + timedelta(minutes=2)}}
        counted = await self._database.store(LOGIN_ATTEMPTS).upsert(f"{key[:64]} {minute:%Y%m%d%H%M}", {}, counting)
        if counted["count"] > self._most:
            raise ApiError(RATE_LIMITED, headers={"Retry-After": str(60 - now.second)})

    def first_refusal(self, key: str) -> bool:
        """Whether this is the first refusal of `key` in a minute."""
        first = key not in self._refused
        if first:
            self._refused[key] = True
        return first


async def take_attempt(req: Request) -> None:
    """Count an attempt to log in, whatever its body is; raises 42900, of which one log entry a minute and address tells."""
    rate, address = req.part(LoginRate), network_of(req.remote_ip)
    try:
        await rate.attempt(address)
    except ApiError as error:
        if rate.first_refusal(address):
            username = _typed_name(req)
            user = await req.part(Directory).by_username(username) if username else None
            await note_typed(req, "login", username, user, error.kind.code)
        raise


def _typed_name(req: Request) -> str:
    """The user name in a body that nobody has checked."""
    try:
        sent = req.sent() if len(req.raw_body) <= req.service.settings.max_public_body_bytes else None
    except ApiError:
        return ""
    name = sent.get("username") if isinstance(sent, dict) else None
    return name if isinstance(name, str) else ""


async def login(req: Request) -> dict[str, Any]:
    """Check name and password, and begin a session. Refusals: 40010, 42300, 40303, 42900."""
    username, password = req.body["username"], req.body["password"]
    user = await req.part(Directory).by_username(username)
    unknown = await unknown_names.find(req, username) if unknown_names.are_locked(req) else None
    try:
        if user is None:
            _refuse_locked(req, unknown)
        return await admit(req, *await _checked(req, user, password), username=username)
    except ApiError as error:
        refusal = error
        if error.kind is LOGIN_REFUSED:
            refusal = await _counted(req, user, username) or error
        await note_typed(req, "login", username, user, refusal.kind.code)
        raise refusal from None


async def _checked(
    req: Request, user: dict[str, Any] | None, password: str
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The user, what the log-in changes of the record, and what must not have changed meanwhile."""
    _refuse_locked(req, user)
    passwords = req.part(Passwords)
    if not await passwords.matches(password, user["password_hash"] if user else None) or user is None:
        raise ApiError(LOGIN_REFUSED)
    if user["status"] != "enabled":
        raise ApiError(ACCOUNT_DISABLED)
    outdated = passwords.outdated(user["password_hash"])
    values = {"password_hash": await passwords.hash(password)} if outdated else {}
    return user, values, {"password_hash": user["password_hash"]}


async def admit(
    req: Request,
    user: dict[str, Any],
    values: Mapping[str, Any] | None = None,
    unchanged: Mapping[str, Any] | None = None,
    *,
    username: str,
) -> dict[str, Any]:
    """Begin the session of a log-in that passed every check, and answer it; `username` is what the log says.

    Sets `values` in the user record, which must still be as `unchanged` says, enabled and not locked. One
    transaction, so that whoever is disabled or given a new password at this moment has no session left afterwards.
    """

    async def work() -> Issued:
        welcomed = await _welcome(req, user, values or {}, unchanged or {})
        return await req.part(Sessions).begin(welcomed, req.remote_ip, req.headers.get("User-Agent", ""))

    issued = await req.transaction(work)
    await note(req, "login", username, user, 0, issued.actor.session_id)
    return {**_pair(issued), **await session_data(req, issued)}


async def _welcome(
    req: Request, user: dict[str, Any], values: Mapping[str, Any], unchanged: Mapping[str, Any]
) -> dict[str, Any]:
    """Forget the failures and note the time. Who was locked meanwhile stays locked."""
    same = {"_id": user["id"], "status": "enabled", **unchanged}
    noted = {"failures": 0, "locked_until": None, "last_login_at": req.now, **values}
    welcomed = await req.system_store(USERS).change_quietly({"$and": [same, _unlocked(req)]}, {"$set": noted})
    if welcomed is None:
        _refuse_locked(req, await req.part(Directory).by_username(user["username"]))
        raise ApiError(LOGIN_REFUSED)
    return welcomed


def _unlocked(req: Request) -> dict[str, Any]:
    return {"$or": [{"locked_until": None}, {"locked_until": {"$lte": req.now}}]}


def _refuse_locked(req: Request, user: dict[str, Any] | None) -> None:
    until = user.get("locked_until") if user else None
    if until is not None and until > req.now:
        wait = math.ceil((until - req.now).total_seconds())
        raise ApiError(LOCKED, headers={"Retry-After": str(max(1, wait))})


async def _counted(req: Request, user: dict[str, Any] | None, typed: str) -> ApiError | None:
    """Count a failure; the refusal of an account that others locked while this password was looked at.

    It is the one that the right password is given then: who guesses many at once learns nothing by the difference.
    The same work is done for an unknown name.
    """
    store, id = _counted_in(req, user, typed)
    if await _count_failure(req, user, typed) or id == NOBODY:
        return None
    try:
        _refuse_locked(req, await store.find_one({"_id": id}))
    except ApiError as locked:
        return locked
    return None


def _counted_in(req: Request, user: dict[str, Any] | None, typed: str) -> tuple[Store, Any]:
    """Where the failures of an account are counted, or of a name that nobody has."""
    if user is None and unknown_names.are_locked(req):
        return req.system_store(UNKNOWN_NAMES), unknown_names.key_of(req, typed)
    return req.system_store(USERS), user["id"] if user else NOBODY


async def _count_failure(req: Request, user: dict[str, Any] | None, typed: str) -> bool:
    """One atomic step, so that several instances count together; the last one locks. False for a locked account."""
    settings = req.service.settings_of(AuthSettings)
    life = timedelta(minutes=settings.lockout_minutes)
    until, alike = req.now + life, unknown_names.are_locked(req)
    earlier: Any = {"$ifNull": ["$failures", 0]}
    if alike:
        await unknown_names.begin(req, typed, until)
        # an unknown name is forgotten after that time, so the failures of an account are as well
        earlier = {"$cond": [{"$gt": ["$failed_at", req.now - life]}, earlier, 0]}
    counted = {"$add": [earlier, 1]}
    full = {"$gte": [counted, settings.lockout_failures]}
    changes = {
        "failures": {"$cond": [full, 0, counted]},
        "locked_until": {"$cond": [full, until, "$locked_until"]},
        **({"failed_at": req.now} if alike else {}),
        **({"expires_at": until} if alike and user is None else {}),
    }
    store, id = _counted_in(req, user, typed)
    changed = await store.change_quietly({"$and": [{"_id": id}, _unlocked(req)]}, [{"$set": changes}])
    if changed and changed["failures"] == 0:
        await note_typed(req, "lockout", typed, changed if user else None, LOCKED.code)
    return changed is not None


async def refresh(req: Request) -> dict[str, Any]:
    """A new pair for a refresh token, which is used up."""
    token = req.body.get("refreshToken") or req.body.get("refresh_token")
    if not token:
        raise invalid("refreshToken", "required")
    try:
        issued = await req.part(Sessions).refresh(token)
    except TokenReused as reused:
        session = reused.session
        await note(
            req, "token_reuse", session["username"], {"id": session["user_id"]}, REFRESH_REFUSED.code, session["id"]
        )
        raise
    return _pair(issued)


async def logout(req: Request) -> None:
    """End this session."""
    await req.part(Sessions).end({"_id": req.actor.session_id}, "logout")
    await note(req, "logout", req.actor.username, {"id": req.actor.user_id}, 0, req.actor.session_id)


async def change_password(req: Request) -> None:
    """A new password for oneself; ends every session of the user."""
    user = await req.system_store(USERS).get(req.actor.user_id)
    try:
        await _change_password(req, user)
    except ApiError as error:
        refusal = error
        if error.kind is LOGIN_REFUSED:
            refusal = await _counted(req, user, user["username"]) or error
        await _password_noted(req, refusal.kind.code)
        raise refusal from None
    await _password_noted(req, 0)


async def _password_noted(req: Request, code: int) -> None:
    actor = req.actor
    await note(req, "password_change", actor.username, {"id": actor.user_id}, code, actor.session_id)


async def _change_password(req: Request, user: dict[str, Any]) -> None:
    passwords = req.part(Passwords)
    _refuse_locked(req, user)
    if not await passwords.matches(req.body["old_password"], user["password_hash"]):
        raise ApiError(LOGIN_REFUSED)
    changed = await new_credentials(passwords, req.body["new_password"], user, "new_password")

    async def work() -> None:
        # others may have guessed meanwhile
        _refuse_locked(req, await req.system_store(USERS).get(user["id"]))
        await req.system_store(USERS).update(
            user["id"],
            {**changed, "must_change_password": False},
            where={"password_hash": user["password_hash"]},
        )
        await req.part(Sessions).end({"user_id": user["id"]}, "password")

    await req.transaction(work)


async def own_sessions(req: Request) -> Page:
    """The caller's devices; `current` is the one that asks."""
    page = await req.system_store(SESSIONS).page(req.query, live(req) | {"user_id": req.actor.user_id})
    for session in page.items:
        session["current"] = session["id"] == req.actor.session_id
    return page


async def end_own_session(req: Request) -> None:
    """Log one of the caller's devices out."""
    await end_session(req, {"user_id": req.actor.user_id}, "logout")


async def end_session(req: Request, filter: dict[str, Any], reason: str) -> None:
    """End the session of the path; 40400 where there is none that matches."""
    session = await req.system_store(SESSIONS).find_one({"_id": req.path["id"], **live(req), **filter})
    if session is None:
        raise ApiError(NOT_FOUND)
    await req.part(Sessions).end({"_id": session["id"]}, reason)


def live(req: Request) -> dict[str, Any]:
    """The filter of sessions that go on."""
    return {"ended_at": None, "expires_at": {"$gt": req.now}}


async def session_data(req: Request, issued: Issued) -> dict[str, Any]:
    """`userInfo` and `permissions` of a log-in."""
    return {
        "userInfo": await user_info(req, issued.user, issued.actor),
        "permissions": await req.part(Policy).permissions(issued.actor),
    }


def _pair(issued: Issued) -> dict[str, Any]:
    return {
        "accessToken": issued.access_token,
        "refreshToken": issued.refresh_token,
        "tokenType": "Bearer",
        "expiresIn": int(issued.access_life.total_seconds()),
        "refreshExpiresIn": int(issued.refresh_life.total_seconds()),
    }
