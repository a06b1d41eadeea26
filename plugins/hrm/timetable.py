"""What a working day asks of a person, and what their punches make of it. No database: values in, values out.

All times are minutes from the midnight that the day begins with, in the business time zone; a night shift ends after
1440. A minute that has begun counts as that minute: 09:00:59 is not late for 09:00.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal

DAY = 1440
Span = tuple[int, int]


@dataclass(frozen=True)
class Timetable:
    """A shift: from `start` to `end`. `flexible`: how much later one may come and then goes; `grace`: what is let pass.

    `pause`: the break, which is no time of work.
    """

    start: int
    end: int
    flexible: int = 0
    grace: int = 0
    pause: Span | None = None

    @property
    def begin(self) -> int:
        """When the day's punches begin: in the middle of the time off before the shift."""
        return self.start - (DAY - (self.end - self.start)) // 2

    def worked(self, begins: int, ends: int) -> int:
        """How many minutes of work are between two moments."""
        paused = _overlap(begins, ends, *self.pause) if self.pause else 0
        return _overlap(begins, ends, self.start, self.end) - paused

    def halves(self, begins: int, ends: int) -> int:
        """How many halves of the day's work leave takes: what is begun counts, but no half that it does not touch."""
        taken = math.ceil(2 * self.worked(begins, ends) / self.worked(self.start, self.end))
        if self.pause is None:
            return taken
        touched = (self.worked(begins, min(ends, self.pause[0])), self.worked(max(begins, self.pause[1]), ends))
        return min(taken, sum(minutes > 0 for minutes in touched))

    def day_of(self, local: datetime) -> date:
        """The working day that a moment, told by the business clock, belongs to."""
        return (local.replace(tzinfo=None) - timedelta(minutes=self.begin)).date()


@dataclass(frozen=True)
class Calendar:
    """The days on which a group works: ISO weekdays, and days that differ from their weekday."""

    timetable: Timetable
    working_days: frozenset[int]
    exceptions: Mapping[str, bool]

    def works_on(self, day: date) -> bool:
        """Whether the group works on that day."""
        return self.exceptions.get(day.isoformat(), day.isoweekday() in self.working_days)


@dataclass(frozen=True)
class Verdict:
    """What came of a day: its status, arrival and departure, and by how many minutes they were wrong."""

    status: str
    arrived: int | None = None
    departed: int | None = None
    late: int = 0
    early: int = 0


def judge(timetable: Timetable | None, punches: Sequence[int], leave: Iterable[Span], now: int) -> Verdict:
    """What came of a day so far; None is a day off. `leave` are the spans of approved leave.

    The first punch is the arrival, the last one the departure. A single punch is an arrival before the end of the
    work, and a departure from then on. What is missing is `missed`, or `absent`, when the day is over.
    """
    if timetable is None:
        return Verdict("rest", *_ends(punches, DAY))
    start, end = remaining(timetable, leave)
    if start >= end:
        return Verdict("leave", *_ends(punches, end))
    over = now >= timetable.begin + DAY
    if not punches:
        return Verdict("absent" if over else "pending")
    arrived, departed = _ends(punches, end)
    late = 0 if arrived is None else _beyond(arrived - _expected(timetable, start), timetable)
    early = 0 if departed is None else _beyond(_due(timetable, start, end, arrived) - departed, timetable)
    missed = over and None in (arrived, departed)
    status = "missed" if missed else "late" if late else "early_leave" if early else "normal"
    return Verdict(status, arrived, departed, late, early)


def remaining(timetable: Timetable, leave: Iterable[Span]) -> Span:
    """The part of the shift that leave at its beginning and at its end leaves to be worked; empty where none is.

    Where leave reaches the break, nobody comes or stays for the break.
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
    """A moment, told by the business clock, in minutes from the midnight that `day` begins with."""
    return math.floor((local.replace(tzinfo=None) - datetime.combine(day, time())) / timedelta(minutes=1))


def working_days(calendar: Calendar, starts: datetime, ends: datetime) -> Decimal:
    """How many days of work leave takes: each day of work by halves, and what is begun counts. Local times."""
    return Decimal(sum(calendar.timetable.halves(*span) for span in _by_day(calendar, starts, ends))) / 2


def working_minutes(calendar: Calendar, starts: datetime, ends: datetime) -> int:
    """How many minutes of work leave takes. Local times."""
    return sum(calendar.timetable.worked(*span) for span in _by_day(calendar, starts, ends))


def begins_on(calendar: Calendar, starts: datetime, ends: datetime) -> date:
    """The day of work that leave begins with: a night shift of the day before reaches into its first day. Local times."""
    day, before = starts.date(), starts.date() - timedelta(days=1)
    worked = calendar.timetable.worked(minutes_of(starts, before), minutes_of(ends, before))
    return before if worked and calendar.works_on(before) else day


def _by_day(calendar: Calendar, starts: datetime, ends: datetime) -> Iterator[Span]:
    """The span as each day of work that it may touch sees it."""
    # a night shift of the day before reaches into the first day
    day = starts.date() - timedelta(days=1)
    while day <= ends.date():
        if calendar.works_on(day):
            yield minutes_of(starts, day), minutes_of(ends, day)
        day += timedelta(days=1)


def _overlap(begins: int, ends: int, start: int, end: int) -> int:
    return max(0, min(ends, end) - max(begins, start))


def _ends(punches: Sequence[int], end: int) -> tuple[int | None, int | None]:
    if len(punches) == 1:
        return (punches[0], None) if punches[0] < end else (None, punches[0])
    return (min(punches), max(punches)) if punches else (None, None)


def _expected(timetable: Timetable, start: int) -> int:
    """When one must have come; after leave there is nothing flexible."""
    return start + (timetable.flexible if start == timetable.start else 0)


def _due(timetable: Timetable, start: int, end: int, arrived: int | None) -> int:
    """When one may go: as much later as one came, within what is flexible."""
    whole = (start, end) == (timetable.start, timetable.end)
    return end + (min(max(arrived - start, 0), timetable.flexible) if whole and arrived is not None else 0)


def _beyond(minutes: int, timetable: Timetable) -> int:
    return minutes if minutes > timetable.grace else 0
