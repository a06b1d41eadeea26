"""The departments of an employee in the past, as the assignments say; by them, figures of the past count."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from plugins.api.data import Filter

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
