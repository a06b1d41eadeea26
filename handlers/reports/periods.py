"""The period that a dashboard covers according to its query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from config.database import Filter
from handlers.request import Request
from handlers.schema.calendar import day_of, last_days, last_months, start_of
from handlers.schema.errors import invalid
from handlers.schema.fields import FIRST_DAY, Field

Unit = Literal["date", "month"]
MOST_POINTS = 3660
_A_MONTH = timedelta(days=30)


@dataclass(frozen=True)
class Period:
    """The business days from `first` to `last`, both included; None is an open end.

    `earliest` and `latest`, where given, bound an open end, so that a series has a limited number of points and its
    points add up to its totals.
    """

    first: date | None
    last: date | None
    today: date
    zone: ZoneInfo
    earliest: date | None = None
    latest: date | None = None

    @property
    def open(self) -> bool:
        """Whether the query gives neither end."""
        return self.first is None and self.last is None

    @property
    def before(self) -> Mapping[str, str]:
        """The query of the period before: as many days, or the same days of as many months where it begins with one.

        Without a first day it is all that there was 30 days before the last one.
        """
        last = max(self.last or self.today, self.first or date.min)
        if self.first is None:
            return {"date_to": (last - _A_MONTH).isoformat()}
        if self.first.day == 1:
            months = _months_between(self.first, last) + 1
            first, end = (_months_earlier(day, months) for day in (self.first, last))
        else:
            first, end = self.first - (last - self.first) - timedelta(days=1), self.first - timedelta(days=1)
        return {"date_from": first.isoformat(), "date_to": end.isoformat()}

    def moments(self, field: str) -> Filter:
        """Return the filter on a timestamp: from the start of the first day to just before the day after the last."""
        first, last = self._bounds
        after = last and last + timedelta(days=1)
        return _build_filter(
            field, {"$gte": first and start_of(first, self.zone), "$lt": after and start_of(after, self.zone)}
        )

    def days(self, field: str) -> Filter:
        """Return the filter on a calendar day, which is stored as text."""
        first, last = self._bounds
        return _build_filter(field, {"$gte": first and first.isoformat(), "$lte": last and last.isoformat()})

    def within(self, first: date, last: date) -> Period:
        """Return the days of the period that lie between `first` and `last`, both included."""
        start, end = self._bounds
        return replace(self, first=max(first, start or first), last=min(last, end or last))

    def every_day(self, rows: Mapping[str, object]) -> list[str]:
        """Return each day as `2026-11-20`, in order; an open end extends to rows within bounds, and to today."""
        first, last = self._ends(date.fromisoformat(key) for key in rows)
        return [day.isoformat() for day in last_days((last - first).days + 1, last)]

    def every_month(self, rows: Mapping[str, object]) -> list[str]:
        """Return each month as `2026-11`, in order; an open end extends to rows within bounds, and to this month."""
        first, last = self._ends(date.fromisoformat(f"{key}-01") for key in rows)
        return [f"{month:%Y-%m}" for month in last_months(_months_between(first, last) + 1, last)]

    @property
    def _bounds(self) -> tuple[date | None, date | None]:
        return self.first or self.earliest, self.last or self.latest

    def _ends(self, days: Iterable[date]) -> tuple[date, date]:
        first, last = self._bounds
        present = [day for day in days if (first or day) <= day <= (last or day)]
        end = self.last or max([*present, self.today])
        return self.first or min([*present, end]), end


def period_of(req: Request, returns: Field | None = None) -> Period:
    """Return the period that the query names: by `days`, by `months`, or by `date_from` and `date_to`, both optional.

    The last of `months` is the whole of this month. If the response, or `returns` in its place, has a series, an open
    end is bounded: the period ends with tomorrow, and a series of days has `MOST_POINTS` days at most.
    Raises 40001 for an end before the start, and for a series of more than `MOST_POINTS` points.
    """
    zone = req.service.settings.zone
    today = day_of(req.now, zone)
    if "days" in req.query:
        return Period(last_days(req.query["days"], today)[0], today, today, zone)
    if "months" in req.query:
        return Period(last_months(req.query["months"], today)[0], end_of_month(today), today, zone)
    first, last = (_day(req.query.get(name)) for name in ("date_from", "date_to"))
    if first and last and last < first:
        raise invalid("date_to", "minimum")
    shape = returns or (req.route.returns if req.route else None)
    unit = _unit_of(shape) if shape is not None else None
    if unit is None:
        return Period(first, last, today, zone)
    latest = today + timedelta(days=1)
    if first and _points(unit, first, last or latest) > MOST_POINTS:
        raise invalid("date_from", "series")
    return Period(first, last, today, zone, _earliest(unit, last or latest), latest)


def _unit_of(shape: Field) -> Unit | None:
    """Return the unit of the series in a response, by the first field of an array's items; None without a series."""
    arrays = (one.items for one in (shape.fields or {}).values() if one.kind == "array")
    heads = {next(iter(item.fields or {}), "") for item in arrays if item is not None}
    return "date" if "date" in heads else "month" if "month" in heads else None


def _points(unit: Unit, first: date, last: date) -> int:
    return (last - first).days + 1 if unit == "date" else _months_between(first, last) + 1


def _earliest(unit: Unit, last: date) -> date:
    """Return the first day that a series that ends with `last` may have."""
    calendar = date.fromisoformat(FIRST_DAY)
    return max(calendar, last - timedelta(days=MOST_POINTS - 1)) if unit == "date" else calendar


def _months_between(first: date, last: date) -> int:
    return (last.year - first.year) * 12 + last.month - first.month


def _months_earlier(day: date, months: int) -> date:
    """Return the day so many months earlier; the last one of its month stays the last."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    end = end_of_month(date(year, month + 1, 1))
    return end if day == end_of_month(day) else end.replace(day=min(day.day, end.day))


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def end_of_month(day: date) -> date:
    """Return the last day of the month of a day."""
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)


def _build_filter(field: str, bounds: Mapping[str, object]) -> Filter:
    given = {operator: bound for operator, bound in bounds.items() if bound is not None}
    return {field: given} if given else {}
