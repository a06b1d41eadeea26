"""The departments of an employee: those of the past, by which figures count, and today's, by which others see records."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from plugins.api import Actor, Collection, Request, Service, Store
from plugins.api.data import Filter
from plugins.api.values import RecordId, Typed
from plugins.hrm.attendance_records import PUNCHES
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.record_types import Employee
from plugins.hrm.request_records import REQUESTS

_ONE_DAY = timedelta(days=1)


def past_departments(periods: Iterable[tuple[str, int | None]]) -> dict[str, Any]:
    """Return `department_since` and `past_departments` of an employee, from the first days of periods and their
    departments, in order; the last period is the current one.
    """
    past: list[dict[str, Any]] = []
    since, current = None, None
    for number, (first, department) in enumerate(periods):
        if number and department != current:
            until = (date.fromisoformat(first) - _ONE_DAY).isoformat()
            past.append({"department_id": current, "from": since, "until": until})
            since = first
        current = department
    return {"department_since": since, "past_departments": past or None}


def were_in(ids: Iterable[int], day: str) -> Filter:
    """Return the filter for the employees of these departments on a day."""
    these, by_then = {"$in": list(ids)}, {"$not": {"$gt": day}}  # also null: from the beginning
    earlier = {"department_id": these, "from": by_then, "until": {"$gte": day}}
    return {
        "$or": [
            {"department_id": these, "department_since": by_then},
            {"past_departments": {"$elemMatch": earlier}},
        ]
    }


def began_in(ids: Iterable[int]) -> Filter:
    """Return the filter for the employees who began in these departments."""
    these = {"$in": list(ids)}
    return {
        "$or": [
            {"department_id": these, "past_departments": None},
            {"past_departments.0.department_id": these},
        ]
    }


def store_of(req: Request, collection: Collection[Typed], employee: Employee) -> Store[Typed]:
    """Return a store whose new records are as if the employee had made them, in the department where they are employed."""
    actor = Actor(user_id=employee["user_id"] or 0, department_id=employee["department_id"])
    return req.service.database.store(collection, actor, now=req.now)


async def follow_department(service: Service, employee_id: RecordId, department_id: int | None) -> None:
    """Let who sees a department see the leave, requests and punches of an employee who is in it now."""
    moved = {"employee_id": employee_id, "creator_department_id": {"$ne": department_id}}
    changed = {"$set": {"creator_department_id": department_id}}
    for theirs in (LEAVES, REQUESTS, PUNCHES):
        await service.database.store(theirs).update_many(moved, changed, unversioned=True)
