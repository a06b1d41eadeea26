"""Days and months of the business time zone (CONTRACT 1: a payment at 16:30Z belongs to the next Shanghai day)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def day_of(moment: datetime, zone: ZoneInfo) -> date:
    """The business day that a moment is in."""
    return moment.astimezone(zone).date()


def start_of(day: date, zone: ZoneInfo) -> datetime:
    """The moment in UTC at which a business day begins."""
    return datetime.combine(day, time(), zone).astimezone(UTC)


def last_days(count: int, today: date) -> list[date]:
    """The last `count` days up to and including `today`, in order."""
    return [today - timedelta(days=count - 1 - number) for number in range(count)]


def last_months(count: int, today: date) -> list[date]:
    """The first days of the last `count` months up to and including this one, in order."""
    months = today.year * 12 + today.month - 1
    return [date(*_year_and_month(months - count + 1 + number), 1) for number in range(count)]


def _year_and_month(months: int) -> tuple[int, int]:
    return months // 12, months % 12 + 1
