"""Employees and attendance."""

from __future__ import annotations

from plugins.api import Job, Listener, Message, Plugin, conflicts, routes_of, tables
from plugins.api.ports import Absences, WorkingTime
from plugins.api.records import Holding
from plugins.hrm import (
    allowances,
    attendance,
    demo,
    employee_requests,
    employees,
    entries,
    leaves,
    monthly,
    places,
    punches,
    results,
    shifts,
    special_days,
)
from plugins.hrm.assignment_records import ASSIGNMENTS, SPECIAL_DAYS
from plugins.hrm.assignments import DATED
from plugins.hrm.attendance_records import DAYS, MARKS, PUNCHES
from plugins.hrm.closing import refuse_closing_ahead
from plugins.hrm.dashboards import DASHBOARDS
from plugins.hrm.leave_owners import OWNERS
from plugins.hrm.leave_records import ALLOWANCES, LEAVES
from plugins.hrm.messages import NOT_OVER
from plugins.hrm.options import OPTIONS
from plugins.hrm.records import EMPLOYEES, GROUPS, PLACES, POSITIONS, SHIFTS
from plugins.hrm.request_records import REQUESTS
from plugins.hrm.texts import DICTIONARIES, MENUS, PERMISSIONS
from plugins.hrm.views import VIEWS
from plugins.system.api import CONFIG_CHANGING_EVENT

plugin = Plugin(
    name="hrm",
    title=Message("人事考勤", "HRM"),
    requires=("rbac", "system"),
    provides=(Absences, WorkingTime),
    start=results.start,
    demo=demo.load,
    collections=(
        POSITIONS,
        SHIFTS,
        PLACES,
        GROUPS,
        EMPLOYEES,
        ASSIGNMENTS,
        SPECIAL_DAYS,
        PUNCHES,
        DAYS,
        MARKS,
        LEAVES,
        ALLOWANCES,
        REQUESTS,
    ),
    biz_types={"EMPLOYEE": EMPLOYEES, "LEAVE": LEAVES, "PUNCH": PUNCHES, "EMPLOYEE_REQUEST": REQUESTS},
    holdings=(Holding(EMPLOYEES, "user_id", stays=True),),
    dictionaries=DICTIONARIES,
    views=VIEWS,
    dashboards=DASHBOARDS,
    listens=(Listener(CONFIG_CHANGING_EVENT, refuse_closing_ahead, conflicts(NOT_OVER)),),
    jobs=(Job("hrm.settle", 60, results.reconcile, Message("结算考勤结果", "Settle attendance results")),),
    migrations=(DATED, OWNERS, monthly.RECORDED, leaves.DAYS_TAKEN),
    routes=(
        *routes_of(employees, shifts, special_days, places, punches, attendance, monthly),
        *routes_of(leaves, allowances, entries, employee_requests),
        # leave and daily results come from requests and punches
        *tables(ALLOWANCES, at="/api/v1/hrm/leave-allowances", resource="hrm:leave-allowance"),
        *tables(LEAVES, at="/api/v1/hrm/leaves", resource="hrm:leave", only=("export",)),
        *tables(DAYS, at="/api/v1/hrm/attendance", resource="hrm:attendance", only=("export",)),
    ),
    menus=MENUS,
    permissions=PERMISSIONS,
    options=OPTIONS,
)
