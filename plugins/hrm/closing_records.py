"""Collections of closed days: when they were closed and reopened, and what became known of them after that."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    array,
    boolean,
    day,
    integer,
    obj,
    object_id,
    page,
    service_fields,
    shape,
    text,
)
from plugins.hrm.attendance_records import DAYS
from plugins.hrm.record_types import AttendanceClosing, AttendanceCorrection
from plugins.hrm.records import EMPLOYEES, GROUPS

MOST_NAMED = 1000

CLOSING_MENU = page(
    "hrm:attendance-closing",
    ("考勤封账", "Closed attendance"),
    "/hrm/attendance-closings",
    "lucide:lock",
    15,
)

CLOSINGS: Collection[AttendanceClosing] = Collection(
    name="hrm_attendance_closings",
    title="AttendanceClosing",
    noun=Message("考勤封账", "closing of attendance"),
    default_sort="-id",
    fields={
        "closed_to": day(
            label=("封账至（含当日）", "Last closed day"),
            example="2020-12-31",
            description="Null after everything was reopened.",
        ),
        "reason": text(label=("原因", "Reason"), max_length=500, example="十月工资已发放"),
        "previous": day(
            label=("此前封账至", "Closed before up to"),
            read_only=True,
            description="The last day that was closed for everyone before; null if none was.",
        ),
        **service_fields(
            reopened=boolean(label=("重新开放", "Reopened"), filter=True, description="Whether days were reopened.")
        ),
        "group_ids": array(
            object_id(ref=GROUPS.name),
            label=("考勤组", "Attendance groups"),
            min_items=1,
            max_items=MOST_NAMED,
            description="Only for the members of these groups; without groups and employees, for everyone.",
        ),
        "employee_ids": array(
            object_id(ref=EMPLOYEES.name),
            label=("员工", "Employees"),
            min_items=1,
            max_items=MOST_NAMED,
            description="Only for these employees.",
        ),
        "people": integer(
            label=("人数", "People"),
            minimum=0,
            read_only=True,
            description="Whose days were closed or reopened; null if everyone's were.",
        ),
        "not_agreed": integer(
            label=("未确认人数", "Not agreed"),
            minimum=0,
            read_only=True,
            description="How many sheets of the months that end in the closed days were not agreed on; null after reopening.",
        ),
    },
    indexes=(Index("closed_to"), Index("people"), Index("members.employee_id")),
    # the hours and working days of groups, and the hours of shifts, as they were; whom it names, or who had another last
    # closed day than everyone, each with it
    internal=("weeks", "shifts", "members"),
)
_WHOM = {name: CLOSINGS.fields[name].but(nullable=False) for name in ("group_ids", "employee_ids")}
CLOSE_BODY = shape(
    "AttendanceClose",
    closed_to=CLOSINGS.fields["closed_to"].but(required=True, nullable=False, description="A day that is over."),
    reason=CLOSINGS.fields["reason"],
    **_WHOM,
)
REOPEN_BODY = shape(
    "AttendanceReopen",
    closed_to=CLOSINGS.fields["closed_to"].but(description="The last day that stays closed; null reopens all days."),
    reason=text(label=("原因", "Reason"), required=True, min_length=1, max_length=500, example="漏录病假"),
    **_WHOM,
)

# what is compared of a closed day
FIGURES = (
    "status",
    "late_minutes",
    "early_minutes",
    "worked_minutes",
    "leave_days",
    "leave_by_type",
    "leave_minutes_by_type",
    "duty",
    "overtime_minutes",
    "compensatory_minutes",
    "unproven_minutes",
    "overtime_day",
)
_RESULT = {name: DAYS.all_fields[name].but(read_only=True, nullable=True, filter=False, sort=False) for name in FIGURES}
CORRECTIONS: Collection[AttendanceCorrection] = Collection(
    name="hrm_attendance_corrections",
    title="AttendanceCorrection",
    noun=Message("考勤差异", "attendance correction"),
    scoped=True,
    scope_department="department_id",
    scope_person="user_id",
    default_sort="-booked_on",
    fields={
        **service_fields(
            employee_id=object_id(ref=EMPLOYEES.name, on_delete="cascade", label=("员工", "Employee"), filter=True),
            employee_name=text(label=("员工姓名", "Employee name"), max_length=100),
        ),
        "user_id": integer(label=("用户账号", "User account"), read_only=True, filter=True, ref="users"),
        "department_id": integer(label=("部门", "Department"), read_only=True, filter=True, ref="departments"),
        **service_fields(
            day=day(label=("考勤日期", "Working day"), sort=True, filter=True, description="The closed day."),
            booked_on=day(
                label=("计入日期", "Booked on"),
                sort=True,
                filter=True,
                description="The first open day when this became known; the difference is paid in its month.",
            ),
        ),
        "before": obj(
            "ResultBefore",
            _RESULT,
            label=("原结果", "Before"),
            read_only=True,
            description="The result as it was paid, or known before; without `status` if there was none.",
        ),
        "after": obj(
            "ResultAfter",
            _RESULT,
            label=("现结果", "After"),
            read_only=True,
            description="The result as it is known now; without `status` if there is none.",
        ),
    },
    indexes=(Index("employee_id", "day"), Index("employee_id", "booked_on"), Index("day"), Index("-booked_on")),
)
