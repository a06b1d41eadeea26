"""Many people, each with a twin of whom the same is told in another order, where clocks change: every sheet is the model's.

Nights over midnight, moves, holidays declared late, leave, trips, overtime, corrections and closings, over a year; results
of over a year ago are not computed any more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from bson import ObjectId

from plugins.boot.runtime import Running
from plugins.hrm.attendance_records import PUNCHES
from plugins.hrm.results import mark_stale, reconcile
from plugins.testing import Client, expect, serving
from tests.experiments.hrm.test_year_by_hr import by_model, by_service
from tests.support.attendance_model import (
    NEVER,
    Assigned,
    Fact,
    Group,
    Person,
    Punch,
    Shift,
    Special,
    Time,
    View,
    sheet,
)
from tests.support.year_of_hr import AT

FIRST, DAYS = date(2030, 12, 1), 360
PEOPLE = 20  # with a twin each, in each of the two zones
GROUPS = {
    "desk": Group(Shift(540, 1080, (720, 780)), frozenset({1, 2, 3, 4, 5})),
    "night": Group(Shift(1320, 1800, (1500, 1530)), frozenset({1, 2, 4, 5, 6})),
    "owl": Group(Shift(90, 600, (240, 270), grace=5), frozenset({2, 3, 5, 6, 7})),
}
CLOSINGS = (("2031-02", 0.4), ("2031-06", 0.7))  # the last closed month, and when in the order of what is told


@dataclass
class Clock:
    """What the server takes for the time: noon after the last day, and a minute more for each fact."""

    zone: ZoneInfo
    told: int = 0

    def time_ns(self) -> int:
        """In place of `time.time_ns`."""
        noon = datetime.combine(FIRST + timedelta(days=DAYS), time(12), self.zone)
        return int(noon.timestamp() + 60 * self.told) * 1_000_000_000


@dataclass
class Telling:
    """What is told of two people, and how."""

    admin: Client
    clock: Clock
    ids: dict[str, Any] = field(default_factory=dict)
    common: list[Fact] = field(default_factory=list)
    people: list[Person] = field(default_factory=list)
    closed: dict[str, int] = field(default_factory=dict)

    def view(self, person: Person, by: int) -> View:
        return View(FIRST, person, self.common, by, self.clock.zone)

    def at(self, minute: int) -> str:
        first = datetime.combine(FIRST, time(), self.clock.zone).timestamp()
        return datetime.fromtimestamp(first + 60 * minute, ZoneInfo("UTC")).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    async def tell(self, path: str, body: Any) -> None:
        self.clock.told += 1
        expect(await self.admin.post(f"{AT}/{path}", body))

    async def tell_of(self, person: Person, fact: Punch | Time) -> None:
        """Enter a punch, leave or a request."""
        whose = {"employee_id": self.ids[person.name], "after_closing": True, "reason": "model"}
        if isinstance(fact, Punch):
            await self.tell("punches/enter", {**whose, "at": self.at(fact.at)})
        else:
            span = {"starts_at": self.at(fact.starts), "ends_at": self.at(fact.ends)}
            kind, _, pays = fact.kind.partition("_")
            of_kind = {"kind": kind, "compensation": pays or None} if kind in ("trip", "overtime") else {"type": kind}
            await self.tell("leaves/enter" if kind == "sick" else "requests/enter", {**whose, **span, **of_kind})
        person.facts.append(replace(fact, told=self.clock.told))

    async def declare(self, day: int, works: bool) -> None:
        body = {"day": f"{FIRST + timedelta(days=day)}", "kind": "workday" if works else "holiday"}
        await self.tell("special-days", body)
        self.common.append(Special(told=self.clock.told, day=day, works=works))

    async def close(self, month: str) -> None:
        last = (date.fromisoformat(f"{month}-28") + timedelta(days=4)).replace(day=1) - timedelta(days=1)
        await self.tell("attendance/closings", {"closed_to": f"{last}"})
        self.closed[month] = self.clock.told


async def hire(telling: Telling, name: str, moves: list[tuple[int, str]]) -> Person:
    """Employ somebody who moves between groups on these days."""
    dates = {"hired_on": f"{FIRST}", "attends_from": f"{FIRST}", "left_on": f"{FIRST + timedelta(days=DAYS - 1)}"}
    body = {"name": name, "number": name, "attendance_group_id": telling.ids[moves[0][1]], **dates}
    made = expect(await telling.admin.post(f"{AT}/employees", body))
    telling.ids[name] = made["id"]
    person = Person(name, 0)
    for day, group in moves:
        if day:
            moved = {"from": f"{FIRST + timedelta(days=day)}", "group_id": telling.ids[group]}
            expect(await telling.admin.post(f"{AT}/employees/{made['id']}/assignments", moved))
        person.facts.append(Assigned(told=0, first=day, department="", group=GROUPS[group]))
    telling.people.append(person)
    return person


def imagine(view: View, chance: Random) -> tuple[list[int], list[Punch | Time]]:
    """Return punches that are there from the beginning, and what is told later."""
    punches, later = [], list[Punch | Time]()
    for day in range(1, DAYS - 1):
        hours, midnight = view.hours(day), view.moment(day, 0)
        dice = chance.random()
        if not view.works(day) or dice < 0.05:
            continue
        start, end = midnight + hours.start, midnight + hours.end
        if view.works(day - 1) and view.moment(day - 1, view.shift(day - 1).end) > start - 240:
            continue  # the shift before a move is hardly over
        if dice < 0.08 and hours.pause is not None:
            halves = ((start, end), (start, midnight + hours.pause[0]), (midnight + hours.pause[1], end))
            starts, ends = chance.choice(halves)
            later.append(Time(told=0, kind=chance.choice(("sick", "trip")), starts=starts, ends=ends))
            continue
        for at in (start + chance.choice((-9, -2, 4, 30)), end + chance.choice((-20, 1, 7))):
            punches += [at] if chance.random() < 0.9 else []
            later += [Punch(told=0, at=at)] if punches[-1:] != [at] and chance.random() < 0.6 else []
        if dice > 0.98:
            pays = chance.choice(("paid", "compensatory"))
            later.append(Time(told=0, kind=f"overtime_{pays}", starts=end + 10, ends=end + 130))
    return punches, later


async def store_punches(running: Running, telling: Telling, person: Person, punches: list[int]) -> None:
    """Store punches as a clock at the door has recorded them."""
    first = datetime.combine(FIRST, time(), telling.clock.zone).timestamp()
    employee = {"employee_id": ObjectId(telling.ids[person.name]), "user_id": None}
    rows = []
    for at in punches:
        moment = datetime.fromtimestamp(first + 60 * at, ZoneInfo("UTC"))
        shown = {"day": f"{moment.astimezone(telling.clock.zone):%Y-%m-%d}", "result": "accepted", "counts": True}
        rows.append({**employee, "employee_name": person.name, "at": moment, "method": "manual", "risks": [], **shown})
    await running.service.database.store(PUNCHES).create_many(rows)
    await mark_stale(running.service, employee["employee_id"])
    person.facts += [Punch(told=0, at=at) for at in punches]


async def check(running: Running, telling: Telling, chance: Random, people: int) -> dict[Any, Any]:
    """Tell everything in random order, closings included; return the sheets that differ from the model."""
    steps: list[Callable[[], Awaitable[None]]] = []
    for number in range(people):
        moves = [(0, chance.choice(list(GROUPS)))]
        moves += [(day, chance.choice(list(GROUPS))) for day in sorted(chance.sample(range(20, DAYS - 20), 2))]
        twins = [await hire(telling, f"{twin}{number}", moves) for twin in "ab"]
        punches, later = imagine(telling.view(twins[0], NEVER - 1), chance)
        for twin in twins:
            await store_punches(running, telling, twin, punches)
            steps += [partial(telling.tell_of, twin, one) for one in later]
    steps += [partial(telling.declare, day, chance.random() < 0.5) for day in chance.sample(range(5, DAYS - 5), 12)]
    chance.shuffle(steps)
    await reconcile(running.service)
    for number, step in enumerate(steps):
        for month, share in CLOSINGS:
            if month not in telling.closed and number >= share * len(steps):
                await reconcile(running.service)
                await telling.close(month)
        await step()
    await reconcile(running.service)
    return await compare(telling)


async def compare(telling: Telling) -> dict[Any, Any]:
    """Return what each sheet shows and what the model expects, where they differ."""
    wrong: dict[Any, Any] = {}
    for number in range(12):
        first = date(2030 + (number + 11) // 12, (number + 11) % 12 + 1, 1)
        following = (first + timedelta(days=31)).replace(day=1)
        month, days = f"{first:%Y-%m}", ((first - FIRST).days, min((following - FIRST).days, DAYS) - 1)
        closed = next((when for last, when in sorted(telling.closed.items()) if month <= last), NEVER - 1)
        for reading, by in (("paid", closed), ("known", NEVER - 1)):
            page = expect(await telling.admin.get(f"{AT}/attendance/monthly?month={month}&as={reading}&page_size=200"))
            rows = {row["number"]: by_service(row) for row in page["items"]}
            for person in telling.people:
                expected = by_model(sheet(telling.view(person, by), *days))
                if rows[person.name] != expected:
                    wrong[person.name, month, reading] = (rows[person.name], expected)
    return wrong


@pytest.mark.gen_test(timeout=900)
@pytest.mark.parametrize("zone", ["America/New_York", "Australia/Lord_Howe"])
async def test_every_sheet_is_that_of_the_model_in_whatever_order_it_was_told(
    zone: str, mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(ZoneInfo(zone))
    monkeypatch.setattr("handlers.data.database.time", clock)
    async with serving(mongodb_uri, tmp_path, time_zone=zone, access_token_minutes=1_000_000) as running:
        telling = Telling(await Client(running.url).log_in("admin"), clock)
        for name, group in GROUPS.items():
            shift = group.shift
            given = {"start": shift.start, "end": shift.end}
            given |= dict(zip(("break_start", "break_end"), shift.pause or (), strict=False))
            hours = {key: f"{at % 1440 // 60:02}:{at % 60:02}" for key, at in given.items()}
            made = expect(
                await telling.admin.post(f"{AT}/shifts", {"name": name, "grace_minutes": shift.grace, **hours})
            )
            body = {"name": name, "shift_id": made["id"], "working_days": sorted(group.weekdays)}
            telling.ids[name] = expect(await telling.admin.post(f"{AT}/attendance-groups", body))["id"]
        assert await check(running, telling, Random(zone), PEOPLE) == {}
