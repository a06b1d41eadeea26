"""Rosters: shifts of people by date, patterns of rotation, open shifts, and the week."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.hrm.results import reconcile
from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import configured
from tests.api.hrm.staff import AT, Staff, create
from tests.api.hrm.test_two_readings import month_of
from tests.api.hrm.week import MONDAY, at, day

pytestmark = pytest.mark.gen_test(timeout=30)
ROSTERS, PATTERNS = f"{AT}/rosters", f"{AT}/roster-patterns"
WEEK = {"attends_from": day(), "left_on": day(6)}


async def night(admin: Client, **fields: Any) -> str:
    hours = {"name": unique("shift"), "start": "22:00", "end": "06:00", **fields}
    return str((await create(admin, "shifts", **hours))["id"])


async def statuses(staff: Staff, running: Running) -> list[str]:
    await reconcile(running.service)
    return [row["status"] for _, row in sorted((await staff.days()).items())]


@pytest.fixture(scope="module")
def shared(io_loop: IOLoop, admin: Client) -> Staff:
    """Somebody whose results no test looks at."""
    hired: Staff = io_loop.run_sync(lambda: Staff.hire(admin, **WEEK))
    return hired


async def test_a_roster_comes_before_the_shift_and_the_days_off_of_the_group(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, group={"working_days": [2, 3]}, attends_from=day(), left_on=day(2))
    for hours in (21.9, 30.1):  # from Monday night to Tuesday morning
        await staff.punch_at(tradewind, MONDAY + timedelta(hours=hours))
    assert await statuses(staff, tradewind) == ["rest", "missed", "absent"]
    shift, whose = await night(admin), {"employee_id": staff.employee["id"]}
    worked = await create(admin, "rosters", day=day(), shift_id=shift, **whose)
    off = await create(admin, "rosters", day=day(1), **whose)
    assert (worked["user_id"], off["shift_id"]) == (staff.client.user["userId"], None)
    assert await statuses(staff, tradewind) == ["normal", "rest", "absent"]
    expect(await admin.patch(f"{AT}/shifts/{shift}", {"version": 1, "start": "21:00"}))
    assert await statuses(staff, tradewind) == ["late", "rest", "absent"]
    expect(await admin.patch(f"{ROSTERS}/{off['id']}", {"version": 1, "shift_id": staff.shift["id"]}))
    assert await statuses(staff, tradewind) == ["late", "absent", "absent"]
    expect(await admin.delete(f"{ROSTERS}/{worked['id']}"))
    assert (await statuses(staff, tradewind))[0] == "rest"
    expect(await admin.post(f"{ROSTERS}/{worked['id']}/restore"))
    assert (await statuses(staff, tradewind))[0] == "late"


async def test_a_shift_on_a_holiday_is_overtime_where_the_group_says_so(admin: Client, tradewind: Running) -> None:
    group = {"holidays": [{"day": day()}], "holiday_shifts": "overtime"}
    staff = await Staff.hire(admin, group=group, number=unique("E"), attends_from=day(), left_on=day())
    whose = {"employee_id": staff.employee["id"]}
    await create(admin, "rosters", day=day(), shift_id=staff.shift["id"], **whose)
    for hours in (8.5, 20):
        await staff.punch_at(tradewind, MONDAY + timedelta(hours=hours))
    asked = {
        "kind": "overtime",
        "compensation": "paid",
        "starts_at": at(18),
        "ends_at": at(20),
        "reason": "stocktaking",
    }
    expect(await admin.post(f"{AT}/requests/enter", {**whose, **asked}))

    async def overtime() -> tuple[Any, ...]:
        await reconcile(tradewind.service)
        row, month = (await staff.days())[day()], await month_of(staff)
        return row["overtime_minutes"], row["overtime_day"], month["overtime_paid"]

    hours = dict.fromkeys(("working_day", "rest_day", "holiday"), "0")
    assert await overtime() == (11 * 60, "holiday", {**hours, "holiday": "11"})
    path, ordinary = f"{AT}/attendance-groups/{staff.group['id']}", {"version": 1, "holiday_shifts": "ordinary"}
    (changed,) = expect(await admin.post(f"{path}/rehearse", ordinary))["items"]
    assert (changed["results"], changed["overtime_minutes"]) == (1, -9 * 60)
    expect(await admin.patch(path, ordinary))
    assert await overtime() == (2 * 60, "working_day", {**hours, "working_day": "2"})


async def test_a_night_before_a_day_off_keeps_its_departure(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, {"start": "06:00", "end": "14:00"}, attends_from=day(), left_on=day(2))
    for number, shift in ((0, await night(admin)), (1, None)):
        await create(admin, "rosters", day=day(number), shift_id=shift, employee_id=staff.employee["id"])
    for hours in (21.9, 30.1, 53.9):  # the night, and an arrival after the day off
        await staff.punch_at(tradewind, MONDAY + timedelta(hours=hours))
    assert await statuses(staff, tradewind) == ["normal", "rest", "missed"]


async def test_a_pattern_is_rehearsed_with_its_conflicts_and_then_written(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, name="Ann", **WEEK)
    other = await create(
        admin, "employees", name="Ben", hired_on=day(3), attends_from=day(3), attendance_group_id=staff.group["id"]
    )
    await staff.leave(at(2 * 24 + 9), at(2 * 24 + 18), "submit", "approve")
    await reconcile(tradewind.service)
    late = await night(admin, start="14:00", end="23:00")
    steps = [{"shift_id": staff.shift["id"]}, {"shift_id": late}, {"shift_id": None}]
    pattern = await create(admin, "roster-patterns", name=unique("pattern"), days=steps)
    body = {"from": day(), "to": day(4), "group_id": staff.group["id"], "start": 2, "stagger": 1}
    rehearsed = expect(await admin.post(f"{PATTERNS}/{pattern['id']}/rehearse", body))
    mine = {"employee_id": staff.employee["id"], "employee_name": "Ann"}
    # Ann works late, not, early, late, not; Ben is hired on Thursday
    assert {name: rehearsed[name] for name in ("days", "skipped", "people")} == {"days": 7, "skipped": 3, "people": 2}
    on_leave = {**mine, "day": day(2), "kind": "leave", "minutes": None}
    assert on_leave in rehearsed["conflicts"]
    assert expect(await admin.get(f"{ROSTERS}?employee_id={staff.employee['id']}"))["items"] == []
    short = {**body, "start": 2, "to": day(2), "group_id": None, "employee_ids": [staff.employee["id"]]}
    swapped = {"version": 1, "days": [{"shift_id": late}, {"shift_id": staff.shift["id"]}]}
    expect(await admin.patch(f"{PATTERNS}/{pattern['id']}", swapped))
    made = expect(await admin.post(f"{PATTERNS}/{pattern['id']}/apply", short))
    too_little_rest = {**mine, "day": day(2), "kind": "rest", "minutes": 10 * 60}
    assert made["conflicts"] == [on_leave, too_little_rest]
    assert await statuses(staff, tradewind) == ["absent", "absent", "leave", *["absent"] * 4]
    assert other["attends_from"]


async def test_a_week_shows_shifts_days_off_leave_and_open_shifts_that_one_takes(admin: Client, people: People) -> None:
    department = await people.department()
    monday = date.today() + timedelta(days=14 - date.today().weekday())
    days = [(monday + timedelta(days=number)).isoformat() for number in range(7)]
    staff = await Staff.hire(admin, department_id=department, group={"working_days": [1, 2]})
    rights = [f"hrm:roster:{one}" for one in ("list", "read", "take")]
    taker = await people.person(rights, "self", department)
    whose = {"name": "Liu", "user_id": taker.user["userId"], "department_id": department, "hired_on": day()}
    await create(admin, "employees", attendance_group_id=staff.group["id"], **whose)
    open_shifts = [
        await create(admin, "rosters", day=one, shift_id=staff.shift["id"], department_id=department)
        for one in (days[0], days[2], days[3])
    ]
    ids = [one["id"] for one in open_shifts]
    await staff.leave(f"{days[1]}T01:00:00Z", f"{days[1]}T10:00:00Z", "submit")
    found = expect(await taker.get(f"{ROSTERS}/open"))["items"]
    assert [one["id"] for one in found if one["department_id"] == department] == ids
    expect(await taker.post(f"{ROSTERS}/{ids[0]}/take"), 40901)  # who works already
    assert expect(await taker.post(f"{ROSTERS}/{ids[1]}/take"))["user_id"] == taker.user["userId"]
    expect(await staff.client.post(f"{ROSTERS}/{ids[1]}/take"), 40901)
    expect(await (await Staff.hire(admin)).client.post(f"{ROSTERS}/{ids[2]}/take"), 40400)  # of another department
    query = f"day={days[4]}&group_id={staff.group['id']}&sort=name"
    liu, mei = expect(await admin.get(f"{ROSTERS}/week?{query}"))["items"]
    hours = f"{staff.shift['name']} 09:00–18:00"
    assert (liu["wednesday"], liu["days"][2]["source"], liu["thursday"]) == (hours, "roster", "休")
    assert (mei["monday"], mei["tuesday"], mei["wednesday"]) == (hours, f"{hours} · 请假", "休")
    (own,) = expect(await taker.get(f"{ROSTERS}/week?{query}"))["items"]
    assert own == liu


async def test_nobody_takes_an_open_shift_without_the_rest_between_shifts(admin: Client) -> None:
    staff = await Staff.hire(admin, group={"working_days": [1]})
    monday = date.today() + timedelta(days=14 - date.today().weekday())
    early = await night(admin, start="03:00", end="08:00")
    tuesday = (monday + timedelta(days=1)).isoformat()
    offered = await create(admin, "rosters", day=tuesday, shift_id=early, department_id=None)
    reply = await staff.client.post(f"{ROSTERS}/{offered['id']}/take")
    expect(reply, 40901)
    assert tuesday in reply.json["msg"]
    async with configured(admin, hrm_min_rest_hours=9):
        expect(await staff.client.post(f"{ROSTERS}/{offered['id']}/take"))


async def test_rosters_of_closed_days_do_not_change(admin: Client, shared: Staff) -> None:
    whose = {"employee_id": shared.employee["id"]}
    made = await create(admin, "rosters", day=day(), **whose)
    pattern = await create(admin, "roster-patterns", name=unique("pattern"), days=[{"shift_id": None}])
    async with configured(admin, hrm_attendance_closed_to=day()):
        expect(await admin.patch(f"{ROSTERS}/{made['id']}", {"version": 1, "day": day(3)}), 40901)
        expect(await admin.delete(f"{ROSTERS}/{made['id']}"), 40901)
        body = {"from": day(), "to": day(1), "employee_ids": [shared.employee["id"]]}
        expect(await admin.post(f"{PATTERNS}/{pattern['id']}/apply", body), 40901)
        expect(await admin.post(ROSTERS, {"day": day(), **whose}), 40901)
        made = await create(admin, "rosters", day=day(1), **whose)
        assert expect(await admin.post(f"{ROSTERS}/{made['id']}/rehearse", {"version": 1}))["days"] == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"day": "2020-01-01"}, "day"),
        ({"day": "2090-01-01"}, "day"),
        ({"day": day(1), "employee_id": None}, "shift_id"),
        ({"day": day(1), "employee_id": "f" * 24}, "employee_id"),
        ({"day": day(1), "shift_id": "f" * 24}, "shift_id"),
    ],
)
async def test_an_impossible_roster_names_the_field(given: dict[str, Any], field: str, shared: Staff) -> None:
    reply = await shared.admin.post(f"{ROSTERS}/rehearse", {"employee_id": shared.employee["id"], **given})
    expect(reply, 40001)
    assert reply.fields == {field}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"from": day(1), "to": day()}, "to"),
        ({"to": "2099-01-01"}, "to"),
        ({"employee_ids": None}, "employee_ids"),
        ({"employee_ids": ["f" * 24]}, "employee_ids"),
    ],
)
async def test_an_impossible_application_names_the_field(given: dict[str, Any], field: str, shared: Staff) -> None:
    pattern = await create(shared.admin, "roster-patterns", name=unique("pattern"), days=[{"shift_id": None}])
    body = {"from": day(), "to": day(1), "employee_ids": [shared.employee["id"]], **given}
    reply = await shared.admin.post(f"{PATTERNS}/{pattern['id']}/apply", body)
    expect(reply, 40001)
    assert reply.fields == {field}
