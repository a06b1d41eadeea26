"""The account of one type of leave of one employee: what is earned, carried over, adjusted, taken and expires on which day.

These functions use no database. Amounts are days or, of types that are taken in hours, hours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Literal

from plugins.api.values import RecordId

Kind = Literal["carried_over", "earned", "granted", "adjusted", "taken", "pending", "expired"]
_ZERO, _ONE_DAY = Decimal(0), timedelta(days=1)
_DECEMBER = 12


@dataclass(frozen=True)
class Rules:
    """How a type of leave is earned.

    `accrual`: `unlimited` (no balance, unless an allowance limits a year), `manual` (only adjustments give something),
    `overtime` (facts give it), `yearly` (at the beginning of a year) or `monthly` (a twelfth at the end of each month). `amount` is that of a year,
    and `tiers` that from so many years of service on. `part_year`: whoever is employed for a part of a year or month
    earns that part. What is earned is rounded down to `step`. `since`: the day from which it is earned.
    At the end of a year up to `carried` is carried over, for `carried_months` months. `overdraft`: how far below zero a
    balance may be; what is below then lowers the next year. `anniversary`: these years are years of employment, which
    begin on the anniversary of its first day; a balance just goes on at the turn of a calendar year, and so does a debt.
    """

    accrual: str
    amount: Decimal = _ZERO
    tiers: Sequence[tuple[int, Decimal]] = ()
    part_year: bool = True
    step: Decimal = Decimal("0.5")
    since: date | None = None
    carried: Decimal = _ZERO
    carried_months: int = _DECEMBER
    overdraft: Decimal = _ZERO
    anniversary: bool = False

    def amount_of(self, years: int) -> Decimal:
        """Return what somebody earns in a year after so many years of service."""
        reached = [tier for tier in self.tiers if tier[0] <= years]
        return max(reached)[1] if reached else self.amount


@dataclass(frozen=True)
class Employment:
    """The first day of employment, and the last one unless it is open.

    `served_since`: the day from which years of service count, if it is not the first day.
    """

    first: date
    last: date | None = None
    served_since: date | None = None

    def within(self, first: date, last: date) -> tuple[date, date]:
        """Return the part of a period in which the person is employed; the last day is before the first if none is."""
        return max(first, self.first), min(last, self.last) if self.last else last

    def begin_of(self, year: int) -> date:
        """Return the anniversary of the first day in a calendar year; that of the 29th of February may be the next day."""
        try:
            return self.first.replace(year=year)
        except ValueError:
            return date(year, 3, 1)

    def years_on(self, day: date) -> int:
        """Return the completed years of service."""
        since = self.served_since or self.first
        return day.year - since.year - ((day.month, day.day) < (since.month, since.day))


@dataclass(frozen=True)
class Fact:
    """What was decided: leave takes an amount (negative) on a day, or an adjustment adds or takes one.

    `source` is the id of the leave or adjustment. `until`: the last day of an added amount; None is the end of the year.
    """

    day: date
    kind: Kind
    amount: Decimal
    source: RecordId | None = None
    until: date | None = None


@dataclass(frozen=True)
class Entry:
    """One entry of an account, and the balance after it; None in a year without a limit.

    `day` is that on which the entry counts, `until` the last day of several days of leave.
    """

    day: date
    kind: Kind
    amount: Decimal
    balance: Decimal | None
    source: RecordId | None = None
    until: date | None = None


@dataclass
class _Lot:
    """What is left of an amount that may be taken up to the day `until`."""

    until: date
    left: Decimal


@dataclass
class _Account:
    """The state of an account while its entries are made. What is owed is `debt`; then there are no lots."""

    limited: bool = False
    lots: list[_Lot] = field(default_factory=list)
    debt: Decimal = _ZERO
    entries: list[Entry] = field(default_factory=list)

    @property
    def balance(self) -> Decimal:
        return sum((lot.left for lot in self.lots), _ZERO) - self.debt

    def note(self, day: date, kind: Kind, amount: Decimal, source: RecordId | None = None) -> None:
        self.entries.append(Entry(day, kind, amount, self.balance if self.limited else None, source))

    def enter(self, fact: Fact, until: date) -> None:
        """Add an amount that may be taken up to a day, or take one from what expires first."""
        if self.limited and fact.amount >= 0:
            repaid = min(self.debt, fact.amount)
            self.debt -= repaid
            self.lots = sorted([*self.lots, _Lot(until, fact.amount - repaid)], key=lambda lot: lot.until)
        elif self.limited:
            self._take(-fact.amount)
        self.note(fact.day, fact.kind, fact.amount, fact.source)

    def _take(self, amount: Decimal) -> None:
        for lot in self.lots:
            taken = min(lot.left, amount)
            lot.left -= taken
            amount -= taken
        self.debt += amount

    def expire(self, today: date) -> None:
        """Let what could be taken only before `today` expire."""
        for until in sorted({one.until for one in self.lots if one.until < today}):
            left = sum((one.left for one in self.lots if one.until == until), _ZERO)
            self.lots = [one for one in self.lots if one.until != until]
            if left:
                self.note(until + _ONE_DAY, "expired", -left)

    def open_year(self, rules: Rules, year: int, *, limited: bool, follows: bool) -> None:
        """Begin a calendar year; `follows`: the year before had an account too."""
        first = date(year, 1, 1)
        if not (limited and follows):
            self.lots, self.debt = [], _ZERO
        elif not rules.overdraft and not rules.anniversary:
            self.debt = _ZERO
        self.limited = limited
        if brought := self.balance:
            self.note(first, "carried_over", brought)
        if not rules.anniversary:
            self._carry(rules, first)
        self.expire(first)

    def renew(self, rules: Rules, first: date) -> None:
        """Begin a year of employment: carry over as far as the rules allow, and let the rest expire."""
        self.expire(first - _ONE_DAY)
        self._carry(rules, first)
        self.expire(first)

    def _carry(self, rules: Rules, first: date) -> None:
        """Give what ends with the old year more time, up to the amount that the rules allow."""
        left, until = rules.carried, _last_day(first, rules.carried_months)
        for lot in [one for one in self.lots if one.until < first]:
            kept = min(lot.left, left)
            left -= kept
            lot.left -= kept
            self.lots.append(_Lot(until, kept))  # what is left of the other expires
        self.lots.sort(key=lambda lot: lot.until)


def keep_account(
    rules: Rules, person: Employment, allowed: Mapping[int, Decimal], facts: Sequence[Fact], last: int
) -> list[Entry]:
    """Return the entries of an account up to the end of the year `last`, in order.

    `allowed` are the allowances by year, each of which replaces what the rules give in that year. The account begins
    with the year of `rules.since`, or with `last` if that is earlier or open.
    """
    begins = max(rules.since.year, person.first.year) if rules.since else last
    account, follows = _Account(), False
    for year in range(min(begins, last), last + 1):
        limited = is_limited(rules, allowed, year)
        account.open_year(rules, year, limited=limited, follows=follows)
        follows, ends = limited, date(year, 12, 31)
        turn = person.begin_of(year) if rules.anniversary else date(year, 1, 1)
        given = [Fact(turn, "granted", allowed[year])] if year in allowed else earn(rules, person, year)
        of_year = sorted([*given, *(fact for fact in facts if fact.day.year == year)], key=_order)
        renewed = not rules.anniversary
        for fact in of_year:
            if not renewed and fact.day >= turn:
                account.renew(rules, turn)
                renewed = True
            account.expire(fact.day)
            account.enter(fact, fact.until or _end_of_year(rules, person, fact.day))
        if not renewed:
            account.renew(rules, turn)
        account.expire(ends)
    return account.entries


def _order(fact: Fact) -> tuple[date, bool]:
    return fact.day, fact.amount < 0


def _end_of_year(rules: Rules, person: Employment, day: date) -> date:
    """Return the last day of the year of a day, by the calendar or of employment."""
    if not rules.anniversary:
        return date(day.year, 12, 31)
    turn = person.begin_of(day.year)
    return (turn if day < turn else person.begin_of(day.year + 1)) - _ONE_DAY


def is_limited(rules: Rules, allowed: Mapping[int, Decimal], year: int) -> bool:
    """Return whether there is a balance in a year."""
    started = rules.since is None or rules.since.year <= year
    return year in allowed or (rules.accrual != "unlimited" and started)


def earn(rules: Rules, person: Employment, year: int) -> Sequence[Fact]:
    """Return what the rules give in a year, and when."""
    if rules.accrual == "yearly":
        return list(_earn_yearly(rules, person, year))
    return list(_earn_monthly(rules, person, year)) if rules.accrual == "monthly" else []


def _earn_yearly(rules: Rules, person: Employment, year: int) -> Iterator[Fact]:
    for before in (1, 0) if rules.anniversary else (0,):
        first, following = (
            person.begin_of(one) if rules.anniversary else date(one, 1, 1) for one in (year - before, year - before + 1)
        )
        begins, ends = _earning(rules, person, first, following - _ONE_DAY)
        amount = round_down(_share(rules, person, first, following - _ONE_DAY), rules.step)
        if amount and begins <= ends and begins.year == year:
            yield Fact(begins, "earned", amount)


def _earn_monthly(rules: Rules, person: Employment, year: int) -> Iterator[Fact]:
    exact, earned = Fraction(0), _ZERO
    for month in range(1, _DECEMBER + 1):
        first, ends = date(year, month, 1), _end_of_month(year, month)
        exact += _share(rules, person, first, ends) / _DECEMBER
        # rounded as a sum, so that a year has no more and no less than its amount
        if (total := round_down(exact, rules.step)) > earned:
            yield Fact(_earning(rules, person, first, ends)[1], "earned", total - earned)
            earned = total


def _earning(rules: Rules, person: Employment, first: date, last: date) -> tuple[date, date]:
    """Return the part of a period in which something is earned."""
    return person.within(max(first, rules.since or first), last)


def _share(rules: Rules, person: Employment, first: date, last: date) -> Fraction:
    """Return the part of the amount of a year that is due for a period, as if the period were a year.

    A year of service that is completed within the period counts from that day on.
    """
    begins, ends = _earning(rules, person, first, last)
    if begins > ends:
        return Fraction(0)
    if not rules.part_year:
        return Fraction(rules.amount_of(person.years_on(ends)))
    days = [begins + number * _ONE_DAY for number in range((ends - begins).days + 1)]
    if person.years_on(begins) == person.years_on(ends):
        due = len(days) * Fraction(rules.amount_of(person.years_on(begins)))
    else:
        due = sum((Fraction(rules.amount_of(person.years_on(day))) for day in days), Fraction(0))
    return due / ((last - first).days + 1)


def round_down(amount: Fraction, step: Decimal) -> Decimal:
    """Return the largest multiple of a step that is not above an amount."""
    return floor(amount / Fraction(step)) * step


def _last_day(first: date, months: int) -> date:
    """Return the last day of a period of so many months."""
    year, month = divmod(first.year * _DECEMBER + first.month - 1 + months, _DECEMBER)
    ends = _end_of_month(year, month + 1)
    return min(ends, date(year, month + 1, 1) + (first.day - 2) * _ONE_DAY)


def _end_of_month(year: int, month: int) -> date:
    return date(year + month // _DECEMBER, month % _DECEMBER + 1, 1) - _ONE_DAY


def worst(rules: Rules, entries: Sequence[Entry], year: int, first: date) -> Decimal | None:
    """Return by how much the lowest balance of a year, from a day on, is below what is allowed; None if it is not."""
    balances = [one.balance for one in entries if one.day.year == year and one.day >= first and one.balance is not None]
    short = -rules.overdraft - min(balances, default=_ZERO)
    return short if short > 0 else None


def group(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries with those of one leave that follow each other as one, from its first day to its last."""
    grouped: list[Entry] = []
    for entry in entries:
        before = grouped[-1] if grouped else None
        if before and entry.source and (before.source, before.kind) == (entry.source, entry.kind):
            amount, last = before.amount + entry.amount, entry.day
            grouped[-1] = replace(before, amount=amount, balance=entry.balance, until=last)
        else:
            grouped.append(entry)
    return grouped
