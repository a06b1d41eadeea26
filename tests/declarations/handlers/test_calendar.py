"""Business days: what day a moment is in."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from handlers.schema.calendar import day_of, last_days, last_months, settled_since, start_of

SHANGHAI = ZoneInfo("Asia/Shanghai")


def test_half_past_four_in_the_afternoon_utc_is_the_next_day_in_shanghai() -> None:
    assert day_of(datetime(2026, 11, 20, 16, 30, tzinfo=UTC), SHANGHAI) == date(2026, 11, 21)


def test_a_day_begins_at_its_own_midnight() -> None:
    assert start_of(date(2026, 11, 21), SHANGHAI) == datetime(2026, 11, 20, 16, 0, tzinfo=UTC)


def test_a_day_of_a_clock_change_begins_by_the_rules_of_that_day() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert start_of(date(2026, 10, 26), berlin) - start_of(date(2026, 10, 25), berlin) == (
        datetime(2026, 10, 25, 23, tzinfo=UTC) - datetime(2026, 10, 24, 22, tzinfo=UTC)
    )


def test_the_last_days_end_with_today() -> None:
    assert last_days(3, date(2026, 3, 1)) == [date(2026, 2, 27), date(2026, 2, 28), date(2026, 3, 1)]


def test_the_last_months_cross_the_year() -> None:
    assert last_months(3, date(2026, 1, 31)) == [date(2025, 11, 1), date(2025, 12, 1), date(2026, 1, 1)]


def test_the_clocks_of_shanghai_have_stayed_as_they_are_since_1991() -> None:
    since = settled_since(SHANGHAI)
    assert date(1991, 9, 15) < since <= date(1991, 9, 22)


@pytest.mark.parametrize("zone", ["Asia/Amman", "Asia/Damascus", "Asia/Shanghai", "Europe/Berlin", "UTC"])
def test_from_the_day_on_which_clocks_are_settled_a_day_has_24_hours(zone: str) -> None:
    # those of Amman were put forward for good at the midnight that began 2022-02-25
    first = settled_since(ZoneInfo(zone))
    begins = [start_of(first + timedelta(days=number), ZoneInfo(zone)) for number in range(8)]
    assert {after - before for before, after in pairwise(begins)} == {timedelta(days=1)}


def test_clocks_that_are_still_changed_are_settled_on_no_day_so_far() -> None:
    assert settled_since(ZoneInfo("Europe/Berlin")) > date(2099, 1, 1)
