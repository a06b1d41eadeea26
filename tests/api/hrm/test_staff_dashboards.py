"""The dashboards of hrm equal the sums over what the same person can list, for people of every scope."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest

from plugins.boot.runtime import Running
from plugins.hrm.attendance_records import DAYS
from plugins.hrm.states import DAY_STATES
from plugins.testing import Client, People, expect
from tests.api.dashboard import cells
from tests.api.hrm.staff import AT

pytestmark = pytest.mark.gen_test(timeout=3600 if cells.WHOLE else 60)
SEES = [f"dashboard:chart:{name}" for name in ("employee-distribution", "headcount-trend", "attendance-summary")]
SEES += ["hrm:employee:list", "hrm:attendance:list"]
FIRST, LAST = "2024-02-28", "2024-03-02"  # days that nobody else has results of
PRESENT = ("normal", "late", "early_leave", "missed")


async def listed(person: Client, path: str) -> AsyncIterator[dict[str, Any]]:
    page: dict[str, Any] = {"next_cursor": ""}
    while page["next_cursor"] is not None:
        cursor = f"&cursor={page['next_cursor']}" if page["next_cursor"] else ""
        page = expect(await person.get(f"{AT}/{path}page_size=200{cursor}"))
        for item in page["items"]:
            yield item


async def test_each_figure_is_the_sum_over_what_the_person_can_list(
    admin: Client, people: People, tradewind: Running
) -> None:
    chance = random.Random(7)
    above = await people.department()
    departments = [above, await people.department(above), await people.department()]
    viewers = [
        await people.person(SEES, scope, chance.choice(departments), departments[1:2] if scope == "custom" else ())
        for scope in ("all", "department", "department_and_below", "self", "custom")
    ]
    await entered(admin, departments, viewers, chance, tradewind)
    seen = [await compared(viewer) for viewer in viewers]
    for name in ("employee-distribution", "headcount-trend", "attendance-summary"):
        records = [await cells.compared(viewer, name, chance) for viewer in viewers]
        assert records[0] > max(records[1:]) > 0
    # people must see different rows, or the test would prove nothing
    assert seen[0] > max(seen[1:]) > 0


async def entered(
    admin: Client, departments: list[int], viewers: list[Client], chance: random.Random, service: Running
) -> None:
    """Create employees of every department, among them each viewer, and results of some days."""
    today = datetime.now(UTC).date()
    days = service.service.database.store(DAYS)
    for number in range(20):
        hired = today - timedelta(days=chance.randrange(0, 600))
        left = hired + timedelta(days=chance.randrange(0, 500))
        user = viewers[number].user["userId"] if number < len(viewers) else None
        body = {
            "name": f"person {number}",
            "hired_on": hired.isoformat(),
            "user_id": user,
            "department_id": chance.choice([*departments, None]),
            "left_on": left.isoformat() if chance.random() < 0.5 else None,
        }
        employee = expect(await admin.post(f"{AT}/employees", body))
        for day in range(3):
            await days.create(
                {
                    "employee_id": employee["id"],
                    "employee_name": "person",
                    "user_id": user,
                    "department_id": body["department_id"],
                    "status": chance.choice(list(DAY_STATES.states)),
                    "day": (date.fromisoformat(FIRST) + timedelta(days=day)).isoformat(),
                    "late_minutes": chance.choice([0, 7]),
                    "early_minutes": 0,
                }
            )


async def compared(person: Client) -> int:
    """Compare the three dashboards with the reference, and return how many employees the person sees."""
    today = datetime.now(ZoneInfo("Asia/Shanghai")).date().isoformat()
    employees = [one async for one in listed(person, "employees?")]
    there = [one for one in employees if one["hired_on"] <= today <= (one["left_on"] or today)]
    distribution = expect(await person.get("/api/dashboard/employee-distribution"))["items"]
    counts = {one["department_id"]: one["value"] for one in distribution}
    assert counts == Counter(one["department_id"] for one in there)
    assert all(one["name"] for one in distribution)
    trends = [expect(await person.get(f"/api/dashboard/headcount-trend?months={count}")) for count in (24, 6, 1)]
    for row in (row for trend in trends for row in trend["items"]):
        month = row["month"]
        joined = [one for one in employees if one["hired_on"][:7] == month]
        left = [one for one in employees if (one["left_on"] or "")[:7] == month]
        stay = [one for one in employees if one["hired_on"][:7] <= month < (one["left_on"] or "9999-12")[:7]]
        assert row == {"month": month, "headcount": len(stay), "joined": len(joined), "left": len(left)}
    rows = [one async for one in listed(person, f"attendance?day_from={FIRST}&day_to={LAST}&")]
    summary = expect(await person.get(f"/api/dashboard/attendance-summary?date_from={FIRST}&date_to={LAST}"))
    assert {name: summary[name] for name in ("present", "late", "missed_punch")} == figures(rows)
    for item in summary["items"]:
        assert item == {"date": item["date"], **figures([one for one in rows if one["day"] == item["date"]])}
    return len(employees)


def figures(rows: list[dict[str, Any]]) -> dict[str, int]:
    came = [one for one in rows if one["status"] in PRESENT]
    return {
        "present": len(came),
        "late": sum(one["late_minutes"] > 0 for one in came),
        "missed_punch": sum(one["status"] == "missed" for one in came),
    }


async def test_a_month_counts_joined_and_left_people(admin: Client, people: People) -> None:
    department = await people.department()
    head = await people.person(SEES, "department", department)
    months = [row["month"] for row in expect(await head.get("/api/dashboard/headcount-trend?months=3"))["items"]]
    for hired, left in (("2020-01-31", None), (f"{months[0]}-01", f"{months[1]}-01"), (f"{months[1]}-28", None)):
        body = {"name": "Mei", "hired_on": hired, "left_on": left, "department_id": department}
        expect(await admin.post(f"{AT}/employees", body))
    rows = expect(await head.get("/api/dashboard/headcount-trend?months=3"))["items"]
    assert [(row["headcount"], row["joined"], row["left"]) for row in rows] == [(2, 1, 0), (2, 1, 1), (2, 0, 0)]


async def test_past_headcounts_stay_with_the_department_of_then(admin: Client, people: People) -> None:
    above = await people.department()
    old, new = await people.department(above), await people.department(above)
    months = [row["month"] for row in expect(await admin.get("/api/dashboard/headcount-trend?months=3"))["items"]]
    body = {"name": "Mei", "hired_on": f"{months[1]}-01", "department_id": old}
    made = expect(await admin.post(f"{AT}/employees", body))
    expect(await admin.post(f"{AT}/employees", {**body, "name": "Li"}))
    version = made["version"]
    for department in (new, above, new):  # only the last move of a day counts
        moved = expect(
            await admin.patch(f"{AT}/employees/{made['id']}", {"version": version, "department_id": department})
        )
        version = moved["version"]
    assert [one["department_id"] for one in moved["past_departments"]] == [old]

    async def trend(person: Client, **query: Any) -> list[tuple[int, int]]:
        at, asked = "/api/dashboard/headcount-trend", urlencode({"months": 3, **query})
        rows = expect(await person.get(f"{at}?{asked}"))["items"]
        for row in rows:
            for name in ("headcount", "joined", "left"):
                behind = await person.get(f"{at}/rows?{asked}&cell=items.{row['month']}.{name}")
                assert expect(behind)["value"] == row[name]
        return [(row["headcount"], row["joined"]) for row in rows]

    for department, expected in (
        (old, [(0, 0), (2, 2), (1, 0)]),
        (new, [(0, 0), (0, 0), (1, 0)]),
        (above, [(0, 0), (2, 2), (2, 0)]),
    ):
        assert await trend(admin, department_id=department) == expected
        head = await people.person(SEES, "department_and_below", department)
        assert await trend(head) == expected
