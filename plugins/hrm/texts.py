"""What people read: dictionaries, menus and the titles of permissions."""

from __future__ import annotations

from plugins.api import Dictionary, Menu, Message, dictionary, page
from plugins.api.records import Item
from plugins.hrm.closing_records import CLOSING_MENU
from plugins.hrm.contracts import CONTRACT_KIND
from plugins.hrm.punch_policy import PUNCH_DICTIONARIES, RISKS
from plugins.hrm.request_records import REQUEST_DICTIONARIES, REQUEST_MENU
from plugins.hrm.roster_records import ROSTER_DICTIONARIES, ROSTER_MENUS
from plugins.hrm.states import DAY_STATES

_COLORS = {
    "pending": "gray",
    "normal": "green",
    "late": "orange",
    "early_leave": "orange",
    "missed": "red",
    "absent": "red",
    "leave": "blue",
    "rest": "gray",
}

LEAVE_TYPE = dictionary(
    "hrm_leave_type",
    ("请假类型", "Leave type"),
    annual=("年假", "Annual leave"),
    sick=("病假", "Sick leave"),
    personal=("事假", "Personal leave"),
    compensatory=("调休", "Time off in lieu"),
    marriage=("婚假", "Marriage leave"),
    maternity=("产假", "Maternity leave"),
    bereavement=("丧假", "Bereavement leave"),
    other=("其他", "Other"),
)

DICTIONARIES = (
    dictionary(
        "hrm_punch_result",
        ("打卡结果", "Punch result"),
        accepted=("有效", "Accepted", "green"),
        outside=("外勤", "Outside", "orange"),
        unproven=("位置不可靠", "Unreliable position", "orange"),
        refused=("已拒绝", "Refused", "red"),
    ),
    Dictionary(
        "hrm_punch_risk",
        Message("打卡风险", "Punch risk"),
        tuple(Item(code, words) for code, words in RISKS.items()),
    ),
    Dictionary.of_states("hrm_attendance_status", Message("考勤结果", "Daily result"), DAY_STATES, _COLORS),
    dictionary(
        "hrm_punch_method",
        ("打卡方式", "Punch method"),
        gps=("GPS 定位", "GPS"),
        wifi=("WiFi", "WiFi"),
        manual=("补卡", "Entered later"),
        clock=("考勤机", "Time clock"),
    ),
    dictionary(
        "hrm_coordinate_system",
        ("坐标系", "Coordinate system"),
        wgs84=("WGS-84（GPS）", "WGS-84 (GPS)"),
        gcj02=("GCJ-02（高德、腾讯）", "GCJ-02 (Amap, Tencent)"),
        bd09=("BD-09（百度）", "BD-09 (Baidu)"),
    ),
    LEAVE_TYPE,
    dictionary(
        "hrm_special_day_kind",
        ("特殊日期类型", "Kind of special day"),
        holiday=("放假", "Holiday", "green"),
        workday=("调休上班", "Working day", "orange"),
    ),
    dictionary(
        "hrm_holiday_shifts",
        ("节假日排班工时", "Shifts on holidays"),
        ordinary=("按工作日计", "As on working days"),
        overtime=("计节假日加班", "Overtime of a holiday"),
    ),
    *REQUEST_DICTIONARIES,
    *PUNCH_DICTIONARIES,
    *ROSTER_DICTIONARIES,
    CONTRACT_KIND,
)


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
    page("hrm:special-day", ("节假日安排", "Special days"), "/hrm/special-days", "lucide:calendar-clock", 10),
    REQUEST_MENU,
    page(
        "hrm:leave-type",
        ("假期类型", "Leave types"),
        "/hrm/leave-types",
        "lucide:list-checks",
        12,
        granted_with="hrm:leave-allowance:list",
    ),
    page(
        "hrm:leave-balance",
        ("假期余额", "Leave balances"),
        "/hrm/leave-balances",
        "lucide:hourglass",
        13,
        granted_with="hrm:leave-allowance:list",
    ),
    page(
        "hrm:leave-adjustment",
        ("余额调整", "Leave adjustments"),
        "/hrm/leave-adjustments",
        "lucide:sliders-horizontal",
        14,
        granted_with="hrm:leave-allowance:list",
    ),
    *ROSTER_MENUS,
    CLOSING_MENU,
    page(
        "hrm:attendance-sheet",
        ("考勤确认", "Attendance sheets"),
        "/hrm/attendance-sheets",
        "lucide:file-check",
        17,
        granted_with="hrm:attendance:punch",
    ),
)

PERMISSIONS = {
    "hrm:attendance:punch": Message("打卡", "Punch"),
    "hrm:punch:review": Message("复核", "Review"),
    "hrm:punch:enter": Message("补卡", "Enter a punch"),
    "hrm:leave:enter": Message("代录", "Enter for others"),
    "hrm:attendance-closing:reopen": Message("重新开放", "Reopen"),
    "hrm:attendance-closing:agreement": Message("员工确认", "Agreements of employees"),
    "hrm:request:enter": Message("代录", "Enter for others"),
    "hrm:employee:contract": Message("劳动合同", "Employment contracts"),
    "hrm:employee:private": Message("隐私信息", "Private details"),
    "hrm:roster:take": Message("领取班次", "Take open shifts"),
}
