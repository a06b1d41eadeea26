"""Menus: the caller's tree, and their management."""

from __future__ import annotations

import re
from typing import Any

from plugins.api import CONFLICT, ApiError, Request, invalid
from plugins.rbac.limits import may_bind
from plugins.rbac.messages import MENU_DECLARED, MENU_HAS_CHILDREN, UNDER_BUTTON, UNDER_ITSELF
from plugins.rbac.policy import Policy, Rules
from plugins.rbac.records import MENUS
from plugins.rbac.tree import MAX_LEVELS, change_tree, nested, upwards

KEPT_WHEN_EDITED = ("title", "title_en", "order", "icon", "hidden")


async def own_tree(req: Request) -> list[dict[str, Any]]:
    """The menus that the caller may see, as vben-admin takes them for routes (CONTRACT 4)."""
    rules = await req.part(Policy).rules()
    granted = frozenset(rules.menus) if req.actor.is_super else rules.grant(req.actor.roles).menu_ids
    shown: set[int] = set()
    for id in granted:
        while id in rules.menus and id not in shown:
            shown.add(id)
            id = rules.menus[id]["parent_id"]
    ordered = sorted((rules.menus[id] for id in shown), key=lambda menu: (menu["order"], menu["id"]))
    nodes = [_node(req, rules, menu, granted) for menu in ordered if menu["type"] != "button"]
    return [node for node in map(_pruned, nested(nodes)) if node is not None]


def _node(req: Request, rules: Rules, menu: dict[str, Any], granted: frozenset[int]) -> dict[str, Any]:
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


def _route_path(menu: dict[str, Any], below_another: bool) -> str:
    """The path of the front end's route, made of the code where there is none that a router takes.

    Routers refuse a path at the top that does not begin with a slash, and two routes with the same path.
    """
    path: str = menu.get("path") or ""
    if path.startswith("/") or (below_another and path and "://" not in path):
        return path
    return "/" + re.sub(r"[:.]", "/", menu["code"])


def _pruned(node: dict[str, Any]) -> dict[str, Any] | None:
    """Without directories that are empty."""
    children = [child for child in map(_pruned, node["children"]) if child is not None]
    if node["type"] == "directory" and not children:
        return None
    return {**node, "children": children}


async def whole_tree(req: Request) -> list[dict[str, Any]]:
    """All menu records, buttons too, as a tree."""
    return nested(await req.store(MENUS).find(sort="order"))


async def create(req: Request) -> dict[str, Any]:
    """A menu of an administrator's own."""
    await may_bind(req, None, req.body)

    async def work() -> dict[str, Any]:
        await _check_place(req, None, req.body.get("parent_id"))
        return await req.store(MENUS).create(req.body)

    return await change_tree(req, MENUS, work)


async def update(req: Request) -> dict[str, Any]:
    """Change a menu; what an administrator edited of a declared one is kept at the next start."""
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
    """The parent is no button, not the menu itself and not below it, and the tree stays shallow."""
    if parent_id is None:
        return
    by_id = {menu["id"]: menu for menu in await req.store(MENUS).find()}
    above = upwards(by_id, parent_id)
    if id in above:
        raise ApiError(CONFLICT, UNDER_ITSELF)
    if parent_id in by_id and by_id[parent_id]["type"] == "button":
        raise ApiError(CONFLICT, UNDER_BUTTON)
    paths = [upwards(by_id, below) for below in by_id]
    height = max((path.index(id) + 1 for path in paths if id in path), default=1)
    if len(above) + height > MAX_LEVELS:
        raise invalid("parent_id", "levels")


async def delete(req: Request) -> None:
    """Delete a menu of an administrator's own, or one that was withdrawn."""
    store = req.store(MENUS)

    async def work() -> None:
        menu = await store.get(req.path["id"])
        if await store.count({"parent_id": menu["id"]}):
            raise ApiError(CONFLICT, MENU_HAS_CHILDREN)
        if menu.get("declared") and not menu.get("withdrawn"):
            raise ApiError(CONFLICT, MENU_DECLARED)
        await may_bind(req, menu, None)
        await store.delete(menu["id"])

    await change_tree(req, MENUS, work)
