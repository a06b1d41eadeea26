"""Results of random rosters equal those of a model, whatever the order in which rosters and punches were told."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from plugins.boot.runtime import Running
from plugins.hrm.results import reconcile
from plugins.testing import Client, expect, unique
from tests.api.hrm.staff import AT, create
from tests.api.hrm.test_attendance_by_date import SHIFTS, Assigned, Model
from tests.api.hrm.week import at, day

Told = tuple[str, dict[str, object]]


@dataclass
class Rostered(Model):
    """Somebody whose days may have a shift of their own (by its number), or none."""

    rosters: dict[int, int | None] = field(default_factory=dict)

    def on(self, number: int) -> Assigned:
        usual, shift = super().on(number), self.rosters.get(number)
        return usual if shift is None else Assigned(SHIFTS[shift][2:], usual.weekdays, usual.department)

    def works(self, number: int) -> bool:
        return self.rosters[number] is not None if number in self.rosters else super().works(number)


async def check_rosters(admin: Client, running: Running, chance: random.Random, days: int) -> None:
    """Roster a random person by hand and by a pattern, and compare every day with the model."""
    shifts = [(await create(admin, "shifts", name=unique("shift"), start=one[0], end=one[1]))["id"] for one in SHIFTS]
    usual, weekdays = chance.randrange(len(SHIFTS)), set(chance.sample(range(1, 8), 5))
    group = {"name": unique("group"), "shift_id": shifts[usual], "working_days": sorted(weekdays)}
    of_group = (await create(admin, "attendance-groups", **group))["id"]
    dates = {"hired_on": day(), "attends_from": day(), "left_on": day(days - 1)}
    employee = (await create(admin, "employees", name="Mei", attendance_group_id=of_group, **dates))["id"]
    model = Rostered(days)
    model.assigned[0] = Assigned(SHIFTS[usual][2:], weekdays, 0)
    # a pattern over some days first, then other days by hand
    steps = [chance.choice([None, *range(len(SHIFTS))]) for _ in range(chance.randrange(1, 5))]
    first = chance.randrange(days // 2)
    last = chance.randrange(first, days)
    model.rosters |= {number: steps[(number - first) % len(steps)] for number in range(first, last + 1)}
    pattern = [{"shift_id": None if one is None else shifts[one]} for one in steps]
    made = await create(admin, "roster-patterns", name=unique("pattern"), days=pattern)
    body = {"from": day(first), "to": day(last), "employee_ids": [employee]}
    expect(await admin.post(f"{AT}/roster-patterns/{made['id']}/apply", body))
    told: list[Told] = []
    for number in chance.sample(
        [one for one in range(days) if one not in model.rosters], (days - 1 - last + first) // 2
    ):
        model.rosters[number] = chance.choice([None, *range(len(SHIFTS))])
        shift = model.rosters[number]
        whose = {"employee_id": employee, "shift_id": None if shift is None else shifts[shift]}
        told.append(("rosters", {"day": day(number), **whose}))
    for number in range(days):
        for edge in model.on(number).shift:
            if chance.random() < 0.8:
                punch = number * 1440 + edge + chance.choice((-10, -3, 0, 4, 11)) * chance.choice((1, 9))
                if 1440 < punch < days * 1440 and all(abs(punch - other) > 1 for other in model.punches):
                    model.punches.append(punch)
                    told.append(("punches/enter", {"employee_id": employee, "at": at(punch / 60), "reason": "model"}))
    chance.shuffle(told)
    for path, values in told:
        expect(await admin.post(f"{AT}/{path}", values))
    await reconcile(running.service)
    rows = expect(await admin.get(f"{AT}/attendance?employee_id={employee}&page_size=200"))["items"]
    names = ("status", "late_minutes", "early_minutes")
    seen = [row for row in rows if row["status"] != "rest" or row["arrived_at"] or row["departed_at"]]
    expected = {one: result[:3] for one, result in model.results().items()}
    assert {row["day"]: tuple(row[name] for name in names) for row in seen} == expected


@pytest.mark.gen_test(timeout=60)
async def test_every_day_counts_by_its_roster_before_the_group(admin: Client, tradewind: Running) -> None:
    await check_rosters(admin, tradewind, random.Random("rosters"), 8)
