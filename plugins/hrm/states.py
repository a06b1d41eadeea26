"""The state machine of leave."""

from __future__ import annotations

from typing import Any

from plugins.api import StateMachine
from plugins.hrm.messages import APPROVED, CANCELLED, DRAFT, PENDING, REJECTED

LEAVE_STATES = StateMachine(
    name="hrm_leave",
    initial="draft",
    states={"draft": DRAFT, "pending": PENDING, "approved": APPROVED, "rejected": REJECTED, "cancelled": CANCELLED},
    transitions={
        "submit": (("draft", "rejected"), "pending"),
        "withdraw": (("pending",), "draft"),
        "approve": (("pending",), "approved"),
        "reject": (("pending",), "rejected"),
        "cancel": (("approved",), "cancelled"),
    },
)


def allows(action: str) -> dict[str, Any]:
    """The filter for leave whose state allows `action`."""
    return {"status": {"$in": list(LEAVE_STATES.transitions[action][0])}}


def after(action: str) -> str:
    """The state that `action` leads to."""
    return LEAVE_STATES.transitions[action][1]
