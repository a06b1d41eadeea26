"""The days of the month: the last thirty days up to today, in a time zone in which it is noon now.

Noon is far from midnight and from the edges of shifts, so the same happens whenever the test runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone

LENGTH = 31  # days, with today


@dataclass(frozen=True)
class Dates:
    """Today, and the hours by which its time zone is ahead of UTC."""

    today: date
    hours: int

    @staticmethod
    def at_noon() -> Dates:
        """The dates of a time zone whose clock shows between noon and one."""
        now = datetime.now(UTC)
        hours = 12 - now.hour
        return Dates((now + timedelta(hours=hours)).date(), hours)

    @property
    def zone(self) -> str:
        """The name of the time zone. Signs of these names are the other way round."""
        return f"Etc/GMT{-self.hours:+d}"

    def day(self, ago: int) -> str:
        """The day so many days ago; days to come are below zero."""
        return (self.today - timedelta(days=ago)).isoformat()

    def moment(self, ago: int, clock: str) -> str:
        """A time of that day, as clients send it."""
        local = datetime.combine(self.today - timedelta(days=ago), time.fromisoformat(clock))
        at = local.replace(tzinfo=timezone(timedelta(hours=self.hours))).astimezone(UTC)
        return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    @property
    def days(self) -> list[str]:
        """All days of the month, in order."""
        return [self.day(ago) for ago in reversed(range(LENGTH))]

    def months(self, count: int) -> list[str]:
        """So many calendar months up to the current one."""
        last = self.today.year * 12 + self.today.month - 1
        return [f"{month // 12}-{month % 12 + 1:02}" for month in range(last - count + 1, last + 1)]
