"""Dictionaries: the enumerations that clients show, with their labels."""

from __future__ import annotations

from plugins.api import Dictionary, Message
from plugins.approval.states import STATES

_COLORS = {"draft": "gray", "pending": "orange", "approved": "green", "rejected": "red", "returned": "blue"}

DICTIONARIES = (Dictionary.of_states("approval_status", Message("审批状态", "Approval status"), STATES, _COLORS),)
