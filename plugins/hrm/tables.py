"""Tables of hrm. Leave and daily results come from requests and punches, and can only be exported."""

from __future__ import annotations

from plugins.api import Route, tables
from plugins.hrm.attendance_records import DAYS
from plugins.hrm.leave_records import ALLOWANCES, LEAVES
from plugins.hrm.records import EMPLOYEES, GROUPS, PLACES, POSITIONS, SHIFTS

_EXPORT = ("export",)
ROUTES: tuple[Route, ...] = (
    *tables(EMPLOYEES, at="/api/v1/hrm/employees", resource="hrm:employee"),
    *tables(POSITIONS, at="/api/v1/hrm/positions", resource="hrm:position"),
    *tables(SHIFTS, at="/api/v1/hrm/shifts", resource="hrm:shift"),
    *tables(PLACES, at="/api/v1/hrm/places", resource="hrm:place"),
    *tables(GROUPS, at="/api/v1/hrm/attendance-groups", resource="hrm:attendance-group"),
    *tables(ALLOWANCES, at="/api/v1/hrm/leave-allowances", resource="hrm:leave-allowance"),
    *tables(LEAVES, at="/api/v1/hrm/leaves", resource="hrm:leave", only=_EXPORT),
    *tables(DAYS, at="/api/v1/hrm/attendance", resource="hrm:attendance", only=_EXPORT),
)
