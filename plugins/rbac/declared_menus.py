"""Writes the menus that plugins declare into the menu records at start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from plugins.api import Menu, Message, Route
from plugins.api.data import Database
from plugins.api.records import Catalogue
from plugins.rbac.menu_records import KEPT_WHEN_EDITED
from plugins.rbac.records import MENUS


async def synchronise(database: Database, catalogue: Catalogue) -> None:
    """Add new menus and buttons, update changed ones, mark withdrawn ones; keep what administrators edited."""
    store = database.store(MENUS)
    added: set[str] = set()
    present = {menu["code"]: menu for menu in await store.find()}
    declared = list(list_declarations(catalogue))
    for level in _split_levels(declared):
        new = []
        for menu in level:
            parent = present.get(menu["parent"])
            wanted = {**menu, "parent_id": parent["id"] if parent else None, "declared": True, "withdrawn": False}
            del wanted["parent"], wanted["granted_with"]
            before = present.get(wanted["code"])
            if before is None:
                of_new_page = menu["type"] != "button" or menu["parent"] in added
                holders = _holders(present.values(), menu["granted_with"]) if of_new_page else []
                new.append({**wanted, "role_ids": holders, "edited": []})
            elif changes := _find_changes(before, wanted):
                await store.update(before["id"], changes)
        present |= {made["code"]: made for made in await store.create_many(new)}
        added |= {menu["code"] for menu in new}
    codes = {wanted["code"] for wanted in declared}
    for menu in present.values():
        if menu.get("declared") and menu["code"] not in codes and not menu.get("withdrawn"):
            await store.update(menu["id"], {"withdrawn": True})


def _holders(menus: Iterable[Mapping[str, Any]], permission: str) -> list[int]:
    """Return the ids of the roles that hold a permission through one of these menus, sorted."""
    holding = (menu["role_ids"] or () for menu in menus if permission and menu["permission"] == permission)
    return sorted({id for role_ids in holding for id in role_ids})


def _find_changes(before: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    kept = set(before.get("edited") or ()) & set(KEPT_WHEN_EDITED)
    return {name: value for name, value in wanted.items() if name not in kept and before.get(name) != value}


def _split_levels(declared: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the menus without a parent, then their children, and so on."""
    above: set[str] = {""}
    while level := [menu for menu in declared if menu["parent"] in above]:
        yield level
        above = {menu["code"] for menu in level}


def list_declarations(catalogue: Catalogue) -> Iterator[dict[str, Any]]:
    """Yield each declared menu and then its buttons, parents first; `parent` is a code."""
    for menu in _sort_parents_first(catalogue.menus):
        routes = [
            route for route in catalogue.routes if route.guarded and menu.resource == route.access.rpartition(":")[0]
        ]
        yield _describe_menu(menu, [route for route in routes if route.access.endswith(":list")])
        codes = dict.fromkeys(route.access for route in routes if not route.access.endswith(":list"))
        for order, code in enumerate(codes):
            title = catalogue.permission_title(code)
            yield _describe_button(menu, code, title, order, [route for route in routes if route.access == code])


def _sort_parents_first(menus: Sequence[Menu]) -> list[Menu]:
    ordered: list[Menu] = []
    waiting = list(menus)
    while waiting:
        known = {menu.code for menu in ordered}
        ready = [menu for menu in waiting if not menu.parent or menu.parent in known]
        ordered += ready
        waiting = [menu for menu in waiting if menu not in ready] if ready else []
    return ordered


def _describe_menu(menu: Menu, routes: Sequence[Route]) -> dict[str, Any]:
    kind = "link" if menu.link else "menu" if menu.resource else "directory"
    return {
        "parent": menu.parent,
        "type": kind,
        "code": menu.code,
        "name": "".join(part.capitalize() for part in menu.code.replace("-", ".").split(".")),
        "title": menu.title.zh,
        "title_en": menu.title.en,
        "path": menu.path,
        "component": menu.component or (f"{menu.path}/index" if kind == "menu" else None),
        "icon": menu.icon or None,
        "order": menu.order,
        "hidden": menu.hidden,
        "link": menu.link or None,
        "granted_with": menu.granted_with,
        "permission": routes[0].access if routes else None,
        "apis": _list_apis(routes),
    }


def _describe_button(menu: Menu, code: str, title: Message, order: int, routes: Sequence[Route]) -> dict[str, Any]:
    return {
        "parent": menu.code,
        "type": "button",
        "code": code,
        "title": title.zh,
        "title_en": title.en,
        "order": order,
        "permission": code,
        "granted_with": menu.granted_with,
        "apis": _list_apis(routes),
    }


def _list_apis(routes: Sequence[Route]) -> list[dict[str, str]]:
    return [{"method": route.method, "path": route.path} for route in routes]
