"""Positions: the jobs of employees."""

from __future__ import annotations

from plugins.api import Route, conflicts, crud
from plugins.hrm.masters import deleter
from plugins.hrm.messages import IN_USE
from plugins.hrm.records import EMPLOYEES, POSITIONS

ROUTES: tuple[Route, ...] = crud(
    POSITIONS,
    at="/api/v1/hrm/positions",
    resource="hrm:position",
    noun="position",
    delete=deleter(POSITIONS, EMPLOYEES, "position_id"),
    refusals_of={"delete": conflicts(IN_USE)},
)
