"""What approved requests make of days: punches that were missing, presence elsewhere, overtime.

They stay requests: punches are what people made. Only the daily results contain their effects, so what is cancelled
leaves no trace in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import cast
from zoneinfo import ZoneInfo

from plugins.api import Record, Service
from plugins.api.values import ReadOnlyRecord, RecordId, start_of
from plugins.hrm.record_types import EmployeeRequest
from plugins.hrm.request_records import DAY_FIELDS, DUTIES, REQUESTS
from plugins.hrm.timetable import Calendar, DayResult, Span, minutes_since

_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Granted:
    """The approved requests of an employee."""

    requests: Sequence[EmployeeRequest] = ()

    def on(self, calendar: Calendar, day: date, zone: ZoneInfo, passed: int) -> GrantedDay:
        """Return their effects on a working day, of which `passed` minutes since its midnight are over."""
        of_day = [one for one in self.requests if _touches(calendar, day, zone, one)]
        punches = [minutes_since(one["starts_at"], day, zone) for one in of_day if one["kind"] == "correction"]
        overtime, spans = Counter[str](), list[Span]()
        for one in of_day:
            if one["kind"] == "overtime":
                overtime[str(one["compensation"])] += overtime_on(calendar, day, zone, one)
                spans += _overtime_spans(calendar, day, zone, one)
        found: Record = {
            "corrected": len(punches) or None,
            "overtime_minutes": overtime["paid"] or None,
            "compensatory_minutes": overtime["compensatory"] or None,
            "overtime_day": kind_of_day(calendar, day) if overtime.total() else None,
        }
        for one in of_day:
            if one["kind"] in DUTIES and (span := _part_of_shift(calendar, day, zone, one)) is not None:
                punches += [moment for moment in span if moment <= passed]
                found["duty"] = one["kind"]
        return GrantedDay(punches, {**dict.fromkeys(DAY_FIELDS), **found}, spans)


@dataclass(frozen=True)
class GrantedDay:
    """The effects on one day.

    `punches`: times, in minutes from midnight, at which the person counts as present. `values`: those of `DAY_FIELDS`.
    `overtime`: when it was approved to be, in minutes from midnight.
    """

    punches: Sequence[int] = ()
    values: Mapping[str, object] = field(default_factory=dict)
    overtime: Sequence[Span] = ()

    @property
    def empty(self) -> bool:
        """Whether there are none."""
        return not any(self.values.values())

    def with_holiday_shift(self, minutes: int) -> Mapping[str, object]:
        """Return the values of `DAY_FIELDS` with minutes of a shift that are overtime of a holiday."""
        total = cast(int, self.values.get("overtime_minutes") or 0) + minutes
        return {**self.values, "overtime_minutes": total, "overtime_day": "holiday"} if minutes else self.values

    def unproven(self, result: DayResult) -> int:
        """Return the minutes of overtime that are not between arrival and departure."""
        came, went = result.arrived, result.departed
        present = (came, went) if came is not None and went is not None else (0, 0)
        proven = (max(0, min(ends, present[1]) - max(begins, present[0])) for begins, ends in self.overtime)
        return sum(ends - begins for begins, ends in self.overtime) - sum(proven)


async def load_granted(service: Service, employee_id: RecordId, first: date, last: date) -> Granted:
    """Return the approved requests of an employee around these days."""
    zone = service.settings.zone
    since, until = start_of(first - _ONE_DAY, zone), start_of(last + 3 * _ONE_DAY, zone)
    lasting = {"$or": [{"ends_at": {"$gt": since}}, {"ends_at": None, "starts_at": {"$gte": since}}]}
    approved = {"employee_id": employee_id, "status": "approved", "starts_at": {"$lt": until}, **lasting}
    return Granted(await service.database.store(REQUESTS).find(approved, sort="starts_at"))


def kind_of_day(calendar: Calendar, day: date) -> str:
    """Return whether it is a `working_day`, a `rest_day` or a `holiday`, which the calendar names as a day off.

    A holiday on which the person is rostered is a working day, unless its shift is overtime.
    """
    if calendar.works_on(day) and not calendar.is_holiday_shift(day):
        return "working_day"
    return "holiday" if calendar.is_holiday(day) else "rest_day"


def overtime_by_day(calendar: Calendar, zone: ZoneInfo, request: ReadOnlyRecord) -> Counter[str]:
    """Return the minutes of overtime by the kind of day."""
    minutes = Counter[str]()
    for day in _days_of(calendar, zone, request):
        minutes[kind_of_day(calendar, day)] += overtime_on(calendar, day, zone, request)
    return minutes


def overtime_on(calendar: Calendar, day: date, zone: ZoneInfo, request: ReadOnlyRecord) -> int:
    """Return the minutes of a working day that are within the time of a request, and outside of working hours."""
    return sum(ends - begins for begins, ends in _overtime_spans(calendar, day, zone, request))


def _overtime_spans(calendar: Calendar, day: date, zone: ZoneInfo, request: ReadOnlyRecord) -> list[Span]:
    begins, ends = (minutes_since(one, day, zone) for one in _bounds(calendar, day, zone))
    since, until = (minutes_since(request[name], day, zone) for name in ("starts_at", "ends_at"))
    since, until = max(since, begins), min(until, ends)
    shift = calendar.timetable_of(day).on(day, zone)
    spans = [(since, min(until, shift.start)), (max(since, shift.end), until)] if calendar.works_on(day) else []
    return [(begins, ends) for begins, ends in spans or [(since, until)] if begins < ends]


def _days_of(calendar: Calendar, zone: ZoneInfo, request: ReadOnlyRecord) -> Iterator[date]:
    """Yield the working days that the time of a request touches."""
    day, last = (calendar.day_of(request[name].astimezone(zone)) for name in ("starts_at", "ends_at"))
    while day <= last:
        yield day
        day += _ONE_DAY


def _bounds(calendar: Calendar, day: date, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the moments between which a punch belongs to a working day."""
    starts, ends = (
        datetime.combine(one, time(), zone) + timedelta(minutes=calendar.begin_of(one)) for one in (day, day + _ONE_DAY)
    )
    return starts.astimezone(UTC), ends.astimezone(UTC)


def _touches(calendar: Calendar, day: date, zone: ZoneInfo, request: EmployeeRequest) -> bool:
    starts, ends = _bounds(calendar, day, zone)
    if request["ends_at"] is None:
        return starts <= request["starts_at"] < ends
    return request["starts_at"] < ends and request["ends_at"] > starts


def _part_of_shift(calendar: Calendar, day: date, zone: ZoneInfo, request: EmployeeRequest) -> tuple[int, int] | None:
    """Return the part of the shift during which the person is on duty elsewhere."""
    if request["ends_at"] is None or not calendar.works_on(day):
        return None
    shift = calendar.timetable_of(day).on(day, zone)
    begins = max(minutes_since(request["starts_at"], day, zone), shift.start)
    # whoever came later by flexible time leaves later too
    latest = shift.end + (shift.flexible if begins > shift.start else 0)
    ends = min(minutes_since(request["ends_at"], day, zone), latest)
    return (begins, ends) if begins < ends else None
