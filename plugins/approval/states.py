"""The state machine of an approval."""

from __future__ import annotations

from typing import Any

from plugins.api import StateMachine
from plugins.approval.messages import APPROVED, DRAFT, PENDING, REJECTED, RETURNED, WITHDRAWN

STATES = StateMachine(
    name="approval_instance",
    initial="draft",
    states={
        "draft": DRAFT,
        "pending": PENDING,
        "approved": APPROVED,
        "rejected": REJECTED,
        "returned": RETURNED,
        "withdrawn": WITHDRAWN,
    },
    transitions={
        "submit": (("draft", "returned", "withdrawn"), "pending"),
        "approve": (("pending",), "approved"),
        "reject": (("pending",), "rejected"),
        "return": (("pending",), "returned"),
        "withdraw": (("pending",), "withdrawn"),
    },
)


def allows(action: str) -> dict[str, Any]:
    """The filter for approvals whose state allows `action`."""
    return {"status": {"$in": list(STATES.transitions[action][0])}}


def after(action: str) -> str:
    """The state that `action` leads to."""
    return STATES.transitions[action][1]
