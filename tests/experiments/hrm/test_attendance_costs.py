"""What attendance of a large company costs: a year computed anew, the sheet of a month, and the punches at nine.

Service, database and client share the machine, so the figures are upper bounds. `-s` prints them; the page of measurements
has those of one run.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from bson import ObjectId

from handlers.data.database import Database, utc_now
from plugins.auth.sessions import Sessions
from plugins.boot.runtime import Running
from plugins.hrm.assignment_records import ASSIGNMENTS
from plugins.hrm.attendance_records import DAYS, MARKS, PUNCHES
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import mark_many_stale, reconcile
from plugins.rbac.records import USERS
from plugins.testing import Client, expect, serving
from tests.api.hrm.staff import AT, OFFICE, create

pytestmark = pytest.mark.gen_test(timeout=900)
PEOPLE, COMPUTED = 5000, 100
# the punches of 2,000 people within five minutes, of which a part is sent at that rate
PUNCHES_A_SECOND, PUNCHING = 2000 / 300, 600
_SHANGHAI = timedelta(hours=8)
_CHUNK = 5000


async def test_the_attendance_of_a_large_company_has_bounded_costs(
    mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Client, "response_hooks", [])  # checks of responses are no cost of the service
    async with serving(mongodb_uri, tmp_path, response_checks="some") as running:
        admin = await Client(running.url).log_in("admin")
        people, group = await _employ(admin, running)
        figures = {
            **await _punch_at_nine(running, people[:PUNCHING]),
            **await _compute_years(admin, running, people[:COMPUTED], group),
            **await _take_month(admin, running, people),
        }
        for what, figure in figures.items():
            print(f"{what}: {figure}")
    assert figures["processor of a punch and its client, ms"] < 100
    assert figures["a year of a person with other hours, ms of processor"] < 500
    assert figures["a page of 200 people of a month, ms of processor"] < 500


async def _employ(admin: Client, running: Running) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Create employees of one group who have been there for over a year, each with an account."""
    database = running.service.database
    shift = await create(
        admin, "shifts", name="day", start="09:00", end="18:00", break_start="12:00", break_end="13:00"
    )
    place = await create(admin, "places", name="office", location=OFFICE, radius=200)
    group = await create(admin, "attendance-groups", name="all", shift_id=shift["id"], place_ids=[place["id"]])
    hired = (utc_now() - timedelta(days=400)).date().isoformat()
    accounts = await database.store(USERS).create_many(
        [{"username": f"person-{number}", "is_super": True, "must_change_password": False} for number in range(PEOPLE)]
    )
    given = {"hired_on": hired, "attends_from": hired, "attendance_group_id": ObjectId(group["id"])}
    rows = [
        {
            **given,
            "name": f"Person {number}",
            "number": f"{number:05}",
            "user_id": one["id"],
            "shared_with": [one["id"]],
        }
        for number, one in enumerate(accounts)
    ]
    employees = await database.store(EMPLOYEES).create_many(rows)
    assigned = {"from": hired, "to": None, "group_id": ObjectId(group["id"]), "upcoming": False}
    await database.store(ASSIGNMENTS).create_many([{**assigned, "employee_id": one["id"]} for one in employees])
    return [{**employee, "account": one} for employee, one in zip(employees, accounts, strict=True)], group


async def _punch_at_nine(running: Running, people: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Let people punch at random moments, as many a second as if 2,000 arrived within five minutes."""
    sessions = running.service.part(Sessions)
    tokens = [(await sessions.begin(one["account"], "", "")).access_token for one in people]
    clients = [Client(running.url, token) for token in tokens]
    taken: list[float] = []

    async def punch(client: Client, after: float) -> None:
        await asyncio.sleep(after)
        began = time.perf_counter()
        expect(await client.post(f"{AT}/punches", {"location": OFFICE, "accuracy": 10}))
        taken.append((time.perf_counter() - began) * 1000)

    chance, span = random.Random(9), len(people) / PUNCHES_A_SECOND
    with _timed() as used:
        await asyncio.gather(*(punch(one, chance.uniform(0, span)) for one in clients))
    taken.sort()
    median, p99 = taken[len(taken) // 2], taken[int(len(taken) * 0.99)]
    assert await running.service.database.store(PUNCHES).count({"counts": True}) == len(people)
    return {
        "punches a second": round(PUNCHES_A_SECOND, 1),
        "processor of a punch and its client, ms": round(used[1] / len(people) * 1000, 1),
        "median of a punch, ms": round(median, 1),
        "p99 of a punch, ms": round(p99, 1),
    }


async def _compute_years(
    admin: Client, running: Running, people: Sequence[dict[str, Any]], group: dict[str, Any]
) -> dict[str, float]:
    """Compute a year of results for the first time, again without a change, and after the group's hours have changed."""
    database, today = running.service.database, (utc_now() + _SHANGHAI).date()
    await _store_punches(database, people, [today - timedelta(days=number) for number in range(1, 367)])
    for one in people:
        await database.store(MARKS).upsert(one["id"], {"stale": True})
    with _timed() as first:
        await reconcile(running.service)
    await mark_many_stale(running.service, [one["id"] for one in people])
    with _timed() as again:
        await reconcile(running.service)
    shift = expect(await admin.get(f"{AT}/shifts/{group['shift_id']}"))
    later = {"start": "08:50", "version": shift["version"]}
    await database.store(MARKS).remove({"_id": {"$nin": [one["id"] for one in people]}})
    with _timed() as changed:
        expect(await admin.patch(f"{AT}/shifts/{shift['id']}", later))
        await reconcile(running.service)
    results = await database.store(DAYS).count({"late_minutes": {"$gt": 0}})
    assert results > len(people) * 200
    each = changed[0] / len(people)
    of_runs = {"for the first time": first, "without a change": again, "with other hours": changed}
    return {
        **{
            f"a year of a person {what}, ms{kind}": round(seconds / len(people) * 1000, 1)
            for what, run in of_runs.items()
            for kind, seconds in zip(("", " of processor"), run, strict=True)
        },
        "a year of 5,000 people with other hours at that rate, minutes": round(each * 5000 / 60, 1),
    }


async def _store_punches(database: Database, people: Sequence[dict[str, Any]], days: Sequence[date]) -> None:
    store = database.store(PUNCHES)
    for start in range(0, len(people), 20):
        rows = [
            _punch(one, day, hour)
            for one in people[start : start + 20]
            for day in days
            if day.isoweekday() < 6
            for hour in (9, 18)
        ]
        await store.create_many(rows)


def _punch(employee: dict[str, Any], day: date, hour: int) -> dict[str, Any]:
    whose = {"employee_id": employee["id"], "employee_name": employee["name"], "user_id": employee["user_id"]}
    at = datetime(day.year, day.month, day.day, hour, tzinfo=UTC) - _SHANGHAI
    return {**PUNCHES.defaults, **whose, "at": at, "day": day.isoformat(), "result": "accepted", "counts": True}


async def _take_month(admin: Client, running: Running, people: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Read, ask for and close the month before of everyone."""
    last = (utc_now() + _SHANGHAI).date().replace(day=1) - timedelta(days=1)
    month = last.isoformat()[:7]
    await _store_results(running.service.database, people[COMPUTED:], last)
    monthly = f"{AT}/attendance/monthly?month={month}&sort=number"
    with _timed() as page:
        rows = expect(await admin.get(f"{monthly}&page_size=200"))["items"]
    assert {row["working_days"] for row in rows} == {rows[0]["working_days"]} != {0}
    with _timed() as all_pages:
        found = [row async for row in _all_rows(admin, f"{monthly}&page_size=200")]
    assert len(found) == PEOPLE
    with _timed() as exported:
        reply = await admin.get(f"{AT}/attendance/monthly/export?month={month}&format=csv")
    assert reply.body.count(b"\n") > PEOPLE
    with _timed() as asked:
        # on a busy machine the time limit may cut it, and it goes on
        while (reply := await admin.post(f"{AT}/attendance/sheets/ask", {"month": month})).status == 503:
            pass
    assert expect(reply)["people"] == PEOPLE
    with _timed() as closed:
        made = expect(await admin.post(f"{AT}/attendance/closings", {"closed_to": last.isoformat()}))
    assert made["not_agreed"] == PEOPLE
    return {
        "a page of 200 people of a month, ms": round(page[0] * 1000),
        "a page of 200 people of a month, ms of processor": round(page[1] * 1000),
        "the month of 5,000 people in pages, s": round(all_pages[0], 2),
        "the month of 5,000 people as CSV, s": round(exported[0], 2),
        "asking 5,000 people to agree, s": round(asked[0], 2),
        "closing the month of 5,000 people, s": round(closed[0], 2),
    }


async def _store_results(database: Database, people: Sequence[dict[str, Any]], last: date) -> None:
    days = [last.replace(day=number) for number in range(1, last.day + 1)]
    working = [day.isoformat() for day in days if day.isoweekday() < 6]
    result = {"status": "normal", "late_minutes": 0, "early_minutes": 0, "worked_minutes": 480, "leave_by_type": {}}
    known = {**result, "leave_minutes_by_type": {}}
    rows = [
        {**known, "employee_id": one["id"], "employee_name": one["name"], "user_id": one["user_id"], "day": day}
        for one in people
        for day in working
    ]
    for start in range(0, len(rows), _CHUNK):
        await database.store(DAYS).create_many(rows[start : start + _CHUNK])


async def _all_rows(client: Client, path: str) -> AsyncIterator[dict[str, Any]]:
    cursor = ""
    while cursor is not None:
        page = expect(await client.get(f"{path}&cursor={cursor}" if cursor else path))
        for row in page["items"]:
            yield row
        cursor = page["next_cursor"]


@contextmanager
def _timed() -> Iterator[list[float]]:
    """Yield a list, which gets the seconds that pass and those of this process's processor."""
    taken: list[float] = []
    began, used = time.perf_counter(), time.process_time()
    yield taken
    taken += [time.perf_counter() - began, time.process_time() - used]
