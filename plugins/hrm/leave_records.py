"""Collections of leave and leave allowances."""

from __future__ import annotations

from plugins.api import Collection, Index, Message, array, choice, integer, object_id, quantity, shape, text, timestamp
from plugins.hrm.record_types import Leave, LeaveAllowance
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.states import LEAVE_STATES

LEAVE_TYPES = ("annual", "sick", "personal", "compensatory", "marriage", "maternity", "bereavement", "other")

LEAVES: Collection[Leave] = Collection(
    name="hrm_leaves",
    title="Leave",
    noun=Message("请假单", "leave request"),
    scoped=True,
    scope_person="user_id",
    label="employee_name",
    fields={
        "type": choice(*LEAVE_TYPES, label=("请假类型", "Leave type"), required=True, filter=True),
        "starts_at": timestamp(
            label=("开始时间", "Starts at"), required=True, sort=True, filter=True, example="2026-12-01T01:00:00.000Z"
        ),
        "ends_at": timestamp(
            label=("结束时间", "Ends at"), required=True, sort=True, filter=True, example="2026-12-02T10:00:00.000Z"
        ),
        "reason": text(label=("请假事由", "Reason"), max_length=500, example="回家探亲"),
        "user_id": integer(
            label=("申请人", "Applicant"),
            filter=True,
            read_only=True,
            ref="users",
            description="The account that the employee has; null if they have none.",
        ),
        "employee_id": object_id(
            label=("员工", "Employee"),
            read_only=True,
            filter=True,
            ref=EMPLOYEES.name,
            description="To whom the leave belongs; null if whoever requested it is no employee.",
        ),
        "employee_name": text(label=("员工姓名", "Employee name"), max_length=100, read_only=True),
        "days": quantity(
            label=("请假天数", "Days"),
            read_only=True,
            nullable=False,
            description="Working days that the leave takes, in half days.",
        ),
        "hours": quantity(
            label=("请假小时数", "Hours"),
            read_only=True,
            description="Working hours that the leave takes, without breaks.",
        ),
        "status": LEAVE_STATES.choice(label=("审批状态", "Status"), filter=True, sort=True),
        "submitted_at": timestamp(label=("提交时间", "Submitted at"), read_only=True),
        "submitted_by": integer(label=("提交人", "Submitted by"), read_only=True, ref="users"),
        "decided_at": timestamp(label=("审批时间", "Decided at"), read_only=True),
        "decided_by": integer(label=("审批人", "Decided by"), minimum=0, read_only=True, ref="users"),
        "decision_reason": text(label=("审批意见", "Decision reason"), max_length=1000, read_only=True),
        "entered_by": integer(
            label=("代录人", "Entered by"),
            read_only=True,
            description="Who entered the leave on behalf of the employee.",
        ),
    },
    indexes=(
        Index("user_id", "status", "starts_at"),
        Index("status", "-created_at"),
        Index("employee_id", "status", "starts_at"),
    ),
    internal=("by_day",),
    states=LEAVE_STATES,
)
REJECT_BODY = shape("LeaveReject", reason=text(max_length=500))

ENTER_LEAVE_BODY = shape(
    "LeaveEntry",
    employee_id=object_id(required=True, ref=EMPLOYEES.name),
    **{name: LEAVES.fields[name] for name in ("type", "starts_at", "ends_at", "reason")},
)

_YEAR = integer(label=("年度", "Year"), minimum=2000, maximum=2199, filter=True, example=2026)
ALLOWANCES: Collection[LeaveAllowance] = Collection(
    name="hrm_leave_allowances",
    title="LeaveAllowance",
    noun=Message("假期额度", "leave allowance"),
    scoped=True,
    fields={
        "type": choice(*LEAVE_TYPES, label=("假期类型", "Leave type"), required=True, filter=True),
        "employee_id": object_id(
            label=("员工", "Employee"),
            ref=EMPLOYEES.name,
            on_delete="cascade",
            filter=True,
            description="Null: for all employees without an allowance of their own.",
        ),
        "year": _YEAR.but(description="Null: for all years without an allowance of their own."),
        "days": quantity(
            label=("额度天数", "Days"),
            minimum="0",
            maximum="366",
            required=True,
            example="10",
            description="Working days per year.",
        ),
        "remark": text(label=("备注", "Remarks"), max_length=500),
    },
    indexes=(Index("type", "employee_id", "year", unique=True), Index("employee_id")),
)

BALANCE_QUERY = {
    "year": _YEAR.but(nullable=False, filter=False, description="Defaults to the current year."),
}
_DAYS = quantity(nullable=False)
_BALANCE = {
    "type": choice(*LEAVE_TYPES, nullable=False),
    "days": quantity(description="Allowance for the year; null for no limit."),
    "taken": _DAYS.but(description="Days of approved leave."),
    "pending": _DAYS.but(description="Days of leave that await approval."),
    "remaining": quantity(description="`days` minus `taken` and `pending`."),
}
BALANCES = shape(
    "LeaveBalances",
    employee_id=object_id(ref=EMPLOYEES.name),
    year=integer(nullable=False),
    items=array(shape("LeaveBalance", **_BALANCE), max_items=len(LEAVE_TYPES), nullable=False),
)
