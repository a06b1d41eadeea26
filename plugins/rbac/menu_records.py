"""Menus: the caller's own menu tree, and the management of the menu records."""

from __future__ import annotations

import re
from typing import Any

from plugins.api import CONFLICT, SIGNED_IN, ApiError, Refusal, Request, Route, array, conflicts, crud, invalid, route
from plugins.api.errors import SUPER_ONLY
from plugins.rbac.limits import CHANGING_ROLES, may_bind, missing_rights
from plugins.rbac.messages import (
    MENU_CODE,
    MENU_DECLARED,
    MENU_NOT_HELD,
    UNDER_BUTTON,
    UNDER_ITSELF,
    WIDER_APIS,
)
from plugins.rbac.policy import Policy, Rules
from plugins.rbac.records import MENU_NODE, MENUS
from plugins.rbac.tree import MAX_LEVELS, change_tree, list_upwards, nest

KEPT_WHEN_EDITED = ("title", "title_en", "order", "icon", "hidden")
_REFUSALS = (
    *missing_rights(WIDER_APIS, MENU_NOT_HELD),
    *CHANGING_ROLES,
    Refusal(SUPER_ONLY, MENU_CODE, exempt_super=True),
    *conflicts(MENU_DECLARED, UNDER_BUTTON, UNDER_ITSELF),
)


async def own_tree(req: Request) -> list[dict[str, Any]]:
    """Return the menus that the caller may see, in the shape that vben-admin expects of routes."""
    rules = await req.part(Policy).rules()
    granted = frozenset(rules.menus) if req.actor.is_super else rules.grant(req.actor.roles).menu_ids
    shown: set[int] = set()
    for id in granted:
        while id in rules.menus and id not in shown:
            shown.add(id)
            id = rules.menus[id]["parent_id"]
    ordered = sorted((rules.menus[id] for id in shown), key=lambda menu: (menu["order"], menu["id"]))
    nodes = [_make_node(req, rules, menu, granted) for menu in ordered if menu["type"] != "button"]
    return [node for node in map(_prune, nest(nodes)) if node is not None]


def _make_node(req: Request, rules: Rules, menu: dict[str, Any], granted: frozenset[int]) -> dict[str, Any]:
    own = {menu["permission"]} if menu["id"] in granted else set()
    buttons = {
        button["permission"]
        for button in rules.menus.values()
        if button["parent_id"] == menu["id"] and button["type"] == "button" and button["id"] in granted
    }
    english = req.language == "en" and menu.get("title_en")
    return {
        **{name: menu.get(name) for name in ("id", "parent_id", "type", "code", "component", "redirect")},
        "name": menu.get("name") or menu["code"],
        "path": _route_path(menu, menu["parent_id"] in rules.menus),
        "permissions": sorted(code for code in own | buttons if code),
        "meta": {
            "title": menu["title_en"] if english else menu["title"],
            "icon": menu.get("icon"),
            "order": menu["order"],
            "hideInMenu": bool(menu.get("hidden")),
            "keepAlive": menu["type"] == "menu",
            "link": menu.get("link"),
            "iframeSrc": None,
        },
    }


def _route_path(menu: dict[str, Any], has_parent: bool) -> str:
    """Return the path of the front end's route, made from the code if the menu has no usable path.

    Routers refuse a path at the top level without a leading slash, and two routes with the same path.
    """
    path: str = menu.get("path") or ""
    if path.startswith("/") or (has_parent and path and "://" not in path):
        return path
    return "/" + re.sub(r"[:.]", "/", menu["code"])


def _prune(node: dict[str, Any]) -> dict[str, Any] | None:
    """Return the node without empty directories; None for an empty directory."""
    children = [child for child in map(_prune, node["children"]) if child is not None]
    if node["type"] == "directory" and not children:
        return None
    return {**node, "children": children}


async def whole_tree(req: Request) -> list[dict[str, Any]]:
    """Return all menu records, including buttons, as a tree."""
    return nest(await req.store(MENUS).find(sort="order"))


async def create(req: Request) -> dict[str, Any]:
    """Create a menu that no plugin declares."""
    await may_bind(req, None, req.body)

    async def work() -> dict[str, Any]:
        await _check_place(req, None, req.body.get("parent_id"))
        return await req.store(MENUS).create(req.body)

    return await change_tree(req, MENUS, work)


async def update(req: Request) -> dict[str, Any]:
    """Change a menu. A restart keeps the edits of a declared menu."""
    values = dict(req.body)
    version = values.pop("version")

    async def work() -> dict[str, Any]:
        before = await req.store(MENUS).get(req.path["id"])
        await may_bind(req, before, {**before, **values})
        await _check_place(req, before["id"], values.get("parent_id"))
        if values.get("type") == "button" and await req.store(MENUS).count({"parent_id": before["id"]}):
            raise ApiError(CONFLICT, UNDER_BUTTON)
        edited = {name for name in KEPT_WHEN_EDITED if values.get(name, before.get(name)) != before.get(name)}
        kept = {"edited": sorted({*before.get("edited", ()), *edited})} if before.get("declared") else {}
        return await req.store(MENUS).update(before["id"], {**values, **kept}, version=version)

    return await change_tree(req, MENUS, work)


async def _check_place(req: Request, id: int | None, parent_id: int | None) -> None:
    """Raise 40901 if the parent is a button, the menu itself or below it; 40001 if the tree would become too deep."""
    if parent_id is None:
        return
    by_id = {menu["id"]: menu for menu in await req.store(MENUS).find()}
    above = list_upwards(by_id, parent_id)
    if id in above:
        raise ApiError(CONFLICT, UNDER_ITSELF)
    if parent_id in by_id and by_id[parent_id]["type"] == "button":
        raise ApiError(CONFLICT, UNDER_BUTTON)
    paths = [list_upwards(by_id, other) for other in by_id]
    height = max((path.index(id) + 1 for path in paths if id in path), default=1)
    if len(above) + height > MAX_LEVELS:
        raise invalid("parent_id", "levels")


async def delete(req: Request) -> None:
    """Delete a menu. Raises 40901 if a loaded plugin declares it."""
    store = req.store(MENUS)

    async def work() -> None:
        menu = await store.get(req.path["id"])
        if menu.get("declared") and not menu.get("withdrawn"):
            raise ApiError(CONFLICT, MENU_DECLARED)
        await may_bind(req, menu, None)
        await store.delete(menu["id"])

    await change_tree(req, MENUS, work)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/menus",
        own_tree,
        summary="List my menus",
        access=SIGNED_IN,
        returns=array(MENU_NODE, max_items=1000, nullable=False),
    ),
    route(
        "GET /api/v1/system/menus/all",
        whole_tree,
        summary="List all menus as a tree",
        access="system:menu:list",
        returns=array(MENUS.tree, max_items=5000, nullable=False),
        collection=MENUS.name,
    ),
    *crud(
        MENUS,
        at="/api/v1/system/menus",
        resource="system:menu",
        only=("read", "create", "update", "delete"),
        without=("restore",),  # its place in the tree may have changed
        create=create,
        update=update,
        delete=delete,
        refusals=_REFUSALS,
    ),
)
