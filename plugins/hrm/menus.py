"""Menus of hrm, and the titles of its permissions."""

from __future__ import annotations

from plugins.api import Menu, Message, page

MENUS = (
    Menu("hrm", Message("人事考勤", "HRM"), path="/hrm", icon="lucide:users", order=250),
    page("hrm:employee", ("员工", "Employees"), "/hrm/employees", "lucide:id-card", 1),
    page("hrm:position", ("职位", "Positions"), "/hrm/positions", "lucide:briefcase", 2),
    page("hrm:attendance", ("考勤", "Attendance"), "/hrm/attendance", "lucide:calendar-check", 3),
    page("hrm:punch", ("打卡记录", "Punches"), "/hrm/punches", "lucide:map-pin-check", 4),
    page("hrm:leave", ("请假", "Leave"), "/hrm/leaves", "lucide:plane", 5),
    page("hrm:shift", ("班次", "Shifts"), "/hrm/shifts", "lucide:clock", 6),
    page("hrm:attendance-group", ("考勤组", "Attendance groups"), "/hrm/attendance-groups", "lucide:users-round", 7),
    page("hrm:place", ("打卡地点", "Attendance places"), "/hrm/places", "lucide:map-pin", 8),
    page("hrm:leave-allowance", ("假期额度", "Leave allowances"), "/hrm/leave-allowances", "lucide:calendar-range", 9),
)

PERMISSIONS = {
    "hrm:attendance:punch": Message("打卡", "Punch"),
    "hrm:punch:review": Message("复核", "Review"),
    "hrm:punch:enter": Message("补卡", "Enter a punch"),
    "hrm:leave:enter": Message("代录", "Enter for others"),
}
