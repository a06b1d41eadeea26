"""Who may do what: a table of people or roles against permission codes, for auditors, as JSON or CSV."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plugins.api import (
    Actor,
    Message,
    Page,
    Record,
    Request,
    Response,
    Route,
    array,
    boolean,
    choice,
    integer,
    obj,
    route,
    text,
)
from plugins.api.data import Scope
from plugins.api.records import Catalogue
from plugins.api.spreadsheets import csv_response
from plugins.rbac import messages
from plugins.rbac.company import Company, Operations, codes_of
from plugins.rbac.explain_scope import View
from plugins.rbac.policy import Policy, Rules
from plugins.rbac.records import MAX_MENUS, ROLES, SCOPES, USERS

_MOST = 200
_AT_ONCE = 500
_BY_ROLE = {
    "department": messages.ROWS_OF_DEPARTMENT,
    "department_and_below": messages.ROWS_OF_DEPARTMENT_AND_BELOW,
    "self": messages.OWN_ROWS,
    "all": messages.ALL_ROWS,
}
_QUERY = {
    "by": choice(
        "user",
        "role",
        default="user",
        nullable=False,
        description="Whether the rows are users or roles.",
        label=("行", "Rows"),
    ),
    "format": choice(
        "json", "csv", default="json", nullable=False, description="`csv`: all rows, with a column for each code."
    ),
    "q": text(max_length=100, nullable=False, example="a", description="Searches the rows, as the list of them does."),
    "status": choice(
        "enabled", "disabled", nullable=False, description="Only rows of this status.", label=("状态", "Status")
    ),
    "page": integer(minimum=1, default=1, nullable=False),
    "page_size": integer(minimum=1, maximum=_MOST, default=20, nullable=False),
    "cursor": replace(USERS.list_query["cursor"], example="WyJfaWQiLFsxXV0"),  # the place after user or role 1
}
_ROW = obj(
    "AuthorizationRow",
    {
        "user_id": integer(label=("用户", "User"), ref="rbac_users", description="The person; null in rows of roles."),
        "code": text(label=("编码", "Code"), nullable=False, description="The user name, or the code of the role."),
        "name": text(label=("名称", "Name")),
        "status": choice("enabled", "disabled", label=("状态", "Status"), nullable=False),
        "is_super": boolean(label=("超级管理员", "Super administrator"), nullable=False),
        "department_id": integer(label=("部门", "Department"), ref="rbac_departments"),
        "role_ids": array(
            integer(),
            ref="rbac_roles",
            nullable=False,
            description="The enabled roles of a person, or the role itself.",
            label=("角色", "Roles"),
        ),
        "data_scope": choice(
            *SCOPES,
            description="The widest data scope of the roles; null without one.",
            label=("数据范围", "Data scope"),
        ),
        "rows": text(label=("可见数据", "Rows"), nullable=False, description="Which records they see, in words."),
        "permissions": array(
            text(nullable=False),
            max_items=MAX_MENUS,
            nullable=False,
            description="The codes of which at least one operation is allowed. A disabled user has none; a disabled "
            "role has those that it would grant.",
            label=("权限标识", "Permissions"),
        ),
    },
    nullable=False,
)
MATRIX = obj(
    "AuthorizationMatrix",
    {
        "columns": array(
            obj(
                "AuthorizationColumn",
                {"permission": text(nullable=False), "label": text(nullable=False)},
                nullable=False,
            ),
            max_items=MAX_MENUS,
            nullable=False,
        ),
        "items": array(_ROW, max_items=_MOST, nullable=False),
        "total": integer(nullable=False),
        "page": integer(nullable=False),
        "page_size": integer(nullable=False),
        "next_cursor": text(max_length=1000, description="Give it as `cursor` for the next page; null at the end."),
    },
    nullable=False,
)


async def show(req: Request) -> Record | Response:
    """Return a page of the matrix, or all of it as CSV: the people in the caller's data scope, or the roles."""
    matrix = await _Matrix.of(req)
    if req.query["format"] == "csv":
        first = await matrix.read(_AT_ONCE, None)
        req.note_rows(first.total or 0)
        return csv_response(req, "authorization-matrix", matrix.cells(first))
    page = await matrix.read(req.query["page_size"], req.query.get("cursor"), req.query["page"])
    columns = [{"permission": code, "label": label} for code, label in matrix.columns.items()]
    rows = await matrix.rows(page.items)
    return {
        "columns": columns,
        "items": rows,
        "total": page.total,
        "page": page.page,
        "page_size": page.page_size,
        "next_cursor": page.next_cursor,
    }


@dataclass(frozen=True)
class _Matrix:
    req: Request
    rules: Rules
    operations: Operations
    columns: Mapping[str, str]

    @classmethod
    async def of(cls, req: Request) -> _Matrix:
        rules, catalogue = await req.part(Policy).rules(), req.part(Catalogue)
        english = req.language == "en"
        # codes of menus that administrators made belong to no operation: their labels are the titles of the menus
        own = {
            menu["permission"]: (english and menu.get("title_en")) or menu["title"]
            for menu in rules.menus.values()
            if menu.get("permission")
        }
        declared = {code: label.text(req.language) for code, label in catalogue.operations.items()}
        columns = {**own, **declared}
        return cls(req, rules, Operations(catalogue, rules), {code: columns[code] for code in sorted(columns)})

    async def read(self, size: int, cursor: str | None, page: int = 1) -> Page:
        """Return one page of the people or roles."""
        asked: dict[str, Any] = {"q": self.req.query.get("q")}
        if (status := self.req.query.get("status")) is not None:
            asked["status"] = [status]
        store = self.req.store(ROLES if self._by_role else USERS)
        paging = {
            "page": page,
            "page_size": size,
            "cursor": cursor,
            "with_total": self.req.query["format"] == "json" or cursor is None,
            "sort": "id",
        }
        return await store.page({**asked, **paging})

    @property
    def _by_role(self) -> bool:
        return bool(self.req.query["by"] == "role")

    async def rows(self, records: Sequence[Record]) -> list[Record]:
        """Return the rows of these people or roles."""
        if self._by_role:
            return [self._role(role) for role in records]
        company = Company({one["id"]: one for one in records}, self.rules, self.operations, self.req.service.database)
        return [await self._person(company, user) for user in records]

    async def _person(self, company: Company, user: Record) -> Record:
        roles = self.rules.enabled(user["role_ids"] or ())
        scope, is_super = await company.scope(user["id"]), company.is_super(user["id"])
        return {
            "user_id": user["id"],
            "code": user["username"],
            "name": user["real_name"],
            "status": user["status"],
            "is_super": is_super,
            "department_id": user["department_id"],
            "role_ids": sorted(roles),
            "data_scope": "all" if is_super else self.rules.widest(roles),
            "rows": self._words(scope),
            "permissions": codes_of(company.allowed(user["id"])),
        }

    def _role(self, role: Record) -> Record:
        named = _BY_ROLE.get(role["data_scope"])
        custom = Scope(department_ids=frozenset(role["data_scope_department_ids"] or ()))
        return {
            "user_id": None,
            "code": role["code"],
            "name": role["name"],
            "status": role["status"],
            "is_super": False,
            "department_id": None,
            "role_ids": [role["id"]],
            "data_scope": role["data_scope"],
            "rows": named.text(self.req.language) if named else self._words(custom),
            "permissions": codes_of(self.operations.of_roles(frozenset({role["id"]}))),
        }

    def _words(self, scope: Scope) -> str:
        words: str = View(self.req, Actor(user_id=0), scope, self.rules, None).describe()["words"]
        return words

    async def cells(self, page: Page) -> AsyncIterator[list[Sequence[str]]]:
        """Yield the cells of the CSV: the header, then the rows of `page` and of each page after it."""
        yield [[*self._headers(), *(f"{label} {code}" for code, label in self.columns.items())]]
        while True:
            yield [self._cells(row) for row in await self.rows(page.items)]
            if page.next_cursor is None:
                return
            page = await self.read(_AT_ONCE, page.next_cursor)

    def _headers(self) -> Iterable[str]:
        users, roles = USERS.fields, ROLES.fields
        shown = (
            (roles["code"], roles["name"])
            if self._by_role
            else (users["username"], users["real_name"], users["department_id"], users["role_ids"])
        )
        labels = [field.label or Message("", "") for field in (*shown, users["status"], roles["data_scope"])]
        return (label.text(self.req.language) for label in labels)

    def _cells(self, row: Record) -> Sequence[str]:
        department = self.rules.departments.get(row["department_id"], {}).get("name", "")
        roles = "; ".join(self.rules.roles[id]["name"] for id in row["role_ids"])
        placed = () if self._by_role else (department, roles)
        held = frozenset(row["permissions"])
        ticks = ("1" if code in held else "" for code in self.columns)
        return (row["code"], row["name"] or "", *placed, row["status"], row["rows"], *ticks)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/system/authorization/matrix",
        show,
        summary="Show who may do what",
        access="system:authorization:matrix",
        query=_QUERY,
        returns=MATRIX,
        instead="text/csv",
        collection=USERS.name,
        description="Users or roles with their data scope, against permission codes. Only users within the caller's "
        "data scope are listed.",
    ),
)
