"""Service accounts: programs that use the API as persons of their own, with roles and a department but no password.

A service account is a user in every record, log and data scope.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plugins.api import NOT_FOUND, ApiError, Page, Request, Route, conflicts, crud
from plugins.rbac import users
from plugins.rbac.limits import may_give, may_place
from plugins.rbac.messages import HOLDS
from plugins.rbac.records import SERVICE_ACCOUNTS, USERS
from plugins.rbac.service_keys import NO_ACCOUNT_FOUND, revoke_all


async def list_accounts(req: Request) -> Page:
    """Return a page of the service accounts in the caller's data scope."""
    return await req.store(SERVICE_ACCOUNTS).page(req.query, {"service": True})


async def create(req: Request) -> dict[str, Any]:
    """Create a service account. It may not exceed the rights of the caller."""
    may_place(req, req.body.get("department_id"))
    await may_give(req, req.body)
    return await req.store(USERS).create({**req.body, "service": True, "must_change_password": False})


async def delete(req: Request) -> None:
    """Soft-delete a service account and revoke its keys. Raises 40901 if it still holds records."""

    async def work() -> None:
        await users.delete(req)
        await revoke_all(req, int(req.path["id"]))

    await req.transaction(work)


async def read(req: Request) -> dict[str, Any]:
    """Return one service account."""
    account = await req.store(SERVICE_ACCOUNTS).get(req.path["id"])
    if not account.get("service"):
        raise ApiError(NOT_FOUND)
    return account


_ROUTES = crud(
    SERVICE_ACCOUNTS,
    at="/api/v1/system/service-accounts",
    resource="system:service-account",
    list=list_accounts,
    read=read,
    create=create,
    update=users.only(users.update, service=True),
    delete=users.only(delete, service=True),
    restore=users.only(users.undelete, service=True, deleted=True),
    refusals=users.REFUSALS,
    refusals_of={"delete": conflicts(HOLDS)},
)
ROUTES: tuple[Route, ...] = tuple(
    replace(one, refusals=tuple(dict.fromkeys((*one.refusals, NO_ACCOUNT_FOUND)))) if one.parameters else one
    for one in _ROUTES
)
