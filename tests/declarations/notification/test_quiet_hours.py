"""Quiet hours by the clock of the business: over midnight, and over a change of the clocks."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from plugins.notification.preferences import end_of_quiet

SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("start", "end", "now", "until"),
    [
        ("22:00", "07:00", "2026-11-29T23:30", "2026-11-30T07:00"),
        ("22:00", "07:00", "2026-11-29T06:59", "2026-11-29T07:00"),
        ("22:00", "07:00", "2026-11-29T07:00", None),
        ("22:00", "07:00", "2026-11-29T21:59", None),
        ("12:00", "13:30", "2026-11-29T12:00", "2026-11-29T13:30"),
        ("12:00", "13:30", "2026-11-29T23:00", None),
        ("08:00", "08:00", "2026-11-29T08:00", None),
        (None, None, "2026-11-29T08:00", None),
    ],
)
def test_they_hold_from_their_start_until_their_end(start: Any, end: Any, now: str, until: str | None) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=SHANGHAI)
    found = end_of_quiet(preferences(start, end), moment, SHANGHAI)
    assert (found and f"{found.astimezone(SHANGHAI):%Y-%m-%dT%H:%M}") == until


def test_they_end_by_the_clock_on_the_night_in_which_it_changes() -> None:
    now = datetime(2026, 10, 24, 23, 0, tzinfo=BERLIN)
    found = end_of_quiet(preferences("22:00", "07:00"), now, BERLIN)
    assert found is not None
    assert f"{found.astimezone(BERLIN):%d %H:%M}" == "25 07:00"


def preferences(start: Any, end: Any) -> dict[str, Any]:
    """The quiet hours of somebody."""
    return {"quiet_from": start, "quiet_to": end}
