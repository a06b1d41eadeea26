"""A model of the account of one type of leave: half days as coins, each with the last day on which it can be spent.

It goes from day to day and knows nothing of entries; `plugins/hrm/leave_ledger.py` must have the same balance every day.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from random import Random

from plugins.hrm.leave_ledger import Employment, Entry, Fact, Rules, is_limited, keep_account

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Case:
    """The rules of a type, an employment, allowances by year, and what was decided, up to the end of a year."""

    rules: Rules
    person: Employment
    allowed: dict[int, Decimal]
    facts: list[Fact]
    last: int

    @property
    def days(self) -> Iterator[date]:
        """Yield every day of the account."""
        since = self.rules.since or date(self.last, 1, 1)
        day = date(min(max(since.year, self.person.first.year), self.last), 1, 1)
        while day.year <= self.last:
            yield day
            day += _DAY


def half(random: Random, most: int) -> Decimal:
    """Return some half days, in days."""
    return Decimal(random.randint(0, most)) / 2


def some_day(random: Random, first: int, last: int) -> date:
    """Return a day of these years."""
    return date(first, 1, 1) + random.randrange((date(last, 12, 31) - date(first, 1, 1)).days) * _DAY


def make_case(random: Random) -> Case:
    """Return random rules with grants, leave and expiry over up to three years."""
    first = random.randint(2023, 2027)
    last = first + random.randint(0, 2)
    hired = some_day(random, first - random.choice([0, 1, 9]), last)
    left = hired + random.randint(0, 900) * _DAY if random.random() < 0.3 else None
    rules = Rules(
        random.choice(["unlimited", "manual", "yearly", "monthly"]),
        amount=half(random, 40),
        tiers=[(years, half(random, 50)) for years in sorted(random.sample(range(12), random.randint(0, 3)))],
        part_year=random.random() < 0.7,
        since=random.choice([date(first, 1, 1), some_day(random, first, last), None]),
        carried=random.choice([Decimal(0), half(random, 20)]),
        carried_months=random.randint(1, 12),
        overdraft=random.choice([Decimal(0), half(random, 10)]),
        anniversary=random.random() < 0.5,
    )
    served = hired - random.randint(0, 4000) * _DAY if random.random() < 0.3 else None
    allowed = {year: half(random, 30) for year in range(first, last + 1) if random.random() < 0.3}
    return Case(rules, Employment(hired, left, served), allowed, list(_facts(random, first, last)), last)


def _facts(random: Random, first: int, last: int) -> Iterator[Fact]:
    for _ in range(random.randint(0, 12)):
        day = some_day(random, first, last)
        until = day + random.randint(0, 500) * _DAY if random.random() < 0.5 else None
        kind = random.choice(["adjusted", "taken", "pending"])
        if kind == "adjusted":
            yield Fact(day, "adjusted", half(random, 10) * random.choice([1, 1, -1]), until=until)
        else:
            yield Fact(day, "taken" if kind == "taken" else "pending", -half(random, 10))


def balances(case: Case) -> Iterator[Decimal | None]:
    """Yield the balance at the end of every day of the account; None in a year without a limit."""
    coins: list[date] = []
    debt, before = 0, False
    for day in case.days:
        limited = day.year in case.allowed or _has_rules(case, day.year)
        new_year = (day.month, day.day) == (1, 1)
        if new_year and not (limited and before):
            coins, debt = [], 0
        elif day == _turn_of(case, day.year):
            coins, debt = _turn(case.rules, coins, debt, day)
        before = limited
        coins = sorted(one for one in coins if one >= day)
        for halves, until in _changes(case, day):
            if halves > 0:
                paid = min(debt, halves)
                debt -= paid
                coins = sorted([*coins, *[until] * (halves - paid)])
            else:
                debt += max(0, -halves - len(coins))
                coins = coins[-halves:]
        yield Decimal(len(coins) - debt) / 2 if limited else None


def _has_rules(case: Case, year: int) -> bool:
    since = case.rules.since
    return case.rules.accrual != "unlimited" and (since is None or since.year <= year)


def _turn(rules: Rules, coins: list[date], debt: int, day: date) -> tuple[list[date], int]:
    kept = [one for one in coins if one >= day]
    carried = min(int(rules.carried * 2), len(coins) - len(kept))
    until = _months_later(day, rules.carried_months) - _DAY
    return [*kept, *[until] * carried], debt if rules.overdraft or rules.anniversary else 0


def _months_later(day: date, months: int) -> date:
    """Return the same day so many months later, or the first of the following month if there is none."""
    year, month = day.year + (day.month + months - 1) // 12, (day.month + months - 1) % 12 + 1
    if day.day <= monthrange(year, month)[1]:
        return date(year, month, day.day)
    return date(year, month, monthrange(year, month)[1]) + _DAY


def _turn_of(case: Case, year: int) -> date:
    """Return the day of a calendar year on which a year of the type begins."""
    if not case.rules.anniversary:
        return date(year, 1, 1)
    hired = case.person.first
    leap = monthrange(year, 2)[1] == 29
    return date(year, 3, 1) if (hired.month, hired.day, leap) == (2, 29, False) else hired.replace(year=year)


def _year_of(case: Case, day: date) -> tuple[date, date]:
    """Return the first and the last day of the year of the type in which a day is."""
    year = day.year if day >= _turn_of(case, day.year) else day.year - 1
    return _turn_of(case, year), _turn_of(case, year + 1) - _DAY


def _changes(case: Case, day: date) -> Iterator[tuple[int, date]]:
    """Yield the half days that come or go on a day, what comes first, with the last day of those that come."""
    end = _year_of(case, day)[1]
    if day.year not in case.allowed:
        yield int(_earned(case, day) * 2), end
    elif day == _turn_of(case, day.year):
        yield int(case.allowed[day.year] * 2), end
    of_day = [fact for fact in case.facts if fact.day == day]
    yield from ((int(one.amount * 2), one.until or end) for one in of_day if one.amount >= 0)
    yield from ((int(one.amount * 2), end) for one in of_day if one.amount < 0)


def _earns(case: Case, day: date) -> bool:
    started = case.rules.since is None or case.rules.since <= day
    return started and case.person.first <= day and (case.person.last is None or day <= case.person.last)


def _due(case: Case, day: date) -> Fraction:
    """Return what somebody would earn in a year at the seniority of a day."""
    hired, years = case.person.served_since or case.person.first, 0
    while (day.year - years - 1, day.month, day.day) >= (hired.year, hired.month, hired.day):
        years += 1
    reached = [amount for least, amount in case.rules.tiers if least <= years]
    return Fraction(reached[-1] if reached else case.rules.amount)


def _sum(case: Case, first: date, days: int) -> Fraction:
    earning = [day for day in (first + number * _DAY for number in range(days)) if _earns(case, day)]
    if not case.rules.part_year:
        return _due(case, earning[-1]) if earning else Fraction(0)
    return sum((_due(case, day) for day in earning), Fraction(0)) / days


def _halves(exact: Fraction) -> Decimal:
    return Decimal(int(exact * 2)) / 2


def _earned(case: Case, day: date) -> Decimal:
    """Return what is earned on a day."""
    if not _earns(case, day):
        return Decimal(0)
    if case.rules.accrual == "yearly":
        first, last = _year_of(case, day)
        begins = day == first or not _earns(case, day - _DAY)
        return _halves(_sum(case, first, (last - first).days + 1)) if begins else Decimal(0)
    ends = day.day == monthrange(day.year, day.month)[1] or not _earns(case, day + _DAY)
    if case.rules.accrual != "monthly" or not ends:
        return Decimal(0)
    shares = [
        _sum(case, date(day.year, month, 1), monthrange(day.year, month)[1]) / 12 for month in range(1, day.month + 1)
    ]
    return _halves(sum(shares, Fraction(0))) - _halves(sum(shares[:-1], Fraction(0)))


def find_difference(case: Case) -> str | None:
    """Return the first day on which the account and the model differ, in words."""
    entries = keep_account(case.rules, case.person, case.allowed, case.facts, case.last)
    for day, expected in zip(case.days, balances(case), strict=True):
        found = _balance_of(case, entries, day)
        if found != expected:
            return f"{day}: {found} instead of {expected} for {case}"
    return None


def _balance_of(case: Case, entries: list[Entry], day: date) -> Decimal | None:
    if not is_limited(case.rules, case.allowed, day.year):
        return None
    of_year = [one for one in entries if one.day.year == day.year and one.day <= day]
    return of_year[-1].balance if of_year else Decimal(0)
