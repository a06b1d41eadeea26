"""Demonstration departments, roles and users."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from plugins.api import Service
from plugins.rbac.passwords import Passwords
from plugins.rbac.records import DEPARTMENTS, MENUS, ROLES, USERS
from plugins.rbac.users import credentials

# what every employee does: read, clock in, request leave and expenses, decide on approvals
_DAILY = (
    "*:list",
    "*:read",
    "dashboard:*",
    "hrm:attendance:punch",
    "hrm:leave:create",
    "hrm:leave:update",
    "hrm:leave:submit",
    "hrm:request:create",
    "hrm:request:update",
    "hrm:request:submit",
    "finance:expense-claim:create",
    "finance:expense-claim:update",
    "finance:expense-claim:submit",
    "approval:instance:create",
    "approval:instance:update",
    "approval:instance:submit",
    "approval:instance:withdraw",
    "approval:task:*",
    "approval:delegation:*",
)
_SELLING = (
    *_DAILY,
    "crm:*:create",
    "crm:*:update",
    "crm:*:claim",
    "crm:*:release",
    "crm:*:share",
    "crm:*:convert",
    "crm:*:advance",
    "crm:*:win",
    "crm:*:lose",
    "crm:*:submit",
    "crm:*:withdraw",
    "inventory:quotation:*",
    "inventory:sales-order:create",
    "inventory:sales-order:update",
)
# role: code, name, data scope, the permissions granted outside the system pages
_ROLES = (
    ("manager", "部门经理", "department_and_below", ("*",)),
    ("sales", "销售", "self", _SELLING),
    ("staff", "员工", "self", _DAILY),
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
    """Create a department tree, three roles, and the users manager, sales and staff."""
    departments = await _create_departments(service)
    roles = await _create_roles(service)
    passwords = service.part(Passwords)
    for username, real_name, role, department in _PEOPLE:
        hashed = await passwords.hash(service.demo_password(username))
        await service.database.store(USERS).create(
            {
                "username": username,
                "real_name": real_name,
                "department_id": departments[department],
                "role_ids": [roles[role]],
                "must_change_password": False,
                **credentials(passwords, hashed),
            }
        )


async def _create_departments(service: Service) -> dict[str, int]:
    made: dict[str, dict[str, Any]] = {}
    for order, (code, name, parent) in enumerate(_DEPARTMENTS):
        above = made[parent] if parent else None
        made[code] = await service.database.store(DEPARTMENTS).create(
            {
                "code": code,
                "name": name,
                "sort": order,
                "parent_id": above["id"] if above else None,
                "ancestors": [*above["ancestors"], above["id"]] if above else [],
            }
        )
    return {code: department["id"] for code, department in made.items()}


async def _create_roles(service: Service) -> dict[str, int]:
    menus = [menu for menu in await service.database.store(MENUS).find() if not menu["code"].startswith("system")]
    made: dict[str, int] = {}
    for order, (code, name, scope, patterns) in enumerate(_ROLES):
        role = await service.database.store(ROLES).create(
            {"code": code, "name": name, "data_scope": scope, "sort": order}
        )
        made[code] = role["id"]
        granted = [menu["id"] for menu in menus if _is_granted(menu.get("permission"), patterns)]
        await service.database.store(MENUS).update_many(
            {"_id": {"$in": granted}}, {"$addToSet": {"role_ids": role["id"]}}
        )
    return made


def _is_granted(permission: str | None, patterns: Iterable[str]) -> bool:
    """Return whether a pattern matches. A page without a permission is granted to everyone."""
    return not permission or any(fnmatchcase(permission, pattern) for pattern in patterns)
