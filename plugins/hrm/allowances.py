"""Leave allowances: how many days of leave people may take in a year, and the balances that remain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    ApiError,
    Record,
    Refusal,
    Request,
    Route,
    Service,
    crud,
    day_of,
    exact,
    invalid,
    route,
)
from plugins.api.values import ReadOnlyRecord, start_of, store_quantity
from plugins.hrm.calendars import OFFICE, find_employee, load_calendar
from plugins.hrm.leave_counts import days_taken
from plugins.hrm.leave_owners import of_person
from plugins.hrm.leave_records import ALLOWANCES, BALANCE_QUERY, BALANCES, LEAVE_TYPES, LEAVES
from plugins.hrm.messages import EVERYBODYS, NOTHING_LEFT
from plugins.hrm.record_types import Employee, LeaveAllowance
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.timetable import Calendar

_ZERO = Decimal(0)


async def create(req: Request) -> LeaveAllowance:
    """Create an allowance for a visible employee. An allowance for everybody requires a data scope of all rows."""
    await _check_employee(req, req.body)
    return await req.store(ALLOWANCES).create(req.body)


async def update(req: Request) -> LeaveAllowance:
    """Change an allowance. Leave that was already taken is not affected."""
    values = dict(req.body)
    version = values.pop("version")
    before = await req.store(ALLOWANCES).get(req.path["id"])
    _check_scope(req, before)
    if "employee_id" in values:
        await _check_employee(req, values)
    return await req.store(ALLOWANCES).update(before["id"], values, version=version)


async def delete(req: Request) -> None:
    """Delete an allowance. After that, the next more general one applies, or no limit."""
    _check_scope(req, await req.store(ALLOWANCES).get(req.path["id"]))
    await req.store(ALLOWANCES).delete(req.path["id"])


async def _check_employee(req: Request, values: Mapping[str, Any]) -> None:
    _check_scope(req, values)
    employee_id = values.get("employee_id")
    if employee_id is not None and await req.store(EMPLOYEES).find_one({"_id": employee_id}) is None:
        raise invalid("employee_id", "reference")


def _check_scope(req: Request, values: Mapping[str, Any]) -> None:
    """Raise 40300 for an allowance of everybody, unless the caller's data scope is all rows."""
    if values.get("employee_id") is None and not req.scope.everything:
        raise ApiError(FORBIDDEN, EVERYBODYS)


async def own_balances(req: Request) -> Record:
    """Return the caller's balances for a year. People who are not employees have no limits."""
    return await _build_balances(req, await find_employee(req.service, req.actor.user_id), req.actor.user_id)


async def balances(req: Request) -> Record:
    """Return the balances of a visible employee for a year."""
    employee = await req.store(EMPLOYEES).get(req.path["id"])
    return await _build_balances(req, employee, employee["user_id"])


async def _build_balances(req: Request, employee: Employee | None, user_id: int | None) -> Record:
    year = req.query.get("year") or day_of(req.now, req.service.settings.zone).year
    days = await _load_allowances(req.service, employee, year)
    taken = await _sum_taken(
        req.service, of_person(employee, user_id), await load_calendar(req.service, employee), year
    )
    items = [
        _build_balance(type, days.get(type), taken["approved", type], taken["pending", type]) for type in LEAVE_TYPES
    ]
    return {"employee_id": employee and employee["id"], "year": year, "items": items}


def _build_balance(type: str, days: Decimal | None, taken: Decimal, pending: Decimal) -> Record:
    return {
        "type": type,
        "days": days if days is None else store_quantity(days),
        "taken": store_quantity(taken),
        "pending": store_quantity(pending),
        "remaining": None if days is None else store_quantity(days - taken - pending),
    }


async def check_balance(service: Service, employee: Employee, leave: ReadOnlyRecord) -> None:
    """Raise 40901 for leave that exceeds a balance. The caller must hold the lock of the employee's attendance."""
    calendar = await load_calendar(service, employee)
    first, last = (day_of(leave[name], service.settings.zone).year for name in ("starts_at", "ends_at"))
    for year in range(first, last + 1):
        allowed = (await _load_allowances(service, employee, year)).get(leave["type"])
        wanted = _count_days(service, calendar, leave, year)
        if allowed is None or not wanted:
            continue
        taken = await _sum_taken(service, of_person(employee, None), calendar, year, but=leave.get("id"))
        left = allowed - taken["approved", leave["type"]] - taken["pending", leave["type"]]
        if wanted > left:
            raise ApiError(CONFLICT, NOTHING_LEFT.filled(year=year, left=f"{max(left, _ZERO):f}"))


async def _load_allowances(service: Service, employee: Employee | None, year: int) -> dict[str, Decimal]:
    """Return the allowed days by type of leave.

    An allowance of the employee takes precedence over one for everybody, and one for the year over one for every year.
    """
    if employee is None:
        return {}
    theirs = {"employee_id": {"$in": [employee["id"], None]}, "year": {"$in": [year, None]}}
    found = await service.database.store(ALLOWANCES).find(theirs)
    found.sort(key=lambda one: (one["employee_id"] is not None, one["year"] is not None))
    return {one["type"]: exact(one["days"]) for one in found}


async def _sum_taken(
    service: Service, theirs: Record, calendar: Calendar | None, year: int, but: Any = None
) -> dict[tuple[str, str], Decimal]:
    """Return the days of leave in the year by status and type.

    `theirs` selects whose leave counts; `but` is the id of leave that does not.
    """
    taken: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    begin, end = (start_of(date(one, 1, 1), service.settings.zone) for one in (year, year + 1))
    found = await service.database.store(LEAVES).find(
        {
            "_id": {"$ne": but},
            **theirs,
            "status": {"$in": ["pending", "approved"]},
            "starts_at": {"$lt": end},
            "ends_at": {"$gt": begin},
        }
    )
    for leave in found:
        taken[leave["status"], leave["type"]] += _count_days(service, calendar, leave, year)
    return taken


def _count_days(service: Service, calendar: Calendar | None, leave: ReadOnlyRecord, year: int) -> Decimal:
    """Return the days of leave that fall into the year."""
    taken = days_taken(service, calendar or OFFICE, leave)
    return sum((exact(one["days"]) for one in taken if one["day"].startswith(str(year))), _ZERO)


ROUTES: tuple[Route, ...] = (
    *crud(
        ALLOWANCES,
        at="/api/v1/hrm/leave-allowances",
        resource="hrm:leave-allowance",
        create=create,
        update=update,
        delete=delete,
        refusals=(Refusal(FORBIDDEN, EVERYBODYS),),
    ),
    route(
        "GET /api/v1/hrm/leave-balances",
        own_balances,
        summary="Show my leave balances",
        access="hrm:leave:list",
        query=BALANCE_QUERY,
        returns=BALANCES,
    ),
    route(
        "GET /api/v1/hrm/employees/{id}/leave-balances",
        balances,
        summary="Show the leave balances of an employee",
        access="hrm:leave:list",
        query=BALANCE_QUERY,
        returns=BALANCES,
        collection=EMPLOYEES.name,
    ),
)
