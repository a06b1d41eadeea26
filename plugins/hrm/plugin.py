"""Employees and attendance."""

from __future__ import annotations

from plugins.api import Message, Plugin, conflicts
from plugins.hrm import (
    allowances,
    attendance,
    demo,
    employees,
    entries,
    groups,
    leaves,
    monthly,
    places,
    positions,
    punches,
    shifts,
    tables,
)
from plugins.hrm.attendance_records import DAYS, MARKS, PUNCHES
from plugins.hrm.dashboards import DASHBOARDS
from plugins.hrm.dictionaries import DICTIONARIES
from plugins.hrm.leave_records import ALLOWANCES, LEAVES
from plugins.hrm.lifespan import start
from plugins.hrm.menus import MENUS, PERMISSIONS
from plugins.hrm.messages import CLOSED, NOT_OVER
from plugins.hrm.options import OPTIONS
from plugins.hrm.records import EMPLOYEES, GROUPS, PLACES, POSITIONS, SHIFTS
from plugins.system.api import CONFIG_CHANGING_EVENT

plugin = Plugin(
    name="hrm",
    title=Message("人事考勤", "HRM"),
    requires=("rbac", "system"),
    start=start,
    demo=demo.load,
    collections=(POSITIONS, SHIFTS, PLACES, GROUPS, EMPLOYEES, PUNCHES, DAYS, MARKS, LEAVES, ALLOWANCES),
    biz_types={"EMPLOYEE": EMPLOYEES, "LEAVE": LEAVES},
    dictionaries=DICTIONARIES,
    dashboards=DASHBOARDS,
    event_refusals={"approval.finished": conflicts(CLOSED), CONFIG_CHANGING_EVENT: conflicts(NOT_OVER)},
    routes=(
        *employees.ROUTES,
        *positions.ROUTES,
        *shifts.ROUTES,
        *groups.ROUTES,
        *places.ROUTES,
        *punches.ROUTES,
        *attendance.ROUTES,
        *monthly.ROUTES,
        *leaves.ROUTES,
        *allowances.ROUTES,
        *entries.ROUTES,
        *tables.ROUTES,
    ),
    menus=MENUS,
    permissions=PERMISSIONS,
    options=OPTIONS,
)
