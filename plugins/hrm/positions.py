"""Positions: the jobs of employees."""

from __future__ import annotations

from plugins.api import Route, crud
from plugins.hrm.records import POSITIONS

ROUTES: tuple[Route, ...] = crud(
    POSITIONS,
    at="/api/v1/hrm/positions",
    resource="hrm:position",
)
