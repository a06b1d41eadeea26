"""Roles: a data scope and the granted menus. The menu records hold the grants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from plugins.api import Page, Request, Route, array, conflicts, crud, integer, invalid, route, shape
from plugins.api.data import restore
from plugins.api.errors import STALE
from plugins.rbac.limits import (
    CHANGING_ROLES,
    may_change_role,
    may_define_scope,
    may_grant_menus,
    may_set_menus,
    missing_rights,
)
from plugins.rbac.messages import NO_GRANTING, ROLE_HELD
from plugins.rbac.records import MAX_MENUS, MENUS, ROLES

MENU_IDS = shape(
    "RoleMenusBody",
    menu_ids=array(integer(minimum=1), max_items=MAX_MENUS, required=True, ref="rbac_menus"),
    version=integer(minimum=1, description="The version of the role; checked when given."),
)
# fields that change what the role allows; the code is one, because a setting names the roles of new WeCom users by code
_RIGHTS = ("code", "data_scope", "data_scope_department_ids", "status")
_REFUSALS = (*CHANGING_ROLES, *missing_rights(NO_GRANTING))


async def list_roles(req: Request) -> Page:
    """Return a page of roles with their menus."""
    page = await req.store(ROLES).page(req.query)
    await _add_menus(req, page.items)
    return page


async def read(req: Request) -> dict[str, Any]:
    """Return one role with its menus."""
    return await _add_menus_to(req, await req.store(ROLES).get(req.path["id"]))


async def create(req: Request) -> dict[str, Any]:
    """Create a role, with menus if `menu_ids` is given. It may not exceed the rights of the caller."""
    values = dict(req.body)
    wanted = _drop_duplicates(values.pop("menu_ids", None) or ())
    await may_define_scope(req, values)
    if wanted:
        await _may_grant(req, wanted)

    async def work() -> dict[str, Any]:
        role = await req.store(ROLES).create(values)
        if wanted:
            await _grant(req, role["id"], wanted)
        return await _add_menus_to(req, role)

    return await req.transaction(work)


async def update(req: Request) -> dict[str, Any]:
    """Change a role, and its menus if `menu_ids` is given. Every instance applies the change at once."""
    values = dict(req.body)
    version = values.pop("version")
    before = await _add_menus_to(req, await req.store(ROLES).get(req.path["id"]))
    if before["version"] != version:
        # so that the checks below apply to the version that is changed
        raise await req.store(ROLES).stale(before["id"], version)
    wanted = _drop_duplicates(values.pop("menu_ids", before["menu_ids"]))
    regranted = set(wanted) != set(before["menu_ids"])
    if regranted or any(name in values and values[name] != before[name] for name in _RIGHTS):
        await may_change_role(req, before, {**before, **values})
    if regranted:
        await _may_grant(req, wanted)

    async def work() -> dict[str, Any]:
        changed = await req.store(ROLES).update(before["id"], values, version=version)
        if regranted:
            await _grant(req, before["id"], wanted)
        return await _add_menus_to(req, changed)

    return await req.transaction(work)


async def delete(req: Request) -> None:
    """Delete a role without holders."""
    role = await req.store(ROLES).get(req.path["id"])
    await may_change_role(req, role)

    async def work() -> None:
        await req.store(ROLES).delete(role["id"])
        await _grant(req, role["id"], [])

    await req.transaction(work)


async def undelete(req: Request) -> dict[str, Any]:
    """Restore a deleted role, without menus."""

    async def work() -> dict[str, Any]:
        await may_change_role(req, await req.store(ROLES).deleted.get(req.path["id"]))
        return await _add_menus_to(req, await restore(req.service.database, req.store(ROLES), req.path["id"]))

    return await req.transaction(work)


async def set_menus(req: Request) -> dict[str, Any]:
    """Grant exactly these menus and buttons. The caller must hold them, and everything that the role granted before."""
    wanted = _drop_duplicates(req.body["menu_ids"])
    role = await req.store(ROLES).get(req.path["id"])
    await _refuse_unknown(req, wanted)
    await may_change_role(req, role)
    await may_grant_menus(req, wanted)

    async def work() -> dict[str, Any]:
        changed = await req.store(ROLES).update(role["id"], {}, version=req.body.get("version"))
        await _grant(req, role["id"], wanted)
        return await _add_menus_to(req, changed)

    return await req.transaction(work)


async def _may_grant(req: Request, menu_ids: Sequence[int]) -> None:
    await _refuse_unknown(req, menu_ids)
    await may_set_menus(req)
    await may_grant_menus(req, menu_ids)


async def _refuse_unknown(req: Request, menu_ids: Sequence[int]) -> None:
    if await req.store(MENUS).count({"_id": {"$in": menu_ids}}) != len(menu_ids):
        raise invalid("menu_ids", "reference")


def _drop_duplicates(menu_ids: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(menu_ids))


async def _grant(req: Request, role_id: int, menu_ids: Sequence[int]) -> None:
    menus = req.system_store(MENUS)
    await menus.update_many({"role_ids": role_id, "_id": {"$nin": list(menu_ids)}}, {"$pull": {"role_ids": role_id}})
    await menus.update_many(
        {"role_ids": {"$ne": role_id}, "_id": {"$in": list(menu_ids)}}, {"$addToSet": {"role_ids": role_id}}
    )


async def _add_menus_to(req: Request, role: dict[str, Any]) -> dict[str, Any]:
    await _add_menus(req, [role])
    return role


async def _add_menus(req: Request, roles: list[dict[str, Any]]) -> None:
    """Set `menu_ids` of each role, including withdrawn menus, so that clients that send them back remove no grant."""
    holding = {"role_ids": {"$in": [role["id"] for role in roles]}}
    menus = await req.system_store(MENUS).find(holding, fields=["role_ids"])
    for role in roles:
        role["menu_ids"] = sorted(menu["id"] for menu in menus if role["id"] in menu["role_ids"])


ROUTES: tuple[Route, ...] = (
    *crud(
        ROLES,
        at="/api/v1/system/roles",
        resource="system:role",
        list=list_roles,
        read=read,
        create=create,
        update=update,
        delete=delete,
        restore=undelete,
        refusals=(*_REFUSALS, *conflicts(ROLE_HELD)),
    ),
    route(
        "PUT /api/v1/system/roles/{id}/menus",
        set_menus,
        summary="Grant menus to a role",
        access="system:role:grant",
        body=MENU_IDS,
        record=ROLES,
        errors=(STALE,),
        refusals=_REFUSALS,
    ),
)
