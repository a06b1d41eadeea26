"""The state machines of leads, opportunities and contracts."""

from __future__ import annotations

from typing import Any

from plugins.api import Message, StateMachine

OPEN_STAGES = ("initial", "qualified", "proposal", "negotiation")
# open stage → the action that leads to it
ADVANCE_TO = {
    "initial": "advance-to-initial",
    "qualified": "advance-to-qualified",
    "proposal": "advance-to-proposal",
    "negotiation": "advance-to-negotiation",
}
# default probability of a deal by its stage, in percent
PROBABILITY = {"initial": 10, "qualified": 30, "proposal": 50, "negotiation": 80, "won": 100, "lost": 0}

LEAD_STATES = StateMachine(
    name="crm_lead",
    initial="new",
    states={
        "new": Message("新建", "New"),
        "contacted": Message("已联系", "Contacted"),
        "qualified": Message("已确认", "Qualified"),
        "converted": Message("已转化", "Converted"),
        "invalid": Message("无效", "Invalid"),
    },
    transitions={
        "contact": (("new",), "contacted"),
        "qualify": (("new", "contacted"), "qualified"),
        "discard": (("new", "contacted", "qualified"), "invalid"),
        "reopen": (("contacted", "qualified", "invalid"), "new"),
        "convert": (("new", "contacted", "qualified"), "converted"),
    },
)

OPPORTUNITY_STAGES = StateMachine(
    name="crm_opportunity",
    initial="initial",
    states={
        "initial": Message("初步接触", "Initial"),
        "qualified": Message("需求确认", "Qualified"),
        "proposal": Message("方案报价", "Proposal"),
        "negotiation": Message("商务谈判", "Negotiation"),
        "won": Message("赢单", "Won"),
        "lost": Message("输单", "Lost"),
    },
    transitions={
        # a deal may skip stages or move back
        "advance-to-initial": (("qualified", "proposal", "negotiation"), "initial"),
        "advance-to-qualified": (("initial", "proposal", "negotiation"), "qualified"),
        "advance-to-proposal": (("initial", "qualified", "negotiation"), "proposal"),
        "advance-to-negotiation": (("initial", "qualified", "proposal"), "negotiation"),
        "win": (OPEN_STAGES, "won"),
        "lose": (OPEN_STAGES, "lost"),
    },
)

CONTRACT_STATES = StateMachine(
    name="crm_contract",
    initial="draft",
    states={
        "draft": Message("草稿", "Draft"),
        "pending": Message("审批中", "Pending approval"),
        "in_force": Message("执行中", "In force"),
        "rejected": Message("已驳回", "Rejected"),
        "completed": Message("已完成", "Completed"),
        "terminated": Message("已终止", "Terminated"),
    },
    transitions={
        "submit": (("draft", "rejected"), "pending"),
        "withdraw": (("pending",), "draft"),
        "approve": (("pending",), "in_force"),
        "reject": (("pending",), "rejected"),
        "complete": (("in_force",), "completed"),
        "terminate": (("in_force",), "terminated"),
    },
)


def allows(machine: StateMachine, action: str, field: str = "status") -> dict[str, Any]:
    """The filter for records whose state allows `action`."""
    return {field: {"$in": list(machine.transitions[action][0])}}


def after(machine: StateMachine, action: str) -> str:
    """The state that `action` leads to."""
    return machine.transitions[action][1]


def leads_to(machine: StateMachine, before: str, to: str) -> bool:
    """Whether an action leads from `before` to `to` directly."""
    return any(before in sources and to == target for sources, target in machine.transitions.values())
