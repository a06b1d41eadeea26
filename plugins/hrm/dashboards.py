"""Dashboards of hrm: employees by department, headcount, attendance."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from itertools import accumulate
from typing import Any

from plugins.api import Collection, Request, invalid
from plugins.api.data import Filter, RecordNames
from plugins.api.reports import ByTime, ByValue, Dashboard, Figures, Period, end_of_month, period_of, summed
from plugins.hrm.attendance_records import DAYS
from plugins.hrm.departments import began_in, were_in
from plugins.hrm.messages import UNASSIGNED
from plugins.hrm.records import EMPLOYEES

Part = dict[str, Any]
_PRESENT = ("normal", "late", "early_leave", "missed")


def _employed_today(period: Period) -> Filter:
    today = period.today.isoformat()
    return {"hired_on": {"$lte": today}, "$or": [{"left_on": None}, {"left_on": {"$gte": today}}]}


def _present(period: Period) -> Filter:
    return {"status": {"$in": list(_PRESENT)}}


class _EmployedAtEnd(ByTime):
    """Rows of the people employed at the end of each month. People whose last day is in the month count as left."""

    def filter_of(self, collection: Collection, key: str, period: Period) -> Filter:
        """Return the filter on the people who had joined by the end of the month, and not left."""
        end = end_of_month(date.fromisoformat(f"{key}-01")).isoformat()
        return {self.field: {"$lte": end}, "$or": [{"left_on": None}, {"left_on": {"$gt": end}}]}


DISTRIBUTION = Figures(EMPLOYEES, {"value": 1}, where=_employed_today, by=ByValue("department_id", "department_id"))


def _in_scope(req: Request, of_departments: Callable[[Sequence[int]], Filter]) -> Filter:
    """Return the filter for the employees of the caller's data scope who belonged to its departments then."""
    allowed = req.scope.filter(of_departments, EMPLOYEES.scope_person, shared=True)
    within = {} if req.scope.within is None else of_departments(sorted(req.scope.within))
    return {"$and": [allowed, within]}


def _in_scope_at_end(req: Request, month: str) -> Filter:
    try:
        end = end_of_month(date.fromisoformat(f"{month}-01")).isoformat()
    except ValueError as error:
        raise invalid("cell", "cell") from error
    return _in_scope(req, partial(were_in, day=end))


def _in_scope_at_first(req: Request, month: str) -> Filter:
    return _in_scope(req, began_in)


HEADCOUNT = (
    Figures(EMPLOYEES, {"headcount": 1}, by=_EmployedAtEnd("hired_on", "month"), visible=_in_scope_at_end),
    Figures(EMPLOYEES, {"joined": 1}, by=ByTime("hired_on", "month"), visible=_in_scope_at_first),
    Figures(EMPLOYEES, {"left": 1}, by=ByTime("left_on", "month")),
)
# the number of days on which people were present, came late, or punched only once
ATTENDANCE = Figures(
    DAYS,
    {
        "present": 1,
        "late": {"$cond": [{"$gt": ["$late_minutes", 0]}, 1, 0]},
        "missed_punch": {"$cond": [{"$eq": ["$status", "missed"]}, 1, 0]},
    },
    where=_present,
    by=ByTime("day", "date"),
    totals=True,
)


async def employee_distribution(req: Request) -> Part:
    """Return the number of employees today by department, largest first."""
    counted = [*DISTRIBUTION.stages(period_of(req), "$department_id"), {"$sort": {"value": -1, "_id": 1}}]
    rows = await req.store(EMPLOYEES).aggregate(counted, collection_scan=True)
    looked_up = await req.part(RecordNames).look_up({"departments": [row["_id"] for row in rows]})
    names = looked_up["departments"]
    none = UNASSIGNED.text(req.language)
    return {
        "items": [
            {"department_id": row["_id"], "name": names.get(row["_id"], none), "value": row["value"]} for row in rows
        ]
    }


async def headcount_trend(req: Request) -> Part:
    """Return how many people joined and left in each month, and the headcount at its end.

    People whose last day is in the month count as left. Everybody counts where they were then.
    """
    period = period_of(req)
    months = period.every_month({})
    counted, moved = await asyncio.gather(_count_who_stayed(req, period, months), _count_who_moved(req, period, months))
    return {
        "items": [
            {"month": month, **{name: counted[month][name] + moved[month][name] for name in counted[month]}}
            for month in months
        ]
    }


async def _count_who_stayed(req: Request, period: Period, months: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """Return the figures of the people who have always been in their department."""
    joined, left = await asyncio.gather(*(_count_by_month(req, period, field) for field in ("hired_on", "left_on")))
    before = sum(count for month, count in joined.items() if month < months[0])
    before -= sum(count for month, count in left.items() if month < months[0])
    changes = [joined.get(month, 0) - left.get(month, 0) for month in months]
    headcounts = list(accumulate(changes, initial=before))[1:]
    return {
        month: {"headcount": headcount, "joined": joined.get(month, 0), "left": left.get(month, 0)}
        for month, headcount in zip(months, headcounts, strict=True)
    }


async def _count_by_month(req: Request, period: Period, field: str) -> dict[str, int]:
    last = {"$lte": period.last.isoformat()} if period.last else {"$ne": None}
    rows = await req.store(EMPLOYEES).aggregate(
        [
            {"$match": {field: last, "past_departments": None}},
            {"$group": {"_id": {"$substrBytes": [f"${field}", 0, 7]}, "count": {"$sum": 1}}},
        ]
    )
    return {row["_id"]: row["count"] for row in rows}


async def _count_who_moved(req: Request, period: Period, months: Sequence[str]) -> Mapping[str, Mapping[str, int]]:
    """Return the figures of the people who have been in several departments, of whom there are few."""
    counted: dict[str, dict[str, int]] = {month: {} for month in months}
    for figures in HEADCOUNT:
        (name,) = figures.sums
        cells = {month: f"{figures.array}.{month}.{name}" for month in months}
        store, _ = figures.filter_visible(req, cells[months[0]])
        stages = {
            month: [
                {"$match": {"$and": [figures.filter_of(cell, period), figures.filter_visible(req, cell)[1]]}},
                {"$count": "count"},
            ]
            for month, cell in cells.items()
        }
        (found,) = await store.aggregate([{"$match": {"past_departments": {"$ne": None}}}, {"$facet": stages}])
        for month in months:
            counted[month][name] = found[month][0]["count"] if found[month] else 0
    return counted


DASHBOARDS = (
    Dashboard("employee-distribution", employee_distribution, figures=(DISTRIBUTION,)),
    Dashboard("headcount-trend", headcount_trend, figures=HEADCOUNT),
    summed("attendance-summary", ATTENDANCE),
)
