"""How the console shows records of hrm."""

from __future__ import annotations

from plugins.api import Message, View
from plugins.hrm.attendance_records import DAYS, PUNCHES
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.leave_types import LEAVE_TYPES
from plugins.hrm.records import GROUPS
from plugins.hrm.request_records import REQUEST_VIEW
from plugins.hrm.roster_records import ROSTER_VIEWS, WEEKDAYS
from plugins.hrm.sheet_records import SHEET_VIEW

# the position is the browser's, which fills in the rest; a page knows no WiFi
_NOT_TYPED = ("coordinate_system", "accuracy", "fix_at", "mock", "bssid", "ssid", "device_id", "attempt")
_WEEK = [{"value": number, "label": Message(*words)} for number, words in enumerate(WEEKDAYS.values(), 1)]
VIEWS = (
    View(
        GROUPS,
        widgets={"working_days": {"type": "checkboxes", "options": _WEEK, "joinValues": False, "extractValue": True}},
    ),
    View(
        PUNCHES,
        columns=("employee_id", "result", "at", "day", "method", "place_id", "risk", "risks"),
        widgets={name: {"type": "hidden"} for name in _NOT_TYPED},
    ),
    View(LEAVES, columns=("employee_id", "type", "status", "starts_at", "ends_at", "days", "reason")),
    View(
        DAYS,
        columns=("employee_id", "status", "day", "arrived_at", "departed_at", "late_minutes", "worked_minutes"),
        calendar=("day", "status", "employee_id"),
    ),
    View(
        LEAVE_TYPES,
        columns=("name", "code", "status", "paid", "unit", "accrual", "amount", "carry_over"),
        groups={
            ("基本信息", "General"): (
                "code",
                "name",
                "name_en",
                "paid",
                "unit",
                "evidence_required",
                "department_ids",
                "status",
            ),
            ("额度", "Accrual"): (
                *("accrual", "amount", "seniority", "earlier_service", "overtime_rates", "year_of"),
                *("part_year", "starts_on", "overdraft"),
            ),
            ("结转", "Carry-over"): ("carry_over", "carry_over_months"),
        },
    ),
    REQUEST_VIEW,
    SHEET_VIEW,
    *ROSTER_VIEWS,
)
