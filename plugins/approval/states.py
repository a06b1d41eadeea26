"""The state machines of approvals and of their tasks."""

from __future__ import annotations

from plugins.api import StateMachine, Transition
from plugins.approval.messages import NOT_ALLOWED

STATES = StateMachine(
    name="approval_instance",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "pending": ("审批中", "Pending"),
        "approved": ("已通过", "Approved"),
        "rejected": ("已驳回", "Rejected"),
        "returned": ("已退回", "Sent back"),
        "withdrawn": ("已撤回", "Withdrawn"),
    },
    transitions={
        "submit": Transition(("draft", "returned", "withdrawn"), "pending", ("提交", "Submit")),
        "approve": Transition("pending", "approved", ("通过", "Approve")),
        "reject": Transition("pending", "rejected", ("驳回", "Reject")),
        "return": Transition("pending", "returned", ("退回", "Send back")),
        "withdraw": Transition("pending", "withdrawn", ("撤回", "Withdraw")),
    },
    record="instance",
    refusal=NOT_ALLOWED,
)

TASK_STATES = StateMachine(
    name="approval_task",
    initial="pending",
    states={
        "pending": ("待处理", "Pending"),
        "waiting": ("等待加签", "Waits for an added signer"),
        "advice": ("征求意见", "Asked for advice"),
        "advised": ("已答复意见", "Advised"),
        "agreed": ("已同意", "Agreed"),
        "rejected": ("已驳回", "Rejected"),
        "sent_back": ("已退回", "Sent back"),
        "transferred": ("已转办", "Transferred"),
        "reassigned": ("已改派", "Reassigned"),
        "cancelled": ("已取消", "Cancelled"),
    },
    transitions={
        "agree": Transition("pending", "agreed", ("同意", "Agree"), decides=True),
        "reject": Transition("pending", "rejected", ("驳回", "Reject"), decides=True),
        "send-back": Transition("pending", "sent_back", ("退回", "Send back"), decides=True),
        "transfer": Transition("pending", "transferred", ("转办", "Transfer")),
        "reassign": Transition("pending", "reassigned", ("改派", "Reassign")),
        "wait": Transition("pending", "waiting", ("等待加签", "Wait for an added signer")),
        "resume": Transition("waiting", "pending", ("加签完成", "Resume")),
        "ask-advice": Transition("pending", "advice", ("征求意见", "Ask for advice")),
        "advise": Transition("advice", "advised", ("答复意见", "Advise")),
        "cancel": Transition(("pending", "waiting", "advice"), "cancelled", ("取消", "Cancel")),
    },
    done=("agreed",),
    refused=("rejected", "sent_back"),
)
