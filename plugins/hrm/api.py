"""What plugins that require hrm may import. Its events are heard by their names."""

from plugins.hrm.attendance_records import DAYS, PUNCHES
from plugins.hrm.leave_records import ALLOWANCES, LEAVES
from plugins.hrm.records import EMPLOYEES, GROUPS, PLACES, POSITIONS, SHIFTS

__all__ = ["ALLOWANCES", "DAYS", "EMPLOYEES", "GROUPS", "LEAVES", "PLACES", "POSITIONS", "PUNCHES", "SHIFTS"]
