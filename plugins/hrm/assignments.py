"""To which department, position, manager, group and place employees are assigned, from a day to a day.

The employee's own fields are those of today's assignment.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import Any

from plugins.api import CONFLICT, NOT_FOUND, ApiError, Record, Service, Store, day_of, invalid, utc_now
from plugins.api.data import Filter, Migration, Stage
from plugins.api.values import ReadOnlyRecord, RecordId
from plugins.hrm.assignment_records import ASSIGNED, ASSIGNMENTS
from plugins.hrm.departments import follow_department, past_departments
from plugins.hrm.messages import FIRST_ASSIGNMENT
from plugins.hrm.record_types import Assignment
from plugins.hrm.records import EMPLOYEES

log = logging.getLogger("tradewind.hrm")
_ONE_DAY = timedelta(days=1)
_BATCH = 200


@dataclass(frozen=True)
class Piece:
    """What an employee is assigned to from a day on, until the next piece. `id` is None while it is not stored."""

    since: str
    values: Mapping[str, Any]
    id: RecordId = None


class Timeline:
    """The assignments of an employee, in order and without gaps, from the first day of work on."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = list(pieces)

    def index_of(self, day: str) -> int:
        """Return the index of the piece to which a day belongs; days before the first belong to it."""
        return max((number for number, one in enumerate(self.pieces) if one.since <= day), default=0)

    def values_on(self, day: str) -> Mapping[str, Any]:
        """Return what the employee is assigned to on a day."""
        return self.pieces[self.index_of(day)].values

    def last_of(self, index: int) -> str | None:
        """Return the last day of a piece, or None if it is the last one."""
        return _before(self.pieces[index + 1].since) if index + 1 < len(self.pieces) else None

    def find(self, id: RecordId) -> int:
        """Return the index of a stored piece. Raises 40400 if there is none."""
        for number, one in enumerate(self.pieces):
            if one.id is not None and str(one.id) == str(id):
                return number
        raise ApiError(NOT_FOUND)

    def begin(self, since: str, values: Mapping[str, Any]) -> None:
        """Let `values` apply from a day until the next piece; what they do not name stays as it was."""
        index = self.index_of(since)
        found = self.pieces[index]
        changed = {**found.values, **values}
        if found.since >= since:
            self.pieces[index] = replace(found, values=changed)
        else:
            self.pieces.insert(index + 1, Piece(since, changed))

    def insert(self, since: str, until: str | None, values: Mapping[str, Any]) -> None:
        """Let `values` apply from a day to a day, and after that what applied before.

        Raises 40001 for days before the first, and for an end before the beginning or in another piece.
        """
        if since < self.pieces[0].since:
            raise invalid("from", "minimum")
        index = self.index_of(since)
        found, last = self.pieces[index], self.last_of(index)
        if until is not None and until < since:
            raise invalid("to", "minimum")
        if until is not None and last is not None and until > last:
            raise invalid("to", "maximum")
        self.begin(since, values)
        if until is not None and until != last:
            self.pieces.insert(self.index_of(since) + 1, Piece(_after(until), found.values))

    def change(self, index: int, values: Mapping[str, Any]) -> None:
        """Change a piece. Raises 40001 for a first day that is not between the piece before and its own last day."""
        given = dict(values)
        found = self.pieces[index]
        since = given.pop("from", found.since)
        if since != found.since:
            if index == 0 or since <= self.pieces[index - 1].since:
                raise invalid("from", "minimum")
            if (last := self.last_of(index)) is not None and since > last:
                raise invalid("from", "maximum")
        self.pieces[index] = replace(found, since=since, values={**found.values, **given})

    def drop(self, index: int) -> None:
        """Leave a piece out, whose days belong to the one before then. Raises 40901 for the first."""
        if index == 0:
            raise ApiError(CONFLICT, FIRST_ASSIGNMENT)
        del self.pieces[index]

    def start_on(self, day: str) -> None:
        """Let the first piece begin on a day, without those that were over by then."""
        index = self.index_of(day)
        self.pieces[: index + 1] = [replace(self.pieces[index], since=day)]

    def fill_group(self, since: str, group_id: RecordId) -> None:
        """Give the days from `since` on a group, for somebody who never had one."""
        self.begin(since, {})
        for number in range(self.index_of(since), len(self.pieces)):
            found = self.pieces[number]
            self.pieces[number] = replace(found, values={**found.values, "group_id": group_id})

    @property
    def attended(self) -> bool:
        """Whether the employee has ever had a group."""
        return any(one.values["group_id"] is not None for one in self.pieces)


def _before(day: str) -> str:
    return (date.fromisoformat(day) - _ONE_DAY).isoformat()


def _after(day: str) -> str:
    return (date.fromisoformat(day) + _ONE_DAY).isoformat()


def _timeline_of(employee: ReadOnlyRecord, rows: Sequence[Assignment]) -> Timeline:
    """Return the timeline of an employee; without assignments, what the employee's own fields say of the past."""
    if rows:
        return Timeline(
            [Piece(row["from"], {name: row.get(name) for name in ASSIGNED.values()}, row["id"]) for row in rows]
        )
    now = {theirs: employee.get(own) for own, theirs in ASSIGNED.items()}
    past = [
        (one.get("from") or employee["hired_on"], {**now, "department_id": one.get("department_id")})
        for one in employee.get("past_departments") or ()
    ]
    starts = [*past, (employee.get("department_since") or employee["hired_on"], now)]
    return Timeline([Piece(since, values) for since, values in starts])


async def load_timelines(service: Service, employees: Sequence[ReadOnlyRecord]) -> dict[RecordId, Timeline]:
    """Return the timelines of employees by their ids."""
    by_employee: dict[RecordId, list[Assignment]] = defaultdict(list)
    theirs = {"employee_id": {"$in": [employee["id"] for employee in employees]}}
    for row in await service.database.store(ASSIGNMENTS).find(theirs, sort="from"):
        by_employee[row["employee_id"]].append(row)
    return {employee["id"]: _timeline_of(employee, by_employee[employee["id"]]) for employee in employees}


async def load_timeline(service: Service, employee: ReadOnlyRecord) -> Timeline:
    """Return the timeline of an employee, who is locked until the transaction ends."""
    await service.database.lock(EMPLOYEES, employee["id"])
    return (await load_timelines(service, [employee]))[employee["id"]]


async def find_assigned(service: Service, where: Filter) -> list[RecordId]:
    """Return the ids of the employees with such an assignment, past and future ones included."""
    ids: list[dict[str, Any]] = [{"$match": where}, {"$group": {"_id": "$employee_id"}}]
    return [row["_id"] for row in await service.database.store(ASSIGNMENTS).aggregate(ids)]


def new_timeline(employee: ReadOnlyRecord) -> Timeline:
    """Return the timeline of somebody who is hired."""
    return _timeline_of(employee, ())


def current_values(employee: ReadOnlyRecord, timeline: Timeline, today: date) -> Record:
    """Return the fields of an employee that follow from the assignments: those of today, and the departments before."""
    day = max(today.isoformat(), employee["hired_on"])
    index = timeline.index_of(day)
    values = timeline.pieces[index].values
    departments = [(one.since, one.values["department_id"]) for one in timeline.pieces[: index + 1]]
    return {**{own: values[theirs] for own, theirs in ASSIGNED.items()}, **past_departments(departments)}


async def save(store: Store[Assignment], employee_id: RecordId, timeline: Timeline, today: date) -> None:
    """Store a timeline, within the transaction that has locked the employee. `store` sees all assignments."""
    rows = {row["id"]: row for row in await store.find({"employee_id": employee_id})}
    for index, piece in enumerate(timeline.pieces):
        values = {"from": piece.since, "to": timeline.last_of(index), **piece.values}
        values["upcoming"] = piece.since > today.isoformat()
        row = rows.pop(piece.id, None)
        if row is None:
            await store.create({"employee_id": employee_id, **values})
        elif any(row.get(name) != value for name, value in values.items()):
            await store.update(row["id"], values)
    for id in rows:
        await store.delete(id)


async def move_on(service: Service, today: date) -> None:
    """Give employees the values of assignments that have begun by today."""
    begun = {"upcoming": True, "from": {"$lte": today.isoformat()}}
    store = service.database.store(ASSIGNMENTS)
    for id in {row["employee_id"] for row in await store.find(begun, limit=_BATCH)}:
        await service.database.transaction(partial(_move_on, service, id, today))


async def _move_on(service: Service, employee_id: RecordId, today: date) -> None:
    employees = service.database.store(EMPLOYEES)
    employee = await employees.find_one({"_id": employee_id})
    if employee is None:
        return
    timeline = await load_timeline(service, employee)
    await save(service.database.store(ASSIGNMENTS), employee_id, timeline, today)
    values = current_values(employee, timeline, today)
    if any(employee.get(name) != value for name, value in values.items()):
        await employees.update(employee_id, values)
        await follow_department(service, employee_id, values["department_id"])


def _stages(service: Service) -> Iterator[Stage]:
    yield Stage(EMPLOYEES, partial(_store_timelines, service), {"deleted": False})


DATED = Migration(
    "2026-11-assignments",
    "Gives every employee the assignments that their departments, group and position have been so far.",
    _stages,
)


async def _store_timelines(service: Service, rows: Sequence[Record]) -> int:
    return sum([await service.database.transaction(partial(_store_timeline, service, row["_id"])) for row in rows])


async def _store_timeline(service: Service, employee_id: RecordId) -> int:
    store, today = service.database.store(ASSIGNMENTS), day_of(utc_now(), service.settings.zone)
    employee = await service.database.store(EMPLOYEES).find_one({"_id": employee_id})
    if employee is None or await store.find_one({"employee_id": employee_id}):
        return 0
    await save(store, employee_id, await load_timeline(service, employee), today)
    return 1
