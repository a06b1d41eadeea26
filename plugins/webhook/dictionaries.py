"""Dictionaries: the enumerations that clients show, with their labels."""

from __future__ import annotations

from plugins.api import dictionary

DICTIONARIES = (
    dictionary(
        "webhook_delivery_state",
        ("推送状态", "State of a delivery"),
        pending=("待推送", "Pending", "blue"),
        delivered=("已送达", "Delivered", "green"),
        failed=("失败", "Failed", "red"),
    ),
)
