"""The figures of an employee's month: summed from daily results, and the differences that became known of closed days."""

from __future__ import annotations

from calendar import monthrange
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from plugins.api import (
    Collection,
    Field,
    Record,
    Service,
    array,
    exact,
    integer,
    mapping,
    number,
    obj,
    quantity,
    service_fields,
    text,
)
from plugins.api.data import Filter
from plugins.api.values import RecordId, rounded, store_quantity
from plugins.hrm.attendance_records import DAYS
from plugins.hrm.closing_records import CORRECTIONS
from plugins.hrm.leave_types import load_types
from plugins.hrm.request_records import DAY_KIND
from plugins.hrm.texts import LEAVE_TYPE

MONTH = text(
    label=("月份", "Month"),
    min_length=7,
    max_length=7,
    pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])$",
    example="2026-11",
)
_COUNT = integer(minimum=0)
_RECORDED = " Null if a day of the month was closed before this was recorded."
_HOURS = quantity(nullable=False)
_OVERTIME = {one.value: _HOURS.but(label=one.label) for one in DAY_KIND.items}
FIGURES: Mapping[str, Field] = {
    **service_fields(
        working_days=_COUNT.but(label=("应出勤天数", "Working days"), description="Working days so far."),
        present=_COUNT.but(label=("出勤天数", "Days present"), description="Working days on which the employee came."),
        late=_COUNT.but(label=("迟到天数", "Days late"), description="Days with late arrival."),
        early_leave=_COUNT.but(label=("早退天数", "Days with early leave"), description="Days with early departure."),
        missed=_COUNT.but(
            label=("缺卡天数", "Days with a missed punch"),
            description="Days on which the punch for arrival or departure is missing.",
        ),
        absent=number(label=("旷工天数", "Days absent"), minimum=0, description="In half days, without leave."),
        leave=number(label=("请假天数", "Days of leave"), minimum=0, description="In half days."),
        late_minutes=_COUNT.but(label=("迟到分钟数", "Late minutes")),
        early_minutes=_COUNT.but(label=("早退分钟数", "Early-leave minutes")),
        trip_days=_COUNT.but(label=("出差天数", "Days of trips"), description="Working days with a business trip."),
        outside_days=_COUNT.but(label=("外出天数", "Days of outside duty")),
        rest_days_worked=_COUNT.but(
            label=("休息日出勤天数", "Days of rest worked"), description="Days of rest and holidays with `hours`."
        ),
    ),
    "hours": quantity(
        label=("工作小时数", "Hours worked"),
        read_only=True,
        description="From the first punch of a day to the last, without the break and leave." + _RECORDED,
    ),
    "overtime": quantity(
        label=("休息日工作小时数", "Overtime"),
        read_only=True,
        description="The part of `hours` on days of rest and holidays." + _RECORDED,
    ),
    "overtime_paid": obj(
        "OvertimePaid",
        _OVERTIME,
        label=("加班费小时数", "Paid overtime"),
        read_only=True,
        description="Approved overtime that is paid, and shifts on holidays if they are overtime in the group, in hours by "
        "the kind of day.",
    ),
    "overtime_compensatory": obj(
        "OvertimeCompensatory",
        _OVERTIME,
        label=("调休加班小时数", "Compensatory overtime"),
        read_only=True,
        description="Approved overtime for which there is time off in lieu, in hours by the kind of day.",
    ),
    "overtime_unproven": quantity(
        label=("无打卡佐证的加班小时数", "Overtime without punches"),
        read_only=True,
        description="The part of approved overtime that punches do not show; it counts all the same.",
    ),
    "leave_by_type": obj(
        "LeaveByType",
        {one.value: quantity(label=one.label, nullable=False) for one in LEAVE_TYPE.items},
        label=("各类请假天数", "Leave by type"),
        read_only=True,
        description="`leave` by type." + _RECORDED,
    ),
    "leave_by_own_type": mapping(
        quantity(nullable=False),
        label=("自定义假期天数", "Leave by own type"),
        dictionary=LEAVE_TYPE.type,
        read_only=True,
        description="`leave` of the types that the company has added, by their codes." + _RECORDED,
    ),
    "leave_hours_by_type": obj(
        "LeaveHoursByType",
        {one.value: quantity(label=one.label, nullable=False) for one in LEAVE_TYPE.items},
        label=("各类请假小时数", "Leave hours by type"),
        read_only=True,
        description="The working hours of leave by type." + _RECORDED,
    ),
    "leave_hours_by_own_type": mapping(
        quantity(nullable=False),
        label=("自定义假期小时数", "Leave hours by own type"),
        dictionary=LEAVE_TYPE.type,
        read_only=True,
        description="The working hours of leave of the types that the company has added, by their codes." + _RECORDED,
    ),
}


def _signed(field: Field) -> Field:
    return field.but(rules={rule: value for rule, value in field.rules.items() if rule != "minimum"})


DIFFERENCES = array(
    obj(
        "AttendanceDifference",
        {
            "month": text(label=("所属月份", "Of month"), nullable=False, example="2026-10"),
            **{name: _signed(field) for name, field in FIGURES.items()},
        },
    ),
    label=("以前月份差异", "Differences of earlier days"),
    read_only=True,
    nullable=False,
    description="What became known in the month of days that were closed: the figures by which those days "
    "differ from what was known before, by month. Empty with `as=known`, which has them in their own months.",
)
# the condition on the daily results that each column counts
_COUNTED: Mapping[str, Mapping[str, Any]] = {
    "working_days": {"$ne": ["$status", "rest"]},
    "present": {"$in": ["$status", ["normal", "late", "early_leave", "missed"]]},
    "late": {"$gt": ["$late_minutes", 0]},
    "early_leave": {"$gt": ["$early_minutes", 0]},
    "missed": {"$eq": ["$status", "missed"]},
    "trip_days": {"$eq": ["$duty", "trip"]},
    "outside_days": {"$eq": ["$duty", "outside"]},
    "rest_days_worked": {"$and": [{"$eq": ["$status", "rest"]}, {"$gt": ["$worked_minutes", 0]}]},
    "unrecorded": {"$eq": [{"$ifNull": ["$worked_minutes", None]}, None]},
    "without_hours": {
        "$and": [
            {"$eq": [{"$ifNull": ["$leave_minutes_by_type", None]}, None]},
            {"$or": [{"$gt": ["$leave_days", 0]}, {"$eq": ["$status", "leave"]}]},
        ]
    },
}
_NOT_LEAVE = {"$max": [0, {"$subtract": [1, {"$ifNull": ["$leave_days", 0]}]}]}
_MINUTES = {"overtime_paid": "$overtime_minutes", "overtime_compensatory": "$compensatory_minutes"}
_SUMMED: Mapping[str, Any] = {
    "late_minutes": "$late_minutes",
    "early_minutes": "$early_minutes",
    "absent": {"$cond": [{"$eq": ["$status", "absent"]}, _NOT_LEAVE, 0]},
    "leave": {"$ifNull": ["$leave_days", {"$cond": [{"$eq": ["$status", "leave"]}, 1, 0]}]},
    "hours": "$worked_minutes",
    "overtime": {"$cond": [{"$eq": ["$status", "rest"]}, "$worked_minutes", 0]},
    "overtime_unproven": "$unproven_minutes",
    **{
        f"{name}_{kind}": {"$cond": [{"$eq": ["$overtime_day", kind]}, minutes, 0]}
        for name, minutes in _MINUTES.items()
        for kind in _OVERTIME
    },
}
_INTEGERS = (*(name for name in _COUNTED if name in FIGURES), "late_minutes", "early_minutes")
_BUILT_IN = tuple(one.value for one in LEAVE_TYPE.items)
# the sums of an employee for a month, by these two
_Sums = dict[tuple[RecordId, str], dict[str, Decimal]]


async def load_figures(
    service: Service, employee_ids: Sequence[RecordId], month: str, *, known: bool = False
) -> dict[RecordId, Record]:
    """Return the figures and `differences` of employees for a month, by their ids.

    `known`: closed days as they are known now instead of as they were paid; then there are no differences.
    """
    types = [*_BUILT_IN, *(code for code in await load_types(service) if code not in _BUILT_IN)]
    first, last = month_range(month)
    theirs, within = {"employee_id": {"$in": list(employee_ids)}}, {"$gte": first, "$lte": last}
    sums, differences = await _sum(service, DAYS, {**theirs, "day": within}, types), _Sums()
    if known:
        _add(sums, await _sum(service, CORRECTIONS, {**theirs, "day": within}, types))
    else:
        differences = await _sum(service, CORRECTIONS, {**theirs, "booked_on": within}, types)
    by_employee: dict[RecordId, list[Record]] = defaultdict(list)
    for (id, of_month), changed in sorted(differences.items(), key=lambda one: one[0][1]):
        if any(changed.values()):
            by_employee[id].append({"month": of_month, **_build_figures(changed, types)})
    return {
        id: {**_build_figures(sums.get((id, month), {}), types), "differences": by_employee[id]} for id in employee_ids
    }


def month_range(month: str) -> tuple[str, str]:
    """Return the first and the last day of a month."""
    first = date.fromisoformat(f"{month}-01")
    return first.isoformat(), first.replace(day=monthrange(first.year, first.month)[1]).isoformat()


async def _sum(service: Service, source: Collection[Any], where: Filter, types: Sequence[str]) -> _Sums:
    """Return the sums of daily results, or by how much corrections change them, also of leave of these types."""
    counted = {name: {"$cond": [condition, 1, 0]} for name, condition in _COUNTED.items()}
    of_types = {
        f"{field}_{code}": f"${stored}.{code}"
        for field, stored in (("days_of", "leave_by_type"), ("minutes_of", "leave_minutes_by_type"))
        for code in types
    }
    summed = {**counted, **_SUMMED, **of_types}
    sign = "$sign" if source is CORRECTIONS else 1
    month = {"employee_id": "$employee_id", "month": {"$substrBytes": ["$day", 0, 7]}}
    rows = await service.database.store(source).aggregate(
        [
            {"$match": where},
            *(_BOTH_RESULTS if source is CORRECTIONS else ()),
            {"$group": {"_id": month, **{name: {"$sum": {"$multiply": [of, sign]}} for name, of in summed.items()}}},
        ]
    )
    return {
        (row["_id"]["employee_id"], row["_id"]["month"]): {name: _decimal(row[name]) for name in summed} for row in rows
    }


# what was known before is taken away from a sum, and what is known now added to it
_BOTH_RESULTS: Sequence[Mapping[str, Any]] = (
    {"$set": {"result": [{"is": "$after", "sign": 1}, {"is": "$before", "sign": -1}]}},
    {"$unwind": "$result"},
    {"$match": {"result.is.status": {"$ne": None}}},
    {
        "$replaceRoot": {
            "newRoot": {
                "$mergeObjects": ["$result.is", {"employee_id": "$employee_id", "day": "$day", "sign": "$result.sign"}]
            }
        }
    },
)


def _add(sums: _Sums, more: _Sums) -> None:
    for key, differences in more.items():
        known = sums.setdefault(key, {})
        for name, value in differences.items():
            known[name] = known.get(name, Decimal(0)) + value


def _build_figures(sums: Mapping[str, Decimal], types: Sequence[str]) -> Record:
    def hours(name: str) -> Any:
        return store_quantity(rounded(sums.get(name, Decimal(0)) / 60))

    recorded, with_hours = not sums.get("unrecorded"), not (sums.get("unrecorded") or sums.get("without_hours"))
    days = {code: store_quantity(sums.get(f"days_of_{code}", Decimal(0))) for code in types}
    hours_of = {code: hours(f"minutes_of_{code}") for code in types}
    return {
        **{name: int(sums.get(name, 0)) for name in _INTEGERS},
        **{name: float(sums.get(name, 0)) for name in ("absent", "leave")},
        **{name: hours(name) if recorded else None for name in ("hours", "overtime")},
        **{name: {kind: hours(f"{name}_{kind}") for kind in _OVERTIME} for name in _MINUTES},
        "overtime_unproven": hours("overtime_unproven"),
        **_split("leave_by", days, recorded),
        **_split("leave_hours_by", hours_of, with_hours),
    }


def _split(name: str, amounts: Mapping[str, Any], recorded: bool) -> Record:
    """Return the amounts of the types that every company has, and those of a company's own that are not zero."""
    own = {code: amount for code, amount in amounts.items() if code not in _BUILT_IN and exact(amount)}
    built_in = {code: amounts[code] for code in _BUILT_IN}
    return {f"{name}_type": built_in if recorded else None, f"{name}_own_type": own if recorded else None}


def _decimal(summed: Any) -> Decimal:
    """Return a sum of MongoDB, which is an integer if it had nothing else to add."""
    return Decimal(summed) if isinstance(summed, int) else exact(summed)
