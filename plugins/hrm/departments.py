"""The departments of an employee in the past. A change of department takes effect on the day on which it is entered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from plugins.api.data import Filter
from plugins.api.values import ReadOnlyRecord
from plugins.hrm.record_types import Employee

_ONE_DAY = timedelta(days=1)


def move_departments(employee: ReadOnlyRecord, values: Mapping[str, Any], today: date) -> dict[str, Any]:
    """Return `department_since` and `past_departments` of an `employee` who gets `values`; empty if they stay the same.

    A department where nobody has worked a day yet is replaced, as is that of somebody who has left; whoever is hired
    again has no departments from before.
    """
    after = {**employee, **values}
    past, since = list(employee["past_departments"] or ()), employee["department_since"]
    if after["hired_on"] != employee["hired_on"]:
        past = [one for one in past if one["until"] >= after["hired_on"]]
        since = since if past else None
    gone = after.get("left_on") is not None and after["left_on"] < today.isoformat()
    last = (today - _ONE_DAY).isoformat()
    if after["department_id"] != employee["department_id"] and not gone and last >= max(since or "", after["hired_on"]):
        past.append({"department_id": employee["department_id"], "from": since, "until": last})
        since = today.isoformat()
    changed = {"department_since": since, "past_departments": past or None}
    return {name: value for name, value in changed.items() if value != employee.get(name)}


def department_on(employee: Employee, day: str) -> int | None:
    """Return the department of an employee on a day."""
    past = (one for one in employee["past_departments"] or () if one["until"] >= day)
    found: int | None = next(past, employee)["department_id"]
    return found


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
