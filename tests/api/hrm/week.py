"""A week of last month that is over but not long ago. It begins on the second Monday, so it is in one month."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

_SHANGHAI = timedelta(hours=8)


def _second_monday_of_last_month() -> date:
    first = ((datetime.now(UTC) + _SHANGHAI).date().replace(day=1) - timedelta(days=1)).replace(day=1)
    return first + timedelta(days=7 + -first.weekday() % 7)


_FIRST = _second_monday_of_last_month()  # once: a month may end while the tests run
MONDAY = datetime.combine(_FIRST, datetime.min.time(), UTC) - _SHANGHAI  # its midnight in Shanghai
MONTH = f"{_FIRST:%Y-%m}"


def day(number: int = 0) -> str:
    """The day so many days after the Monday."""
    return (_FIRST + timedelta(days=number)).isoformat()


def at(hours: float) -> str:
    """The time so many hours after the midnight of the Monday in Shanghai, in UTC."""
    return (MONDAY + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")
