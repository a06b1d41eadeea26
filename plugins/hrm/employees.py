"""Employees and their positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import Record, Request, Route, crud, day_of, invalid
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.attendance_records import MARKS
from plugins.hrm.departments import move_departments
from plugins.hrm.leave_counts import recount
from plugins.hrm.leave_owners import adopt, follow_account
from plugins.hrm.record_types import Employee
from plugins.hrm.records import EMPLOYEES, POSITIONS
from plugins.hrm.results import mark_stale, reconcile_soon

# fields on which daily results depend, or which they contain
_OF_RESULTS = {"name", "user_id", "department_id", "hired_on", "left_on", "attendance_group_id", "attends_from"}


async def create(req: Request) -> Employee:
    """Create an employee, in the caller's department unless the body names one or null."""
    values = {"department_id": req.actor.department_id, **req.body}
    _check_dates(values)

    async def work() -> Employee:
        employee = await req.store(EMPLOYEES).create({**values, **_derive(req, values, {})})
        await mark_stale(req.service, employee["id"])
        await adopt(req.service, employee)
        await recount(req.service, [employee])
        return employee

    employee = await req.transaction(work)
    reconcile_soon(req.service)
    return employee


async def update(req: Request) -> Employee:
    """Change an employee, and recompute the daily results that depend on the change."""
    values = dict(req.body)
    version = values.pop("version")

    async def work() -> Employee:
        store = req.store(EMPLOYEES)
        before = await store.get(req.path["id"])
        _check_dates({**before, **values})
        changed = await store.update(before["id"], {**values, **_derive(req, values, before)}, version=version)
        if _OF_RESULTS & values.keys():
            await mark_stale(req.service, before["id"])
            await follow_account(req.service, before, changed)
            await recount(req.service, [changed])
        return changed

    employee = await req.transaction(work)
    reconcile_soon(req.service)
    return employee


async def delete(req: Request) -> None:
    """Delete an employee with their results and allowances. Raises 40901 if the employee has punches."""

    async def work() -> None:
        employee = await req.store(EMPLOYEES).get(req.path["id"])
        await req.store(EMPLOYEES).delete(employee["id"])
        await req.system_store(MARKS).remove({"_id": employee["id"]})

    await req.transaction(work)


def _derive(req: Request, values: Mapping[str, Any], before: Mapping[str, Any]) -> Record:
    """Return the values that follow from `values`: who sees the record as their own, past departments, the first
    day of attendance.
    """
    derived: Record = {}
    if "user_id" in values or not before:
        derived["shared_with"] = [values["user_id"]] if values.get("user_id") else []
    group = values.get("attendance_group_id")
    today = day_of(req.now, req.service.settings.zone)
    if before:
        derived |= move_departments(before, values, today)
    if group and group != before.get("attendance_group_id") and not values.get("attends_from"):
        derived["attends_from"] = before.get("attends_from") or today.isoformat()
    return derived


def _check_dates(employee: ReadOnlyRecord) -> None:
    if employee.get("left_on") and employee["left_on"] < employee["hired_on"]:
        raise invalid("left_on", "minimum")


ROUTES: tuple[Route, ...] = (
    *crud(
        EMPLOYEES,
        at="/api/v1/hrm/employees",
        resource="hrm:employee",
        create=create,
        update=update,
        delete=delete,
    ),
    *crud(
        POSITIONS,
        at="/api/v1/hrm/positions",
        resource="hrm:position",
    ),
)
