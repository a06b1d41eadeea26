"""Menus of hrm, and the titles of its permissions."""

from __future__ import annotations

from plugins.api import Menu, Message

MENUS = (
    Menu("hrm", Message("人事考勤", "HRM"), path="/hrm", icon="lucide:users", order=250),
    Menu(
        "hrm.employee",
        Message("员工", "Employees"),
        path="/hrm/employees",
        parent="hrm",
        resource="hrm:employee",
        icon="lucide:id-card",
        order=1,
    ),
    Menu(
        "hrm.position",
        Message("职位", "Positions"),
        path="/hrm/positions",
        parent="hrm",
        resource="hrm:position",
        icon="lucide:briefcase",
        order=2,
    ),
    Menu(
        "hrm.attendance",
        Message("考勤", "Attendance"),
        path="/hrm/attendance",
        parent="hrm",
        resource="hrm:attendance",
        icon="lucide:calendar-check",
        order=3,
    ),
    Menu(
        "hrm.punch",
        Message("打卡记录", "Punches"),
        path="/hrm/punches",
        parent="hrm",
        resource="hrm:punch",
        icon="lucide:map-pin-check",
        order=4,
    ),
    Menu(
        "hrm.leave",
        Message("请假", "Leave"),
        path="/hrm/leaves",
        parent="hrm",
        resource="hrm:leave",
        icon="lucide:plane",
        order=5,
    ),
    Menu(
        "hrm.shift",
        Message("班次", "Shifts"),
        path="/hrm/shifts",
        parent="hrm",
        resource="hrm:shift",
        icon="lucide:clock",
        order=6,
    ),
    Menu(
        "hrm.attendance-group",
        Message("考勤组", "Attendance groups"),
        path="/hrm/attendance-groups",
        parent="hrm",
        resource="hrm:attendance-group",
        icon="lucide:users-round",
        order=7,
    ),
    Menu(
        "hrm.place",
        Message("考勤地点", "Places of attendance"),
        path="/hrm/places",
        parent="hrm",
        resource="hrm:place",
        icon="lucide:map-pin",
        order=8,
    ),
    Menu(
        "hrm.leave-allowance",
        Message("假期额度", "Leave allowances"),
        path="/hrm/leave-allowances",
        parent="hrm",
        resource="hrm:leave-allowance",
        icon="lucide:calendar-range",
        order=9,
    ),
)

PERMISSIONS = {
    "hrm:attendance:punch": Message("打卡", "Punch"),
    "hrm:punch:review": Message("复核", "Review"),
    "hrm:punch:enter": Message("补卡", "Enter a punch"),
    "hrm:leave:enter": Message("代录", "Enter for somebody"),
}
