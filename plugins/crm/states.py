"""The state machines of crm: leads, opportunities, contracts and payment plans."""

from __future__ import annotations

from plugins.api import StateMachine, Transition
from plugins.crm.messages import LEAD_CLOSED, NO_SUCH_STEP, NOT_NOW, OPPORTUNITY_CLOSED, WRONG_STATE

OPEN_STAGES = ("initial", "qualified", "proposal", "negotiation")
# the action that leads to each open stage
ADVANCE_TO = {stage: f"advance-to-{stage}" for stage in OPEN_STAGES}
# default probability of a deal by its stage, in percent
PROBABILITY = {"initial": 10, "qualified": 30, "proposal": 50, "negotiation": 80, "won": 100, "lost": 0}

LEAD_STATES = StateMachine(
    name="crm_lead",
    initial="new",
    states={
        "new": ("新建", "New"),
        "contacted": ("已联系", "Contacted"),
        "qualified": ("已确认", "Qualified"),
        "converted": ("已转化", "Converted"),
        "invalid": ("无效", "Invalid"),
    },
    transitions={
        "contact": Transition("new", "contacted", ("联系", "Contact")),
        "qualify": Transition(("new", "contacted"), "qualified", ("确认", "Qualify")),
        "discard": Transition(("new", "contacted", "qualified"), "invalid", ("作废", "Discard")),
        "reopen": Transition(("contacted", "qualified", "invalid"), "new", ("重新打开", "Reopen")),
        "convert": Transition(
            ("new", "contacted", "qualified"),
            "converted",
            ("转化", "Convert"),
            event="crm.lead.converted",
            refusal=LEAD_CLOSED,
        ),
    },
    record="lead",
    refusal=NO_SUCH_STEP,
)

_ADVANCE = ("推进阶段", "Advance")
OPPORTUNITY_STAGES = StateMachine(
    name="crm_opportunity",
    initial="initial",
    states={
        "initial": ("初步接触", "Initial contact"),
        "qualified": ("需求确认", "Qualified"),
        "proposal": ("方案报价", "Proposal"),
        "negotiation": ("商务谈判", "Negotiation"),
        "won": ("赢单", "Won"),
        "lost": ("输单", "Lost"),
    },
    transitions={
        # a deal may skip stages or move back
        "advance-to-initial": Transition(("qualified", "proposal", "negotiation"), "initial", _ADVANCE),
        "advance-to-qualified": Transition(("initial", "proposal", "negotiation"), "qualified", _ADVANCE),
        "advance-to-proposal": Transition(("initial", "qualified", "negotiation"), "proposal", _ADVANCE),
        "advance-to-negotiation": Transition(("initial", "qualified", "proposal"), "negotiation", _ADVANCE),
        "win": Transition(OPEN_STAGES, "won", ("赢单", "Win"), event="crm.opportunity.won"),
        "lose": Transition(OPEN_STAGES, "lost", ("输单", "Lose"), event="crm.opportunity.lost"),
    },
    field="stage",
    record="opportunity",
    refusal=OPPORTUNITY_CLOSED,
)

CONTRACT_STATES = StateMachine(
    name="crm_contract",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "pending": ("审批中", "Pending approval"),
        "in_force": ("执行中", "In force"),
        "rejected": ("已驳回", "Rejected"),
        "completed": ("已完成", "Completed"),
        "terminated": ("已终止", "Terminated"),
    },
    transitions={
        "submit": Transition(("draft", "rejected"), "pending", ("提交审批", "Submit"), event="crm.contract.submitted"),
        "withdraw": Transition("pending", "draft", ("撤回", "Withdraw"), event="crm.contract.withdrawn"),
        "approve": Transition("pending", "in_force", ("批准", "Approve"), event="crm.contract.approved", decides=True),
        "reject": Transition("pending", "rejected", ("驳回", "Reject"), event="crm.contract.rejected", decides=True),
        "complete": Transition("in_force", "completed", ("完成", "Complete"), event="crm.contract.completed"),
        "terminate": Transition("in_force", "terminated", ("终止", "Terminate"), event="crm.contract.terminated"),
    },
    record="contract",
    refusal=WRONG_STATE,
)

AMENDMENT_STATES = StateMachine(
    name="crm_contract_amendment",
    initial="draft",
    states={
        "draft": ("草稿", "Draft"),
        "pending": ("审批中", "Pending approval"),
        "approved": ("待生效", "Approved"),
        "in_force": ("已生效", "In force"),
        "rejected": ("已驳回", "Rejected"),
        "cancelled": ("已取消", "Cancelled"),
        "ended": ("已终止", "Ended"),
    },
    transitions={
        "submit": Transition(
            ("draft", "rejected"), "pending", ("提交审批", "Submit"), event="crm.contract_amendment.submitted"
        ),
        "withdraw": Transition("pending", "draft", ("撤回", "Withdraw"), event="crm.contract_amendment.withdrawn"),
        "approve": Transition(
            "pending", "approved", ("批准", "Approve"), event="crm.contract_amendment.approved", decides=True
        ),
        "reject": Transition(
            "pending", "rejected", ("驳回", "Reject"), event="crm.contract_amendment.rejected", decides=True
        ),
        "cancel": Transition("approved", "cancelled", ("取消", "Cancel"), event="crm.contract_amendment.cancelled"),
        # on its day, and when the contract is terminated
        "take-effect": Transition("approved", "in_force", event="crm.contract_amendment.in_force"),
        "end": Transition("in_force", "ended"),
    },
    record="amendment",
    refusal=NOT_NOW,
    done=("in_force",),
    refused=("rejected", "cancelled"),
)

# the state depends on what was paid and on the date of today
PLAN_STATES = StateMachine(
    name="crm_payment_plan",
    initial="pending",
    states={
        "pending": ("未到期", "Not yet due"),
        "partial": ("部分回款", "Partly paid"),
        "paid": ("已回款", "Paid"),
        "overdue": ("已逾期", "Overdue"),
    },
    transitions={
        "pay-part": Transition(("pending", "paid", "overdue"), "partial"),
        "pay": Transition(("pending", "partial", "overdue"), "paid"),
        "fall-due": Transition(("pending", "partial", "paid"), "overdue"),
        "unpay": Transition(("partial", "paid", "overdue"), "pending"),
    },
)
