"""Users: accounts, their roles and departments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plugins.api import (
    CONFLICT,
    NOT_FOUND,
    ApiError,
    Event,
    Handler,
    Page,
    Refusal,
    Request,
    Route,
    conflicts,
    crud,
    route,
    shape,
    text,
)
from plugins.api.data import restore
from plugins.api.errors import STALE, SUPER_ONLY
from plugins.rbac.deciding import REFUSES_ONESELF, refuse_leading
from plugins.rbac.holdings import count_holdings, refuse_if_holding
from plugins.rbac.limits import MANAGING, guard_super, may_give, may_manage, may_place, may_set_super, missing_rights
from plugins.rbac.messages import (
    DEPARTMENT_OUTSIDE,
    HOLDS,
    LAST_SUPER,
    NO_PERSON,
    OWN_DELETE,
    OWN_PASSWORD,
    SUPER_BY_SUPER,
    USER_ONE,
    WIDER_DECISIONS,
    WIDER_MENUS,
    WIDER_SCOPE,
)
from plugins.rbac.passwords import Passwords
from plugins.rbac.records import USERS

FIRST_USER = 1
# every lock goes; the networks that the person is known from stay
UNLOCKED: dict[str, Any] = {"failures": 0, "locked_until": None, "network_locks": []}
HOLDINGS_HEADER = "X-Holdings"
NEW_PASSWORD = shape("NewPassword", password=text(nullable=False))
# these fields decide what the account can do, or who can log in with it: a WeCom member is linked by user name
_CONTROL = ("username", "password", "must_change_password", "role_ids", "department_id", "status")
_OWN_PASSWORD = conflicts(OWN_PASSWORD)
_NO_PERSON = conflicts(NO_PERSON)
REFUSALS = (
    *_NO_PERSON,
    *missing_rights(WIDER_MENUS, WIDER_SCOPE, WIDER_DECISIONS, DEPARTMENT_OUTSIDE),
    *MANAGING,
    REFUSES_ONESELF,
    Refusal(SUPER_ONLY, SUPER_BY_SUPER, exempt_super=True),
    # these apply to super administrators too
    *conflicts(USER_ONE, OWN_DELETE, LAST_SUPER),
    *_OWN_PASSWORD,
)
SESSIONS_VOID = Event("rbac.user.sessions_void", user_id=int, reason=str)


async def list_users(req: Request) -> Page:
    """Return a page of the users in the caller's data scope, without service accounts."""
    return await req.store(USERS).page(req.query, {"service": {"$ne": True}})


def only(handler: Handler, *, service: bool, deleted: bool = False) -> Handler:
    """Make a handler for service accounts only (others are 40400), or for people only (service accounts are 40901)."""

    async def handle(req: Request) -> object:
        store = req.store(USERS).deleted if deleted else req.store(USERS)
        if bool((await store.get(req.path["id"])).get("service")) != service:
            raise ApiError(NOT_FOUND) if service else ApiError(CONFLICT, NO_PERSON)
        return await handler(req)

    return handle


async def create(req: Request) -> dict[str, Any]:
    """Create an account. Its password must be changed at the first log-in unless `must_change_password` is false."""
    values = dict(req.body)
    passwords = req.part(Passwords)
    password = values.pop("password")
    may_set_super(req, values)
    may_place(req, values.get("department_id"))
    await may_give(req, values)
    hashed = await passwords.hash(password)
    return await req.store(USERS).create({**values, **credentials(passwords, hashed)})


async def update(req: Request) -> dict[str, Any]:
    """Change an account. A new status, department or role takes effect at once.

    If the change disables the account, `X-Holdings` has the number of records that remain to be handed over.
    """
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(USERS).get(req.path["id"])
    if before["version"] != version:
        # so that the checks below apply to the version that is changed
        raise await req.store(USERS).stale(before["id"], version)
    await _check_update(req, before, values)
    password = values.pop("password", None)
    if password is not None:
        values |= await new_credentials(req.part(Passwords), password, before)
        values.setdefault("must_change_password", True)

    async def work() -> dict[str, Any]:
        user = await req.store(USERS).update(before["id"], values, version=version)
        await _require_super(req)
        if password is not None or user["status"] == "disabled":
            await req.emit(SESSIONS_VOID, user_id=user["id"], reason="password" if password else "disabled")
        return user

    changed = await req.transaction(work)
    if changed["status"] == "disabled" != before["status"]:
        await _tell_of_holdings(req, changed["id"])
    return changed


async def _tell_of_holdings(req: Request, user_id: int) -> None:
    """Set `X-Holdings` to the number of records that a disabled user still holds, if any."""
    held = await count_holdings(req, user_id)
    if held:
        req.response_headers[HOLDINGS_HEADER] = str(sum(one.count for one in held))


async def _check_update(req: Request, before: dict[str, Any], values: dict[str, Any]) -> None:
    may_set_super(req, values, bool(before["is_super"]))
    if before["id"] == FIRST_USER and (values.get("status") == "disabled" or values.get("is_super") is False):
        raise ApiError(CONFLICT, USER_ONE)
    guard_super(req, before)
    if before["id"] == req.actor.user_id and values.get("status") == "disabled":
        raise ApiError(CONFLICT, OWN_DELETE)
    if "password" in values:
        _refuse_own_password(req, before)
    changed = {name for name in _CONTROL if name in values and values[name] != before.get(name)}
    if changed:
        await may_manage(req, before)
    if "department_id" in changed:
        may_place(req, values["department_id"])
        if before["department_id"] is not None:
            may_place(req, before["department_id"])
        if before["id"] != req.actor.user_id:
            await refuse_leading(req, before["department_id"], values["department_id"])
    if changed & {"role_ids", "department_id"}:
        await may_give(req, {**before, **values}, before)


def _refuse_own_password(req: Request, user: dict[str, Any]) -> None:
    if user["id"] == req.actor.user_id:
        raise ApiError(CONFLICT, OWN_PASSWORD)


async def _require_super(req: Request) -> None:
    if not await req.system_store(USERS).count({"is_super": True, "status": "enabled"}):
        raise ApiError(CONFLICT, LAST_SUPER)


async def delete(req: Request) -> None:
    """Soft-delete an account and end its sessions. Raises 40901 if the user still holds records."""
    user = await req.store(USERS).get(req.path["id"])
    if user["id"] == FIRST_USER:
        raise ApiError(CONFLICT, USER_ONE)
    if user["id"] == req.actor.user_id:
        raise ApiError(CONFLICT, OWN_DELETE)
    await may_manage(req, user)

    async def work() -> None:
        await refuse_if_holding(req, user["id"])
        await req.store(USERS).delete(user["id"])
        await _require_super(req)
        await req.emit(SESSIONS_VOID, user_id=user["id"], reason="deleted")

    await req.transaction(work)


async def undelete(req: Request) -> dict[str, Any]:
    """Restore a deleted account; its sessions stay ended."""

    async def work() -> dict[str, Any]:
        await may_manage(req, await req.store(USERS).deleted.get(req.path["id"]))
        return await restore(req.service.database, req.store(USERS), req.path["id"])

    return await req.transaction(work)


async def reset_password(req: Request) -> dict[str, Any]:
    """Set a random password and return it; it cannot be read again. It must be changed at the next log-in."""
    user = await req.store(USERS).get(req.path["id"])
    _refuse_own_password(req, user)
    await may_manage(req, user)
    passwords = req.part(Passwords)
    password = passwords.make()
    values = {
        **credentials(passwords, await passwords.hash(password), _list_used_hashes(user)),
        "must_change_password": True,
        **UNLOCKED,
    }

    async def work() -> None:
        # the version that was checked, so that the account cannot have gained rights since
        await req.store(USERS).update(user["id"], values, version=user["version"])
        await req.emit(SESSIONS_VOID, user_id=user["id"], reason="password")

    await req.transaction(work)
    return {"password": password}


async def unlock(req: Request) -> None:
    """Reset the count of failed log-ins, and remove the lock."""
    user = await req.store(USERS).get(req.path["id"])
    await may_manage(req, user)
    await req.store(USERS).update(user["id"], UNLOCKED)


async def new_credentials(
    passwords: Passwords, password: str, user: dict[str, Any], field: str = "password"
) -> dict[str, Any]:
    """Return the fields to store for a new password. Raises 40001 if it was used recently."""
    await passwords.check_new(password, _list_used_hashes(user), field)
    return credentials(passwords, await passwords.hash(password), _list_used_hashes(user))


def credentials(passwords: Passwords, hashed: str, used: Sequence[str] = ()) -> dict[str, Any]:
    """Return the fields to store for a password; `used` are the hashes of earlier ones, oldest first."""
    return {"password_hash": hashed, "password_history": passwords.history(used)}


def _list_used_hashes(user: dict[str, Any]) -> list[str]:
    return [*(user.get("password_history") or ()), user["password_hash"]]


ROUTES: tuple[Route, ...] = (
    *crud(
        USERS,
        at="/api/v1/system/users",
        resource="system:user",
        list=list_users,
        create=create,
        update=only(update, service=False),
        delete=only(delete, service=False),
        restore=only(undelete, service=False, deleted=True),
        refusals=REFUSALS,
        refusals_of={"delete": conflicts(HOLDS)},
    ),
    route(
        "POST /api/v1/system/users/{id}/reset-password",
        only(reset_password, service=False),
        summary="Give a user a new password",
        effect=(
            "将生成新密码，仅显示一次，用户下次登录时必须修改。",
            "A new password is shown once; it must be changed at the next log-in.",
        ),
        access="system:user:reset-password",
        returns=NEW_PASSWORD,
        collection=USERS.name,
        errors=(STALE,),
        refusals=(*_NO_PERSON, *MANAGING, *_OWN_PASSWORD),
    ),
    route(
        "POST /api/v1/system/users/{id}/unlock",
        only(unlock, service=False),
        summary="Unlock a user",
        effect=("该用户可以再次登录。", "The user can log in again."),
        access="system:user:unlock",
        collection=USERS.name,
        refusals=(*_NO_PERSON, *MANAGING),
    ),
)
