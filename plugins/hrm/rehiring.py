"""Hiring an employee who has left again: a new record beside the earlier one, each with its own days and balances."""

from __future__ import annotations

from plugins.api import CONFLICT, ApiError, Message, Record, Request, Route, conflicts, day_of, invalid, route, shape
from plugins.api.errors import DUPLICATE
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.assignment_records import ASSIGNED
from plugins.hrm.employees import hire
from plugins.hrm.leave_owners import follow_account
from plugins.hrm.private_details import copy_details
from plugins.hrm.record_types import Employee
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import mark_stale, reconcile_soon
from plugins.rbac.api import USERS

NOT_LEFT = Message("员工尚未离职", "The employee has not left")
REHIRED = Message("该员工已再次入职", "The employee has been hired again already")
_PERSONAL = ("name", "phone", "email", "remark")
# the account follows by itself, and a number belongs to one record
_GIVEN = ("hired_on", "number", *ASSIGNED, "attends_from", "service_since")
BODY = shape("EmployeeRehire", **{name: EMPLOYEES.fields[name] for name in _GIVEN})


async def rehire(req: Request) -> Employee:
    """Hire an employee who has left again, and return the new record, which has their account from now on.

    Personal data and, unless the body names others, department, position, manager, place and group are copied. Raises
    40901 for somebody who has not left or was hired again, 40001 for a day on which they were still employed.
    """

    async def work() -> Employee:
        before = await req.store(EMPLOYEES).get(req.path["id"])
        _refuse(req, before)
        employees = req.system_store(EMPLOYEES)
        left = await employees.update(before["id"], {"user_id": None})
        await follow_account(req.service, before, left)
        await mark_stale(req.service, before["id"])
        account = await req.system_store(USERS).find_one({"_id": before["user_id"]})  # it may be deleted
        moved = {"user_id": account and account["id"], "previous_employee_id": before["id"]}
        made = await hire(req, {**_copied(req, before), **req.body, **moved})
        await employees.update(before["id"], {"next_employee_id": made["id"]})
        await copy_details(req, before["id"], made["id"])
        return made

    employee = await req.transaction(work)
    reconcile_soon(req.service)
    return employee


def _refuse(req: Request, before: Employee) -> None:
    if before["left_on"] is None or before["left_on"] >= day_of(req.now, req.service.settings.zone).isoformat():
        raise ApiError(CONFLICT, NOT_LEFT)
    if before["next_employee_id"] is not None:
        raise ApiError(CONFLICT, REHIRED)
    if req.body["hired_on"] <= before["left_on"]:
        raise invalid("hired_on", "minimum")


def _copied(req: Request, before: ReadOnlyRecord) -> Record:
    own_fields = req.service.database.current(EMPLOYEES).own
    return {name: before.get(name) for name in (*_PERSONAL, *ASSIGNED, *own_fields)}


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/hrm/employees/{id}/rehire",
        rehire,
        summary="Hire an employee who has left again",
        title=("再次入职", "Hire again"),
        access="hrm:employee:create",
        body=BODY,
        record=EMPLOYEES,
        errors=(DUPLICATE,),
        refusals=conflicts(NOT_LEFT, REHIRED),
        fits={"left_on": True, "next_employee_id": False},
        description="Makes a new record with the personal data and the account of the earlier one, which keeps its number, "
        "results, leave and balances. The two name each other.",
    ),
)
