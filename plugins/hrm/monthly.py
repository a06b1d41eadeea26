"""Monthly attendance of employees, from which wages are computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
    choice,
    day_of,
    dictionary,
    route,
    service_fields,
    tables,
    text,
)
from plugins.api.data import Migration, Stage
from plugins.hrm.assignment_records import ASSIGNMENTS
from plugins.hrm.assignments import load_timelines
from plugins.hrm.attendance_records import MARKS
from plugins.hrm.departments import were_in
from plugins.hrm.month_figures import DIFFERENCES, FIGURES, MONTH, load_figures, month_range
from plugins.hrm.record_types import Employee
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import mark_many_stale, reconcile_soon

_SHOWN = ("number", "name", "department_id", "attendance_group_id", "created_at")
_AT = "/api/v1/hrm/attendance/monthly"
READING = dictionary(
    "hrm_month_reading",
    ("考勤月报口径", "Reading of a closed month"),
    paid=("发薪口径", "As paid"),
    known=("当前口径", "As known now"),
)
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
    "month": MONTH.but(nullable=False, description="Defaults to the current month."),
    "as": choice(
        "paid",
        "known",
        label=("口径", "Reading"),
        default="paid",
        nullable=False,
        description="Closed days as they were paid, or as they are known now.",
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
        **service_fields(month=MONTH),
        **FIGURES,
        "differences": DIFFERENCES,
    },
)


async def list_months(req: Request) -> Page:
    """Return a page of the visible employees who were employed in the month, with their sums.

    The department and the group of a row, by which it is found, are those at the end of the month, or today's if the
    month is not over.
    """
    query = dict(req.query)
    month = query.get("month") or day_of(req.now, req.service.settings.zone).isoformat()[:7]
    first, last = month_range(month)
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
    ids = [employee["id"] for employee in page.items]
    figures = await load_figures(req.service, ids, month, known=query["as"] == "known")
    assigned = {id: one.values_on(then) for id, one in (await load_timelines(req.service, page.items)).items()}
    # former departments count too: the employees are visible
    items = [{**_describe(one, month, assigned[one["id"]]), **figures[one["id"]]} for one in page.items]
    return replace(page, items=items)


def _describe(employee: Employee, month: str, assigned: Mapping[str, Any]) -> Record:
    return {
        "id": employee["id"],
        **{name: employee.get(name) for name in _SHOWN},
        "department_id": assigned["department_id"],
        "attendance_group_id": assigned["group_id"],
        "month": month,
    }


def _stages(service: Service) -> Iterator[Stage]:
    yield Stage(MARKS, partial(_mark, service), {"stale": False})


RECORDED = Migration(
    "2026-11-hours-of-days",
    "Computes the hours and half days of leave of open days; what closed days had of these cannot be told.",
    _stages,
)


HOURS_OF_LEAVE = Migration(
    "2026-11-hours-of-leave",
    "Computes the hours of leave by type, and the overtime without punches, of open days; closed days stay as they are.",
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
