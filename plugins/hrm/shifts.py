"""Shifts: the hours of a working day. A change of a shift recomputes the results of everybody who works by it."""

from __future__ import annotations

from typing import Any

from plugins.api import Request, Route, crud, invalid
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.calendars import to_pause, to_timetable
from plugins.hrm.masters import update_and_recompute
from plugins.hrm.record_types import Shift
from plugins.hrm.records import GROUPS, SHIFTS


async def create(req: Request) -> Shift:
    """Create a shift. Raises 40001 if it has no length, or if its break is incomplete or outside of it."""
    _check(req.body)
    return await req.store(SHIFTS).create(req.body)


async def update(req: Request) -> Shift:
    """Change a shift, and recompute the results of everybody who works by it."""

    async def groups_of(shift: Shift) -> list[Any]:
        groups = await req.system_store(GROUPS).find({"shift_id": shift["id"]}, fields=["name"])
        return [group["id"] for group in groups]

    return await update_and_recompute(req, SHIFTS, _check, groups_of)


def _check(shift: ReadOnlyRecord) -> None:
    if shift["start"] == shift["end"]:
        raise invalid("end", "invalid")
    given = [bool(shift.get(name)) for name in ("break_start", "break_end")]
    if any(given) and not all(given):
        raise invalid("break_end" if given[0] else "break_start", "required")
    table, pause = to_timetable({**SHIFTS.defaults, **shift}), to_pause(shift)
    if pause and not table.start < pause[0] < pause[1] < table.end:
        raise invalid("break_end" if table.start < pause[0] < table.end else "break_start", "invalid")


ROUTES: tuple[Route, ...] = crud(
    SHIFTS,
    at="/api/v1/hrm/shifts",
    resource="hrm:shift",
    create=create,
    update=update,
)
