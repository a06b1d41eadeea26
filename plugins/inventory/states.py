"""The states of purchase and sales orders, and the actions that lead from one to another."""

from __future__ import annotations

from typing import Any

from plugins.api import StateMachine
from plugins.inventory.messages import (
    CANCELLED,
    CLOSED,
    CONFIRMED,
    DELIVERED,
    DRAFT,
    ORDERED,
    PARTLY_DELIVERED,
    PARTLY_RECEIVED,
    PENDING,
    RECEIVED,
)

PURCHASE_STATES = StateMachine(
    name="inventory_purchase_order",
    initial="draft",
    states={
        "draft": DRAFT,
        "pending": PENDING,
        "ordered": ORDERED,
        "partly_received": PARTLY_RECEIVED,
        "received": RECEIVED,
        "closed": CLOSED,
        "cancelled": CANCELLED,
    },
    transitions={
        "submit": (("draft",), "pending"),
        "withdraw": (("pending",), "draft"),
        "reject": (("pending",), "draft"),
        "confirm": (("draft", "pending"), "ordered"),
        "ship-part": (("ordered", "partly_received"), "partly_received"),
        "ship": (("ordered", "partly_received"), "received"),
        "cancel": (("draft", "pending", "ordered"), "cancelled"),
        "close": (("partly_received",), "closed"),
    },
)

SALES_STATES = StateMachine(
    name="inventory_sales_order",
    initial="draft",
    states={
        "draft": DRAFT,
        "confirmed": CONFIRMED,
        "partly_delivered": PARTLY_DELIVERED,
        "delivered": DELIVERED,
        "closed": CLOSED,
        "cancelled": CANCELLED,
    },
    transitions={
        "confirm": (("draft",), "confirmed"),
        "ship-part": (("confirmed", "partly_delivered"), "partly_delivered"),
        "ship": (("confirmed", "partly_delivered"), "delivered"),
        "cancel": (("draft", "confirmed"), "cancelled"),
        "close": (("partly_delivered",), "closed"),
    },
)


def allows(states: StateMachine, action: str) -> dict[str, Any]:
    """Return the filter of the records whose state allows `action`."""
    return {"status": {"$in": list(states.transitions[action][0])}}


def after(states: StateMachine, action: str) -> str:
    """Return the state that `action` leads to."""
    return states.transitions[action][1]
