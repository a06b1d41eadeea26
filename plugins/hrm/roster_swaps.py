"""Swaps of shifts between two people: what they exchange, the consent of the other one, and the effect on rosters.

On each of the two days, each person gets what the other one has. That is computed when the request is written, and must
be the same when it is submitted and approved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from plugins.api import (
    CONFLICT,
    NOT_FOUND,
    NOTIFY,
    SIGNED_IN,
    ApiError,
    Page,
    Record,
    Refusal,
    Request,
    Route,
    Service,
    conflicts,
    day_of,
    invalid,
    object_id,
    route,
)
from plugins.api.values import ReadOnlyRecord, RecordId, start_of
from plugins.hrm.calendars import find_employee, load_calendars
from plugins.hrm.closing import find_open_day, refuse_closed
from plugins.hrm.leave_counts import recount
from plugins.hrm.messages import NOT_ATTENDED_THEN, NOT_IN_STATE
from plugins.hrm.record_types import Employee, EmployeeRequest
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.request_records import REQUESTS
from plugins.hrm.results import lock, recompute
from plugins.hrm.roster_conflicts import find_conflicts, refuse_conflicts
from plugins.hrm.roster_records import (
    COLLEAGUES,
    IN_CONFLICT,
    MOST_COLLEAGUES,
    NOT_AGREED,
    NOTHING_TO_SWAP,
    ROSTER_CHANGED,
    ROSTERS,
    SWAP_ASKED,
    SWAP_OF_OTHERS,
)
from plugins.hrm.rosters import attends, refuse_far, row_of
from plugins.hrm.timetable import Calendar

_ONE_DAY = timedelta(days=1)
_People = tuple[Employee, Employee]
_Calendars = Mapping[RecordId, Calendar]
SWAP_REFUSALS = conflicts(NOT_ATTENDED_THEN, NOTHING_TO_SWAP, NOT_AGREED, ROSTER_CHANGED, *IN_CONFLICT.values())


async def measure_swap(req: Request, employee: Employee, values: ReadOnlyRecord) -> Record:
    """Return what follows from a swap: its time, and what is exchanged. The other person has to agree anew.

    Raises 40001 for a day that is missing or out of range, and for another person who is missing or the same.
    """
    for name in ("day", "swap_with"):
        if values.get(name) is None:
            raise invalid(name, "required")
    days = _days_of(values)
    for name, day in zip(("day", "swap_day"), days, strict=True):
        refuse_far(req, day, name)
    asked = {"_id": values["swap_with"]}
    other = await req.system_store(EMPLOYEES).find_one({"$and": [asked, _colleagues_of(employee)]})
    other = other or await req.store(EMPLOYEES).find_one(asked)
    if other is None or other["id"] == employee["id"]:
        raise invalid("swap_with", "reference" if other is None else "invalid")
    await refuse_closed(req.service, min(days), employee["id"], other["id"])
    zone, calendars = req.service.settings.zone, await _load(req.service, (employee, other), days)
    return {
        "swap_day": days[1].isoformat(),
        "starts_at": start_of(min(days), zone),
        "ends_at": start_of(max(days) + _ONE_DAY, zone),
        "minutes": None,
        "by_day_kind": None,
        "agreed_at": None,
        "exchanged": _exchange(calendars, (employee, other), days),
    }


def _days_of(request: ReadOnlyRecord) -> tuple[date, date]:
    """Return the two days of a swap, which may be the same."""
    return date.fromisoformat(request["day"]), date.fromisoformat(request.get("swap_day") or request["day"])


async def _load(service: Service, people: _People, days: Sequence[date]) -> _Calendars:
    """Return the calendars of the two people. Raises 40901 if one of them does not attend on one of the days."""
    calendars = await load_calendars(service, people)
    if not all(attends(one, calendars[one["id"]], day) for one in people for day in days):
        raise ApiError(CONFLICT, NOT_ATTENDED_THEN)
    return {id: one for id, one in calendars.items() if one is not None}


def _exchange(calendars: _Calendars, people: _People, days: Sequence[date]) -> list[Record]:
    """Return what the two people have on the days. Raises 40901 if they have the same."""
    found = [
        {"employee_id": one["id"], "day": day.isoformat(), "shift_id": calendars[one["id"]].shift_of(day)}
        for day in sorted(set(days))
        for one in people
    ]
    if all(one["shift_id"] == other["shift_id"] for one, other in zip(found[::2], found[1::2], strict=True)):
        raise ApiError(CONFLICT, NOTHING_TO_SWAP)
    return found


async def refuse_swap(service: Service, request: ReadOnlyRecord) -> _People:
    """Return the two people, who are locked until the transaction ends.

    Raises 40901 for a closed day, without the other one's consent, if the rosters have changed, and for conflicts.
    """
    people, days = await _lock(service, request), _days_of(request)
    await refuse_closed(service, min(days), *(one["id"] for one in people))
    if request.get("agreed_at") is None and request.get("entered_by") is None:
        raise ApiError(CONFLICT, NOT_AGREED)
    calendars = await _load(service, people, days)
    if _exchange(calendars, people, days) != request["exchanged"]:
        raise ApiError(CONFLICT, ROSTER_CHANGED)
    swapped = dict(_swapped(calendars, people, days))
    refuse_conflicts(await find_conflicts(service, people, {one["id"]: set(days) for one in people}, swapped))
    return people


async def _lock(service: Service, request: ReadOnlyRecord) -> _People:
    ids = (request["employee_id"], request["swap_with"])
    for id in sorted(ids, key=str):
        await lock(service, id)
    one, other = [await service.database.store(EMPLOYEES).get(id) for id in ids]
    return one, other


def _swapped(calendars: _Calendars, people: _People, days: Sequence[date]) -> Iterator[tuple[RecordId, Calendar]]:
    """Yield the calendars of the two people as they are after the swap."""
    for one, other in (people, people[::-1]):
        own, theirs = calendars[one["id"]], calendars[other["id"]]
        taken = {day: theirs.timetable_of(day) if theirs.works_on(day) else None for day in days}
        yield one["id"], replace(own, rostered={**own.rostered, **taken})


async def apply_swap(service: Service, request: EmployeeRequest, now: datetime) -> None:
    """Write the rosters of an approved swap, or take them back if it is cancelled, and compute what follows.

    Raises 40901 as `refuse_swap`; and if the rosters that it made have changed since.
    """
    if request["status"] == "cancelled":
        people = await _lock(service, request)
        await _take_back(service, request, people)
    else:
        people = await refuse_swap(service, request)
        await _write(service, request, people)
    await _compute(service, people, _days_of(request), now)


async def _write(service: Service, request: EmployeeRequest, people: _People) -> None:
    calendars, store = await _load(service, people, _days_of(request)), service.database.store(ROSTERS)
    exchanged = request["exchanged"] or []
    by_id = {one["id"]: one for one in people}
    for one, other in zip(exchanged[::2], exchanged[1::2], strict=True):
        for whose, shift_id in ((one["employee_id"], other["shift_id"]), (other["employee_id"], one["shift_id"])):
            row = row_of(by_id[whose], calendars[whose], date.fromisoformat(one["day"]), shift_id)
            row["request_id"] = request["id"]
            there = await store.find_one({"employee_id": whose, "day": one["day"]})
            await (store.create(row) if there is None else store.update(there["id"], row))


async def _take_back(service: Service, request: EmployeeRequest, people: _People) -> None:
    await refuse_closed(service, min(_days_of(request)), *(one["id"] for one in people))
    calendars, store = await load_calendars(service, people), service.database.store(ROSTERS)
    exchanged = request["exchanged"] or []
    made = {(row["employee_id"], row["day"]): row for row in await store.find({"request_id": request["id"]})}
    if len(made) < len(exchanged):
        raise ApiError(CONFLICT, ROSTER_CHANGED)
    for one in exchanged:
        row, calendar = made[one["employee_id"], one["day"]], calendars[one["employee_id"]]
        usual = replace(calendar, rostered={}) if calendar is not None else None
        # what the group has anyway needs no roster
        if usual is not None and usual.shift_of(date.fromisoformat(one["day"])) == one["shift_id"]:
            await store.delete(row["id"])
        else:
            await store.update(row["id"], {"shift_id": one["shift_id"], "request_id": None})


async def _compute(service: Service, people: _People, days: Sequence[date], now: datetime) -> None:
    """Count leave and the results of the days and those beside them anew."""
    zone = service.settings.zone
    first, last = min(days) - _ONE_DAY, max(days) + _ONE_DAY
    await recount(service, people, (start_of(first, zone), start_of(last + 2 * _ONE_DAY, zone)))
    until = min(last, day_of(now, zone) + _ONE_DAY)  # an early shift of tomorrow may have begun
    calendars = await load_calendars(service, people)
    for one in people:
        calendar = calendars[one["id"]]
        if calendar is not None:
            await recompute(service, one, calendar, await find_open_day(service, first, one["id"]), until, now)


async def ask_colleague(req: Request, request: EmployeeRequest) -> None:
    """Notify the other person of a swap that waits for their consent."""
    other = await req.system_store(EMPLOYEES).get(request["swap_with"])
    if other["user_id"] is None:
        return
    title = SWAP_ASKED.filled(name=request["employee_name"], day=request["day"])
    about = {"link": "/hrm/requests", "data": {"request_id": str(request["id"])}}
    await req.emit(
        NOTIFY, user_ids=[other["user_id"]], kind="swap_request", title=title, body=request["reason"], **about
    )


def _colleagues_of(employee: Employee) -> dict[str, Any]:
    """Return the filter on those who are in the same attendance group or department."""
    shared = ({name: employee[name]} for name in ("attendance_group_id", "department_id") if employee[name] is not None)
    return {"_id": {"$ne": employee["id"]}, "$or": [*shared] or [{"_id": None}]}


async def list_colleagues(req: Request) -> Record:
    """Return with whom the caller, or the employee of the query, can swap shifts without seeing their records."""
    id = req.query.get("employee_id")
    if id:
        employee = await req.store(EMPLOYEES).find_one({"_id": id})
    else:
        employee = await find_employee(req.service, req.actor.user_id)
    if employee is None:
        return {"items": []}
    today = day_of(req.now, req.service.settings.zone).isoformat()
    employed = {"attendance_group_id": {"$ne": None}, "$or": [{"left_on": None}, {"left_on": {"$gte": today}}]}
    asked = {"$and": [_colleagues_of(employee), employed]}
    found = await req.system_store(EMPLOYEES).find(asked, sort="number", limit=MOST_COLLEAGUES)
    return {"items": [{name: one[name] for name in ("id", "number", "name")} for one in found]}


async def list_swaps(req: Request) -> Page:
    """Return a page of the swaps that others have asked the caller for."""
    employee = await find_employee(req.service, req.actor.user_id)
    asked = {"kind": "swap", "swap_with": employee["id"] if employee is not None else None}
    return await req.system_store(REQUESTS).page(req.query, asked)


async def agree(req: Request) -> EmployeeRequest:
    """Agree to a swap with the caller, which its applicant can submit then. Raises 40901 if it is no draft."""
    employee = await find_employee(req.service, req.actor.user_id)
    requests = req.system_store(REQUESTS)
    found = await requests.get(req.path["id"])
    if found["kind"] != "swap" or employee is None or found["swap_with"] != employee["id"]:
        raise ApiError(NOT_FOUND)
    # of that version: what was exchanged must not have changed since
    where = {"status": "draft", "agreed_at": None, "version": found["version"]}
    return await requests.update(found["id"], {"agreed_at": req.now}, where=where, reason=NOT_IN_STATE)


ROUTES: tuple[Route, ...] = (
    route(
        "GET /api/v1/hrm/requests/colleagues",
        list_colleagues,
        summary="List with whom I can swap shifts",
        title=("可换班的同事", "Colleagues"),
        access=SIGNED_IN,
        query={"employee_id": object_id(ref=EMPLOYEES.name, nullable=False, description="The caller unless given.")},
        returns=COLLEAGUES,
        collection=EMPLOYEES.name,
    ),
    route(
        "GET /api/v1/hrm/requests/swaps",
        list_swaps,
        summary="List the swaps of shifts that others have asked me for",
        title=("找我换班", "Swaps with me"),
        access="hrm:request:submit",
        query=REQUESTS.list_query,
        returns=REQUESTS.read,
        paged=True,
    ),
    route(
        "POST /api/v1/hrm/requests/swaps/{id}/agree",
        agree,
        summary="Agree to a swap of shifts",
        effect=("同意后，申请人可以提交换班申请。", "The applicant can then submit the swap."),
        title=("同意换班", "Agree"),
        access="hrm:request:submit",
        returns=REQUESTS.read,
        fits={"status": ("draft",), "agreed_at": False},
        refusals=(Refusal(NOT_FOUND, hint=SWAP_OF_OTHERS), *conflicts(NOT_IN_STATE)),
    ),
)
