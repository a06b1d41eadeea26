"""Shifts, and the attendance groups that work by them. A change recomputes the results of everybody whom it affects."""

from __future__ import annotations

from plugins.api import Record, Request, Route, crud, invalid, tables
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.assignments import find_assigned
from plugins.hrm.calendar_changes import Changed, change_and_recompute, rehearsal_of, rehearse
from plugins.hrm.calendars import to_pause, to_timetable
from plugins.hrm.record_types import AttendanceGroup, Shift
from plugins.hrm.records import GROUPS, SHIFTS
from plugins.hrm.roster_records import ROSTERS


async def create_shift(req: Request) -> Shift:
    """Create a shift. Raises 40001 if it has no length, or if its break is incomplete or outside of it."""
    _check_shift(req.body)
    return await req.store(SHIFTS).create(req.body)


async def _change_shift(req: Request) -> Changed[Shift]:
    values = dict(req.body)
    shift = await req.store(SHIFTS).update(req.path["id"], values, version=values.pop("version"))
    _check_shift(shift)
    groups = await req.system_store(GROUPS).find({"shift_id": shift["id"]}, fields=["name"])
    assigned = await find_assigned(req.service, {"group_id": {"$in": [group["id"] for group in groups]}})
    rostered: list[Record] = [
        {"$match": {"shift_id": shift["id"], "employee_id": {"$ne": None}}},
        {"$group": {"_id": "$employee_id"}},
    ]
    ids = [row["_id"] for row in await req.system_store(ROSTERS).aggregate(rostered)]
    return Changed(shift, list({*assigned, *ids}))


async def update_shift(req: Request) -> Shift:
    """Change a shift, and recompute the results of everybody who works by it."""
    return await change_and_recompute(req, _change_shift)


async def rehearse_shift(req: Request) -> Record:
    """Return whose results and leave would change with the shift."""
    return await rehearse(req, _change_shift)


def _check_shift(shift: ReadOnlyRecord) -> None:
    if shift["start"] == shift["end"]:
        raise invalid("end", "invalid")
    given = [bool(shift.get(name)) for name in ("break_start", "break_end")]
    if any(given) and not all(given):
        raise invalid("break_end" if given[0] else "break_start", "required")
    table, pause = to_timetable({**SHIFTS.defaults, **shift}), to_pause(shift)
    if pause and not table.start < pause[0] < pause[1] < table.end:
        raise invalid("break_end" if table.start < pause[0] < table.end else "break_start", "invalid")


async def create_group(req: Request) -> AttendanceGroup:
    """Create a group."""
    _check_group(req.body)
    return await req.store(GROUPS).create(req.body)


async def _change_group(req: Request) -> Changed[AttendanceGroup]:
    values = dict(req.body)
    group = await req.store(GROUPS).update(req.path["id"], values, version=values.pop("version"))
    _check_group(group)
    return Changed(group, await find_assigned(req.service, {"group_id": group["id"]}))


async def update_group(req: Request) -> AttendanceGroup:
    """Change a group, and recompute the results of its people."""
    return await change_and_recompute(req, _change_group)


async def rehearse_group(req: Request) -> Record:
    """Return whose results and leave would change with the group."""
    return await rehearse(req, _change_group)


def _check_group(group: ReadOnlyRecord) -> None:
    """Raise 40001 for each day that `holidays` repeats."""
    days = [one["day"] for one in group.get("holidays") or ()]
    faults = [
        FieldError(f"holidays[{number}].day", "duplicate") for number, day in enumerate(days) if day in days[:number]
    ]
    if faults:
        raise ValidationFailed(faults)


_SHIFTS = crud(
    SHIFTS,
    at="/api/v1/hrm/shifts",
    resource="hrm:shift",
    create=create_shift,
    update=update_shift,
)
_GROUPS = crud(
    GROUPS,
    at="/api/v1/hrm/attendance-groups",
    resource="hrm:attendance-group",
    create=create_group,
    update=update_group,
)
ROUTES: tuple[Route, ...] = (
    *_SHIFTS,
    *_GROUPS,
    *tables(SHIFTS, at="/api/v1/hrm/shifts", resource="hrm:shift"),
    *tables(GROUPS, at="/api/v1/hrm/attendance-groups", resource="hrm:attendance-group"),
    rehearsal_of(
        _SHIFTS, "PATCH", "POST /api/v1/hrm/shifts/{id}/rehearse", rehearse_shift, "Rehearse a change of a shift"
    ),
    rehearsal_of(
        _GROUPS,
        "PATCH",
        "POST /api/v1/hrm/attendance-groups/{id}/rehearse",
        rehearse_group,
        "Rehearse a change of an attendance group",
    ),
)
