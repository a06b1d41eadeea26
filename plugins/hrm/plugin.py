"""Employees and attendance."""

from __future__ import annotations

from plugins.api import Message, Plugin, routes_of
from plugins.api.ports import Absences, WorkingTime
from plugins.api.records import Holding
from plugins.hrm import (
    allowances,
    attendance,
    closings,
    contracts,
    corrections,
    demo,
    employee_requests,
    employees,
    entries,
    leave_balances,
    leave_types,
    leaves,
    monthly,
    places,
    private_details,
    punches,
    rehiring,
    results,
    roster_patterns,
    roster_week,
    rosters,
    sheets,
    shifts,
    special_days,
    time_clocks,
)
from plugins.hrm.assignment_records import ASSIGNMENTS, SPECIAL_DAYS
from plugins.hrm.assignments import DATED
from plugins.hrm.attendance_records import DAYS, MARKS, PUNCHES
from plugins.hrm.closing_records import CLOSINGS, CORRECTIONS
from plugins.hrm.dashboards import DASHBOARDS
from plugins.hrm.leave_owners import OWNERS
from plugins.hrm.leave_records import ADJUSTMENTS, ALLOWANCES, LEAVES
from plugins.hrm.leave_types import LEAVE_TYPES
from plugins.hrm.options import OPTIONS
from plugins.hrm.records import EMPLOYEES, GROUPS, PLACES, POSITIONS, SHIFTS
from plugins.hrm.request_records import REQUESTS
from plugins.hrm.roster_records import ROSTER_PATTERNS, ROSTERS
from plugins.hrm.sheet_records import ANSWERS, SHEETS
from plugins.hrm.texts import DICTIONARIES, MENUS, PERMISSIONS
from plugins.hrm.views import VIEWS

plugin = Plugin(
    name="hrm",
    title=Message("人事考勤", "HRM"),
    requires=("rbac", "system"),
    provides=(Absences, WorkingTime),
    start=results.start,
    prepare=leave_types.prepare,
    demo=demo.load,
    collections=(
        *(POSITIONS, SHIFTS, PLACES, GROUPS, EMPLOYEES, ASSIGNMENTS, SPECIAL_DAYS, PUNCHES, DAYS, MARKS),
        *(LEAVES, LEAVE_TYPES, ALLOWANCES, ADJUSTMENTS, REQUESTS, CLOSINGS, CORRECTIONS, SHEETS),
        *(ROSTERS, ROSTER_PATTERNS, contracts.CONTRACTS, private_details.PRIVATE),
    ),
    biz_types={"EMPLOYEE": EMPLOYEES, "LEAVE": LEAVES, "PUNCH": PUNCHES, "EMPLOYEE_REQUEST": REQUESTS},
    holdings=(Holding(EMPLOYEES, "user_id", stays=True),),
    dictionaries=(*DICTIONARIES, *leave_types.DICTIONARIES, leave_balances.KINDS, monthly.READING, ANSWERS),
    views=VIEWS,
    dashboards=DASHBOARDS,
    listens=(closings.NOTED, leave_types.RESTORED),
    jobs=(results.SETTLING, contracts.REMINDING, private_details.SEALING),
    migrations=(DATED, OWNERS, monthly.RECORDED, leaves.DAYS_TAKEN, monthly.HOURS_OF_LEAVE),
    routes=(
        *routes_of(employees, rehiring, contracts, private_details, shifts, special_days, places, punches, attendance),
        *routes_of(leaves, entries, employee_requests, leave_types, allowances, leave_balances),
        *routes_of(monthly, time_clocks, closings, corrections, sheets, rosters, roster_week, roster_patterns),
    ),
    menus=MENUS,
    permissions=PERMISSIONS,
    options=OPTIONS,
)
