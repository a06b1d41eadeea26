"""Patterns of rotation, and their application to people and days: rehearsed, then written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta

from plugins.api import Record, Request, Route, conflicts, crud, invalid, route
from plugins.api.values import RecordId
from plugins.hrm.calendar_changes import Changed, change_and_recompute, rehearse
from plugins.hrm.calendars import load_calendars
from plugins.hrm.closing import refuse_closed
from plugins.hrm.messages import CLOSED
from plugins.hrm.record_types import Employee, RosterPattern
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import lock
from plugins.hrm.roster_conflicts import find_conflicts
from plugins.hrm.roster_records import APPLY_BODY, MOST_DAYS, MOST_ROWS, PLAN, PLAN_FIELDS, ROSTER_PATTERNS, ROSTERS
from plugins.hrm.rosters import ROSTER_REHEARSAL, Plan, attends, refuse_far, row_of

_AT = "/api/v1/hrm/roster-patterns"


async def apply(req: Request) -> Plan:
    """Roster people by a pattern, instead of what they had on these days."""
    return await change_and_recompute(req, _apply)


async def rehearse_application(req: Request) -> Record:
    """Return what a pattern would conflict with, and whose results and leave would change."""
    return await rehearse(req, _apply, tuple(PLAN_FIELDS))


async def _apply(req: Request) -> Changed[Plan]:
    days, pattern = _days_of(req), await req.store(ROSTER_PATTERNS).get(req.path["id"])
    employees = await _find_people(req)
    if len(days) * len(employees) > MOST_ROWS:
        raise invalid("to", "maximum")
    for employee in sorted(employees, key=lambda one: str(one["id"])):
        await lock(req.service, employee["id"])
    rows = await _plan(req, pattern, employees, days)
    ids = [one["id"] for one in employees]
    await refuse_closed(req.service, min(days), *ids)
    await _store(req, ids, days, rows)
    by_person: dict[RecordId, set[date]] = defaultdict(set)
    for row in rows:
        by_person[row["employee_id"]].add(date.fromisoformat(row["day"]))
    found = await find_conflicts(req.service, employees, by_person)
    skipped = len(days) * len(employees) - len(rows)
    return Changed(Plan(days=len(rows), skipped=skipped, conflicts=found), ids, days)


async def _plan(
    req: Request, pattern: RosterPattern, employees: Sequence[Employee], days: Sequence[date]
) -> list[Record]:
    """Return the values of the rosters, without those of days on which somebody cannot have a shift."""
    calendars, steps = await load_calendars(req.service, employees), pattern["days"]
    rows = []
    for place, employee in enumerate(employees):
        calendar, start = calendars[employee["id"]], req.body.get("start", 1) - 1 + place * req.body.get("stagger", 0)
        for number, day in enumerate(days):
            if calendar is not None and attends(employee, calendar, day):
                shift_id = steps[(start + number) % len(steps)].get("shift_id")
                rows.append(row_of(employee, calendar, day, shift_id))
    return rows


async def _store(req: Request, ids: Sequence[RecordId], days: Sequence[date], rows: Sequence[Record]) -> None:
    """Store rosters; those that say the same already stay as they are."""
    store, of_days = req.system_store(ROSTERS), {"$gte": min(days).isoformat(), "$lte": max(days).isoformat()}
    there = await store.find({"employee_id": {"$in": [*ids]}, "day": of_days})
    known = {(row["employee_id"], row["day"]): row for row in there}
    new = []
    for row in rows:
        before = known.get((row["employee_id"], row["day"]))
        if before is None:
            new.append(row)
        elif any(before.get(name) != value for name, value in row.items()):
            await store.update(before["id"], row)
    if new:
        await store.create_many(new)


def _days_of(req: Request) -> Sequence[date]:
    first, last = (date.fromisoformat(req.body[name]) for name in ("from", "to"))
    if not first <= last < first + timedelta(days=MOST_DAYS):
        raise invalid("to", "minimum" if last < first else "maximum")
    refuse_far(req, first, "from")
    refuse_far(req, last, "to")
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


async def _find_people(req: Request) -> list[Employee]:
    """Return the visible employees whom the body names, by number and name. Raises 40001 if it names none or both."""
    ids, group = req.body.get("employee_ids"), req.body.get("group_id")
    if (ids is None) == (group is None):
        raise invalid("employee_ids", "required" if ids is None else "invalid")
    where = {"_id": {"$in": list(ids)}} if ids is not None else {"attendance_group_id": group}
    found = await req.store(EMPLOYEES).find(where, limit=MOST_ROWS + 1)
    if ids is not None and len(found) < len(ids):
        raise invalid("employee_ids", "reference")
    return sorted(found, key=lambda one: (one["number"] or "", one["name"], str(one["id"])))


_REFUSED = conflicts(CLOSED)
ROUTES: tuple[Route, ...] = (
    *crud(ROSTER_PATTERNS, at=_AT, resource="hrm:roster-pattern"),
    route(
        "POST /api/v1/hrm/roster-patterns/{id}/rehearse",
        rehearse_application,
        summary="Rehearse the application of a rotation pattern",
        title=("预演排班", "Rehearse"),
        access="hrm:roster:create",
        body=APPLY_BODY,
        returns=ROSTER_REHEARSAL,
        collection=ROSTER_PATTERNS.name,
        refusals=_REFUSED,
        description="Stores nothing, and is refused as the application would be.",
    ),
    route(
        "POST /api/v1/hrm/roster-patterns/{id}/apply",
        apply,
        summary="Roster people by a rotation pattern",
        title=("应用排班", "Apply"),
        access="hrm:roster:create",
        body=APPLY_BODY,
        returns=PLAN,
        collection=ROSTER_PATTERNS.name,
        refusals=_REFUSED,
        description=f"Up to {MOST_ROWS:,} days of people at once. What they had on these days is replaced.",
    ),
)
