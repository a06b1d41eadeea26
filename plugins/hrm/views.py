"""How the console shows attendance: by employee, without the account that has the same name.

What a browser finds out by itself, or cannot know, is not asked for.
"""

from plugins.api import View
from plugins.hrm.attendance_records import DAYS, PUNCHES

_NOT_TYPED = ("coordinate_system", "accuracy", "fix_at", "mock", "bssid", "ssid", "device_id")
VIEWS = (
    View(
        PUNCHES,
        columns=("employee_id", "result", "at", "day", "method", "place_id"),
        widgets={name: {"type": "hidden"} for name in _NOT_TYPED},
    ),
    View(DAYS, columns=("employee_id", "status", "day", "arrived_at", "departed_at", "late_minutes", "worked_minutes")),
)
