"""Tables of rbac. Users are exported only: an account begins with a password of its own, which no table should hold."""

from __future__ import annotations

from plugins.api import Route, tables
from plugins.rbac.records import DEPARTMENTS, USERS

ROUTES: tuple[Route, ...] = (
    *tables(USERS, at="/api/v1/system/users", resource="system:user", only=("export",)),
    *tables(DEPARTMENTS, at="/api/v1/system/departments", resource="system:department"),
)
