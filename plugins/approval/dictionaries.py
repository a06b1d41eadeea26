"""Dictionaries: the enumerations that clients show, with their labels."""

from __future__ import annotations

from plugins.api import Dictionary, Item, Message
from plugins.approval.states import STATES

_COLORS = {"draft": "gray", "pending": "orange", "approved": "green", "rejected": "red", "returned": "blue"}

DICTIONARIES = (
    Dictionary(
        "approval_status",
        Message("审批状态", "Approval status"),
        tuple(Item(name, label, _COLORS.get(name, "")) for name, label in STATES.states.items()),
    ),
)
