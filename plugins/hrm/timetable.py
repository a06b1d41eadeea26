"""Computes the result of a working day from its shift, punches and leave. These functions use no database.

Times are minutes from the midnight at which the day begins, in the business time zone; a night shift ends after 1440.
They are those of the clock in a calendar, and those that really pass on a day on which clocks may change.
Seconds are cut off: 09:00:59 is not late for 09:00.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from zoneinfo import ZoneInfo

from plugins.api.values import start_of

DAY = 1440
_REST = 8 * 60  # nobody is expected sooner after a shift, or before one
Span = tuple[int, int]


@dataclass(frozen=True)
class Timetable:
    """A shift from `start` to `end`, in minutes.

    `flexible`: how many minutes later people may arrive, if they then leave later. `grace`: how many minutes of late
    arrival or early departure are ignored. `pause`: the break, which is not working time. `shift_id`: whose hours they are.
    """

    start: int
    end: int
    flexible: int = 0
    grace: int = 0
    pause: Span | None = None
    shift_id: object = None

    @property
    def begin(self) -> int:
        """The time from which punches belong to the day: the middle of the time off before the shift."""
        return self.start - (DAY - (self.end - self.start)) // 2

    def worked(self, begins: int, ends: int) -> int:
        """Return the minutes of work between two times."""
        paused = _overlap(begins, ends, *self.pause) if self.pause else 0
        return _overlap(begins, ends, self.start, self.end) - paused

    def halves(self, begins: int, ends: int) -> int:
        """Return how many half days leave takes. A half that has begun counts, a half that is not touched does not."""
        taken = math.ceil(2 * self.worked(begins, ends) / self.worked(self.start, self.end))
        if self.pause is None:
            return taken
        touched = (self.worked(begins, min(ends, self.pause[0])), self.worked(max(begins, self.pause[1]), ends))
        return min(taken, sum(minutes > 0 for minutes in touched))

    def on(self, day: date, zone: ZoneInfo) -> Timetable:
        """Return the timetable in minutes that pass since the midnight of a day.

        Of a repeated hour it means the first. A break, and a shift within a skipped hour, are as long as on other days.
        """

        def passed(clock: int) -> int:
            return minutes_since(datetime.combine(day, time(), zone) + timedelta(minutes=clock), day, zone)

        start, end = passed(self.start), passed(self.end)
        end = end if end > start else start + self.end - self.start
        begins = passed(self.pause[0]) if self.pause else 0
        pause = (begins, begins + self.pause[1] - self.pause[0]) if self.pause else None
        return replace(self, start=start, end=end, pause=pause)


@dataclass(frozen=True)
class WorkingWeek:
    """The working time of a group: its shift, the ISO weekdays on which it works, and exceptions by day.

    `holiday_overtime`: shifts that are rostered on holidays are overtime.
    """

    timetable: Timetable
    working_days: frozenset[int]
    exceptions: Mapping[str, bool]
    holiday_overtime: bool = False

    def works_on(self, day: date) -> bool:
        """Return whether the group works on that day."""
        return self.exceptions.get(day.isoformat(), day.isoweekday() in self.working_days)


# by this week, leave of people without an attendance group is counted
OFFICE_WEEK = WorkingWeek(Timetable(9 * 60, 18 * 60, pause=(12 * 60, 13 * 60)), frozenset({1, 2, 3, 4, 5}), {})


@dataclass(frozen=True)
class Period:
    """What an employee is assigned to from a day on. `week` is None without an attendance group."""

    first: date
    week: WorkingWeek | None
    group_id: object = None
    department_id: int | None = None


@dataclass(frozen=True)
class Calendar:
    """The working time of an employee by day: `periods` are in order, and the first applies to earlier days too.

    `rostered`: the hours of single days, which come before those of the group; None for a day off. `first`, `last`: the
    days of employment.
    """

    periods: Sequence[Period]
    rostered: Mapping[date, Timetable | None] = field(default_factory=dict)
    first: date = date.min
    last: date = date.max

    @cached_property
    def _firsts(self) -> list[date]:
        return [period.first for period in self.periods[1:]]

    def period_of(self, day: date) -> Period:
        """Return the period to which a day belongs."""
        return self.periods[bisect_right(self._firsts, day)]

    def _week_of(self, day: date) -> WorkingWeek:
        return self.period_of(day).week or OFFICE_WEEK

    def attends_on(self, day: date) -> bool:
        """Return whether the employee is in an attendance group on that day."""
        return self.period_of(day).week is not None

    def works_on(self, day: date) -> bool:
        """Return whether that day is a working day; without a group, by the week of an office."""
        return self.rostered[day] is not None if day in self.rostered else self._week_of(day).works_on(day)

    def is_holiday(self, day: date) -> bool:
        """Return whether that day is named as a day off."""
        return self._week_of(day).exceptions.get(day.isoformat()) is False

    def is_holiday_shift(self, day: date) -> bool:
        """Return whether that day is a holiday on which the person is rostered, and whose shift is overtime."""
        return self.is_holiday(day) and self.works_on(day) and self._week_of(day).holiday_overtime

    def timetable_of(self, day: date) -> Timetable:
        """Return the timetable of a day, on a day off that of the group; without a group, that of an office."""
        return self.rostered.get(day) or self._week_of(day).timetable

    def shift_of(self, day: date) -> object:
        """Return the id of the shift that is worked on a day, or None on a day off."""
        return self.timetable_of(day).shift_id if self.works_on(day) else None

    def begin_of(self, day: date) -> int:
        """Return from when on punches belong to a day: the middle of the time off between its shift and the last one.

        The hours of a day off are only assumed, so they give way to the shift of the day before or after.
        """
        previous = day - timedelta(days=1)
        start, before = self.timetable_of(day).start, self.timetable_of(previous).end - DAY
        works, worked = self.works_on(day), self.works_on(previous)
        if worked and not works:
            start = max(start, before + _REST)
        elif works and not worked:
            before = min(before, start - _REST)
        return start - (start - before) // 2

    def end_of(self, day: date, zone: ZoneInfo) -> int:
        """Return the minutes that pass from the midnight at which a day begins until no more punches belong to it."""
        usual = self.timetable_of(day)
        return usual.on(day, zone).begin + DAY + self.begin_of(day + timedelta(days=1)) - usual.begin

    def day_of(self, local: datetime) -> date:
        """Return the working day to which a local time belongs."""
        day = local.date()
        minutes = local.hour * 60 + local.minute
        if minutes < self.begin_of(day):
            return day - timedelta(days=1)
        return day + timedelta(days=minutes >= self.begin_of(day + timedelta(days=1)) + DAY)

    def own_days(self, starts: datetime, ends: datetime) -> tuple[datetime, datetime]:
        """Return the local span of leave. Whole calendar days of a night shift are those on which the shift starts."""
        if starts.time() != time() or ends.time() != time():
            return starts, ends
        return self._after_night(starts), self._after_night(ends)

    def _after_night(self, midnight: datetime) -> datetime:
        day = midnight.date()
        around = (self.timetable_of(one) for one in (day - timedelta(days=1), day))
        return midnight + timedelta(minutes=self.begin_of(day) if any(one.end > DAY for one in around) else 0)


@dataclass(frozen=True)
class DayResult:
    """The result of a day: its status, arrival and departure, and the minutes of lateness and early departure."""

    status: str
    arrived: int | None = None
    departed: int | None = None
    late: int = 0
    early: int = 0


def evaluate_day(
    timetable: Timetable | None, punches: Sequence[int], leave: Iterable[Span], *, over: bool
) -> DayResult:
    """Return the result of a day so far. `timetable` is None on a day off; `leave` are the spans of approved leave.

    The first punch is the arrival, the last one the departure. A single punch is an arrival before the end of the
    shift, and a departure after it. When the day is over, missing punches make it `missed` or `absent`.
    """
    if timetable is None:
        return DayResult("rest", *_first_and_last(punches, DAY))
    start, end = get_remaining_shift(timetable, leave)
    if start >= end:
        return DayResult("leave", *_first_and_last(punches, end))
    if not punches:
        return DayResult("absent" if over else "pending")
    arrived, departed = _first_and_last(punches, end)
    late = 0 if arrived is None else _exceed_grace(arrived - _latest_arrival(timetable, start), timetable)
    early = (
        0
        if departed is None
        else _exceed_grace(_earliest_departure(timetable, start, end, arrived) - departed, timetable)
    )
    missed = over and None in (arrived, departed)
    status = "missed" if missed else "late" if late else "early_leave" if early else "normal"
    return DayResult(status, arrived, departed, late, early)


def worked_minutes(timetable: Timetable, result: DayResult, leave: Iterable[Span]) -> int:
    """Return the minutes from arrival to departure, without the break and leave; 0 unless both are known."""
    if result.arrived is None or result.departed is None:
        return 0
    minutes, since = 0, result.arrived
    for begins, ends in sorted([*leave, *([timetable.pause] if timetable.pause else ())]):
        minutes += max(0, min(begins, result.departed) - since)
        since = max(since, ends)
    return minutes + max(0, result.departed - since)


def shift_minutes(timetable: Timetable, result: DayResult, away: Iterable[Span]) -> int:
    """Return the minutes from arrival to departure that are within the shift, without the break and what is `away`.

    Whoever arrives later by flexible time works as much longer.
    """
    if result.arrived is None or result.departed is None:
        return 0
    latest = timetable.end + min(max(result.arrived - timetable.start, 0), timetable.flexible)
    arrived, departed = max(result.arrived, timetable.start), min(result.departed, latest)
    return worked_minutes(timetable, replace(result, arrived=arrived, departed=departed), away)


def get_remaining_shift(timetable: Timetable, leave: Iterable[Span]) -> Span:
    """Return the part of the shift that remains after leave at its beginning and its end; it may be empty.

    Leave that reaches the break includes the break.
    """
    start, end = timetable.start, timetable.end
    spans = sorted([*leave, *([timetable.pause] if timetable.pause else ())])
    for begins, ends in spans:
        if begins <= start:
            start = max(start, ends)
    for begins, ends in sorted(spans, key=lambda span: -span[1]):
        if ends >= end:
            end = min(end, begins)
    return start, end


def minutes_of(local: datetime, day: date) -> int:
    """Return a local time in minutes from the midnight at which `day` begins."""
    return math.floor((local.replace(tzinfo=None) - datetime.combine(day, time())) / timedelta(minutes=1))


def minutes_since(moment: datetime, day: date, zone: ZoneInfo) -> int:
    """Return the minutes that pass from the midnight at which `day` begins until a moment."""
    return math.floor((moment.astimezone(UTC) - start_of(day, zone)) / timedelta(minutes=1))


@dataclass(frozen=True)
class TakenDay:
    """What leave takes of a working day: half days, and the minutes of work that really pass."""

    day: date
    halves: int
    minutes: int


def taken_days(calendar: Calendar, starts: datetime, ends: datetime, zone: ZoneInfo) -> Iterator[TakenDay]:
    """Yield the working days of which leave takes something. Takes moments in the business time zone.

    A half day that has begun counts as a half.
    """
    starts, ends = calendar.own_days(starts, ends)
    for day in _days_between(calendar, starts, ends):
        table = calendar.timetable_of(day)
        halves = table.halves(minutes_of(starts, day), minutes_of(ends, day))
        passed = (minutes_since(moment, day, zone) for moment in (starts, ends))
        minutes = table.on(day, zone).worked(*passed)
        if halves or minutes:
            yield TakenDay(day, halves, minutes)


def begins_on(calendar: Calendar, starts: datetime, ends: datetime) -> date:
    """Return the first day of leave, or the day before if its night shift is affected. Takes local times."""
    starts, ends = calendar.own_days(starts, ends)
    day, before = starts.date(), starts.date() - timedelta(days=1)
    worked = calendar.timetable_of(before).worked(minutes_of(starts, before), minutes_of(ends, before))
    return before if worked and calendar.works_on(before) else day


def _days_between(calendar: Calendar, starts: datetime, ends: datetime) -> Iterator[date]:
    """Yield each working day of the employment that leave may touch."""
    # a night shift of the day before may reach into the first day
    day = max(starts.date() - timedelta(days=1), calendar.first)
    while day <= min(ends.date(), calendar.last):
        if calendar.works_on(day):
            yield day
        day += timedelta(days=1)


def _overlap(begins: int, ends: int, start: int, end: int) -> int:
    return max(0, min(ends, end) - max(begins, start))


def _first_and_last(punches: Sequence[int], end: int) -> tuple[int | None, int | None]:
    if len(punches) == 1:
        return (punches[0], None) if punches[0] < end else (None, punches[0])
    return (min(punches), max(punches)) if punches else (None, None)


def _latest_arrival(timetable: Timetable, start: int) -> int:
    """Return the latest arrival that is not late. After leave there is no flexible time."""
    return start + (timetable.flexible if start == timetable.start else 0)


def _earliest_departure(timetable: Timetable, start: int, end: int, arrived: int | None) -> int:
    """Return the earliest departure that is not early: as much later as the arrival was, within the flexible time."""
    whole = (start, end) == (timetable.start, timetable.end)
    return end + (min(max(arrived - start, 0), timetable.flexible) if whole and arrived is not None else 0)


def _exceed_grace(minutes: int, timetable: Timetable) -> int:
    return minutes if minutes > timetable.grace else 0
