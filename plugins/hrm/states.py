"""The state machines of hrm: leave, and the daily results of attendance."""

from __future__ import annotations

from plugins.api import StateMachine, Transition
from plugins.hrm.messages import NOT_IN_STATE

_DECIDED = "hrm.leave.decided"
LEAVE_STATES = StateMachine(
    name="hrm_leave",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "pending": ("审批中", "Pending approval"),
        "approved": ("已批准", "Approved"),
        "rejected": ("已驳回", "Rejected"),
        "cancelled": ("已销假", "Cancelled"),
    },
    transitions={
        "submit": Transition(("draft", "rejected"), "pending", ("提交", "Submit")),
        "withdraw": Transition("pending", "draft", ("撤回", "Withdraw"), event=_DECIDED),
        "approve": Transition("pending", "approved", ("批准", "Approve"), event=_DECIDED, decides=True),
        "reject": Transition("pending", "rejected", ("驳回", "Reject"), event=_DECIDED, decides=True),
        "cancel": Transition("approved", "cancelled", ("销假", "Cancel"), event=_DECIDED),
    },
    record="leave",
    refusal=NOT_IN_STATE,
    done=("approved",),
    refused=("rejected", "cancelled"),
)

_RESULTS = {
    "pending": ("待打卡", "Pending"),
    "normal": ("正常", "Normal"),
    "late": ("迟到", "Late"),
    "early_leave": ("早退", "Early leave"),
    "missed": ("缺卡", "Missed punch"),
    "absent": ("旷工", "Absent"),
    "leave": ("请假", "Leave"),
    "rest": ("休息", "Day off"),
}
# a punch that is entered later, leave or another shift may change any result of a day into any other
DAY_STATES = StateMachine(
    name="hrm_daily_result",
    initial="pending",
    states=_RESULTS,
    transitions={
        f"become-{result.replace('_', '-')}": Transition(tuple(one for one in _RESULTS if one != result), result)
        for result in _RESULTS
    },
)
