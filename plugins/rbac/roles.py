"""Roles: a data scope, and the menus that are granted (kept in the menu records)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plugins.api import CONFLICT, ApiError, Page, Request, invalid
from plugins.rbac.limits import may_change_role, may_define_scope, may_grant_menus
from plugins.rbac.messages import ROLE_HELD
from plugins.rbac.policy import Policy
from plugins.rbac.records import MENUS, ROLES, USERS

_RIGHTS = ("data_scope", "data_scope_department_ids", "status")


async def list_roles(req: Request) -> Page:
    """A page of roles with their menus."""
    page = await req.store(ROLES).page(req.query)
    await _with_menus(req, page.items)
    return page


async def read(req: Request) -> dict[str, Any]:
    """One role with its menus."""
    return await _one(req, await req.store(ROLES).get(req.path["id"]))


async def create(req: Request) -> dict[str, Any]:
    """A role, not wider than its maker."""
    await may_define_scope(req, req.body)
    return await _one(req, await req.store(ROLES).create(req.body))


async def update(req: Request) -> dict[str, Any]:
    """Change a role; in force on every instance at once."""
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(ROLES).get(req.path["id"])
    if any(name in values and values[name] != before[name] for name in _RIGHTS):
        await may_change_role(req, before, {**before, **values})
    return await _one(req, await req.store(ROLES).update(before["id"], values, version=version))


async def delete(req: Request) -> None:
    """Delete a role that nobody holds."""
    role = await req.store(ROLES).get(req.path["id"])
    await may_change_role(req, role)

    async def work() -> None:
        if await req.system_store(USERS).count({"role_ids": role["id"]}):
            raise ApiError(CONFLICT, ROLE_HELD)
        await req.store(ROLES).delete(role["id"])
        await _grant(req, role["id"], [])

    await req.transaction(work)


async def set_menus(req: Request) -> dict[str, Any]:
    """Grant exactly these menus and buttons. The caller holds all of them, and all that the role granted before."""
    wanted = list(dict.fromkeys(req.body["menu_ids"]))
    role = await req.store(ROLES).get(req.path["id"])
    if await req.store(MENUS).count({"_id": {"$in": wanted}}) != len(wanted):
        raise invalid("menu_ids", "reference")
    await may_change_role(req, role)
    await may_grant_menus(req, wanted)

    async def work() -> dict[str, Any]:
        changed = await req.store(ROLES).update(role["id"], {}, version=req.body.get("version"))
        await _grant(req, role["id"], wanted)
        return await _one(req, changed)

    return await req.transaction(work)


async def _grant(req: Request, role_id: int, menu_ids: Sequence[int]) -> None:
    menus = req.system_store(MENUS)
    await menus.change_many({"role_ids": role_id, "_id": {"$nin": list(menu_ids)}}, {"$pull": {"role_ids": role_id}})
    await menus.change_many(
        {"role_ids": {"$ne": role_id}, "_id": {"$in": list(menu_ids)}}, {"$addToSet": {"role_ids": role_id}}
    )


async def _menus_of(req: Request, role_id: int) -> list[int]:
    return [menu["id"] for menu in await req.system_store(MENUS).find({"role_ids": role_id}, sort="order")]


async def _one(req: Request, role: dict[str, Any]) -> dict[str, Any]:
    return {**role, "menu_ids": sorted(await _menus_of(req, role["id"]))}


async def _with_menus(req: Request, roles: list[dict[str, Any]]) -> None:
    menus = (await req.part(Policy).rules()).menus.values()
    for role in roles:
        role["menu_ids"] = sorted(menu["id"] for menu in menus if role["id"] in menu["role_ids"])
