"""Changes of shifts, groups and special days: they count open days and leave anew, and can be rehearsed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Generic

from plugins.api import (
    Handler,
    Record,
    Request,
    Route,
    array,
    boolean,
    day,
    day_of,
    exact,
    integer,
    obj,
    object_id,
    quantity,
    route,
    shape,
)
from plugins.api.data import undone
from plugins.api.values import RecordId, Typed, start_of, store_quantity
from plugins.hrm.calendars import load_calendars
from plugins.hrm.closing import MAX_DAYS, load_closed_days
from plugins.hrm.leave_counts import Span, find_recounted, recount
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.record_types import Employee
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import ComputedDay, compute, mark_many_stale, reconcile_soon

MOST_PEOPLE = 500
_MINUTES = ("late_minutes", "early_minutes", "worked_minutes", "overtime_minutes")
_COMPARED = ("status", *_MINUTES, "leave_days")
_ONE_DAY = timedelta(days=1)
_CHANGE = integer(nullable=False)
_PERSON = obj(
    "CalendarChangePerson",
    {
        "employee_id": object_id(ref=EMPLOYEES.name, label=("员工", "Employee"), nullable=False),
        "results": _CHANGE.but(
            label=("变化的考勤天数", "Results that change"), description="How many daily results change."
        ),
        "first_day": day(label=("首个变化日期", "First of these days")),
        "last_day": day(label=("末个变化日期", "Last of these days")),
        "late_minutes": _CHANGE.but(label=("迟到分钟数增减", "Late minutes, difference")),
        "early_minutes": _CHANGE.but(label=("早退分钟数增减", "Early-leave minutes, difference")),
        "worked_minutes": _CHANGE.but(label=("工作分钟数增减", "Minutes worked, difference")),
        "overtime_minutes": _CHANGE.but(label=("加班分钟数增减", "Overtime minutes, difference")),
        "leave_days": quantity(
            label=("请假天数增减", "Days of leave, difference"),
            nullable=False,
            description="Of leave that is pending or approved, in the future too.",
        ),
    },
    nullable=False,
)
REHEARSAL = shape(
    "CalendarRehearsal",
    people=integer(label=("受影响人数", "People affected"), nullable=False),
    complete=boolean(
        label=("已全部计算", "All counted"),
        nullable=False,
        description=f"False if more than {MOST_PEOPLE} people have this working time, of whom the first are counted.",
    ),
    items=array(_PERSON, label=("变化明细", "Changes"), max_items=MOST_PEOPLE, nullable=False),
)


@dataclass(frozen=True)
class Changed(Generic[Typed]):
    """A record that was changed, the ids of the employees whose working time it affects, and of which days.

    `days` is None for every day.
    """

    record: Typed
    employee_ids: Sequence[RecordId]
    days: Sequence[date] | None = None


Change = Callable[[Request], Awaitable[Changed[Typed]]]


async def change_and_recompute(req: Request, change: Change[Typed]) -> Typed:
    """Make a change in a transaction, count leave anew, and recompute open daily results right afterwards."""

    async def work() -> Typed:
        changed = await change(req)
        around = _around(req, changed.days)
        if around is None or around[0] <= req.now:
            await mark_many_stale(req.service, changed.employee_ids)
        await recount(req.service, await _find_people(req, changed, around), around)
        return changed.record

    record = await req.transaction(work)
    reconcile_soon(req.service)
    return record


def _around(req: Request, days: Sequence[date] | None) -> Span | None:
    """Return the moments around these days, with the night shifts before and after."""
    zone = req.service.settings.zone
    return (start_of(min(days) - _ONE_DAY, zone), start_of(max(days) + 3 * _ONE_DAY, zone)) if days else None


async def _find_people(req: Request, changed: Changed[Any], around: Span | None) -> list[Employee]:
    """Return the affected employees; with `around`, those who have leave then."""
    ids = list(changed.employee_ids)
    if around is not None:
        during = {"starts_at": {"$lt": around[1]}, "ends_at": {"$gt": around[0]}, "status": {"$ne": "cancelled"}}
        on_leave = await req.system_store(LEAVES).find({**during, "employee_id": {"$ne": None}}, fields=["employee_id"])
        ids = list({leave["employee_id"] for leave in on_leave} & set(ids))
    return await req.system_store(EMPLOYEES).find({"_id": {"$in": ids}})


async def rehearse(req: Request, change: Change[Any], kept: Sequence[str] = ()) -> Record:
    """Return whose results and leave a change would alter, among the employees whom the caller sees. Stores nothing.

    `kept`: fields of what the change returns that the answer has too.
    """
    return await undone(req.service.database, lambda: _compare(req, change, kept))


async def _compare(req: Request, change: Change[Any], kept: Sequence[str]) -> Record:
    changed = await change(req)
    visible = {"_id": {"$in": list(changed.employee_ids)}}
    employees = await req.store(EMPLOYEES).find(visible, sort="id", limit=MOST_PEOPLE + 1)
    counted = employees[:MOST_PEOPLE]
    leave_days = await _sum_leave(req, counted, _around(req, changed.days))
    calendars = await load_calendars(req.service, counted)
    today = day_of(req.now, req.service.settings.zone)
    first, last = today - timedelta(days=MAX_DAYS), today
    if changed.days:
        first, last = max(first, min(changed.days) - _ONE_DAY), min(last, max(changed.days) + _ONE_DAY)
    items, closed_days = [], await load_closed_days(req.service, [one["id"] for one in counted])
    for employee in counted:
        calendar, closed = calendars[employee["id"]], closed_days.of(employee["id"])
        since = max(first, closed + _ONE_DAY) if closed else first
        computed = await compute(req.service, employee, calendar, since, last, req.now) if calendar else {}
        row = _describe(employee, computed, leave_days.get(employee["id"], Decimal(0)))
        if row["results"] or exact(row["leave_days"]):
            items.append(row)
    told = {name: changed.record[name] for name in kept}
    return {**told, "people": len(items), "complete": len(employees) <= MOST_PEOPLE, "items": items}


async def _sum_leave(req: Request, employees: Sequence[Employee], around: Span | None) -> Mapping[RecordId, Decimal]:
    sums: dict[RecordId, Decimal] = {}
    for leave, counted in await find_recounted(req.service, employees, around):
        if leave["status"] in ("pending", "approved"):
            more = exact(counted["days"]) - exact(leave["days"])
            sums[leave["employee_id"]] = sums.get(leave["employee_id"], Decimal(0)) + more
    return sums


def _describe(employee: Employee, computed: Mapping[date, ComputedDay], leave_days: Decimal) -> Record:
    days = {day: one for day, one in computed.items() if _differs(one)}
    return {
        "employee_id": employee["id"],
        "results": len(days),
        "first_day": min(days).isoformat() if days else None,
        "last_day": max(days).isoformat() if days else None,
        **{name: sum(_of(one.values, name) - _of(one.stored, name) for one in days.values()) for name in _MINUTES},
        "leave_days": store_quantity(leave_days),
    }


def _differs(one: ComputedDay) -> bool:
    return any(_of(one.stored, name) != _of(one.values, name) for name in _COMPARED)


def _of(values: Mapping[str, Any] | None, name: str) -> Any:
    return (values or {}).get(name) or 0


def rehearsal_of(routes: Sequence[Route], method: str, endpoint: str, handler: Handler, summary: str) -> Route:
    """Return the route that rehearses the route of this method, with the same body and the same refusals."""
    made = next(one for one in routes if one.method == method)
    return route(
        endpoint,
        handler,
        summary=summary,
        title=("预演", "Rehearse"),
        access=made.access,
        body=made.body,
        returns=REHEARSAL,
        collection=made.collection,
        errors=made.errors,
        refusals=made.refusals,
        description="Takes the same body, and lists whose open daily results and leave would change, and by how much. "
        "Nothing is stored. It is refused as the change would be.",
    )
