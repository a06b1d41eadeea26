"""What people are granted by hand: allowances, how many days they may take in a year, and adjustments of balances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    ApiError,
    Refusal,
    Request,
    Route,
    conflicts,
    crud,
    day_of,
    invalid,
    tables,
)
from plugins.hrm.leave_records import ADJUSTMENTS, ALLOWANCES
from plugins.hrm.messages import EVERYBODYS, OWN_BALANCE
from plugins.hrm.record_types import LeaveAdjustment, LeaveAllowance
from plugins.hrm.records import EMPLOYEES


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


async def adjust(req: Request) -> LeaveAdjustment:
    """Add to the balance of a visible employee, or take from it; an adjustment is corrected by another one.

    It counts in years in which the type has a limit. Raises 40901 for the caller's own balance.
    """
    values = {"day": day_of(req.now, req.service.settings.zone).isoformat(), **req.body}
    employee = await req.store(EMPLOYEES).find_one({"_id": values["employee_id"]})
    if employee is None:
        raise invalid("employee_id", "reference")
    if employee["user_id"] == req.actor.user_id:
        raise ApiError(CONFLICT, OWN_BALANCE)
    if values.get("expires_on") is not None and values["expires_on"] < values["day"]:
        raise invalid("expires_on", "minimum")
    return await req.store(ADJUSTMENTS).create(values)


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
    *tables(ALLOWANCES, at="/api/v1/hrm/leave-allowances", resource="hrm:leave-allowance"),
    *crud(
        ADJUSTMENTS,
        at="/api/v1/hrm/leave-adjustments",
        resource="hrm:leave-adjustment",
        only=("list", "read", "create"),
        create=adjust,
        refusals_of={"create": conflicts(OWN_BALANCE)},
    ),
)
