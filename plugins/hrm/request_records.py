"""Requests of employees: a missing punch, outside duty, a trip, overtime, a swap; and what days have of them."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    StateMachine,
    Transition,
    View,
    choice,
    dictionary,
    integer,
    obj,
    object_id,
    page,
    shape,
    text,
    timestamp,
)
from plugins.hrm.messages import NOT_IN_STATE
from plugins.hrm.record_types import EmployeeRequest
from plugins.hrm.records import AFTER_CLOSING, EMPLOYEES
from plugins.hrm.roster_records import SWAP_FIELDS

KINDS = ("correction", "outside", "trip", "overtime", "swap")
DUTIES = ("outside", "trip")
DAY_KINDS = ("working_day", "rest_day", "holiday")
_DECIDED = "hrm.request.decided"

OVERLAPS_REQUEST = Message("与其他申请的时间重叠", "It overlaps with another request")
ON_LEAVE = Message("该时段已请假", "There is leave at that time")
WITHIN_HOURS = Message("该时段在工作时间内，不是加班", "That time is within working hours, so it is no overtime")
REQUEST_NOT_EMPLOYED = Message("申请的时间内该员工不在职", "The employee is not employed at that time")
REQUEST_TITLE = Message("{name}：{kind}，{day}", "{name}: {kind}, {day}")
REQUEST_DECIDED = Message("您 {day} 的{kind}申请：{outcome}", "Your request of {day} ({kind}): {outcome}")

KIND = dictionary(
    "hrm_request_kind",
    ("申请类型", "Kind of request"),
    correction=("补卡", "Missing punch"),
    outside=("外出", "Outside duty"),
    trip=("出差", "Business trip"),
    overtime=("加班", "Overtime"),
    swap=("换班", "Swap of shifts"),
)
DAY_KIND = dictionary(
    "hrm_day_kind",
    ("日期类型", "Kind of day"),
    working_day=("工作日", "Working day"),
    rest_day=("休息日", "Day of rest"),
    holiday=("节假日", "Holiday"),
)
REQUEST_DICTIONARIES = (
    KIND,
    dictionary(
        "hrm_overtime_compensation",
        ("加班补偿", "Compensation of overtime"),
        paid=("加班费", "Paid"),
        compensatory=("调休", "Time off in lieu"),
    ),
    dictionary(
        "hrm_duty", ("公务", "Duty elsewhere"), outside=("外出", "Outside duty"), trip=("出差", "Business trip")
    ),
    DAY_KIND,
)
REQUEST_MENU = page(
    "hrm:request",
    ("员工申请", "Requests"),
    "/hrm/requests",
    "lucide:clipboard-check",
    11,
    granted_with="hrm:leave:approve",
)

REQUEST_STATES = StateMachine(
    name="hrm_request",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "pending": ("审批中", "Pending approval"),
        "approved": ("已批准", "Approved"),
        "rejected": ("已驳回", "Rejected"),
        "cancelled": ("已撤销", "Cancelled"),
    },
    transitions={
        "submit": Transition(("draft", "rejected"), "pending", ("提交", "Submit")),
        "withdraw": Transition("pending", "draft", ("撤回", "Withdraw"), event=_DECIDED),
        "approve": Transition("pending", "approved", ("批准", "Approve"), event=_DECIDED, decides=True),
        "reject": Transition("pending", "rejected", ("驳回", "Reject"), event=_DECIDED, decides=True),
        "cancel": Transition("approved", "cancelled", ("撤销", "Cancel"), event=_DECIDED),
    },
    record="employee_request",
    refusal=NOT_IN_STATE,
    done=("approved",),
    refused=("rejected", "cancelled"),
)


def _only(condition: str, *, required: bool = False) -> dict[str, object]:
    return {"visibleOn": f"${{{condition}}}", "clearValueOnHidden": True, "required": required}


REQUESTS: Collection[EmployeeRequest] = Collection(
    name="hrm_requests",
    title="EmployeeRequest",
    noun=Message("员工申请", "request"),
    scoped=True,
    scope_person="user_id",
    label="employee_name",
    fields={
        "kind": choice(*KINDS, label=("申请类型", "Kind"), required=True, filter=True),
        "starts_at": timestamp(
            label=("开始时间", "Starts at"),
            nullable=False,
            sort=True,
            filter=True,
            example="2026-12-01T01:00:00.000Z",
            description="Required. Of a missing punch: when the person came or went. Of a swap, its days say it.",
        ),
        "ends_at": timestamp(
            label=("结束时间", "Ends at"),
            sort=True,
            filter=True,
            example="2026-12-02T10:00:00.000Z",
            description="Required, and null for a missing punch.",
        ),
        "destination": text(
            label=("地点", "Destination"), max_length=200, example="苏州", description="Of outside duty and trips."
        ),
        "compensation": choice(
            "paid",
            "compensatory",
            label=("加班补偿", "Compensation"),
            filter=True,
            description="Of overtime, which needs it: `paid`, or `compensatory` for time off in lieu.",
        ),
        **{name: field for name, field in SWAP_FIELDS.items() if not field.read_only},
        "reason": text(label=("事由", "Reason"), required=True, max_length=500, example="客户现场验收"),
        "user_id": integer(
            label=("申请人", "Applicant"),
            filter=True,
            read_only=True,
            ref="users",
            description="The account that the employee has; null if they have none.",
        ),
        "employee_id": object_id(
            label=("员工", "Employee"), read_only=True, nullable=False, filter=True, ref=EMPLOYEES.name
        ),
        "employee_name": text(label=("员工姓名", "Employee name"), max_length=100, read_only=True),
        "minutes": integer(
            label=("时长（分钟）", "Minutes"),
            minimum=0,
            read_only=True,
            description="Of outside duty and trips: working minutes. Of overtime: those outside of working hours.",
        ),
        "by_day_kind": obj(
            "OvertimeByDayKind",
            {
                one.value: integer(label=(one.label.zh, one.label.en), minimum=0, nullable=False)
                for one in DAY_KIND.items
            },
            label=("各类日期的加班分钟数", "Overtime by kind of day"),
            read_only=True,
            description="`minutes` of overtime by the kind of its days, as the calendar was when they were last counted.",
        ),
        **{name: field for name, field in SWAP_FIELDS.items() if field.read_only},
        "status": REQUEST_STATES.choice(label=("审批状态", "Status"), filter=True, sort=True),
        "submitted_at": timestamp(label=("提交时间", "Submitted at"), read_only=True),
        "submitted_by": integer(label=("提交人", "Submitted by"), read_only=True, ref="users"),
        "decided_at": timestamp(label=("审批时间", "Decided at"), read_only=True),
        "decided_by": integer(label=("审批人", "Decided by"), minimum=0, read_only=True, ref="users"),
        "decision_reason": text(label=("审批意见", "Decision reason"), max_length=1000, read_only=True),
        "entered_by": integer(
            label=("代录人", "Entered by"),
            read_only=True,
            ref="users",
            description="Who entered the request on behalf of the employee.",
        ),
    },
    indexes=(Index("employee_id", "status", "starts_at"), Index("status", "-created_at"), Index("swap_with")),
    states=REQUEST_STATES,
)
# a form asks for what the kind of request needs
# an ordinary employee sees no record of others
_COLLEAGUES = {
    "source": {
        "method": "get",
        "url": "/api/v1/hrm/requests/colleagues?employee_id=${employee_id}",
    },
    "autoComplete": False,
    "searchable": True,
}
REQUEST_VIEW = View(
    REQUESTS,
    columns=("employee_id", "kind", "status", "starts_at", "ends_at", "minutes", "reason"),
    widgets={
        "starts_at": _only("kind != 'swap'", required=True),
        "ends_at": _only("kind && kind != 'correction' && kind != 'swap'", required=True),
        "day": _only("kind == 'swap'", required=True),
        "swap_with": {**_only("kind == 'swap'", required=True), **_COLLEAGUES},
        "swap_day": _only("kind == 'swap'"),
        "compensation": _only("kind == 'overtime'", required=True),
        "destination": _only("kind == 'outside' || kind == 'trip'"),
    },
)
REJECT_REQUEST_BODY = shape("EmployeeRequestReject", reason=text(max_length=500))
ENTER_REQUEST_BODY = shape(
    "EmployeeRequestEntry",
    employee_id=object_id(label=("员工", "Employee"), required=True, ref=EMPLOYEES.name),
    **REQUESTS.writable,
    **AFTER_CLOSING,
)

# what a daily result has of approved requests; null where there is none
DAY_FIELDS = {
    "corrected": integer(
        label=("补卡次数", "Corrections"),
        minimum=1,
        read_only=True,
        description="How many missing punches of the day an approved request gave.",
    ),
    "duty": choice(
        *DUTIES,
        label=("公务", "Duty elsewhere"),
        read_only=True,
        filter=True,
        description="Outside duty or a business trip, by which the person is present without punches.",
    ),
    "overtime_minutes": integer(
        label=("加班分钟数", "Overtime minutes"),
        minimum=1,
        read_only=True,
        description="Approved overtime that is paid, and shifts on holidays if they are overtime in the group.",
    ),
    "compensatory_minutes": integer(
        label=("调休加班分钟数", "Compensatory minutes"),
        minimum=1,
        read_only=True,
        description="Approved overtime for which there is time off in lieu.",
    ),
    "unproven_minutes": integer(
        label=("无打卡佐证的加班分钟数", "Overtime minutes without punches"),
        minimum=1,
        read_only=True,
        description="The part of approved overtime that is not between arrival and departure. It counts all the same; "
        "null while the day is not over.",
    ),
    "overtime_day": choice(
        *DAY_KINDS,
        label=("加班日期类型", "Overtime on"),
        read_only=True,
        filter=True,
        description="The kind of day by which the overtime is rated.",
    ),
}
