"""Results of random days equal those of a model, whatever the order in which assignments, days and punches were told."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.hrm.results import reconcile
from plugins.testing import Client, People, expect, unique
from tests.api.hrm.staff import AT, create
from tests.api.hrm.week import at, day

SHIFTS = (("09:00", "18:00", 540, 1080), ("22:00", "06:00", 1320, 1800), ("20:00", "04:00", 1200, 1680))
Step = Callable[[], Awaitable[Any]]


@dataclass
class Assigned:
    """What somebody is assigned to: the begin and end of the shift in minutes, weekdays, and the department."""

    shift: tuple[int, int]
    weekdays: set[int]
    department: int


@dataclass
class Model:
    """A person's working time by day number, from 0 on, and their punches in minutes since the first midnight."""

    days: int
    assigned: dict[int, Assigned] = field(default_factory=dict)
    special: dict[int, bool] = field(default_factory=dict)
    punches: list[int] = field(default_factory=list)

    def on(self, number: int) -> Assigned:
        return self.assigned[max((start for start in self.assigned if start <= number), default=0)]

    def works(self, number: int) -> bool:
        weekday = date.fromisoformat(day(number)).isoweekday()
        return self.special.get(number, weekday in self.on(number).weekdays)

    def hours(self, number: int) -> tuple[int, int]:
        """The shift of a day; that of a day off keeps eight hours away from the shifts beside it."""
        start, end = (number * 1440 + minute for minute in self.on(number).shift)
        if not self.works(number) and self.works(number - 1):
            start = max(start, (number - 1) * 1440 + self.on(number - 1).shift[1] + 480)
        if not self.works(number) and self.works(number + 1):
            end = min(end, (number + 1) * 1440 + self.on(number + 1).shift[0] - 480)
        return start, end

    def day_of(self, punch: int) -> int:
        """A punch belongs to the nearest shift, the later one in the middle between two."""

        def distance(number: int) -> int:
            start, end = self.hours(number)
            return max(start - punch, 0, punch - end)

        return min(range(-1, self.days + 2), key=lambda number: (distance(number), -number))

    def results(self) -> dict[str, tuple[str, int, int, int]]:
        """Day → status, minutes of lateness and of early departure, department."""
        found = {}
        for number in range(self.days):
            start, end = (number * 1440 + minute for minute in self.on(number).shift)
            own = sorted(punch for punch in self.punches if self.day_of(punch) == number)
            if self.works(number) or own:
                result = _result(start, end, own) if self.works(number) else ("rest", 0, 0)
                found[day(number)] = (*result, self.on(number).department)
        return found


def _result(start: int, end: int, punches: list[int]) -> tuple[str, int, int]:
    if not punches:
        return "absent", 0, 0
    came = punches[0] if len(punches) > 1 or punches[0] < end else None
    went = punches[-1] if len(punches) > 1 or came is None else None
    late, early = max(0, came - start) if came else 0, max(0, end - went) if went else 0
    status = "missed" if None in (came, went) else "late" if late else "early_leave" if early else "normal"
    return status, late, early


async def check(admin: Client, people: People, running: Running, chance: random.Random, days: int) -> None:
    """Tell the facts of a random person in random order, and compare every day with the model."""
    departments = [await people.department(), await people.department()]
    place = (await create(admin, "places", name=unique("place"), location={"lng": 1, "lat": 1}))["id"]
    shifts = [(await create(admin, "shifts", name=unique("shift"), start=one[0], end=one[1]))["id"] for one in SHIFTS]
    model, groups = Model(days), []
    for number in sorted({0, *(chance.randrange(1, days) for _ in range(days // 3))}):
        kind, weekdays = chance.randrange(len(SHIFTS)), set(chance.sample(range(1, 8), 5))
        model.assigned[number] = Assigned(SHIFTS[kind][2:], weekdays, chance.choice(departments))
        of_group = {"shift_id": shifts[kind], "working_days": sorted(weekdays)}
        groups.append((await create(admin, "attendance-groups", name=unique("group"), **of_group))["id"])
    first = {"attendance_group_id": groups[0], "department_id": model.assigned[0].department, "place_id": place}
    dates = {"hired_on": day(), "attends_from": day(), "left_on": day(days - 1)}
    employee = (await create(admin, "employees", name="Mei", **dates, **first))["id"]
    steps: list[Step] = []

    def tell(path: str, **body: Any) -> None:
        async def step() -> None:
            expect(await admin.post(f"{AT}/{path}", body))

        steps.append(step)

    for group, number in list(zip(groups, sorted(model.assigned), strict=True))[1:]:
        values = {"group_id": group, "department_id": model.assigned[number].department}
        tell(f"employees/{employee}/assignments", **{"from": day(number)}, **values)
    for number in chance.sample(range(days), days // 5):
        model.special[number] = chance.random() < 0.5
        kind = "workday" if model.special[number] else "holiday"
        tell("special-days", day=day(number), kind=kind, place_id=place)
    for number in range(days):
        for edge in model.on(number).shift:
            if chance.random() < 0.8:
                punch = number * 1440 + edge + chance.choice((-10, -3, 0, 4, 11)) * chance.choice((1, 9))
                if 1440 < punch < days * 1440 and all(abs(punch - other) > 1 for other in model.punches):
                    model.punches.append(punch)
                    tell("punches/enter", employee_id=employee, at=at(punch / 60), reason="model")
    chance.shuffle(steps)
    for step in steps:
        await step()
    await reconcile(running.service)
    rows = expect(await admin.get(f"{AT}/attendance?employee_id={employee}&page_size=200"))["items"]
    names = ("status", "late_minutes", "early_minutes", "department_id")
    # a day that had a result before it became a day of rest still has one
    told = [row for row in rows if row["status"] != "rest" or row["arrived_at"] or row["departed_at"]]
    assert {row["day"]: tuple(row[name] for name in names) for row in told} == model.results()


@pytest.mark.gen_test(timeout=60)
@pytest.mark.parametrize("seed", [1, 2])
async def test_every_past_day_counts_by_the_assignment_of_then(
    seed: int, admin: Client, people: People, tradewind: Running
) -> None:
    await check(admin, people, tradewind, random.Random(seed), 9)
