"""Employees, and the masters of their attendance."""

from __future__ import annotations

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.hrm.staff import AT, Staff

pytestmark = pytest.mark.gen_test(timeout=30)
HIRED = {"name": "Mei", "hired_on": "2025-01-01"}


async def test_the_last_day_of_work_is_not_before_the_first(admin: Client) -> None:
    reply = await admin.post(f"{AT}/employees", {**HIRED, "left_on": "2024-12-31"})
    expect(reply, 40001)
    assert reply.fields == {"left_on"}
    made = expect(await admin.post(f"{AT}/employees", HIRED))
    left = {"version": made["version"], "left_on": "2024-12-31"}
    expect(await admin.patch(f"{AT}/employees/{made['id']}", left), 40001)


async def test_people_see_their_own_file_and_those_of_their_department_scope(admin: Client, people: People) -> None:
    department = await people.department()
    sees = ["hrm:employee:list"]
    me = await people.person(sees, "self")
    head = await people.person(sees, "department", department)
    own = {**HIRED, "user_id": me.user["userId"], "department_id": department}
    mine = expect(await admin.post(f"{AT}/employees", own))["id"]
    colleague = expect(await admin.post(f"{AT}/employees", {**HIRED, "department_id": department}))["id"]
    listed = [
        {one["id"] for one in expect(await who.get(f"{AT}/employees?page_size=200"))["items"]} for who in (me, head)
    ]
    assert listed == [{mine}, {mine, colleague}]


async def test_an_employee_is_in_the_callers_department_by_default(people: People) -> None:
    department = await people.department()
    clerk = await people.person(["hrm:employee:create"], "department", department)
    assert expect(await clerk.post(f"{AT}/employees", HIRED))["department_id"] == department


async def test_an_account_belongs_to_one_employee(admin: Client) -> None:
    staff = await Staff.hire(admin)
    again = await admin.post(f"{AT}/employees", {**HIRED, "user_id": staff.employee["user_id"]})
    assert expect(again, 40900) == {"field": "user_id"}


async def test_an_employee_with_punches_is_not_deleted_and_others_are_with_their_results(admin: Client) -> None:
    staff, other = await Staff.hire(admin), await Staff.hire(admin, attends_from="2026-11-02")
    expect(await staff.punch())
    expect(await admin.delete(f"{AT}/employees/{staff.employee['id']}"), 40901)
    expect(await admin.delete(f"{AT}/employees/{other.employee['id']}"))
    assert await other.days() == {}


@pytest.mark.parametrize("what", ["shift", "place", "group"])
async def test_masters_in_use_are_not_deleted(what: str, admin: Client) -> None:
    staff = await Staff.hire(admin)
    path = {"shift": "shifts", "place": "places", "group": "attendance-groups"}[what]
    expect(await admin.delete(f"{AT}/{path}/{getattr(staff, what)['id']}"), 40901)


async def test_a_position_that_somebody_holds_is_not_deleted(admin: Client) -> None:
    position = expect(await admin.post(f"{AT}/positions", {"name": unique("position")}))
    employee = expect(await admin.post(f"{AT}/employees", {**HIRED, "position_id": position["id"]}))
    expect(await admin.delete(f"{AT}/positions/{position['id']}"), 40901)
    expect(await admin.delete(f"{AT}/employees/{employee['id']}"))
    expect(await admin.delete(f"{AT}/positions/{position['id']}"))


async def test_a_shift_without_length_is_refused(admin: Client) -> None:
    expect(await admin.post(f"{AT}/shifts", {"name": unique("shift"), "start": "09:00", "end": "09:00"}), 40001)


async def test_a_duplicate_holiday_is_refused(admin: Client) -> None:
    staff = await Staff.hire(admin)
    twice = [{"day": "2026-10-01"}, {"day": "2026-10-02"}, {"day": "2026-10-01", "working": True}]
    body = {"name": unique("group"), "shift_id": staff.shift["id"], "holidays": twice}
    assert (await admin.post(f"{AT}/attendance-groups", body)).fields == {"holidays[2].day"}
    change = {"version": 1, "holidays": twice}
    assert (await admin.patch(f"{AT}/attendance-groups/{staff.group['id']}", change)).fields == {"holidays[2].day"}
