"""Collections of rosters: the shifts of people by date, open shifts, and patterns of rotation; and the shapes of plans."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    Option,
    View,
    array,
    choice,
    day,
    dictionary,
    integer,
    obj,
    object_id,
    page,
    shape,
    text,
    timestamp,
)
from plugins.hrm.messages import IN_USE
from plugins.hrm.record_types import Roster, RosterPattern
from plugins.hrm.records import EMPLOYEES, REMARK

CONFLICTS = ("rest", "leave", "outside", "trip")
MOST_ROWS, MOST_CONFLICTS, MOST_DAYS = 5_000, 500, 366
WEEKDAYS = {
    "monday": ("周一", "Mon"),
    "tuesday": ("周二", "Tue"),
    "wednesday": ("周三", "Wed"),
    "thursday": ("周四", "Thu"),
    "friday": ("周五", "Fri"),
    "saturday": ("周六", "Sat"),
    "sunday": ("周日", "Sun"),
}

TAKEN = Message("该班次已被领取", "The shift has been taken already")
NOT_OFFERED = Message("该班次不对您所在部门开放", "The shift is not open to your department")
WORKS_THEN = Message("您当天已有班次", "You already work on that day")
IS_OVER = Message("该班次的日期已过", "The day of the shift is over")
NOT_AGREED = Message("对方尚未同意换班", "The other person has not agreed to the swap yet")
NOTHING_TO_SWAP = Message("双方在这些日期的班次相同", "Both have the same on these days")
ROSTER_CHANGED = Message("相关排班已变更，请重新填写申请", "The rosters have changed since; change the request")
SWAP_ASKED = Message("{name} 想与您换班：{day}", "{name} would like to swap shifts with you: {day}")
SWAP_OF_OTHERS = Message("该换班申请不是向您提出的", "The swap is not with you")
IN_CONFLICT: dict[str, Message] = {
    "rest": Message("{day} 的班次与相邻班次间隔不足", "There is too little rest before or after the shift of {day}"),
    "leave": Message("{day} 已请假", "There is leave on {day}"),
    "outside": Message("{day} 有外出安排", "There is outside duty on {day}"),
    "trip": Message("{day} 有出差安排", "There is a business trip on {day}"),
}
OFF, ON_LEAVE_THEN = Message("休", "Off"), Message("请假", "leave")

MIN_REST = Option(
    "hrm_min_rest_hours",
    integer(minimum=0, maximum=24, default=11, nullable=False),
    Message("两个班次之间的最短休息时间（小时）", "Shortest rest between two shifts, in hours"),
)
ROSTER_DICTIONARIES = (
    dictionary(
        "hrm_roster_conflict",
        ("排班冲突", "Conflict of a roster"),
        rest=("休息不足", "Too little rest", "orange"),
        leave=("已请假", "On leave", "red"),
        outside=("外出", "Outside duty", "orange"),
        trip=("出差", "Business trip", "orange"),
    ),
)
ROSTER_MENUS = (
    page(
        "hrm:roster", ("排班", "Rosters"), "/hrm/rosters", "lucide:calendar-range", 15, granted_with="hrm:shift:update"
    ),
    page(
        "hrm:roster-pattern",
        ("轮班规则", "Rotation patterns"),
        "/hrm/roster-patterns",
        "lucide:arrow-left-right",
        16,
        granted_with="hrm:shift:update",
    ),
)
_SHIFT = object_id(label=("班次", "Shift"), ref="hrm_shifts", held=IN_USE)

# a day has at most one roster for each employee
ROSTERS: Collection[Roster] = Collection(
    name="hrm_rosters",
    title="Roster",
    noun=Message("排班", "roster"),
    scoped=True,
    scope_department="department_id",
    scope_person="user_id",
    default_sort="-day",
    fields={
        "day": day(label=("日期", "Day"), required=True, sort=True, filter=True, example="2026-12-24"),
        "employee_id": object_id(
            label=("员工", "Employee"),
            ref=EMPLOYEES.name,
            on_delete="cascade",
            filter=True,
            description="Null: an open shift, which employees of the department can take.",
        ),
        "shift_id": _SHIFT.but(
            filter=True, description="Instead of what the attendance group has on that day; null: a day off."
        ),
        "department_id": integer(
            label=("部门", "Department"),
            minimum=1,
            ref="rbac_departments",
            filter=True,
            description="Of an open shift: whose employees can take it, by default the caller's; null: everybody's. "
            "Otherwise that of the employee on that day.",
        ),
        "remark": text(label=("备注", "Remarks"), max_length=500),
        "user_id": integer(label=("用户账号", "User account"), read_only=True, ref="users"),
        "request_id": object_id(
            label=("换班申请", "Swap"), read_only=True, ref="hrm_requests", description="The swap by which it came."
        ),
    },
    indexes=(
        Index("employee_id", "day", unique=True, where={"employee_id": {"$type": "objectId"}}),
        Index("day"),
        Index("shift_id"),
        Index("request_id"),
    ),
)

ROSTER_PATTERNS: Collection[RosterPattern] = Collection(
    name="hrm_roster_patterns",
    title="RosterPattern",
    noun=Message("轮班规则", "rotation pattern"),
    fields={
        "name": text(
            label=("规则名称", "Pattern name"), required=True, min_length=1, max_length=100, example="四班三运转"
        ),
        "days": array(
            obj("RosterPatternDay", {"shift_id": _SHIFT.but(description="Null: a day off.")}),
            label=("各天班次", "Days"),
            required=True,
            min_items=1,
            max_items=100,
            nullable=False,
            description="The shifts of consecutive days; after the last one, the first follows again.",
        ),
        "remark": REMARK,
    },
    indexes=(Index("name", unique=True), Index("days.shift_id")),
)
MOST_COLLEAGUES = 500
COLLEAGUES = shape(
    "Colleagues",
    items=array(
        obj("Colleague", {name: EMPLOYEES.all_fields[name] for name in ("id", "number", "name")}, nullable=False),
        max_items=MOST_COLLEAGUES,
        nullable=False,
        description="Those of the same attendance group or department.",
    ),
)
# what a request to swap shifts has
SWAP_FIELDS = {
    "day": day(
        label=("换班日期", "Day"), filter=True, example="2026-12-24", description="Of a swap, which needs it: the day."
    ),
    "swap_with": object_id(
        label=("换班对象", "Swap with"),
        ref=EMPLOYEES.name,
        filter=True,
        description="Of a swap, which needs it: the employee with whom the shifts are exchanged.",
    ),
    "swap_day": day(
        label=("对方日期", "Day in return"),
        example="2026-12-25",
        description="Of a swap: a second day on which they exchange too. By default the same `day`.",
    ),
    "agreed_at": timestamp(label=("对方同意时间", "Agreed at"), read_only=True),
    "exchanged": array(
        obj(
            "RosterExchange",
            {
                "employee_id": object_id(ref=EMPLOYEES.name, label=("员工", "Employee"), nullable=False),
                "day": day(label=("日期", "Day"), nullable=False),
                "shift_id": object_id(
                    ref="hrm_shifts", label=("原班次", "Shift so far"), description="Null: a day off."
                ),
            },
            nullable=False,
        ),
        label=("换班前的班次", "Shifts before the swap"),
        max_items=4,
        read_only=True,
        description="What each of the two has, which goes to the other one.",
    ),
}
ROSTER_VIEWS = (
    View(
        ROSTERS,
        columns=("employee_id", "day", "shift_id", "department_id", "remark", "request_id"),
        calendar=("day", "shift_id", "employee_id"),
    ),
)

APPLY_BODY = shape(
    "RosterApplication",
    **{
        "from": day(label=("起始日期", "From"), required=True, nullable=False, example="2026-12-01"),
        "to": day(label=("截止日期", "To"), required=True, nullable=False, example="2026-12-31"),
        "group_id": object_id(
            label=("考勤组", "Attendance group"),
            ref="hrm_attendance_groups",
            description="Its visible members of today; or else `employee_ids`.",
        ),
        "employee_ids": array(
            object_id(ref=EMPLOYEES.name), label=("员工", "Employees"), unique=True, min_items=1, max_items=200
        ),
        "start": integer(
            label=("从第几天开始", "Start at day"),
            minimum=1,
            maximum=100,
            default=1,
            nullable=False,
            description="Which day of the pattern `from` is, for the first employee.",
        ),
        "stagger": integer(
            label=("每人错开天数", "Stagger"),
            minimum=0,
            maximum=100,
            default=0,
            nullable=False,
            description="By how many days each employee is further in the pattern than the one before, by number and name.",
        ),
    },
)
_CONFLICT = obj(
    "RosterConflict",
    {
        "employee_id": object_id(ref=EMPLOYEES.name, label=("员工", "Employee"), nullable=False),
        "day": day(label=("日期", "Day"), nullable=False),
        "kind": choice(*CONFLICTS, label=("冲突", "Conflict"), nullable=False, dictionary="hrm_roster_conflict"),
        "minutes": integer(
            label=("休息分钟数", "Minutes of rest"),
            description="Of too little rest: the minutes since the shift before; negative if the shifts overlap.",
        ),
    },
    nullable=False,
)
PLAN_FIELDS = {
    "days": integer(label=("排班天数", "Days rostered"), minimum=0, nullable=False),
    "skipped": integer(
        label=("跳过天数", "Days left out"),
        minimum=0,
        nullable=False,
        description="Days on which an employee is not employed or in no attendance group.",
    ),
    "conflicts": array(
        _CONFLICT,
        label=("冲突", "Conflicts"),
        max_items=MOST_CONFLICTS,
        nullable=False,
        description=f"Up to {MOST_CONFLICTS}. They do not prevent the roster.",
    ),
}
PLAN = shape("RosterPlan", **PLAN_FIELDS)

_WEEK_DAY = obj(
    "RosterDay",
    {
        "day": day(nullable=False),
        "shift_id": object_id(ref="hrm_shifts", description="Null on a day off."),
        "start": text(description="Start of the shift."),
        "end": text(description="End of the shift."),
        "source": choice("roster", "group", description="What says so; null without attendance."),
        "leave": choice("pending", "approved", description="Leave on that day."),
        "duty": choice("outside", "trip", description="Duty elsewhere that is requested or approved."),
    },
    nullable=False,
)
WEEK_ROW = shape(
    "RosterWeek",
    **{name: EMPLOYEES.all_fields[name] for name in ("id", "number", "name", "department_id")},
    **{name: text(label=label, description="The day in words.") for name, label in WEEKDAYS.items()},
    days=array(_WEEK_DAY, max_items=7, nullable=False, description="Monday to Sunday."),
)
_OF_LISTS = ("page", "page_size", "with_total", "cursor", "q", "number", "department_id")
WEEK_QUERY = {
    **{name: EMPLOYEES.list_query[name] for name in _OF_LISTS},
    "sort": text(max_length=200, nullable=False, example="number", description="Any of id, number, name."),
    "day": day(label=("日期", "Day"), nullable=False, description="Any day of the week. Defaults to today."),
    "group_id": object_id(label=("考勤组", "Attendance group"), ref="hrm_attendance_groups", nullable=False),
}
