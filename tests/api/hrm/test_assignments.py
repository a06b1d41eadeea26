"""What employees are assigned to from a day to a day; figures of the past count by the assignment of then."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from bson import ObjectId

from handlers.data.database import utc_now
from plugins.boot.runtime import Running
from plugins.hrm.assignment_records import ASSIGNMENTS
from plugins.hrm.assignments import _store_timelines, move_on
from plugins.hrm.records import EMPLOYEES
from plugins.hrm.results import reconcile
from plugins.testing import Client, People, expect
from tests.api.approval.flows import configured
from tests.api.hrm.staff import AT, Staff, create
from tests.api.hrm.week import MONDAY, MONTH, day

pytestmark = pytest.mark.gen_test(timeout=30)
NIGHT = {"start": "20:00", "end": "04:00"}
HIRED = {"name": "Mei", "hired_on": day()}


async def hired(admin: Client, **fields: Any) -> str:
    """The path of the assignments of a new employee."""
    return f"{AT}/employees/{(await create(admin, 'employees', **HIRED, **fields))['id']}/assignments"


async def listed(admin: Client, path: str, *names: str) -> list[tuple[Any, ...]]:
    """These fields of the assignments, in order; by default their days."""
    items = expect(await admin.get(path))["items"]
    return [tuple(one[name] for name in names or ("from", "to")) for one in items]


async def test_nights_before_a_move_to_the_day_shift_stay_as_they_were_worked(
    admin: Client, tradewind: Running
) -> None:
    staff, other = await Staff.hire(admin, NIGHT, attends_from=day()), await Staff.hire(admin)
    for hours in (19.8, 28.1, 43.8, 52.1, 81.0, 90.1):  # two nights, and the second day after them
        await staff.punch_at(tradewind, MONDAY + timedelta(hours=hours))
    path = f"{AT}/employees/{staff.employee['id']}"
    expect(await admin.post(f"{path}/assignments", {"from": day(2), "group_id": other.group["id"]}))
    expect(await admin.patch(path, {"version": 2, "left_on": day(3)}))
    await reconcile(tradewind.service)
    rows = sorted((await staff.days()).items())
    assert [(row["status"], row["late_minutes"]) for _, row in rows] == [
        ("normal", 0),
        ("normal", 0),  # the departure in the morning of the first day in the other group is that of the night
        ("absent", 0),
        ("normal", 0),
    ]
    now = expect(await admin.get(path))
    expect(await admin.patch(path, {"version": now["version"], "attendance_group_id": staff.group["id"]}))
    await reconcile(tradewind.service)
    assert sorted((await staff.days()).items()) == rows


async def test_the_leader_of_the_department_to_which_hr_moves_somebody_decides_on_their_leave(
    admin: Client, people: People, tradewind: Running
) -> None:
    before, now = await people.department(), await people.department()
    rights = [f"hrm:leave:{one}" for one in ("list", "read", "approve")]
    former, leader = [await people.person(rights, "department", one) for one in (before, now)]
    staff = await Staff.hire(admin, department_id=before)
    asked = await staff.leave(f"{day()}T01:00:00Z", f"{day()}T10:00:00Z", "submit")
    expect(await leader.post(f"{AT}/leaves/{asked['id']}/approve"), 40400)
    today = f"{utc_now() + timedelta(hours=8):%Y-%m-%d}"
    path = f"{AT}/employees/{staff.employee['id']}/assignments"
    expect(await admin.post(path, {"from": today, "department_id": now}))
    expect(await former.get(f"{AT}/leaves/{asked['id']}"), 40400)
    expect(await leader.post(f"{AT}/leaves/{asked['id']}/approve"))
    later = await staff.leave(f"{day(1)}T01:00:00Z", f"{day(1)}T10:00:00Z", "submit")
    assert later["id"] in [one["id"] for one in expect(await leader.get(f"{AT}/leaves?status=pending"))["items"]]


async def test_an_assignment_begins_on_its_day(admin: Client, tradewind: Running) -> None:
    path = await hired(admin)
    place = await create(admin, "positions", name=f"position {ObjectId()}")
    begins = date.today() + timedelta(days=40)
    made = expect(await admin.post(path, {"from": begins.isoformat(), "position_id": place["id"]}))
    assert (made["position_name"], made["to"]) == (place["name"], None)
    employee = path.removesuffix("/assignments")
    for today, position in ((begins - timedelta(days=1), None), (begins, place["id"])):
        await move_on(tradewind.service, today)
        assert expect(await admin.get(employee))["position_id"] == position


async def test_after_its_last_day_an_assignment_gives_way_to_the_one_before(admin: Client, people: People) -> None:
    home, away = await people.department(), await people.department()
    path = await hired(admin, department_id=home)
    expect(await admin.post(path, {"from": day(5), "to": day(9), "department_id": away}))
    expect(await admin.post(path, {"from": day(7), "department_id": None}))
    assert await listed(admin, path, "from", "to", "department_id") == [
        (day(), day(4), home),
        (day(5), day(6), away),
        (day(7), day(9), None),
        (day(10), None, home),
    ]


async def test_the_department_of_a_result_and_a_headcount_is_that_of_the_day(
    admin: Client, people: People, tradewind: Running
) -> None:
    old, new = await people.department(), await people.department()
    staff = await Staff.hire(admin, attends_from=day(), left_on=day(2), department_id=old)
    path = f"{AT}/employees/{staff.employee['id']}/assignments"
    expect(await admin.post(path, {"from": day(1), "department_id": new}))
    await reconcile(tradewind.service)
    assert [row["department_id"] for _, row in sorted((await staff.days()).items())] == [old, new, new]
    other = await hired(admin, department_id=old)
    expect(await admin.post(other, {"from": day(1), "department_id": new}))
    for department, joined, stays in ((old, 1, 0), (new, 0, 1)):
        trend = await admin.get(f"/api/dashboard/headcount-trend?months=2&department_id={department}")
        then = expect(trend)["items"][0]
        assert (then["month"], then["joined"], then["headcount"]) == (MONTH, joined, stays)


async def test_another_first_day_moves_the_end_of_the_assignment_before(admin: Client) -> None:
    path = await hired(admin)
    made = expect(await admin.post(path, {"from": day(5), "manager_id": None}))
    one = f"{path}/{made['id']}"
    expect(await admin.patch(one, {"version": 1, "from": day(3)}))
    assert await listed(admin, path) == [(day(), day(2)), (day(3), None)]
    expect(await admin.patch(one, {"version": 1, "from": day(4)}), 40902)
    expect(await admin.delete(one))
    assert await listed(admin, path) == [(day(), None)]
    expect(await admin.delete(one), 40400)


async def test_assignments_neither_overlap_nor_leave_gaps(admin: Client) -> None:
    path = await hired(admin)
    second = expect(await admin.post(path, {"from": day(5)}))
    me = path.split("/")[-2]
    for body, field in (
        ({"from": day(-1)}, "from"),
        ({"from": day(2), "to": day(1)}, "to"),
        ({"from": day(2), "to": day(5)}, "to"),
        ({"from": day(2), "manager_id": me}, "manager_id"),
        ({"from": day(2), "group_id": str(ObjectId())}, "group_id"),
    ):
        assert (await admin.post(path, body)).fields == {field}
    change = await admin.patch(f"{path}/{second['id']}", {"version": 1, "from": day()})
    assert change.fields == {"from"}
    first = expect(await admin.get(path))["items"][0]
    expect(await admin.delete(f"{path}/{first['id']}"), 40901)
    assert await listed(admin, path) == [(day(), day(4)), (day(5), None)]


async def test_an_assignment_of_a_closed_day_is_refused(admin: Client) -> None:
    path = await hired(admin)
    async with configured(admin, hrm_attendance_closed_to=day(2)):
        expect(await admin.post(path, {"from": day(2)}), 40901)
        expect(await admin.post(path, {"from": day(3)}))


async def test_a_change_of_the_employee_begins_an_assignment_today_and_the_last_of_a_day_counts(
    admin: Client, people: People
) -> None:
    departments = [await people.department() for _ in range(3)]
    path = await hired(admin, department_id=departments[0])
    for version, department in enumerate(departments[1:], 1):
        body = {"version": version, "department_id": department}
        expect(await admin.patch(path.removesuffix("/assignments"), body))
    rows = await listed(admin, path, "from", "department_id")
    assert [department for _, department in rows] == [departments[0], departments[2]]
    assert rows[0][0] == day()


async def test_employees_of_older_versions_get_assignments(admin: Client, people: People, tradewind: Running) -> None:
    old, new = await people.department(), await people.department()
    staff = await Staff.hire(admin, hired_on=day(), department_id=new)
    id, database = ObjectId(staff.employee["id"]), tradewind.service.database
    past = [{"department_id": old, "from": None, "until": day(4)}]
    before = {"department_since": day(5), "past_departments": past}
    await database.store(EMPLOYEES).update(id, before)
    await database.store(ASSIGNMENTS).update_many({"employee_id": id}, {"$set": {"deleted": True}})
    assert await _store_timelines(tradewind.service, [{"_id": id}] * 2) == 1
    path = f"{AT}/employees/{id}/assignments"
    group = staff.group["id"]
    assert await listed(admin, path, "from", "to", "department_id", "group_id") == [
        (day(), day(4), old, group),
        (day(5), None, new, group),
    ]
