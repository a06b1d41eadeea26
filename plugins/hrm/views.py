"""How the console shows attendance: by employee, without the account that has the same name."""

from plugins.api import View
from plugins.hrm.attendance_records import DAYS, PUNCHES

VIEWS = (
    View(PUNCHES, columns=("employee_id", "result", "at", "day", "method", "place_id")),
    View(DAYS, columns=("employee_id", "status", "day", "arrived_at", "departed_at", "late_minutes", "worked_minutes")),
)
