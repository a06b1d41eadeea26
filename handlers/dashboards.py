"""Dashboards: what a plugin declares of its figures, and the days and months that a dashboard is about.

A dashboard is computed by one plugin or by several. Each returns only what it knows of the answer; the parts are
added up and laid over zeros, so nobody fills a series or puts it in order, and a module that is not loaded is zero.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from handlers.calendar import day_of, last_days, last_months, start_of
from handlers.errors import invalid

if TYPE_CHECKING:
    from handlers.request import Request

Compute = Callable[["Request"], Awaitable[Mapping[str, Any]]]
# dates outside are as good as no bound, and no calendar reckons beyond year 1 or 9999
_EARLIEST, _LATEST = date(1900, 1, 1), date(2199, 12, 31)
MOST_POINTS = 3660


@dataclass(frozen=True)
class Dashboard:
    """What one plugin knows of the dashboard `name`.

    `compute` takes the request and answers a part of the data in its declared shape: amounts as `Decimal` or
    `Decimal128`, series as rows in any order that leave out days and months without anything. It reads through
    `req.store(…)`, so the caller's data scope applies. `personal`: the part depends on who asks, not on the scope
    alone, so people of one scope do not share it.
    """

    name: str
    compute: Compute
    personal: bool = False


@dataclass(frozen=True)
class Period:
    """The business days from `first` to `last`, both included; None is an open end."""

    first: date | None
    last: date | None
    today: date
    zone: ZoneInfo

    def moments(self, field: str) -> dict[str, Any]:
        """The filter on a time: from the begin of the first day to before the begin of the day after the last."""
        after = self.last and self.last + timedelta(days=1)
        return _bounded(
            field, {"$gte": self.first and start_of(self.first, self.zone), "$lt": after and start_of(after, self.zone)}
        )

    def days(self, field: str) -> dict[str, Any]:
        """The filter on a calendar day, which is stored as text."""
        return _bounded(
            field, {"$gte": self.first and self.first.isoformat(), "$lte": self.last and self.last.isoformat()}
        )

    def every_day(self, rows: Mapping[str, Any]) -> list[str]:
        """Each day as `2026-11-20`, in order; an open end reaches as far as the rows, and to today."""
        first, last = self._ends(rows, lambda key: date.fromisoformat(key))
        return [day.isoformat() for day in last_days(min((last - first).days + 1, MOST_POINTS), last)]

    def every_month(self, rows: Mapping[str, Any]) -> list[str]:
        """Each month as `2026-11`, in order; an open end reaches as far as the rows, and to this month."""
        first, last = self._ends(rows, lambda key: date.fromisoformat(f"{key}-01"))
        count = (last.year - first.year) * 12 + last.month - first.month + 1
        return [f"{month:%Y-%m}" for month in last_months(min(count, MOST_POINTS), last)]

    def _ends(self, rows: Mapping[str, Any], parsed: Callable[[str], date]) -> tuple[date, date]:
        present = [parsed(key) for key in rows]
        last = self.last or max([*present, self.today])
        return self.first or min([*present, last]), last


def period_of(req: Request) -> Period:
    """The period that the query asks for: `days`, `months`, or `date_from` and `date_to` with open ends.

    The last `months` end with the whole of this month. Raises 40001 for an end before the beginning.
    """
    zone = req.service.settings.zone
    today = day_of(req.now, zone)
    if "days" in req.query:
        return Period(last_days(req.query["days"], today)[0], today, today, zone)
    if "months" in req.query:
        return Period(last_months(req.query["months"], today)[0], _end_of_month(today), today, zone)
    first, last = (_day(req.query.get(name)) for name in ("date_from", "date_to"))
    if first and last and last < first:
        raise invalid("date_to", "minimum")
    return Period(first, last, today, zone)


def _day(text: str | None) -> date | None:
    found = date.fromisoformat(text) if text else None
    return found if found and _EARLIEST <= found <= _LATEST else None


def _end_of_month(day: date) -> date:
    return (day.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)


def _bounded(field: str, bounds: Mapping[str, Any]) -> dict[str, Any]:
    given = {operator: bound for operator, bound in bounds.items() if bound is not None}
    return {field: given} if given else {}
