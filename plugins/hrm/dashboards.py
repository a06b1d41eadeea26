"""Dashboards of hrm: employees by department, headcount, attendance."""

from __future__ import annotations

import asyncio
from itertools import accumulate
from typing import Any

from plugins.api import Dashboard, Period, RecordNames, Request, period_of
from plugins.hrm.attendance_records import DAYS
from plugins.hrm.messages import UNASSIGNED
from plugins.hrm.records import EMPLOYEES

Part = dict[str, Any]
_PRESENT = ("normal", "late", "early_leave", "missed")


async def employee_distribution(req: Request) -> Part:
    """The employees of today by department, the largest first."""
    today = period_of(req).today.isoformat()
    employed = {"hired_on": {"$lte": today}, "$or": [{"left_on": None}, {"left_on": {"$gte": today}}]}
    counted: list[dict[str, Any]] = [
        {"$match": employed},
        {"$group": {"_id": "$department_id", "value": {"$sum": 1}}},
        {"$sort": {"value": -1, "_id": 1}},
    ]
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
    """People who joined and left by month, and the headcount at its end. A last day in the month counts as left."""
    period = period_of(req)
    months = period.every_month({})
    joined, left = await asyncio.gather(*(_count_by_month(req, period, field) for field in ("hired_on", "left_on")))
    before = sum(count for month, count in joined.items() if month < months[0])
    before -= sum(count for month, count in left.items() if month < months[0])
    changes = [joined.get(month, 0) - left.get(month, 0) for month in months]
    headcounts = list(accumulate(changes, initial=before))[1:]
    return {
        "items": [
            {"month": month, "headcount": headcount, "joined": joined.get(month, 0), "left": left.get(month, 0)}
            for month, headcount in zip(months, headcounts, strict=True)
        ]
    }


async def _count_by_month(req: Request, period: Period, field: str) -> dict[str, int]:
    last = {"$lte": period.last.isoformat()} if period.last else {"$ne": None}
    rows = await req.store(EMPLOYEES).aggregate(
        [
            {"$match": {field: last}},
            {"$group": {"_id": {"$substrBytes": [f"${field}", 0, 7]}, "count": {"$sum": 1}}},
        ]
    )
    return {row["_id"]: row["count"] for row in rows}


async def attendance_summary(req: Request) -> Part:
    """Working days on which people were present, came late, or punched only once."""
    rows = await req.store(DAYS).aggregate(
        [
            {"$match": {**period_of(req).days("day"), "status": {"$in": list(_PRESENT)}}},
            {
                "$group": {
                    "_id": "$day",
                    "present": {"$sum": 1},
                    "late": {"$sum": {"$cond": [{"$gt": ["$late_minutes", 0]}, 1, 0]}},
                    "missed_punch": {"$sum": {"$cond": [{"$eq": ["$status", "missed"]}, 1, 0]}},
                }
            },
        ]
    )
    totals = {name: sum(row[name] for row in rows) for name in ("present", "late", "missed_punch")}
    return {**totals, "items": [{"date": row.pop("_id"), **row} for row in rows]}


DASHBOARDS = (
    Dashboard("employee-distribution", employee_distribution),
    Dashboard("headcount-trend", headcount_trend),
    Dashboard("attendance-summary", attendance_summary),
)
