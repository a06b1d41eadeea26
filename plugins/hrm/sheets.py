"""Agreement on the sheets of a month: asked of all who attend, answered by each, and void once a figure changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from plugins.api import (
    CONFLICT,
    FORBIDDEN,
    NOTIFY,
    Action,
    ApiError,
    Record,
    Refusal,
    Request,
    Route,
    Service,
    Step,
    conflicts,
    crud,
    day_of,
    route,
    tables,
    transitions,
)
from plugins.api.data import Filter
from plugins.api.values import ReadOnlyRecord, RecordId
from plugins.hrm.assignments import find_assigned, load_timelines
from plugins.hrm.closing import ClosedDays
from plugins.hrm.messages import (
    NOT_AGREED_YET,
    NOT_OVER,
    OWN_ENTRY,
    SHEET_ASKED,
    SHEET_CHANGED,
    SHEET_OF_OTHERS,
)
from plugins.hrm.month_figures import load_figures, month_range
from plugins.hrm.record_types import AttendanceSheet, Employee
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.sheet_records import ASK_BODY, ASKED, ENTERED, OBJECTION, REQUIRE_AGREEMENT, SHEET_STATES, SHEETS
from plugins.system.api import Configs

_AT_ONCE = 200  # people in a transaction
_MOST_MONTHS = 12
_SILENT = ("open", "changed")
_REMINDED_AFTER = timedelta(hours=1)


async def find_attending(service: Service, month: str, group_ids: Sequence[RecordId] | None = None) -> Filter:
    """Return the filter on the employees who attend in a month; with groups, on their members at its end."""
    first, last = month_range(month)
    then = first if group_ids is None else last
    group = {"$ne": None} if group_ids is None else {"$in": list(group_ids)}
    ids = await find_assigned(service, {"group_id": group, "from": {"$lte": last}, "to": {"$not": {"$lt": then}}})
    begun = {"hired_on": {"$lte": last}, "attends_from": {"$not": {"$gt": last}}}
    return {"_id": {"$in": ids}, **begun, "$or": [{"left_on": None}, {"left_on": {"$gte": first}}]}


async def refresh(service: Service, employee: Employee, months: Iterable[str] | None, now: datetime) -> None:
    """Bring the sheets of an employee for these months, or all, up to date, within the caller's transaction.

    An answer to figures that have changed no longer counts, and the employee is told.
    """
    if months is not None:
        current = day_of(now, service.settings.zone).isoformat()[:7]
        months = [month for month in set(months) if month < current]  # others are over first
        if not months:
            return
    store = service.database.store(SHEETS, now=now)
    of_months = {"month": {"$in": months}} if months is not None else {}
    for sheet in await store.find({"employee_id": employee["id"], **of_months}):
        figures = (await load_figures(service, [employee["id"]], sheet["month"]))[employee["id"]]
        person = _person(employee)
        changed = _differ(sheet, figures)
        if changed or _differ(sheet, person):
            void = changed and SHEET_STATES.permits(sheet, "change")
            state = {"status": SHEET_STATES.after("change")} if void else {}
            await store.update(sheet["id"], {**person, **figures, **state})
            if void:
                await _notify(service, [employee["user_id"]], SHEET_CHANGED, sheet["month"])


def _person(employee: Employee) -> Record:
    return {"employee_name": employee["name"], "user_id": employee["user_id"]}


def _differ(sheet: ReadOnlyRecord, values: Mapping[str, Any]) -> bool:
    return any(sheet.get(name) != value for name, value in values.items())


async def _notify(service: Service, user_ids: Sequence[int | None], words: Any, month: str) -> None:
    known = [id for id in user_ids if id is not None]
    about: Record = {"body": None, "link": "/hrm/attendance-sheets", "data": {"month": month}}
    if known:
        message = {"kind": "attendance_result", "title": words.filled(month=month), **about}
        await service.events.emit(NOTIFY, {"user_ids": known, **message})


async def count_not_agreed(
    service: Service, day: str, before: ClosedDays, employee_ids: Sequence[RecordId] | None
) -> int:
    """Return how many sheets of the months that closing up to a day completes are not agreed on.

    `before`: the closed days so far. `employee_ids`: only theirs.
    """
    closed = [before.of_everyone] if employee_ids is None else [before.of(id) for id in employee_ids]
    since = min((one.isoformat() if one else "" for one in closed), default="")
    missing = 0
    for month in _months_between(since, day):
        theirs: Filter = {"_id": {"$in": list(employee_ids)}} if employee_ids is not None else {}
        attending = {"$and": [await find_attending(service, month), theirs]}
        ids = {one["id"] for one in await service.database.store(EMPLOYEES).find(attending, fields=["id"])}
        agreed = {"month": month, "status": "agreed"}
        rows = await service.database.store(SHEETS).find(agreed, fields=["employee_id"])
        missing += len(ids - {row["employee_id"] for row in rows})
    return missing


def _months_between(closed: str, day: str) -> list[str]:
    """Return the months that end after a closed day and up to another; only the last if none was closed before."""
    months: list[str] = []
    month = day[:7] if month_range(day[:7])[1] == day else _before(day[:7])
    while month_range(month)[1] > closed and len(months) < (_MOST_MONTHS if closed else 1):
        months.append(month)
        month = _before(month)
    return months


def _before(month: str) -> str:
    return (date.fromisoformat(f"{month}-01") - timedelta(days=1)).isoformat()[:7]


async def refuse_not_agreed(service: Service, missing: int) -> None:
    """Raise 40901 for sheets that are not agreed on, if the company requires it."""
    if missing and await service.part(Configs).value(REQUIRE_AGREEMENT):
        raise ApiError(CONFLICT, NOT_AGREED_YET.filled(count=missing))


async def ask(req: Request) -> Record:
    """Make the sheets of a month for the visible employees who attend, and notify those who have not answered.

    Raises 40901 for a month that is not over.
    """
    month = req.body["month"]
    last = month_range(month)[1]
    if last >= day_of(req.now, req.service.settings.zone).isoformat():
        raise ApiError(CONFLICT, NOT_OVER.filled(day=last))
    attending = await find_attending(req.service, month, req.body.get("group_ids"))
    employees = await req.store(EMPLOYEES).find(attending, sort="id")
    told = {"people": len(employees), "created": 0, "notified": 0}
    for start in range(0, len(employees), _AT_ONCE):
        some = employees[start : start + _AT_ONCE]
        created, notified = await req.transaction(partial(_ask, req, month, some))
        told["created"] += created
        told["notified"] += notified
    return told


async def _ask(req: Request, month: str, employees: Sequence[Employee]) -> tuple[int, int]:
    store, ids = req.system_store(SHEETS), [one["id"] for one in employees]
    of_month = {"employee_id": {"$in": ids}, "month": month}
    known = {sheet["employee_id"] for sheet in await store.find(of_month, fields=["employee_id"])}
    if new := [one for one in employees if one["id"] not in known]:
        await _create(req, month, new)
    silent = {**of_month, "status": {"$in": [*_SILENT]}, "asked_at": {"$not": {"$gt": req.now - _REMINDED_AFTER}}}
    asked = [sheet["user_id"] for sheet in await store.find(silent) if sheet["user_id"] is not None]
    await store.update_many(silent, {"$set": {"asked_at": req.now}}, unversioned=True)
    await _notify(req.service, asked, SHEET_ASKED, month)
    return len(new), len(asked)


async def _create(req: Request, month: str, employees: Sequence[Employee]) -> None:
    figures = await load_figures(req.service, [one["id"] for one in employees], month)
    timelines, last = await load_timelines(req.service, employees), month_range(month)[1]
    await req.system_store(SHEETS).create_many(
        [
            {
                **{"employee_id": one["id"], **_person(one), "month": month, "status": SHEET_STATES.initial},
                "department_id": timelines[one["id"]].values_on(last)["department_id"],
                **figures[one["id"]],
            }
            for one in employees
        ]
    )


async def _refuse_others(step: Step[AttendanceSheet]) -> None:
    if step.record["user_id"] != step.by:
        raise ApiError(FORBIDDEN, SHEET_OF_OTHERS)


async def _refuse_own(step: Step[AttendanceSheet]) -> None:
    if step.record["user_id"] == step.by:
        raise ApiError(CONFLICT, OWN_ENTRY)


def _answer(step: Step[AttendanceSheet]) -> Record:
    answered = {"answered_at": step.now, "answered_by": step.by}
    return {**answered, "reason": step.reason, "note": step.body.get("note")}


def _choose(step: Step[AttendanceSheet]) -> str:
    return str(step.body["answer"])


_OF_OTHERS = (Refusal(FORBIDDEN, SHEET_OF_OTHERS),)
ROUTES: tuple[Route, ...] = (
    *crud(SHEETS, at="/api/v1/hrm/attendance/sheets", resource="hrm:attendance-sheet", only=("list", "read")),
    *tables(SHEETS, at="/api/v1/hrm/attendance/sheets", resource="hrm:attendance", only=("export",)),
    *transitions(
        SHEETS,
        Action(
            "POST /api/v1/hrm/attendance/sheets/{id}/agree",
            access="hrm:attendance:punch",
            summary="Agree on my sheet of a month",
            fits={"user_id": "caller"},
            before=_refuse_others,
            values=_answer,
            refusals=_OF_OTHERS,
        ),
        Action(
            "POST /api/v1/hrm/attendance/sheets/{id}/object",
            access="hrm:attendance:punch",
            summary="Object to my sheet of a month",
            fits={"user_id": "caller"},
            body=OBJECTION,
            before=_refuse_others,
            values=_answer,
            refusals=_OF_OTHERS,
        ),
        Action(
            "POST /api/v1/hrm/attendance/sheets/{id}/enter",
            access="hrm:attendance-closing:agreement",
            does=("agree", "object"),
            choose=_choose,
            title=("代录答复", "Enter the answer"),
            summary="Enter what another employee has answered to their sheet",
            fits={"user_id": "others"},
            body=ENTERED,
            before=_refuse_own,
            values=_answer,
            refusals=conflicts(OWN_ENTRY),
        ),
    ),
    route(
        "POST /api/v1/hrm/attendance/sheets/ask",
        ask,
        summary="Ask employees to agree on their sheets of a month",
        title=("发起或催办确认", "Ask or remind"),
        access="hrm:attendance-closing:agreement",
        body=ASK_BODY,
        returns=ASKED,
        collection=SHEETS.name,
        refusals=conflicts(NOT_OVER),
        description="Makes a sheet for each visible employee who attends in the month and has none, and notifies those "
        "with an account who have not answered. Nobody is notified twice within an hour, so asking again goes on where a "
        "time limit has cut it.",
    ),
)
