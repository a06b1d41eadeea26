"""Monthly attendance of employees, from which wages are computed."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from plugins.api import Page, Request, Route, day_of, route
from plugins.hrm.attendance_records import DAYS, MONTH, MONTH_QUERY
from plugins.hrm.records import EMPLOYEES

_OF_EMPLOYEE = ("number", "name", "department_id", "attendance_group_id", "created_at")
# the condition on the daily results that each column counts
_COUNTED: Mapping[str, Mapping[str, Any]] = {
    "working_days": {"$ne": ["$status", "rest"]},
    "present": {"$in": ["$status", ["normal", "late", "early_leave", "missed"]]},
    "late": {"$gt": ["$late_minutes", 0]},
    "early_leave": {"$gt": ["$early_minutes", 0]},
    **{status: {"$eq": ["$status", status]} for status in ("missed", "absent", "leave")},
}
_SUMMED = ("late_minutes", "early_minutes")


async def list_months(req: Request) -> Page:
    """Return a page of the visible employees who were employed in the month, with their sums."""
    month = req.query.get("month") or day_of(req.now, req.service.settings.zone).isoformat()[:7]
    first, last = _month_range(month)
    employed = {"hired_on": {"$lte": last}, "$or": [{"left_on": None}, {"left_on": {"$gte": first}}]}
    page = await req.store(EMPLOYEES).page(req.query, employed, shown=("id", *_OF_EMPLOYEE))
    sums = await _load_sums(req, [employee["id"] for employee in page.items], first, last)
    items = [_build_row(employee, month, sums.get(employee["id"], {})) for employee in page.items]
    return replace(page, items=items)


def _month_range(month: str) -> tuple[str, str]:
    first = date.fromisoformat(f"{month}-01")
    return first.isoformat(), first.replace(day=monthrange(first.year, first.month)[1]).isoformat()


async def _load_sums(req: Request, employee_ids: list[Any], first: str, last: str) -> dict[Any, Any]:
    """Return the sums by employee. The employees are visible, so results from their former departments count too."""
    counted = {name: {"$sum": {"$cond": [condition, 1, 0]}} for name, condition in _COUNTED.items()}
    rows = await req.system_store(DAYS).aggregate(
        [
            {"$match": {"employee_id": {"$in": employee_ids}, "day": {"$gte": first, "$lte": last}}},
            {"$group": {"_id": "$employee_id", **counted, **{name: {"$sum": f"${name}"} for name in _SUMMED}}},
        ]
    )
    return {row["_id"]: row for row in rows}


def _build_row(employee: Mapping[str, Any], month: str, sums: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": employee["id"],
        **{name: employee[name] for name in _OF_EMPLOYEE},
        "month": month,
        **{name: sums.get(name, 0) for name in (*_COUNTED, *_SUMMED)},
    }


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/hrm/attendance/monthly",
        list_months,
        summary="List the monthly attendance of employees",
        title=("考勤月报", "Monthly report"),
        access="hrm:attendance:list",
        query=MONTH_QUERY,
        returns=MONTH,
        paged=True,
        collection=EMPLOYEES.name,
    ),
)
