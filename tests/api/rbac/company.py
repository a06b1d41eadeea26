"""A small company to attack, and the rights of its users, computed from the stored documents alone.

top ── branch ── inner, leaf
    └─ foreign ── far
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plugins.auth.records import SESSIONS
from plugins.boot.runtime import Running
from plugins.rbac.api import DEPARTMENTS, MENUS, ROLES, USERS
from plugins.testing import Client, People, expect, unique
from tests.api.rbac.branch import MANAGING

Record = dict[str, Any]
Held = frozenset[str]
ACCOUNT = (
    "username",
    "password_hash",
    "role_ids",
    "department_id",
    "status",
    "is_super",
    "must_change_password",
    "deleted",
)


@dataclass(frozen=True)
class Holdings:
    """Rights of an account: `METHOD path` and permission codes of its menus, and the departments whose rows it sees."""

    rights: Held
    departments: frozenset[int]
    everything: bool

    def within(self, other: Holdings, known: frozenset[int]) -> bool:
        """Return whether `other` holds at least these; only the `known` departments count."""
        rows = other.everything or (not self.everything and self.departments & known <= other.departments)
        return self.rights <= other.rights and rows


@dataclass(frozen=True)
class State:
    """The stored documents that decide on rights."""

    users: Mapping[int, Record]
    roles: Mapping[int, Record]
    menus: Mapping[int, Record]
    departments: Mapping[int, Record]
    online: frozenset[int]

    @classmethod
    async def read(cls, running: Running) -> State:
        driver = running.service.database.driver
        found = [
            {one["_id"]: one for one in await driver.find(collection.name, {})}
            for collection in (USERS, ROLES, MENUS, DEPARTMENTS)
        ]
        sessions = await driver.find(SESSIONS.name, {"ended_at": None})
        return cls(*found, online=frozenset(session["user_id"] for session in sessions))

    def version(self, kind: str, id: int) -> int:
        """The version of a record."""
        return int(getattr(self, kind)[id]["version"])

    def holdings(self, user_id: int, *, enabled_alone: bool = False) -> Holdings:
        """Return the rights of all roles of the account, disabled ones included."""
        user = self.users[user_id]
        roles = [self.roles[id] for id in user.get("role_ids") or () if not self.roles[id]["deleted"]]
        roles = [role for role in roles if role["status"] == "enabled" or not enabled_alone]
        ids = {role["_id"] for role in roles}
        granted = [menu for menu in self._menus() if ids & set(menu["role_ids"])]
        apis = {f"{api['method']} {api['path']}" for menu in granted for api in menu["apis"]}
        rows = [self._rows(role, user.get("department_id")) for role in roles]
        return Holdings(
            frozenset(apis | {menu["permission"] for menu in granted if menu.get("permission")}),
            frozenset(id for departments in rows for id in departments or ()),
            user["is_super"] or None in rows,
        )

    def _menus(self) -> Iterable[Record]:
        return (menu for menu in self.menus.values() if not menu["deleted"] and not menu.get("withdrawn"))

    def _rows(self, role: Record, department: int | None) -> set[int] | None:
        """The departments that a role shows; None for all."""
        scope = role["data_scope"]
        if scope == "all":
            return None
        if scope == "custom":
            return set(role["data_scope_department_ids"])
        if scope == "self" or department is None:
            return set()
        return {department} if scope == "department" else self.below(department)

    def below(self, department: int) -> set[int]:
        """The department and all under it, by their parents."""
        found = {department}
        while more := {
            id
            for id, one in self.departments.items()
            if one["parent_id"] in found and not one["deleted"] and id not in found
        }:
            found |= more
        return found


@dataclass
class Company:
    """The users of the company, and the accounts that the attacker controls."""

    running: Running
    people: People
    departments: list[int]
    roles: list[int]
    menus: list[int]
    users: list[int]
    attacker: int
    controlled: dict[int, Client] = field(default_factory=dict)


async def found_company(running: Running, people: People, scope: str) -> Company:
    """Create an administrator of the branch with this data scope, colleagues with fewer and more rights, and others."""
    top = await people.department()
    branch = await people.department(top)
    inner, leaf = await people.department(branch), await people.department(branch)
    foreign = await people.department(top)
    far = await people.department(foreign)
    menu = expect(
        await people.admin.post(
            "/api/v1/system/menus",
            {
                "type": "button",
                "code": unique("own"),
                "title": "x",
                "apis": [{"method": "GET", "path": "/api/v1/notes/notes"}],
            },
        )
    )["id"]
    named = [branch, inner] if scope == "custom" else []
    managing = await people.role([*MANAGING, "notes:note:list", "notes:note:read"], scope, named)
    plain = await people.role(["notes:note:read"], "department")
    strong = await people.role(["notes:note:delete"], "self")
    wide = await people.role(["notes:note:list"], "all")
    shared = await people.role(["notes:note:list"], "department")
    idle = await people.role(["notes:note:list"], "self")
    off = await people.role(["notes:note:archive"], "department", status="disabled")
    for role in (managing, shared, strong):
        held = expect(await people.admin.get(f"/api/v1/system/roles/{role}"))["menu_ids"]
        expect(await people.admin.put(f"/api/v1/system/roles/{role}/menus", {"menu_ids": [*held, menu]}))
    hired: list[tuple[list[int], int, Record]] = [
        ([managing], branch, {}),
        ([plain], inner, {}),
        ([managing, strong], branch, {}),
        ([plain, wide], branch, {}),
        ([plain, off], inner, {}),
        ([shared], inner, {}),
        ([shared, plain], far, {}),
        ([idle], foreign, {}),
        ([], branch, {"is_super": True}),
        ([plain], branch, {"status": "disabled"}),
    ]
    accounts = [await people.account(roles, department, **fields) for roles, department, fields in hired]
    for account in accounts:
        if account["status"] == "enabled":
            client = await people.admin.log_in(account["username"])
            if account is accounts[0]:
                attacker = client
    declared = [one["id"] for one in await people.menus() if (one["permission"] or "").startswith("notes:")]
    return Company(
        running,
        people,
        [top, branch, inner, leaf, foreign, far],
        [managing, plain, strong, wide, shared, idle, off],
        [menu, *declared],
        [one["id"] for one in accounts],
        accounts[0]["id"],
        {accounts[0]["id"]: attacker},
    )
