"""When clocks change, moments stay what they are. The clocks of the business time zone last changed in 1991."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client
from tests.api.hrm.staff import Staff

pytestmark = pytest.mark.gen_test(timeout=30)
SPRING = "1991-04-14"  # two o'clock is three o'clock
AUTUMN = "1991-09-15"  # the hour from one o'clock comes twice


async def arrive(admin: Client, tradewind: Running, day: str, start: str, end: str, at: datetime) -> dict[str, Any]:
    """The result of a day after an arrival at this moment."""
    staff = await Staff.hire(admin, {"start": start, "end": end}, hired_on=day, attends_from=day, left_on=day)
    await staff.punch_at(tradewind, at)
    return (await staff.days())[day]


async def test_the_repeated_hour_is_not_the_first(admin: Client, tradewind: Running) -> None:
    again = datetime(1991, 9, 14, 17, 10, tzinfo=UTC)  # ten past one, for the second time
    row = await arrive(admin, tradewind, AUTUMN, "01:00", "09:00", again)
    assert (row["arrived_at"], row["late_minutes"]) == ("1991-09-14T17:10:00.000Z", 70)


async def test_nobody_is_late_by_an_hour_that_clocks_skip(admin: Client, tradewind: Running) -> None:
    row = await arrive(admin, tradewind, SPRING, "02:00", "10:00", datetime(1991, 4, 13, 18, tzinfo=UTC))
    assert (row["status"], row["late_minutes"]) == ("normal", 0)


@pytest.mark.parametrize(
    ("starts_at", "ends_at", "hours"),
    [
        ("1991-04-13T14:00:00Z", "1991-04-13T21:00:00Z", "7"),
        ("1991-09-14T13:00:00Z", "1991-09-14T22:00:00Z", "9"),
    ],
    ids=["forward", "back"],
)
async def test_leave_of_a_night_takes_the_hours_that_pass(
    starts_at: str, ends_at: str, hours: str, admin: Client
) -> None:
    staff = await Staff.hire(admin, {"start": "22:00", "end": "06:00"}, hired_on="1991-01-01")
    leave = await staff.leave(starts_at, ends_at)
    assert (leave["days"], leave["hours"]) == ("1", hours)


@pytest.mark.parametrize(
    ("arrives", "leaves", "day", "pause", "minutes"),
    [
        (datetime(1991, 9, 14, 13, tzinfo=UTC), datetime(1991, 9, 14, 22, tzinfo=UTC), "1991-09-14", "01:30", 510),
        (datetime(1991, 4, 13, 14, tzinfo=UTC), datetime(1991, 4, 13, 21, tzinfo=UTC), "1991-04-13", "02:30", 390),
    ],
    ids=["back", "forward"],
)
async def test_a_night_has_the_hours_that_pass_and_a_break_is_as_long_as_ever(
    arrives: datetime, leaves: datetime, day: str, pause: str, minutes: int, admin: Client, tradewind: Running
) -> None:
    hours = {"start": "22:00", "end": "06:00", "break_start": pause, "break_end": f"0{int(pause[1]) + 1}:00"}
    staff = await Staff.hire(admin, hours, hired_on=day, attends_from=day, left_on=day)
    await staff.punch_at(tradewind, arrives)
    await staff.punch_at(tradewind, leaves)
    row = (await staff.days())[day]
    assert (row["status"], row["worked_minutes"]) == ("normal", minutes)


async def test_a_shift_within_the_skipped_hour_is_worked_after_it(admin: Client, tradewind: Running) -> None:
    row = await arrive(admin, tradewind, SPRING, "02:00", "03:00", datetime(1991, 4, 13, 18, 30, tzinfo=UTC))
    assert (row["status"], row["late_minutes"]) == ("late", 30)
