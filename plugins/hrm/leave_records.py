"""Collections of leave, leave allowances and adjustments, and the shapes of balances."""

from __future__ import annotations

from plugins.api import Collection, Index, Message, array, day, integer, object_id, quantity, shape, text, timestamp
from plugins.hrm.record_types import Leave, LeaveAdjustment, LeaveAllowance
from plugins.hrm.records import AFTER_CLOSING, EMPLOYEES
from plugins.hrm.states import LEAVE_STATES

_TYPE = text(
    label=("假期类型", "Leave type"), max_length=64, pattern="^[^,]+$", dictionary="hrm_leave_type", example="annual"
)
MAX_TYPES = 1000  # as many as a dictionary has
_PAGING = ("page", "page_size", "with_total", "cursor")
LEAVES: Collection[Leave] = Collection(
    name="hrm_leaves",
    title="Leave",
    noun=Message("请假单", "leave request"),
    scoped=True,
    scope_person="user_id",
    label="employee_name",
    fields={
        "type": _TYPE.but(label=Message("请假类型", "Leave type"), required=True, nullable=False, filter=True),
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
    **AFTER_CLOSING,
)

_YEAR = integer(label=("年度", "Year"), minimum=2000, maximum=2199, filter=True, example=2026)
ALLOWANCES: Collection[LeaveAllowance] = Collection(
    name="hrm_leave_allowances",
    title="LeaveAllowance",
    noun=Message("假期额度", "leave allowance"),
    scoped=True,
    fields={
        "type": _TYPE.but(required=True, nullable=False, filter=True),
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
            description="Working days (or hours) per year. What remains is carried over as the type says.",
        ),
        "remark": text(label=("备注", "Remarks"), max_length=500),
    },
    indexes=(Index("type", "employee_id", "year", unique=True), Index("employee_id")),
)

ADJUSTMENTS: Collection[LeaveAdjustment] = Collection(
    name="hrm_leave_adjustments",
    title="LeaveAdjustment",
    noun=Message("假期余额调整", "leave adjustment"),
    label="reason",
    scoped=True,
    fields={
        "employee_id": object_id(
            label=("员工", "Employee"), required=True, ref=EMPLOYEES.name, on_delete="cascade", filter=True
        ),
        "type": _TYPE.but(required=True, nullable=False, filter=True),
        "day": day(label=("生效日期", "Day"), filter=True, sort=True, description="Defaults to today."),
        "amount": quantity(
            label=("调整数", "Amount"),
            minimum="-10000",
            maximum="10000",
            required=True,
            example="1.5",
            description="Days or hours, as the type is taken; negative to take some away.",
        ),
        "expires_on": day(
            label=("有效期至", "Until"),
            description="The last day on which an added amount can be taken. Null: until the end of the year, after "
            "which it is carried over as what was earned.",
        ),
        "reason": text(label=("原因", "Reason"), max_length=500, required=True, example="上年结转"),
    },
    indexes=(Index("employee_id", "type", "day"),),
)

_DAY = day(label=("日期", "Day"), nullable=False, description="Up to this day. Defaults to today.")
_DAYS = quantity(nullable=False)
BALANCE_QUERY = {
    "year": _YEAR.but(nullable=False, filter=False, description="Defaults to the current year."),
}
DAY_QUERY = {"day": _DAY}
ENTRY_QUERY = {
    **{name: EMPLOYEES.list_query[name] for name in _PAGING},
    "cursor": EMPLOYEES.list_query["cursor"].but(example="20"),  # the number of the entries before
    **DAY_QUERY,
    "type": _TYPE.but(nullable=False),
}
PEOPLE_QUERY = {
    **{name: EMPLOYEES.list_query[name] for name in (*_PAGING, "q", "number", "department_id")},
    "sort": text(max_length=200, nullable=False, example="number", description="Any of id, number, name."),
    **DAY_QUERY,
    "type": _TYPE.but(nullable=False, description="Defaults to the first type."),
}
_FIGURES = {
    "type": _TYPE.but(nullable=False),
    "unit": text(label=("单位", "Unit"), nullable=False, dictionary="hrm_leave_unit", description="Of all amounts."),
    "remaining": quantity(label=("剩余", "Remaining"), description="`days` minus `taken` and `pending`."),
    "taken": _DAYS.but(label=Message("已休", "Taken"), description="Approved leave."),
    "pending": _DAYS.but(label=Message("审批中", "Pending"), description="Leave that awaits approval."),
    "days": quantity(
        label=("可用额度", "Allowance"),
        description="Carried over, earned and adjusted, less what expired; null for no limit. In hours for such types.",
    ),
    "carried_over": _DAYS.but(label=Message("上年结转", "Carried over")),
    "earned": _DAYS.but(label=Message("本年发放", "Earned"), description="By the type or an allowance."),
    "adjusted": _DAYS.but(label=Message("调整", "Adjusted")),
    "expired": _DAYS.but(label=Message("已过期", "Expired")),
}
BALANCES = shape(
    "LeaveBalances",
    employee_id=object_id(label=("员工", "Employee"), ref=EMPLOYEES.name),
    year=integer(label=("年度", "Year"), nullable=False),
    day=_DAY.but(description="What is later is not counted."),
    items=array(shape("LeaveBalance", **_FIGURES), label=("假期余额", "Balances"), max_items=MAX_TYPES, nullable=False),
)
OF_PERSON = shape(
    "LeaveBalanceOfEmployee",
    **{name: EMPLOYEES.all_fields[name] for name in ("id", "number", "name")},
    **_FIGURES,
    department_id=EMPLOYEES.all_fields["department_id"],
)
ENTRY = shape(
    "LeaveLedgerEntry",
    day=_DAY.but(description=None),
    type=_TYPE.but(nullable=False),
    text=text(label=("说明", "Explanation"), nullable=False, description="In the caller's language."),
    amount=_DAYS.but(label=Message("数量", "Amount"), description="Negative for what is taken or expires."),
    balance=quantity(label=("余额", "Balance"), description="After the entry; null in a year without a limit."),
    kind=text(label=("类别", "Kind"), nullable=False, dictionary="hrm_leave_entry"),
    until=day(label=("至", "Until"), description="The last day of leave that takes several."),
    leave_id=object_id(label=("请假单", "Leave"), ref=LEAVES.name),
    adjustment_id=object_id(label=("调整单", "Adjustment"), ref=ADJUSTMENTS.name),
)
