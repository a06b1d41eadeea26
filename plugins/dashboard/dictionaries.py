"""Dictionaries: the enumerations that clients show, with their labels."""

from __future__ import annotations

from plugins.api import dictionary

DICTIONARIES = (
    dictionary(
        "dashboard_ranking",
        ("排名依据", "Ranking basis"),
        payments=("回款额", "Payments"),
        contracts=("合同额", "Contracts"),
    ),
)
