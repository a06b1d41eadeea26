"""A branch of a company and its administrator, who must not gain rights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plugins.testing import PASSWORD, Client, People, expect, unique

USERS = "/api/v1/system/users"
ROLES = "/api/v1/system/roles"
MENUS = "/api/v1/system/menus"
DEPARTMENTS = "/api/v1/system/departments"
SESSIONS = "/api/v1/system/sessions"
MANAGING = [
    *(
        f"system:{what}:{action}"
        for what in ("user", "role", "menu", "department")
        for action in ("list", "read", "create", "update", "delete")
    ),
    "system:role:grant",
    "system:user:reset-password",
    "system:user:unlock",
    "system:user:kick-out",
    "system:session:list",
    "system:session:delete",
]
HELD = ["crm:customer:list", "crm:customer:read"]
NOT_HELD = "crm:customer:delete"


@dataclass
class Branch:
    """A branch with a manager who administers it: everything in `system`, customers to read, department and below."""

    people: People
    manager: Client
    department: int
    below: int
    foreign: int
    own_role: int

    async def account(self, roles: list[int], department: int | None = None, **fields: Any) -> dict[str, Any]:
        return await self.people.account(roles, self.department if department is None else department, **fields)


def account(**fields: Any) -> dict[str, Any]:
    return {"username": unique("user"), "password": PASSWORD, **fields}


async def change(client: Client, path: str, **values: Any) -> Any:
    """PATCH with the current version."""
    version = expect(await client.get(path))["version"]
    return await client.patch(path, {**values, "version": version})


async def menu_of(people: People, permission: str) -> dict[str, Any]:
    return next(menu for menu in await people.menus() if menu["permission"] == permission)


async def open_branch(people: People) -> Branch:
    """A branch below a top department, beside a foreign one, with one department below it."""
    top = await people.department()
    department = await people.department(top)
    role = await people.role([*MANAGING, *HELD], "department_and_below")
    user = await people.account([role], department)
    manager = await people.admin.log_in(user["username"])
    below, foreign = await people.department(department), await people.department(top)
    return Branch(people, manager, department, below, foreign, role)
