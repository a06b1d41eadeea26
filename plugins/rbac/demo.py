"""Demonstration departments, roles and people."""

from __future__ import annotations

from typing import Any

from plugins.api import Service
from plugins.rbac.passwords import Passwords
from plugins.rbac.records import DEPARTMENTS, MENUS, ROLES, USERS
from plugins.rbac.users import credentials

_READING = ("list", "read")
_OWN_WORK = (
    *_READING, "punch", "create", "update", "claim", "release", "share", "convert", "advance", "win", "lose", "submit",
    "withdraw",
)  # fmt: skip
# role: code, name, data scope, the actions granted on business pages (all where empty)
_ROLES = (
    ("manager", "部门经理", "department_and_below", ()),
    ("sales", "销售", "self", _OWN_WORK),
    ("staff", "员工", "self", (*_READING, "punch")),
)
_DEPARTMENTS = (
    ("hq", "总公司", None),
    ("sales", "销售部", "hq"),
    ("sales-east", "华东销售组", "sales"),
    ("office", "行政部", "hq"),
)
# person: user name, real name, role, department
_PEOPLE = (
    ("manager", "王经理", "manager", "sales"),
    ("sales", "李销售", "sales", "sales-east"),
    ("staff", "赵员工", "staff", "office"),
)


async def load(service: Service) -> None:
    """A department tree, three roles, and the people manager, sales and staff."""
    departments = await _departments(service)
    roles = await _roles(service)
    passwords = service.part(Passwords)
    for username, real_name, role, department in _PEOPLE:
        hashed = await passwords.hash(service.demo_password(username))
        await service.database.store(USERS).create({
            "username": username,
            "real_name": real_name,
            "department_id": departments[department],
            "role_ids": [roles[role]],
            "must_change_password": False,
            **credentials(passwords, hashed),
        })  # fmt: skip


async def _departments(service: Service) -> dict[str, int]:
    made: dict[str, dict[str, Any]] = {}
    for order, (code, name, parent) in enumerate(_DEPARTMENTS):
        above = made[parent] if parent else None
        made[code] = await service.database.store(DEPARTMENTS).create({
            "code": code,
            "name": name,
            "sort": order,
            "parent_id": above["id"] if above else None,
            "ancestors": [*above["ancestors"], above["id"]] if above else [],
        })  # fmt: skip
    return {code: department["id"] for code, department in made.items()}


async def _roles(service: Service) -> dict[str, int]:
    menus = [menu for menu in await service.database.store(MENUS).find() if not menu["code"].startswith("system")]
    made: dict[str, int] = {}
    for order, (code, name, scope, actions) in enumerate(_ROLES):
        role = await service.database.store(ROLES).create(
            {"code": code, "name": name, "data_scope": scope, "sort": order}
        )
        made[code] = role["id"]
        granted = [menu["id"] for menu in menus if not actions or _action(menu) in (*actions, "") or _is_chart(menu)]
        await service.database.store(MENUS).change_many(
            {"_id": {"$in": granted}}, {"$addToSet": {"role_ids": role["id"]}}
        )
    return made


def _is_chart(menu: dict[str, Any]) -> bool:
    # everybody's home page: what it shows is narrowed by data scope
    return (menu.get("permission") or "").startswith("dashboard:")


def _action(menu: dict[str, Any]) -> str:
    return (menu.get("permission") or "").rpartition(":")[2]
