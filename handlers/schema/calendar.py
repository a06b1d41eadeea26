"""Days and months of the business time zone: what happens at 16:30Z belongs to the next day in Shanghai."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

# the years that are searched for clock changes; zones that still change their clocks do so every year
_FIRST_YEAR, _LAST_YEAR = 1970, 2100


def day_of(moment: datetime, zone: ZoneInfo) -> date:
    """Return the business day of a moment."""
    try:
        return moment.astimezone(zone).date()
    except OverflowError:  # a stored moment beyond the bounds, which is in the year 0 or 10000 in the zone
        return moment.date()


def start_of(day: date, zone: ZoneInfo) -> datetime:
    """Return the moment in UTC at which a business day starts."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


@cache
def settled_since(zone: ZoneInfo) -> date:
    """Return a day since which the clocks of the zone do not change; in the future if the zone still changes them."""
    # weekly steps miss nothing, as no change was ever reverted within a week; the day found may have begun with one
    week, noon = timedelta(weeks=1), datetime(_LAST_YEAR, 1, 1, 12, tzinfo=zone)
    offset = noon.utcoffset()
    while noon.year > _FIRST_YEAR and (noon - week).utcoffset() == offset:
        noon -= week
    return noon.date() + timedelta(days=1)


def last_days(count: int, today: date) -> list[date]:
    """Return the last `count` days up to and including `today`, in order."""
    return [today - timedelta(days=count - 1 - number) for number in range(count)]


def last_months(count: int, today: date) -> list[date]:
    """Return the first days of the last `count` months up to and including this one, in order."""
    months = today.year * 12 + today.month - 1
    return [date(*_year_and_month(months - count + 1 + number), 1) for number in range(count)]


def _year_and_month(months: int) -> tuple[int, int]:
    return months // 12, months % 12 + 1
