"""Shifts, and the attendance groups that work by them. A change recomputes the results of everybody whom it affects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from plugins.api import Collection, Request, Route, crud, invalid
from plugins.api.errors import FieldError, ValidationFailed
from plugins.api.values import ReadOnlyRecord, Typed
from plugins.hrm.calendars import to_pause, to_timetable
from plugins.hrm.leave_counts import recount
from plugins.hrm.record_types import AttendanceGroup, Shift
from plugins.hrm.records import EMPLOYEES, GROUPS, SHIFTS
from plugins.hrm.results import mark_many_stale, reconcile_soon


async def update_and_recompute(
    req: Request,
    collection: Collection[Typed],
    check: Callable[[Typed], None],
    groups_of: Callable[[Typed], Awaitable[list[Any]]],
) -> Typed:
    """Change a record as the body says, and recompute the daily results of everybody whom the change affects.

    `check` raises if the changed record is invalid. `groups_of` returns the ids of the groups that it affects.
    """
    values = dict(req.body)
    version = values.pop("version")

    async def work() -> Typed:
        changed = await req.store(collection).update(req.path["id"], values, version=version)
        check(changed)
        people = {"attendance_group_id": {"$in": await groups_of(changed)}}
        employees = await req.system_store(EMPLOYEES).find(people, fields=["attendance_group_id"])
        await mark_many_stale(req.service, [employee["id"] for employee in employees])
        await recount(req.service, employees)
        return changed

    changed = await req.transaction(work)
    reconcile_soon(req.service)
    return changed


async def create_shift(req: Request) -> Shift:
    """Create a shift. Raises 40001 if it has no length, or if its break is incomplete or outside of it."""
    _check_shift(req.body)
    return await req.store(SHIFTS).create(req.body)


async def update_shift(req: Request) -> Shift:
    """Change a shift, and recompute the results of everybody who works by it."""

    async def groups_of(shift: Shift) -> list[Any]:
        groups = await req.system_store(GROUPS).find({"shift_id": shift["id"]}, fields=["name"])
        return [group["id"] for group in groups]

    return await update_and_recompute(req, SHIFTS, _check_shift, groups_of)


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


async def update_group(req: Request) -> AttendanceGroup:
    """Change a group, and recompute the results of its people."""

    async def groups_of(group: AttendanceGroup) -> list[Any]:
        return [group["id"]]

    return await update_and_recompute(req, GROUPS, _check_group, groups_of)


def _check_group(group: ReadOnlyRecord) -> None:
    """Raise 40001 for each day that `holidays` repeats."""
    days = [one["day"] for one in group.get("holidays") or ()]
    faults = [
        FieldError(f"holidays[{number}].day", "duplicate") for number, day in enumerate(days) if day in days[:number]
    ]
    if faults:
        raise ValidationFailed(faults)


ROUTES: tuple[Route, ...] = (
    *crud(
        SHIFTS,
        at="/api/v1/hrm/shifts",
        resource="hrm:shift",
        create=create_shift,
        update=update_shift,
    ),
    *crud(
        GROUPS,
        at="/api/v1/hrm/attendance-groups",
        resource="hrm:attendance-group",
        create=create_group,
        update=update_group,
    ),
)
