"""People who left and are hired again: each employment is a record of its own."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, Reply, expect, unique
from tests.api.hrm.staff import AT, Staff
from tests.api.hrm.test_employee_files import DETAILS, in_days
from tests.api.hrm.test_leave_types import new_type

pytestmark = pytest.mark.gen_test(timeout=30)


async def left(admin: Client, **fields: Any) -> Staff:
    """Hire somebody whose last day was ten days ago."""
    dates = {"hired_on": in_days(-900), "attends_from": in_days(-40), "left_on": in_days(-10)}
    return await Staff.hire(admin, **{**dates, "number": unique("E"), "phone": "021-5555 0107", **fields})


async def rehire(staff: Staff, **body: Any) -> Reply:
    return await staff.admin.post(f"{AT}/employees/{staff.employee['id']}/rehire", {"hired_on": in_days(-3), **body})


async def test_whoever_is_hired_again_has_a_new_record_with_their_data_and_account(admin: Client) -> None:
    staff = await left(admin)
    before = f"{AT}/employees/{staff.employee['id']}"
    expect(await admin.patch(f"{before}/private", DETAILS))
    number = unique("E")
    made = expect(await rehire(staff, number=number, attends_from=in_days(-3)))
    told = (made["number"], made["name"], made["phone"], made["user_id"], made["previous_employee_id"], made["left_on"])
    assert told == (number, "Mei", "021-5555 0107", staff.client.user["userId"], staff.employee["id"], None)
    assert made["attendance_group_id"] == staff.group["id"]
    earlier = expect(await staff.client.get(before))
    assert (earlier["next_employee_id"], earlier["user_id"], earlier["left_on"]) == (made["id"], None, in_days(-10))
    private = expect(await admin.get(f"{AT}/employees/{made['id']}/private"))
    assert {name: private[name] for name in DETAILS} == DETAILS
    expect(await staff.punch())
    punched = expect(await admin.get(f"{AT}/punches?user_id={staff.client.user['userId']}"))["items"]
    assert [one["employee_id"] for one in punched] == [made["id"]]
    expect(await rehire(staff), 40901)


async def test_only_who_has_left_is_hired_again_and_on_a_later_day(admin: Client) -> None:
    staff = await left(admin, left_on=in_days(0))
    expect(await rehire(staff, hired_on=in_days(1)), 40901)
    expect(await admin.patch(f"{AT}/employees/{staff.employee['id']}", {"version": 1, "left_on": in_days(-3)}))
    assert (await rehire(staff)).fields == {"hired_on"}
    assert (await rehire(staff, hired_on=in_days(-2), service_since=in_days(-1))).fields == {"service_since"}
    assert expect(await admin.get(f"{AT}/employees?user_id={staff.client.user['userId']}"))["total"] == 1


async def test_earlier_service_counts_for_the_types_of_leave_that_want_it(admin: Client) -> None:
    of_years = {"accrual": "yearly", "amount": "5", "seniority": [{"years": 2, "amount": "10"}], "part_year": False}
    types = [await new_type(admin, **of_years, earlier_service=counts) for counts in (True, False)]
    staff = await left(admin)
    made = expect(await rehire(staff, service_since=in_days(-900)))
    shown = expect(await admin.get(f"{AT}/leave-balances/{made['id']}"))["items"]
    earned = {one["type"]: one["earned"] for one in shown}
    assert [earned[type["code"]] for type in types] == ["10", "5"]


async def test_each_employment_is_counted_on_its_own_days(admin: Client, people: People) -> None:
    department = await people.department()
    head = await people.person(["dashboard:chart:headcount-trend"], "department", department)
    months = [row["month"] for row in expect(await head.get("/api/dashboard/headcount-trend?months=4"))["items"]]
    staff = await left(admin, department_id=department, hired_on=f"{months[0]}-01", left_on=f"{months[1]}-02")
    expect(await rehire(staff, hired_on=f"{months[3]}-01"))
    rows = expect(await head.get("/api/dashboard/headcount-trend?months=4"))["items"]
    assert [(row["headcount"], row["joined"], row["left"]) for row in rows] == [
        (1, 1, 0),
        (0, 0, 1),
        (0, 0, 0),
        (1, 1, 0),
    ]
