"""Rosters: the shifts of people by date, and open shifts that people take.

A roster comes before the shift and the working days of the attendance group. Every change counts open days and leave
anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, TypedDict

from plugins.api import (
    CONFLICT,
    NOT_FOUND,
    ApiError,
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
from plugins.api.data import Filter, restore as restore_record
from plugins.api.values import ReadOnlyRecord, RecordId
from plugins.hrm.calendar_changes import REHEARSAL, Change, Changed, change_and_recompute, rehearse
from plugins.hrm.calendars import find_employee, load_calendar
from plugins.hrm.closing import MAX_DAYS, refuse_closed
from plugins.hrm.messages import CLOSED, NOT_ATTENDED_THEN, NOT_EMPLOYED
from plugins.hrm.record_types import Employee, Roster
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import lock
from plugins.hrm.roster_conflicts import find_conflicts, refuse_conflicts
from plugins.hrm.roster_records import IN_CONFLICT, IS_OVER, NOT_OFFERED, PLAN_FIELDS, ROSTERS, TAKEN, WORKS_THEN
from plugins.hrm.timetable import Calendar

_AT = "/api/v1/hrm/rosters"
_NOT_OF_OPEN = ("employee_id", "deleted", "day_from", "day_to")  # they are all of days to come
_TOLD = {"employee_id", "day", "shift_id", "department_id"}  # what a roster says; the rest is about it


class Plan(TypedDict):
    """How many days were rostered and left out, and the conflicts of these days."""

    days: int
    skipped: int
    conflicts: list[Record]


ROSTER_REHEARSAL = REHEARSAL.but(title="RosterRehearsal", fields={**(REHEARSAL.fields or {}), **PLAN_FIELDS})


def attends(employee: Employee, calendar: Calendar | None, day: date) -> bool:
    """Return whether an employee is employed and in an attendance group on a day, so that they can have a shift."""
    begins = max(employee["hired_on"], employee["attends_from"] or "")
    employed = begins <= day.isoformat() <= (employee["left_on"] or day.isoformat())
    return employed and calendar is not None and calendar.attends_on(day)


def refuse_far(req: Request, day: date, field: str = "day") -> None:
    """Raise 40001 for a day of over a year ago, or more than two years ahead."""
    today = day_of(req.now, req.service.settings.zone)
    if not today - timedelta(days=MAX_DAYS) <= day <= today + timedelta(days=2 * MAX_DAYS):
        raise invalid(field, "minimum" if day < today else "maximum")


def row_of(employee: Employee, calendar: Calendar, day: date, shift_id: RecordId) -> Record:
    """Return the values of the roster of a day on which `attends`."""
    whose = {"employee_id": employee["id"], "user_id": employee["user_id"]}
    department_id = calendar.period_of(day).department_id
    return {**whose, "day": day.isoformat(), "department_id": department_id, "shift_id": shift_id, "request_id": None}


async def _derive(req: Request, values: ReadOnlyRecord) -> Record:
    """Return the values that follow from those of a roster. Raises what makes it impossible."""
    day = date.fromisoformat(values["day"])
    refuse_far(req, day)
    await refuse_closed(req.service, day, values.get("employee_id"))
    if values.get("employee_id") is None:
        if values.get("shift_id") is None:
            raise invalid("shift_id", "required")
        own = values.get("department_id", req.actor.department_id)
        return {"department_id": own, "user_id": None, "request_id": None}
    employee = await req.store(EMPLOYEES).find_one({"_id": values["employee_id"]})
    if employee is None:
        raise invalid("employee_id", "reference")
    await lock(req.service, employee["id"])
    calendar = await load_calendar(req.service, employee, day)
    if calendar is None or not attends(employee, calendar, day):
        raise ApiError(CONFLICT, NOT_ATTENDED_THEN)
    return row_of(employee, calendar, day, values.get("shift_id"))


def _affected(*versions: Roster) -> Changed[Roster]:
    """Return a roster with whom and which days it affects, as it was before and is now; it is the last one."""
    ids = [one["employee_id"] for one in versions if one["employee_id"] is not None]
    return Changed(versions[-1], list(dict.fromkeys(ids)), [date.fromisoformat(one["day"]) for one in versions])


async def _create(req: Request) -> Changed[Roster]:
    return _affected(await req.store(ROSTERS).create({**req.body, **await _derive(req, req.body)}))


async def _update(req: Request) -> Changed[Roster]:
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(ROSTERS).get(req.path["id"])
    await refuse_closed(req.service, date.fromisoformat(before["day"]), before["employee_id"])
    derived = await _derive(req, {**before, **values}) if _TOLD & values.keys() else {}
    return _affected(before, await req.store(ROSTERS).update(before["id"], {**values, **derived}, version=version))


async def _delete(req: Request) -> Changed[Roster]:
    before = await req.store(ROSTERS).get(req.path["id"])
    await refuse_closed(req.service, date.fromisoformat(before["day"]), before["employee_id"])
    await req.store(ROSTERS).delete(before["id"])
    return _affected(before)


async def _restore(req: Request) -> Changed[Roster]:
    restored = await restore_record(req.service.database, req.store(ROSTERS), req.path["id"])
    await refuse_closed(req.service, date.fromisoformat(restored["day"]), restored["employee_id"])
    return _affected(restored)


async def create(req: Request) -> Roster:
    """Roster a person on a day, or offer an open shift."""
    return await change_and_recompute(req, _create)


async def update(req: Request) -> Roster:
    """Change a roster."""
    return await change_and_recompute(req, _update)


async def delete(req: Request) -> None:
    """Delete a roster; what the group has on that day applies again."""
    await change_and_recompute(req, _delete)


async def restore(req: Request) -> Roster:
    """Restore a roster."""
    return await change_and_recompute(req, _restore)


def _planned(change: Change[Roster]) -> Change[Plan]:
    """Return a change that makes the same, and returns its plan."""

    async def plan(req: Request) -> Changed[Plan]:
        made = await change(req)
        employees = await req.system_store(EMPLOYEES).find({"_id": {"$in": list(made.employee_ids)}})
        days = {id: set(made.days or ()) for id in made.employee_ids}
        found = await find_conflicts(req.service, employees, days)
        return Changed(Plan(days=1, skipped=0, conflicts=found), made.employee_ids, made.days)

    return plan


async def rehearse_creation(req: Request) -> Record:
    """Return what a new roster would conflict with, and whose results and leave would change."""
    return await rehearse(req, _planned(_create), tuple(PLAN_FIELDS))


async def rehearse_change(req: Request) -> Record:
    """Return what a changed roster would conflict with, and whose results and leave would change."""
    return await rehearse(req, _planned(_update), tuple(PLAN_FIELDS))


async def list_open(req: Request) -> Page:
    """Return a page of the open shifts, from today on, that the caller can take."""
    employee = await find_employee(req.service, req.actor.user_id)
    return await req.system_store(ROSTERS).page(
        {**req.query, "sort": req.query.get("sort") or "day"}, _offered(req, employee)
    )


def _offered(req: Request, employee: Employee | None) -> Filter:
    """Return the filter on the open shifts of an employee; without one, on those of everybody."""
    today = day_of(req.now, req.service.settings.zone).isoformat()
    departments = [None, employee["department_id"]] if employee is not None else [None]
    return {"employee_id": None, "day": {"$gte": today}, "department_id": {"$in": departments}}


async def take(req: Request) -> Roster:
    """Give an open shift to the caller. Raises 40901 if somebody has taken it, or if it conflicts with anything."""
    return await change_and_recompute(req, _take)


async def _take(req: Request) -> Changed[Roster]:
    rosters, employee = req.system_store(ROSTERS), await find_employee(req.service, req.actor.user_id)
    if employee is None:
        raise ApiError(CONFLICT, NOT_EMPLOYED)
    await lock(req.service, employee["id"])
    found = await rosters.get(req.path["id"])
    day = date.fromisoformat(found["day"])
    _refuse_taking(req, found, employee)
    await refuse_closed(req.service, day, employee["id"])
    calendar = await load_calendar(req.service, employee, day)
    if calendar is None or not attends(employee, calendar, day):
        raise ApiError(CONFLICT, NOT_ATTENDED_THEN)
    if calendar.works_on(day):
        raise ApiError(CONFLICT, WORKS_THEN)
    for off in await rosters.find({"employee_id": employee["id"], "day": found["day"]}):
        await rosters.delete(off["id"])
    values = row_of(employee, calendar, day, found["shift_id"])
    taken = await rosters.update(found["id"], values, where={"employee_id": None}, reason=TAKEN)
    refuse_conflicts(await find_conflicts(req.service, [employee], {employee["id"]: {day}}))
    return _affected(taken)


def _refuse_taking(req: Request, row: Mapping[str, Any], employee: Employee) -> None:
    if row["department_id"] not in (None, employee["department_id"]):
        raise ApiError(NOT_FOUND)
    if row["employee_id"] is not None:
        raise ApiError(CONFLICT, TAKEN)
    if row["day"] < day_of(req.now, req.service.settings.zone).isoformat():
        raise ApiError(CONFLICT, IS_OVER)


_REFUSED = conflicts(CLOSED, NOT_ATTENDED_THEN)
_CRUD = crud(
    ROSTERS,
    at=_AT,
    resource="hrm:roster",
    create=create,
    update=update,
    delete=delete,
    restore=restore,
    refusals_of={
        "create": _REFUSED,
        "update": _REFUSED,
        "delete": conflicts(CLOSED),
        "restore": conflicts(CLOSED),
    },
)
ROUTES: tuple[Route, ...] = (
    *_CRUD,
    *tables(ROSTERS, at=_AT, resource="hrm:roster", only=("export",)),
    route(
        "POST /api/v1/hrm/rosters/rehearse",
        rehearse_creation,
        summary="Rehearse a new roster",
        title=("预演", "Rehearse"),
        access="hrm:roster:create",
        body=ROSTERS.create,
        returns=ROSTER_REHEARSAL,
        collection=ROSTERS.name,
        refusals=_REFUSED,
        description="Stores nothing, and is refused as the roster would be.",
    ),
    route(
        "POST /api/v1/hrm/rosters/{id}/rehearse",
        rehearse_change,
        summary="Rehearse a change of a roster",
        title=("预演", "Rehearse"),
        access="hrm:roster:update",
        body=ROSTERS.update,
        returns=ROSTER_REHEARSAL,
        collection=ROSTERS.name,
        refusals=_REFUSED,
        description="Stores nothing, and is refused as the change would be.",
    ),
    route(
        "GET /api/v1/hrm/rosters/open",
        list_open,
        summary="List the open shifts that I can take",
        title=("待领取班次", "Open shifts"),
        access="hrm:roster:take",
        query={name: one for name, one in ROSTERS.list_query.items() if name not in _NOT_OF_OPEN},
        returns=ROSTERS.read,
        paged=True,
    ),
    route(
        "POST /api/v1/hrm/rosters/{id}/take",
        take,
        summary="Take an open shift",
        effect=("该班次将排给您。", "The shift becomes yours."),
        title=("领取班次", "Take this shift"),
        access="hrm:roster:take",
        returns=ROSTERS.read,
        fits={"employee_id": False},
        refusals=(
            Refusal(NOT_FOUND, hint=NOT_OFFERED),
            *conflicts(NOT_EMPLOYED, NOT_ATTENDED_THEN, CLOSED, TAKEN, IS_OVER, WORKS_THEN, *IN_CONFLICT.values()),
        ),
    ),
)
