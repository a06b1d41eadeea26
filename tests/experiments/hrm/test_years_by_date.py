"""Many random people, where the tests of every day have two."""

from __future__ import annotations

import random

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, People
from tests.api.hrm.test_attendance_by_date import check
from tests.api.hrm.test_roster_model import check_rosters


@pytest.mark.gen_test(timeout=900)
async def test_every_past_day_of_many_people_counts_by_the_assignment_of_then(
    admin: Client, people: People, tradewind: Running
) -> None:
    for seed in range(40):
        await check(admin, people, tradewind, random.Random(f"people {seed}"), 14)


@pytest.mark.gen_test(timeout=900)
async def test_every_day_of_many_people_counts_by_its_roster(admin: Client, tradewind: Running) -> None:
    for seed in range(40):
        await check_rosters(admin, tradewind, random.Random(f"rostered {seed}"), 14)
