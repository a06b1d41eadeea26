"""Tables of rbac. Users can only be exported: a new account needs a password, which no table should contain."""

from __future__ import annotations

from plugins.api import Route, tables
from plugins.rbac.records import DEPARTMENTS, USERS

ROUTES: tuple[Route, ...] = (
    *tables(USERS, at="/api/v1/system/users", resource="system:user", only=("export",)),
    *tables(DEPARTMENTS, at="/api/v1/system/departments", resource="system:department"),
)
