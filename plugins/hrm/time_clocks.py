"""Punches of time clocks: sent one by one, or imported as a table of employees and times."""

from __future__ import annotations

from plugins.api import (
    Collection,
    Index,
    Message,
    Request,
    Route,
    conflicts,
    object_id,
    route,
    shape,
    tables,
    timestamp,
)
from plugins.hrm.attendance_records import PUNCHES
from plugins.hrm.entries import REFUSES_PUNCHES, store_punch
from plugins.hrm.record_types import Punch
from plugins.hrm.records import AFTER_CLOSING, EMPLOYEES, PLACES

_STORED = ("id", "employee_id", "at", "day")
# a row of a table, and what a time clock sends; nothing is stored in this shape
TIME_CLOCK_PUNCHES = Collection(
    name=PUNCHES.name,
    title="TimeClockPunch",
    noun=Message("考勤机打卡", "punch of a time clock"),
    plain=True,
    fields={
        "employee_id": object_id(ref=EMPLOYEES.name, label=("员工", "Employee"), required=True),
        "at": timestamp(
            past=True,
            label=("打卡时间", "Punched at"),
            required=True,
            example="2026-11-20T01:00:00.000Z",
            description="By the clock. In a table without a zone: in the business time zone.",
        ),
        "place_id": object_id(ref=PLACES.name, label=("打卡地点", "Place")),
        **{name: PUNCHES.fields[name] for name in ("device_id", "remark")},
        **AFTER_CLOSING,
    },
    # by which a dry run finds rows that are twice in a table
    indexes=(Index("employee_id", "at", unique=True),),
)


async def record(req: Request) -> Punch:
    """Store a punch that a time clock has recorded. It counts, and the result of its day is recomputed.

    Raises 40901 for one that is known, 40001 for a time in the future or more than a year ago.
    """
    about = {name: req.body.get(name) for name in ("place_id", "device_id", "remark")}
    return await store_punch(req, {**about, "method": "clock"})


ROUTES: tuple[Route, ...] = (
    route(
        "POST /api/v1/hrm/punches/time-clock",
        record,
        summary="Store a punch that a time clock has recorded",
        access="hrm:punch:import",
        body=TIME_CLOCK_PUNCHES.create,
        returns=shape("TimeClockPunchStored", **{name: PUNCHES.all_fields[name] for name in _STORED}),
        collection=PUNCHES.name,
        refusals=conflicts(*REFUSES_PUNCHES),
        description="A punch of the same minute, however it was made, is not stored twice.",
    ),
    *tables(TIME_CLOCK_PUNCHES, at="/api/v1/hrm/punches", resource="hrm:punch", only=("import",)),
)
