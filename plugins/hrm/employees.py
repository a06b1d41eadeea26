"""Employees, what they are assigned to from when on, and their positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from plugins.api import (
    NOT_FOUND,
    Page,
    Record,
    Refusal,
    Request,
    Route,
    conflicts,
    crud,
    day_of,
    invalid,
    route,
    tables,
)
from plugins.api.errors import STALE
from plugins.api.fields import NOTHING
from plugins.api.records import FINAL
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.assignment_records import ASSIGNED, ASSIGNMENT_BODY, ASSIGNMENTS
from plugins.hrm.assignments import Timeline, current_values, load_timeline, new_timeline, save
from plugins.hrm.attendance_records import MARKS
from plugins.hrm.closing import refuse_closed
from plugins.hrm.departments import follow_department
from plugins.hrm.leave_counts import recount
from plugins.hrm.leave_owners import adopt, follow_account
from plugins.hrm.messages import CLOSED, FIRST_ASSIGNMENT, NO_ASSIGNMENT
from plugins.hrm.record_types import Assignment, Employee
from plugins.hrm.records import EMPLOYEES, POSITIONS
from plugins.hrm.results import mark_stale, reconcile_soon

# fields on which daily results depend, or which they contain
_OF_RESULTS = {"name", "user_id", "hired_on", "left_on", "attends_from", *ASSIGNED}


async def create(req: Request) -> Employee:
    """Create an employee, in the caller's department unless the body names one or null."""
    values = {"department_id": req.actor.department_id, **req.body}
    employee = await req.transaction(lambda: hire(req, values))
    reconcile_soon(req.service)
    return employee


async def hire(req: Request, values: ReadOnlyRecord) -> Employee:
    """Store a new employee with their first assignment, within the caller's transaction."""
    _check_dates(values)
    employee = await req.store(EMPLOYEES).create({**values, **_derive(req, values, {})})
    await save(req.system_store(ASSIGNMENTS), employee["id"], new_timeline(employee), _today(req))
    await mark_stale(req.service, employee["id"])
    await adopt(req.service, employee)
    await recount(req.service, [employee])
    return employee


async def update(req: Request) -> Employee:
    """Change an employee, and recompute the daily results that depend on the change.

    Another department, position, manager, group or place begins a new assignment today.
    """
    values = dict(req.body)
    version = values.pop("version")

    async def work() -> Employee:
        store = req.store(EMPLOYEES)
        before = await store.get(req.path["id"])
        after = {**before, **values}
        _check_dates(after)
        derived = _derive(req, values, before)
        if moved := await _move(req, before, {**after, **derived}):
            _check_manager(before, moved)
            derived |= current_values(after, moved, _today(req))
        changed = await store.update(before["id"], {**values, **derived}, version=version)
        if moved:
            await save(req.system_store(ASSIGNMENTS), before["id"], moved, _today(req))
            await follow_department(req.service, before["id"], changed["department_id"])
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


def _today(req: Request) -> date:
    return day_of(req.now, req.service.settings.zone)


def _derive(req: Request, values: Mapping[str, Any], before: Mapping[str, Any]) -> Record:
    """Return the values that follow from `values`: who sees the record as their own, the first day of attendance."""
    derived: Record = {}
    if "user_id" in values or not before:
        derived["shared_with"] = [values["user_id"]] if values.get("user_id") else []
    group = values.get("attendance_group_id")
    if group and group != before.get("attendance_group_id") and not values.get("attends_from"):
        derived["attends_from"] = before.get("attends_from") or _today(req).isoformat()
    return derived


def _check_dates(employee: ReadOnlyRecord) -> None:
    if employee.get("left_on") and employee["left_on"] < employee["hired_on"]:
        raise invalid("left_on", "minimum")
    if (employee.get("service_since") or "") > employee["hired_on"]:
        raise invalid("service_since", "maximum")


async def _move(req: Request, before: Employee, after: ReadOnlyRecord) -> Timeline | None:
    """Return the assignments of an employee who gets other values or another first day of work; None otherwise.

    An assignment that begins today or later is changed. Who never had a group is in it from the first day of attendance
    on.
    """
    moved = {theirs: after.get(own) for own, theirs in ASSIGNED.items() if after.get(own) != before.get(own)}
    if not moved and after["hired_on"] == before["hired_on"]:
        return None
    timeline, today = await load_timeline(req.service, before), _today(req).isoformat()
    timeline.start_on(after["hired_on"])
    if moved.get("group_id") is not None and not timeline.attended:
        timeline.fill_group(max(after["hired_on"], min(today, after["attends_from"])), moved.pop("group_id"))
    if moved:
        timeline.begin(max(today, after["hired_on"]), moved)
    return timeline


async def list_assignments(req: Request) -> Page:
    """Return a page of the assignments of a visible employee, the first one first."""
    employee = await req.store(EMPLOYEES).get(req.path["id"])
    return await req.system_store(ASSIGNMENTS).page(req.query, {"employee_id": employee["id"]})


async def assign(req: Request) -> Assignment:
    """Assign an employee from a day on; what the body does not name stays as it was before."""
    values = dict(req.body)
    since, until = values.pop("from"), values.pop("to", None)
    return await _reassign(req, lambda timeline: timeline.insert(since, until, values), lambda _: since)


async def change_assignment(req: Request) -> Assignment:
    """Change an assignment; another first day also ends the one before it earlier or later."""
    values = dict(req.body)
    version = values.pop("version")
    id = req.path["assignment_id"]
    return await _reassign(
        req,
        lambda timeline: timeline.change(timeline.find(id), values),
        lambda timeline: min(values.get("from", "9999"), timeline.pieces[timeline.find(id)].since),
        version,
    )


async def delete_assignment(req: Request) -> None:
    """Delete an assignment, whose days then belong to the one before it."""
    id = req.path["assignment_id"]
    await _reassign(
        req,
        lambda timeline: timeline.drop(timeline.find(id)),
        lambda timeline: timeline.pieces[timeline.find(id)].since,
    )


async def _reassign(
    req: Request,
    change: Callable[[Timeline], None],
    first_day: Callable[[Timeline], str],
    version: int | None = None,
) -> Assignment:
    """Change the assignments of an employee; return that of the first day which changes.

    Raises 40901 if that day is closed, 40902 unless `version` is that of the assignment in the path.
    """

    async def work() -> Assignment:
        store = req.system_store(ASSIGNMENTS)
        employee = await req.store(EMPLOYEES).get(req.path["id"])
        timeline = await load_timeline(req.service, employee)
        since = first_day(timeline)
        await refuse_closed(req.service, date.fromisoformat(since), employee["id"])
        change(timeline)
        if version is not None:
            await store.update(req.path["assignment_id"], {}, version=version)
        _check_manager(employee, timeline)
        await save(store, employee["id"], timeline, _today(req))
        current = current_values(employee, timeline, _today(req))
        if any(employee.get(name) != value for name, value in current.items()):
            employee = await req.system_store(EMPLOYEES).update(employee["id"], current)
            await follow_department(req.service, employee["id"], employee["department_id"])
        await mark_stale(req.service, employee["id"])
        await recount(req.service, [employee])
        days = {"employee_id": employee["id"], "from": {"$lte": since}}
        return (await store.find(days, sort="-from", limit=1))[0]

    assignment = await req.transaction(work)
    reconcile_soon(req.service)
    return assignment


def _check_manager(employee: Employee, timeline: Timeline) -> None:
    if any(one.values["manager_id"] == employee["id"] for one in timeline.pieces):
        raise invalid("manager_id", "invalid")


_NO_ASSIGNMENT = Refusal(NOT_FOUND, hint=NO_ASSIGNMENT)
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
    *tables(EMPLOYEES, at="/api/v1/hrm/employees", resource="hrm:employee"),
    *tables(POSITIONS, at="/api/v1/hrm/positions", resource="hrm:position"),
    route(
        "GET /api/v1/hrm/employees/{id}/assignments",
        list_assignments,
        summary="List the assignments of an employee",
        title=("任职记录", "Assignments"),
        access="hrm:employee:read",
        query=ASSIGNMENTS.list_query,
        returns=ASSIGNMENTS.read,
        paged=True,
        collection=EMPLOYEES.name,
    ),
    route(
        "POST /api/v1/hrm/employees/{id}/assignments",
        assign,
        summary="Assign an employee from a day on",
        title=("调岗", "Assign"),
        access="hrm:employee:update",
        body=ASSIGNMENT_BODY,
        returns=ASSIGNMENTS.read,
        collection=EMPLOYEES.name,
        refusals=conflicts(CLOSED),
        description="Assignments follow each other without gaps: the one before ends the day before `from`, and applies "
        "again after `to`. `to` may not reach into the next one. What the body does not name stays as it was before.",
    ),
    route(
        "PATCH /api/v1/hrm/employees/{id}/assignments/{assignment_id}",
        change_assignment,
        summary="Change an assignment of an employee",
        access="hrm:employee:update",
        body=ASSIGNMENTS.update,
        returns=ASSIGNMENTS.read,
        errors=(STALE,),
        refusals=(_NO_ASSIGNMENT, *conflicts(CLOSED)),
        description="Another `from` also moves the end of the assignment before it.",
    ),
    route(
        "DELETE /api/v1/hrm/employees/{id}/assignments/{assignment_id}",
        delete_assignment,
        summary="Delete an assignment of an employee",
        access="hrm:employee:update",
        returns=NOTHING,
        refusals=(_NO_ASSIGNMENT, *conflicts(CLOSED, FIRST_ASSIGNMENT)),
        description=f"{FINAL} Its days then belong to the assignment before it.",
    ),
)
