"""The break of a shift is not working time: half days of leave end or begin with it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.hrm.results import reconcile
from plugins.testing import Client, expect, unique
from tests.api.hrm.staff import AT, Staff
from tests.api.hrm.week import MONDAY, at, day

pytestmark = pytest.mark.gen_test(timeout=60)
NOON = {"break_start": "12:00", "break_end": "13:00"}
ONE_DAY = {"attends_from": day(), "left_on": day()}


@pytest.mark.parametrize(
    ("begins", "ends", "days", "hours"),
    [
        (9, 12, "0.5", "3"),
        (13, 18, "0.5", "5"),
        (9, 18, "1", "8"),
        (9, 13, "0.5", "3"),
        (11, 15, "0.5", "3"),
        (10, 17, "1", "6"),
        (12, 13, "0", "0"),
        (0, 24, "1", "8"),
        (13, 42, "1.5", "13"),
    ],
)
async def test_half_a_day_of_leave_ends_or_begins_with_the_break(
    begins: int, ends: int, days: str, hours: str, admin: Client
) -> None:
    leave = await (await Staff.hire(admin, NOON)).leave(at(begins), at(ends))
    assert (leave["days"], leave["hours"]) == (days, hours)


async def test_the_break_of_a_night_shift_is_on_the_next_day(admin: Client) -> None:
    night = {"start": "20:00", "end": "04:00", "break_start": "00:00", "break_end": "00:30"}
    leave = await (await Staff.hire(admin, night)).leave(at(20), at(24))
    assert (leave["days"], leave["hours"]) == ("0.5", "4")


@pytest.mark.parametrize(
    ("leave", "punches", "status"),
    [
        ((9, 12), (13, 18), "normal"),
        ((9, 12), (14, 18), "late"),
        ((13, 18), (9, 12), "normal"),
        ((13, 18), (9, 11), "early_leave"),
        ((9, 13), (13, 18), "normal"),
    ],
)
async def test_half_a_day_of_leave_includes_the_break(
    leave: tuple[int, int], punches: tuple[int, int], status: str, admin: Client, tradewind: Running
) -> None:
    staff = await Staff.hire(admin, NOON, **ONE_DAY)
    await staff.leave(*(at(hour) for hour in leave), "submit", "approve")
    for hour in punches:
        await staff.punch_at(tradewind, MONDAY + timedelta(hours=hour))
    await reconcile(tradewind.service)
    assert (await staff.days())[day()]["status"] == status


async def test_both_halves_of_a_day_are_one_day(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, NOON, **ONE_DAY)
    for span in ((9, 12), (13, 18)):
        await staff.leave(*(at(hour) for hour in span), "submit", "approve")
    await reconcile(tradewind.service)
    assert (await staff.days())[day()]["status"] == "leave"


@pytest.mark.parametrize(
    ("pause", "field"),
    [
        ({"break_start": "12:00"}, "break_end"),
        ({"break_end": "12:00"}, "break_start"),
        ({"break_start": "08:00", "break_end": "10:00"}, "break_start"),
        ({"break_start": "17:00", "break_end": "18:00"}, "break_end"),
        ({"break_start": "13:00", "break_end": "12:00"}, "break_end"),
    ],
)
async def test_a_break_lies_within_its_shift(pause: dict[str, Any], field: str, admin: Client) -> None:
    hours = {"name": unique("shift"), "start": "09:00", "end": "18:00"}
    assert (await admin.post(f"{AT}/shifts", {**hours, **pause})).fields == {field}
    made = expect(await admin.post(f"{AT}/shifts", hours))
    assert (await admin.patch(f"{AT}/shifts/{made['id']}", {"version": 1, **pause})).fields == {field}
