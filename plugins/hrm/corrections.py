"""What became known of closed days: booked on the first open day as the difference to what was known before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from plugins.api import Record, Request, Route, Service, crud, tables
from plugins.api.values import ReadOnlyRecord, RecordId
from plugins.hrm.attendance_records import DAYS
from plugins.hrm.closing_records import CORRECTIONS, FIGURES
from plugins.hrm.record_types import Employee

_ON_DAYS_OFF = ("worked_minutes", "overtime_minutes", "compensatory_minutes")
_NOTHING: Record = dict.fromkeys(FIGURES)


async def book(
    service: Service, employee: Employee, known: Mapping[date, Record], closed: date, now: datetime
) -> str | None:
    """Book what is now known of closed days otherwise than before, within the caller's transaction.

    Return the day on which it is booked, or None if nothing is. `known` has the values of a daily result by day, none if there is no result. `closed` is the last closed day.
    """
    if not known:
        return None
    days = {"$gte": min(known).isoformat(), "$lte": max(known).isoformat()}
    of_days = {"employee_id": employee["id"], "day": days}
    before: dict[str, ReadOnlyRecord] = {row["day"]: row for row in await service.database.store(DAYS).find(of_days)}
    store = service.database.store(CORRECTIONS, now=now)
    before |= {row["day"]: dict(row["after"] or {}) for row in await store.find(of_days, sort="id")}
    booked_on = (closed + timedelta(days=1)).isoformat()
    made = []
    for day, values in known.items():
        was, after = _figures(before.get(day.isoformat(), {})), _figures(values)
        if was != after:
            of_day = {**_person(employee), "department_id": values.get("department_id", employee["department_id"])}
            made.append({**of_day, "day": day.isoformat(), "booked_on": booked_on, "before": was, "after": after})
    if made:
        await store.create_many(made)
    return booked_on if made else None


def _figures(result: ReadOnlyRecord) -> Record:
    """Return what a month sums up of a result; a day off on which nothing happened is as none."""
    empty = result.get("status") in (None, "rest") and not any(result.get(name) for name in _ON_DAYS_OFF)
    return _NOTHING if empty else {name: result.get(name) for name in FIGURES}


def _person(employee: Employee) -> Record:
    return {"employee_id": employee["id"], "employee_name": employee["name"], "user_id": employee["user_id"]}


@dataclass(frozen=True)
class Overtime:
    """Compensatory overtime of a day, or a change of it, and the day on which it counts."""

    day: date
    kind: str
    minutes: int
    booked_on: date


async def find_overtime(
    service: Service, employee_ids: Sequence[RecordId], first: date, last: date
) -> Mapping[RecordId, Sequence[Overtime]]:
    """Return the compensatory overtime of employees that counts between two days, in order, by employee."""
    theirs, days = {"employee_id": {"$in": list(employee_ids)}}, {"$gte": first.isoformat(), "$lte": last.isoformat()}
    worked = {**theirs, "day": days, "compensatory_minutes": {"$gt": 0}}
    found: dict[RecordId, list[Overtime]] = defaultdict(list)
    for row in await service.database.store(DAYS).find(worked):
        found[row["employee_id"]].append(_overtime(row["day"], row, 1, row["day"]))
    for made in await service.database.store(CORRECTIONS).find({**theirs, "booked_on": days}):
        for result, sign in ((made["before"], -1), (made["after"], 1)):
            if result and result["compensatory_minutes"]:
                found[made["employee_id"]].append(_overtime(made["day"], result, sign, made["booked_on"]))
    return {id: sorted(several, key=lambda one: (one.booked_on, one.day)) for id, several in found.items()}


def _overtime(day: str, result: ReadOnlyRecord, sign: int, booked_on: str) -> Overtime:
    minutes = sign * int(result["compensatory_minutes"])
    return Overtime(date.fromisoformat(day), str(result["overtime_day"]), minutes, date.fromisoformat(booked_on))


async def withdraw(req: Request, closed_to: str, employee_ids: Sequence[RecordId] | None) -> Sequence[RecordId]:
    """Delete what was booked about days after `closed_to`, which are open again for these employees, or for everyone.

    Return the ids of the employees of whom something was.
    """
    theirs = {"employee_id": {"$in": list(employee_ids)}} if employee_ids is not None else {}
    reopened = {"day": {"$gt": closed_to}, **theirs}
    store = req.system_store(CORRECTIONS)
    ids = list({row["employee_id"] for row in await store.find(reopened, fields=["employee_id"])})
    await store.update_many(reopened, {"$set": {"deleted": True, "deleted_at": req.now}})
    return ids


ROUTES: tuple[Route, ...] = (
    *crud(CORRECTIONS, at="/api/v1/hrm/attendance/corrections", resource="hrm:attendance", only=("list",)),
    *tables(CORRECTIONS, at="/api/v1/hrm/attendance/corrections", resource="hrm:attendance", only=("export",)),
)
