"""Attendance groups: people who work by the same shift. A change of a group recomputes the results of its people."""

from __future__ import annotations

from typing import Any

from plugins.api import Request, Route, crud
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.masters import update_and_recompute
from plugins.hrm.record_types import AttendanceGroup
from plugins.hrm.records import GROUPS


async def create(req: Request) -> AttendanceGroup:
    """Create a group."""
    _check(req.body)
    return await req.store(GROUPS).create(req.body)


async def update(req: Request) -> AttendanceGroup:
    """Change a group, and recompute the results of its people."""

    async def groups_of(group: AttendanceGroup) -> list[Any]:
        return [group["id"]]

    return await update_and_recompute(req, GROUPS, _check, groups_of)


def _check(group: ReadOnlyRecord) -> None:
    """Raise 40001 for each day that `holidays` repeats."""
    days = [one["day"] for one in group.get("holidays") or ()]
    faults = [
        FieldError(f"holidays[{number}].day", "duplicate") for number, day in enumerate(days) if day in days[:number]
    ]
    if faults:
        raise ValidationFailed(faults)


ROUTES: tuple[Route, ...] = crud(
    GROUPS,
    at="/api/v1/hrm/attendance-groups",
    resource="hrm:attendance-group",
    create=create,
    update=update,
)
