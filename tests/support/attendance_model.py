"""A model of attendance: what days, months and headcounts are by what was told up to a moment. It knows no entries.

Times are minutes since the midnight at which day 0 begins; days are numbers. A day is looked at minute by minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from math import ceil
from zoneinfo import ZoneInfo

DAY, NEVER = 1440, 10**9
ON_DUTY = ("outside", "trip")
Span = tuple[int, int]


@dataclass(frozen=True)
class Shift:
    """Hours in minutes since the midnight of their day; those of a night end after 1440."""

    start: int
    end: int
    pause: Span | None = None
    flexible: int = 0
    grace: int = 0

    @property
    def work(self) -> set[int]:
        """The minutes of work."""
        return set(range(self.start, self.end)) - set(range(*(self.pause or (0, 0))))


@dataclass(frozen=True)
class Group:
    """The usual shift, and the ISO weekdays on which it is worked; without any there is no attendance.

    `holiday_overtime`: a shift on a holiday is overtime.
    """

    shift: Shift
    weekdays: frozenset[int]
    holiday_overtime: bool = False


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Something that is told at a moment, and perhaps taken back at another one."""

    told: int
    over: int = NEVER

    def known(self, by: int) -> bool:
        return self.told <= by < self.over


@dataclass(frozen=True)
class Punch(Fact):
    """A punch that counts, or the correction of one that is missing."""

    at: int


@dataclass(frozen=True)
class Time(Fact):
    """Leave of a type, `outside` duty, a `trip`, or overtime (`overtime_paid`, `overtime_compensatory`)."""

    kind: str
    starts: int
    ends: int


@dataclass(frozen=True)
class Special(Fact):
    """A holiday of the company, or a working day in place of one."""

    day: int
    works: bool


@dataclass(frozen=True)
class Rostered(Fact):
    """The shift of a day, or None for a day off."""

    day: int
    shift: Shift | None


@dataclass(frozen=True)
class Assigned(Fact):
    """Department and group from a day to a day."""

    first: int
    department: str
    group: Group
    last: int = NEVER


@dataclass(frozen=True)
class Left(Fact):
    """The last day of work."""

    day: int


@dataclass
class Person:
    """What was told of an employee, in that order."""

    name: str
    hired: int
    facts: list[Fact] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    """What a day has: its status, minutes, half days and minutes of leave by type, duty, overtime by compensation."""

    status: str = "rest"
    late: int = 0
    early: int = 0
    worked: int = 0
    halves: Counter[str] = field(default_factory=Counter)
    leave: Counter[str] = field(default_factory=Counter)
    duty: str | None = None
    overtime: Counter[str] = field(default_factory=Counter)
    unproven: int = 0
    kind: str = "rest_day"


class View:
    """A person as what was told by a moment says. Without a zone, clocks never change."""

    def __init__(
        self, first_day: date, person: Person, common: Iterable[Fact], by: int, zone: ZoneInfo | None = None
    ) -> None:
        self.first_day, self.person, self.zone = first_day, person, zone
        known = [one for one in (*person.facts, *common) if one.known(by)]
        self.assigned = [one for one in known if isinstance(one, Assigned)]
        self.special = {one.day: one.works for one in known if isinstance(one, Special)}
        self.rosters = {one.day: one.shift for one in known if isinstance(one, Rostered)}
        self.times = [one for one in known if isinstance(one, Time)]
        self.punches = sorted(one.at for one in known if isinstance(one, Punch))
        self.last = next((one.day for one in reversed(known) if isinstance(one, Left)), NEVER)

    def assignment(self, day: int) -> Assigned:
        """The newest of those that cover a day."""
        return [one for one in self.assigned if one.first <= day <= one.last][-1]

    def works(self, day: int) -> bool:
        if day in self.rosters:
            return self.rosters[day] is not None
        weekdays = self.assignment(max(day, self.person.hired)).group.weekdays
        weekday = (self.first_day + timedelta(days=day)).isoweekday()
        return bool(weekdays) and self.special.get(day, weekday in weekdays)

    def shift(self, day: int) -> Shift:
        """The hours of a day; on a day off those of the group."""
        return self.rosters.get(day) or self.assignment(max(day, self.person.hired)).group.shift

    def moment(self, day: int, clock: int) -> int:
        """When a clock shows a time of a day, in minutes that really pass from the first midnight on."""
        if self.zone is None:
            return day * DAY + clock
        first = datetime.combine(self.first_day, time(), self.zone)
        shown = first + timedelta(days=day, minutes=clock)  # by the clock
        return int(shown.timestamp() - first.timestamp()) // 60

    def hours(self, day: int) -> Shift:
        """The shift of a day in minutes that pass since its midnight; a break is as long as ever."""
        shift, midnight = self.shift(day), self.moment(day, 0)
        start, end = (self.moment(day, at) - midnight for at in (shift.start, shift.end))
        if shift.pause is None:
            return replace(shift, start=start, end=end)
        begins = self.moment(day, shift.pause[0]) - midnight
        return replace(shift, start=start, end=end, pause=(begins, begins + shift.pause[1] - shift.pause[0]))

    def minutes(self, one: Time, day: int) -> set[int]:
        """Those of a time since the midnight of a day. Whole calendar days are the shifts that begin on them."""
        midnight, near = self.moment(day, 0), (round(at / DAY) for at in (one.starts, one.ends))
        if all(self.moment(number, 0) == at for number, at in zip(near, (one.starts, one.ends), strict=True)):
            return self.hours(day).work if one.starts <= midnight < one.ends else set()
        return set(range(one.starts - midnight, one.ends - midnight))

    def begin(self, day: int) -> int:
        """From when on punches belong to a day: the middle between its shift and the one before.

        The hours of a day off keep eight hours away from a shift.
        """
        start, before = day * DAY + self.shift(day).start, (day - 1) * DAY + self.shift(day - 1).end
        if self.works(day - 1) and not self.works(day):
            start = max(start, before + 480)
        if self.works(day) and not self.works(day - 1):
            before = min(before, start - 480)
        return self.moment(0, start - (start - before) // 2)

    def holiday_shift(self, day: int) -> bool:
        """Whether somebody works by roster on a holiday, which is overtime."""
        rated = self.assignment(max(day, self.person.hired)).group.holiday_overtime
        return rated and self.works(day) and self.special.get(day) is False

    def kind(self, day: int) -> str:
        if self.works(day) and not self.holiday_shift(day):
            return "working_day"
        return "holiday" if self.special.get(day) is False else "rest_day"

    def employed(self, day: int) -> bool:
        return self.person.hired <= day <= self.last

    def result(self, day: int) -> Result:
        """What a day that is over has."""
        shift, works, midnight = self.hours(day), self.works(day), self.moment(day, 0)
        begins, ends = (self.begin(one) - midnight for one in (day, day + 1))
        present = [at - midnight for at in self.punches if begins <= at - midnight < ends]
        duty, taken = None, set[int]()
        halves, leave, overtime, beyond = Counter[str](), Counter[str](), Counter[str](), set[int]()
        for one in self.times:
            if one.kind.startswith("overtime_"):
                minutes = self.minutes(one, day) & set(range(begins, ends))
                minutes -= set(range(shift.start, shift.end)) if works else set()
                overtime[one.kind] += len(minutes)
                beyond |= minutes
            elif works and one.kind in ON_DUTY:
                since = max(one.starts - midnight, shift.start)
                until = min(one.ends - midnight, shift.end + (shift.flexible if since > shift.start else 0))
                if since < until:
                    duty, present = one.kind, [*present, since, until]
            elif works and (minutes := self.minutes(one, day) & shift.work):
                halves[one.kind] += _halves(shift, minutes)
                leave[one.kind] += len(minutes)
                taken |= minutes
        came, went = _ends(
            sorted(present), (max(shift.work - taken) + 1 if shift.work - taken else 0) if works else DAY
        )
        here = set(range(came, went)) if came is not None and went is not None else set[int]()
        worked = len(here - taken - set(range(*(shift.pause or (0, 0)))))
        if self.holiday_shift(day):
            later = min(max((came or 0) - shift.start, 0), shift.flexible)
            paid = here & set(range(shift.start, shift.end + later)) - taken - set(range(*(shift.pause or (0, 0))))
            overtime["overtime_paid"] += len(paid - beyond)
        status, late, early = self._judge(shift, shift.work - taken, came, went) if works else ("rest", 0, 0)
        unproven = len(beyond - here)
        return Result(status, late, early, worked, halves, leave, duty, overtime, unproven, self.kind(day))

    def _judge(self, shift: Shift, left: set[int], came: int | None, went: int | None) -> tuple[str, int, int]:
        if not left:
            return "leave", 0, 0
        if came is None and went is None:
            return "absent", 0, 0
        start, end, late, early = min(left), max(left) + 1, 0, 0
        if came is not None:
            late = came - start - (shift.flexible if start == shift.start else 0)
        if went is not None:
            whole = (start, end) == (shift.start, shift.end) and came is not None
            early = end + (min(max((came or 0) - start, 0), shift.flexible) if whole else 0) - went
        late, early = (minutes if minutes > shift.grace else 0 for minutes in (late, early))
        missed = None in (came, went)
        return "missed" if missed else "late" if late else "early_leave" if early else "normal", late, early


def _halves(shift: Shift, minutes: set[int]) -> int:
    """How many half days leave takes: a half that has begun counts, one that is not touched does not."""
    taken = ceil(Fraction(2 * len(minutes), len(shift.work)))
    if shift.pause is None:
        return taken
    before, after = (any((at < shift.pause[0]) == early for at in minutes) for early in (True, False))
    return min(taken, before + after)


def _ends(present: list[int], end: int) -> tuple[int | None, int | None]:
    """Arrival and departure; a single punch is an arrival before the end, and a departure after it."""
    if len(present) == 1:
        return (present[0], None) if present[0] < end else (None, present[0])
    return (present[0], present[-1]) if present else (None, None)


def sheet(view: View, first: int, last: int) -> Counter[str]:
    """The sums of a month: days as numbers, half days in halves, times in minutes."""
    sums = Counter[str]()
    for day in (one for one in range(first, last + 1) if view.employed(one)):
        sums.update(dict(_figures(view.result(day))))
    return Counter({name: number for name, number in sums.items() if number})


def _figures(day: Result) -> Iterator[tuple[str, int]]:
    works, halves = day.status != "rest", day.halves.total()
    yield "working_days", int(works)
    yield "present", int(day.status in ("normal", "late", "early_leave", "missed"))
    yield "late", int(day.late > 0)
    yield "early_leave", int(day.early > 0)
    yield "missed", int(day.status == "missed")
    yield "absent", max(0, 2 - halves) if day.status == "absent" else 0
    yield "leave", halves
    yield "late_minutes", day.late
    yield "early_minutes", day.early
    yield "trip_days", int(day.duty == "trip")
    yield "outside_days", int(day.duty == "outside")
    yield "rest_days_worked", int(not works and day.worked > 0)
    yield "hours", day.worked
    yield "overtime", 0 if works else day.worked
    yield "overtime_unproven", day.unproven
    yield from ((f"{how}.{day.kind}", minutes) for how, minutes in day.overtime.items())
    yield from ((f"days of {type}", number) for type, number in day.halves.items())
    yield from ((f"hours of {type}", minutes) for type, minutes in day.leave.items())
