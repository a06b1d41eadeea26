"""The states of expense claims and invoices, and the actions that lead from one to another."""

from __future__ import annotations

from typing import Any

from plugins.api import StateMachine
from plugins.finance.messages import APPROVED, CONFIRMED, DRAFT, PAID, PARTLY_PAID, REJECTED, SUBMITTED, VOID

CLAIM_STATES = StateMachine(
    name="finance_expense_claim",
    initial="draft",
    states={"draft": DRAFT, "submitted": SUBMITTED, "approved": APPROVED, "rejected": REJECTED, "paid": PAID},
    transitions={
        "submit": (("draft", "rejected"), "submitted"),
        "withdraw": (("submitted",), "draft"),
        "approve": (("submitted",), "approved"),
        "reject": (("submitted",), "rejected"),
        "pay": (("approved",), "paid"),
        "unpay": (("paid",), "approved"),
    },
)

INVOICE_STATES = StateMachine(
    name="finance_invoice",
    initial="draft",
    states={"draft": DRAFT, "confirmed": CONFIRMED, "partly_paid": PARTLY_PAID, "paid": PAID, "void": VOID},
    transitions={
        "confirm": (("draft",), "confirmed"),
        "pay-part": (("confirmed", "partly_paid"), "partly_paid"),
        "pay": (("confirmed", "partly_paid"), "paid"),
        "void": (("draft", "confirmed"), "void"),
        "unpay": (("partly_paid", "paid"), "confirmed"),
        "unpay-part": (("partly_paid", "paid"), "partly_paid"),
    },
)


def allows(states: StateMachine, action: str) -> dict[str, Any]:
    """Return the filter of the records whose state allows `action`."""
    return {"status": {"$in": list(states.transitions[action][0])}}


def after(states: StateMachine, action: str) -> str:
    """Return the state that `action` leads to."""
    return states.transitions[action][1]
