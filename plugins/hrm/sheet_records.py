"""Sheets: the figures of an employee's month, on which the employee agrees before attendance is closed."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    Option,
    StateMachine,
    Transition,
    View,
    array,
    boolean,
    choice,
    dictionary,
    integer,
    object_id,
    service_fields,
    shape,
    text,
    timestamp,
)
from plugins.hrm.messages import NOT_IN_STATE
from plugins.hrm.month_figures import DIFFERENCES, FIGURES, MONTH
from plugins.hrm.record_types import AttendanceSheet
from plugins.hrm.records import EMPLOYEES, GROUPS

REQUIRE_AGREEMENT = "hrm_require_agreement"
REQUIRED = Option(
    REQUIRE_AGREEMENT,
    boolean(default=False, nullable=False),
    Message("封账前须全员确认考勤", "Attendance is closed only once all have agreed on their sheets"),
)
SHEET_STATES = StateMachine(
    name="hrm_attendance_sheet",
    initial="open",
    states={
        "open": ("待确认", "Not answered"),
        "agreed": ("已确认", "Agreed"),
        "objected": ("有异议", "Objected"),
        "changed": ("数据已变更", "Changed since"),
    },
    transitions={
        "agree": Transition(("open", "objected", "changed"), "agreed", ("确认", "Agree")),
        "object": Transition(("open", "agreed", "changed"), "objected", ("提出异议", "Object")),
        "change": Transition(("agreed", "objected"), "changed"),
    },
    record="attendance_sheet",
    refusal=NOT_IN_STATE,
)
SHEETS: Collection[AttendanceSheet] = Collection(
    name="hrm_attendance_sheets",
    title="AttendanceSheet",
    noun=Message("考勤确认单", "attendance sheet"),
    scoped=True,
    scope_department="department_id",
    scope_person="user_id",
    label="employee_name",
    default_sort="-month",
    fields={
        **service_fields(
            employee_id=object_id(ref=EMPLOYEES.name, on_delete="cascade", label=("员工", "Employee"), filter=True),
            employee_name=text(label=("员工姓名", "Employee name"), max_length=100, search=True),
            month=MONTH.but(sort=True, filter=True),
        ),
        "user_id": integer(label=("用户账号", "User account"), read_only=True, filter=True, ref="users"),
        "department_id": integer(label=("部门", "Department"), read_only=True, filter=True, ref="departments"),
        "status": SHEET_STATES.choice(
            label=("确认状态", "Agreement"),
            filter=True,
            sort=True,
            description="`changed`: a figure has changed since the answer, so the employee has to answer anew.",
        ),
        "reason": text(
            label=("员工意见", "Employee's words"), max_length=500, read_only=True, description="Why they object."
        ),
        "note": text(
            label=("代录说明", "Note"),
            max_length=500,
            read_only=True,
            description="How the employee has answered, if somebody entered it for them.",
        ),
        "answered_at": timestamp(label=("答复时间", "Answered at"), read_only=True, sort=True),
        "answered_by": integer(label=("答复人", "Answered by"), read_only=True, ref="users"),
        "asked_at": timestamp(label=("最近提醒时间", "Last asked at"), read_only=True),
        **FIGURES,
        "differences": DIFFERENCES,
    },
    indexes=(Index("employee_id", "month", unique=True), Index("month", "status"), Index("-month")),
    states=SHEET_STATES,
)
ANSWERS = dictionary(
    "hrm_sheet_answer", ("员工答复", "Answer to a sheet"), agree=("确认", "Agrees"), object=("有异议", "Objects")
)
_REASON = ("员工意见", "Employee's words")
OBJECTION = {
    "reason": text(label=_REASON, max_length=500, min_length=1, required=True, example="18 日加班未计入"),
}
ENTERED = {
    "answer": choice(
        "agree", "object", label=("员工答复", "Answer"), required=True, description="What the employee has said."
    ),
    "note": text(
        label=("代录说明", "Note"), max_length=500, min_length=1, required=True, example="本人已在纸质考勤表上签字"
    ),
    "reason": text(label=_REASON, max_length=500, description="Why they object."),
}
ASK_BODY = shape(
    "AttendanceSheetsAsk",
    month=MONTH.but(required=True, nullable=False, description="A month that is over."),
    group_ids=array(
        object_id(ref=GROUPS.name),
        label=("考勤组", "Attendance groups"),
        min_items=1,
        nullable=False,
        description="Only their members at the end of the month.",
    ),
)
ASKED = shape(
    "AttendanceSheetsAsked",
    people=integer(label=("人数", "People"), nullable=False, description="Who of the visible employees has a sheet."),
    created=integer(label=("新建确认单", "New sheets"), nullable=False),
    notified=integer(
        label=("已通知", "Notified"), nullable=False, description="Who has an account and has not answered yet."
    ),
)
SHEET_VIEW = View(
    SHEETS,
    columns=("employee_id", "month", "status", "working_days", "present", "absent", "leave", "hours", "reason"),
)
