"""Dashboards of approval: the number of pending approvals."""

from __future__ import annotations

from plugins.api.data import Filter
from plugins.api.reports import Figures, Period, summed
from plugins.approval.records import INSTANCES
from plugins.approval.states import STATES


def _pending(period: Period) -> Filter:
    return {"status": STATES.after("submit")}


DASHBOARDS = (summed("overview", Figures(INSTANCES, {"pending_approvals": 1}, where=_pending)),)
