"""Monthly attendance of employees, from which wages are computed."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

from plugins.api import (
    Collection,
    Message,
    Page,
    Record,
    Request,
    Route,
    Service,
    day_of,
    exact,
    integer,
    mapping,
    number,
    obj,
    quantity,
    route,
    service_fields,
    tables,
    text,
)
from plugins.api.data import Migration, Stage
from plugins.api.values import rounded, store_quantity
from plugins.hrm.assignment_records import ASSIGNMENTS
from plugins.hrm.assignments import load_timelines
from plugins.hrm.attendance_records import DAYS, MARKS
from plugins.hrm.departments import were_in
from plugins.hrm.leave_types import load_types
from plugins.hrm.record_types import Employee
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import mark_many_stale, reconcile_soon
from plugins.hrm.texts import LEAVE_TYPE

_SHOWN = ("number", "name", "department_id", "attendance_group_id", "created_at")
_AT = "/api/v1/hrm/attendance/monthly"
_COUNT = integer(minimum=0)
_RECORDED = " Null if a day of the month was closed before this was recorded."
MONTH_QUERY = {
    **{
        name: EMPLOYEES.list_query[name]
        for name in (
            "page",
            "page_size",
            "with_total",
            "cursor",
            "q",
            "number",
            "department_id",
            "attendance_group_id",
        )
    },
    "sort": text(max_length=200, nullable=False, example="number", description="Any of id, number, name, created_at."),
    "month": text(
        min_length=7,
        max_length=7,
        pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])$",
        nullable=False,
        example="2026-11",
        description="Defaults to the current month.",
    ),
}
# a row as responses and tables have it; nothing is stored in this shape
MONTHS = Collection(
    name=EMPLOYEES.name,
    title="AttendanceMonth",
    noun=Message("考勤月报", "monthly report"),
    plain=True,
    fields={
        **{
            name: EMPLOYEES.all_fields[name].but(read_only=True, required=False, filter=False, search=False, sort=False)
            for name in _SHOWN
        },
        **service_fields(
            month=text(label=("月份", "Month"), example="2026-11"),
            working_days=_COUNT.but(label=("应出勤天数", "Working days"), description="Working days so far."),
            present=_COUNT.but(
                label=("出勤天数", "Days present"), description="Working days on which the employee came."
            ),
            late=_COUNT.but(label=("迟到天数", "Days late"), description="Days with late arrival."),
            early_leave=_COUNT.but(
                label=("早退天数", "Days with early leave"), description="Days with early departure."
            ),
            missed=_COUNT.but(
                label=("缺卡天数", "Days with a missed punch"),
                description="Days on which the punch for arrival or departure is missing.",
            ),
            absent=number(label=("旷工天数", "Days absent"), minimum=0, description="In half days, without leave."),
            leave=number(label=("请假天数", "Days of leave"), minimum=0, description="In half days."),
            late_minutes=_COUNT.but(label=("迟到分钟数", "Late minutes")),
            early_minutes=_COUNT.but(label=("早退分钟数", "Early-leave minutes")),
        ),
        "hours": quantity(
            label=("工作小时数", "Hours worked"),
            read_only=True,
            description="From the first punch of a day to the last, without the break and leave." + _RECORDED,
        ),
        "overtime": quantity(
            label=("休息日工作小时数", "Overtime"),
            read_only=True,
            description="The part of `hours` on days of rest and holidays." + _RECORDED,
        ),
        "leave_by_type": obj(
            "LeaveByType",
            {one.value: quantity(label=(one.label.zh, one.label.en), nullable=False) for one in LEAVE_TYPE.items},
            label=("各类请假天数", "Leave by type"),
            read_only=True,
            description="`leave` by type." + _RECORDED,
        ),
        "leave_by_own_type": mapping(
            quantity(nullable=False),
            label=("自定义假期天数", "Leave by own type"),
            read_only=True,
            description="`leave` of the types that the company has added, by their codes." + _RECORDED,
        ),
    },
)
# the condition on the daily results that each column counts
_COUNTED: Mapping[str, Mapping[str, Any]] = {
    "working_days": {"$ne": ["$status", "rest"]},
    "present": {"$in": ["$status", ["normal", "late", "early_leave", "missed"]]},
    "late": {"$gt": ["$late_minutes", 0]},
    "early_leave": {"$gt": ["$early_minutes", 0]},
    "missed": {"$eq": ["$status", "missed"]},
    "unrecorded": {"$eq": [{"$ifNull": ["$worked_minutes", None]}, None]},
}
_NOT_LEAVE = {"$max": [0, {"$subtract": [1, {"$ifNull": ["$leave_days", 0]}]}]}
_SUMMED: Mapping[str, Any] = {
    "late_minutes": "$late_minutes",
    "early_minutes": "$early_minutes",
    "absent": {"$cond": [{"$eq": ["$status", "absent"]}, _NOT_LEAVE, 0]},
    "leave": {"$ifNull": ["$leave_days", {"$cond": [{"$eq": ["$status", "leave"]}, 1, 0]}]},
    "hours": "$worked_minutes",
    "overtime": {"$cond": [{"$eq": ["$status", "rest"]}, "$worked_minutes", 0]},
}
_BUILT_IN = tuple(one.value for one in LEAVE_TYPE.items)


async def list_months(req: Request) -> Page:
    """Return a page of the visible employees who were employed in the month, with their sums.

    The department and the group of a row, by which it is found, are those at the end of the month, or today's if the
    month is not over.
    """
    query = dict(req.query)
    month = query.get("month") or day_of(req.now, req.service.settings.zone).isoformat()[:7]
    first, last = _month_range(month)
    employed = {"hired_on": {"$lte": last}, "$or": [{"left_on": None}, {"left_on": {"$gte": first}}]}
    departments = query.pop("department_id", None)
    within = [were_in(departments, last)] if departments else []
    then = min(last, day_of(req.now, req.service.settings.zone).isoformat())
    if groups := query.pop("attendance_group_id", None):
        during = {"from": {"$lte": then}, "to": {"$not": {"$lt": then}}}
        members = await req.system_store(ASSIGNMENTS).find(
            {"group_id": {"$in": groups}, **during}, fields=["employee_id"]
        )
        within.append({"_id": {"$in": [one["employee_id"] for one in members]}})
    page: Page = await req.store(EMPLOYEES).page(query, {"$and": [employed, *within]}, shown=("id", *_SHOWN))
    types = [*_BUILT_IN, *(code for code in await load_types(req.service) if code not in _BUILT_IN)]
    sums = await _load_sums(req, [employee["id"] for employee in page.items], first, last, types)
    assigned = {id: one.values_on(then) for id, one in (await load_timelines(req.service, page.items)).items()}
    items = [_build_row(one, month, assigned[one["id"]], sums.get(one["id"], {}), types) for one in page.items]
    return replace(page, items=items)


def _month_range(month: str) -> tuple[str, str]:
    first = date.fromisoformat(f"{month}-01")
    return first.isoformat(), first.replace(day=monthrange(first.year, first.month)[1]).isoformat()


async def _load_sums(
    req: Request, employee_ids: list[Any], first: str, last: str, types: Sequence[str]
) -> dict[Any, Record]:
    """Return the sums by employee, also of leave of these types.

    The employees are visible, so results from their former departments count too.
    """
    counted = {name: {"$sum": {"$cond": [condition, 1, 0]}} for name, condition in _COUNTED.items()}
    summed = {**_SUMMED, **{f"of_{code}": f"$leave_by_type.{code}" for code in types}}
    rows = await req.system_store(DAYS).aggregate(
        [
            {"$match": {"employee_id": {"$in": employee_ids}, "day": {"$gte": first, "$lte": last}}},
            {"$group": {"_id": "$employee_id", **counted, **{name: {"$sum": of} for name, of in summed.items()}}},
        ]
    )
    return {row["_id"]: row for row in rows}


def _build_row(
    employee: Employee, month: str, assigned: Mapping[str, Any], sums: Mapping[str, Any], types: Sequence[str]
) -> Record:
    counts = {name: sums.get(name, 0) for name in (*_COUNTED, "late_minutes", "early_minutes")}
    recorded = counts.pop("unrecorded") == 0
    by_type = {code: _decimal(sums.get(f"of_{code}")) for code in types}
    return {
        "id": employee["id"],
        **{name: employee.get(name) for name in _SHOWN},
        "department_id": assigned["department_id"],
        "attendance_group_id": assigned["group_id"],
        "month": month,
        **counts,
        **{name: float(_decimal(sums.get(name))) for name in ("absent", "leave")},
        **{name: _hours(sums.get(name)) if recorded else None for name in ("hours", "overtime")},
        "leave_by_type": {code: store_quantity(by_type[code]) for code in _BUILT_IN} if recorded else None,
        "leave_by_own_type": {
            code: store_quantity(days) for code, days in by_type.items() if days and code not in _BUILT_IN
        }
        if recorded
        else None,
    }


def _decimal(summed: Any) -> Decimal:
    """Return a sum of MongoDB, which is an integer if it had nothing else to add."""
    return Decimal(summed) if isinstance(summed, int) else exact(summed)


def _hours(minutes: int | None) -> Any:
    return store_quantity(rounded(Decimal(minutes or 0) / 60))


def _stages(service: Service) -> Iterator[Stage]:
    yield Stage(MARKS, partial(_mark, service), {"stale": False})


RECORDED = Migration(
    "2026-11-hours-of-days",
    "Computes the hours and half days of leave of open days; what closed days had of these cannot be told.",
    _stages,
)


async def _mark(service: Service, rows: Sequence[Record]) -> int:
    """Let the results of these employees be computed again."""
    await mark_many_stale(service, [row["_id"] for row in rows])
    reconcile_soon(service)
    return len(rows)


ROUTES: tuple[Route, ...] = (
    route(
        f"GET {_AT}",
        list_months,
        summary="List the monthly attendance of employees",
        title=("考勤月报", "Monthly report"),
        access="hrm:attendance:list",
        query=MONTH_QUERY,
        returns=MONTHS.read,
        paged=True,
        collection=EMPLOYEES.name,
    ),
    *tables(MONTHS, at=_AT, resource="hrm:attendance", only=("export",), lister=list_months, query=MONTH_QUERY),
)
