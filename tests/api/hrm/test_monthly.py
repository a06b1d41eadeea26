"""The monthly sheet: kinds of leave, half days, hours and overtime."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from bson import ObjectId

from plugins.boot.runtime import Running
from plugins.hrm.attendance_records import DAYS
from plugins.hrm.monthly import RECORDED
from plugins.hrm.results import reconcile
from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import configured
from tests.api.hrm.staff import AT, Staff, create
from tests.api.hrm.week import MONDAY, MONTH, at, day

pytestmark = pytest.mark.gen_test(timeout=60)
MONTHLY = f"{AT}/attendance/monthly"
BREAK = {"break_start": "12:00", "break_end": "13:00"}
WEEKDAYS = {"working_days": [1, 2, 3, 4, 5]}


async def hired(admin: Client, **fields: Any) -> Staff:
    return await Staff.hire(admin, BREAK, WEEKDAYS, number=unique("E"), **{"attends_from": day(), **fields})


async def month_of(staff: Staff, **query: Any) -> dict[str, Any]:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    page = expect(await staff.admin.get(f"{MONTHLY}?month={MONTH}&number={staff.employee['number']}&{asked}"))
    row: dict[str, Any] = next(iter(page["items"]), {})
    return row


async def work(running: Running, staff: Staff, number: int, *hours: float) -> None:
    for hour in hours:
        await staff.punch_at(running, MONDAY + timedelta(days=number, hours=hour))


async def test_half_days_of_leave_add_up_to_what_the_balance_counts(admin: Client, tradewind: Running) -> None:
    staff = await hired(admin, left_on=day(7))
    await staff.leave(at(9), at(24 + 18), "submit", "approve")
    for number in (2, 3, 4, 7):
        await staff.leave(at(24 * number + 9), at(24 * number + 12), "submit", "approve")
    for number in (2, 3, 7):  # but nobody came on the afternoon of Friday
        await work(tradewind, staff, number, 13, 18)
    await reconcile(tradewind.service)
    row = await month_of(staff)
    balances = expect(await admin.get(f"{AT}/employees/{staff.employee['id']}/leave-balances?year={MONTH[:4]}"))
    taken = {one["type"]: one["taken"] for one in balances["items"]}
    assert (row["leave"], row["leave_by_type"], taken["annual"]) == (
        4,
        {one: taken[one] for one in row["leave_by_type"]},
        "4",
    )
    assert (row["absent"], row["present"], row["working_days"]) == (0.5, 3, 6)


async def test_hours_are_without_break_and_leave_and_those_on_days_of_rest_are_overtime(
    admin: Client, tradewind: Running
) -> None:
    staff = await hired(admin, left_on=day(7))
    await staff.leave(at(15), at(16), "submit", "approve")
    await work(tradewind, staff, 0, 9, 18)
    await work(tradewind, staff, 1, 9)  # who knows when this ended
    await work(tradewind, staff, 5, 10, 14.5)
    await reconcile(tradewind.service)
    row = await month_of(staff)
    assert (row["hours"], row["overtime"]) == ("10.5", "3.5")


async def test_a_month_is_exported_with_a_column_for_each_type_of_leave(admin: Client) -> None:
    staff = await hired(admin, left_on=day(1))
    await staff.leave(at(9), at(12), "submit", "approve")
    columns = "number,month,leave,leave_by_type.annual,leave_by_type.sick"
    asked = f"month={MONTH}&number={staff.employee['number']}&fields={columns}"
    reply = await admin.get(f"{MONTHLY}/export?{asked}")
    rows = list(csv.reader(io.StringIO(reply.body.decode("utf-8-sig"))))
    assert rows == [columns.split(","), [staff.employee["number"], MONTH, "0.5", "0.5", "0"]]


async def test_an_export_for_people_names_the_types_of_leave_that_the_company_made(admin: Client) -> None:
    name = unique("育儿假")
    type = await create(admin, "leave-types", code=unique("type").replace("-", "_"), name=name)
    staff = await hired(admin, left_on=day(1))
    await staff.leave(at(9), at(12), "submit", "approve", type=type["code"])
    asked = f"month={MONTH}&number={staff.employee['number']}&fields=leave_by_own_type"
    for headers, called in (("names", type["code"]), ("labels", name)):
        reply = await admin.get(f"{MONTHLY}/export?{asked}&headers={headers}")
        assert [*csv.reader(io.StringIO(reply.body.decode("utf-8-sig")))][1:] == [[f'{{"{called}":"0.5"}}']]


async def test_a_past_month_has_the_department_of_then(admin: Client, people: People) -> None:
    before, now = await people.department(), await people.department()
    staff = await hired(admin, department_id=before)
    path = f"{AT}/employees/{staff.employee['id']}"
    expect(await admin.patch(path, {"version": 1, "department_id": now}))
    assert (await month_of(staff))["department_id"] == before
    assert await month_of(staff, department_id=before)
    assert not await month_of(staff, department_id=now)


async def test_days_closed_before_hours_were_recorded_keep_what_they_had(admin: Client, tradewind: Running) -> None:
    staff = await hired(admin, left_on=day(1))
    await staff.leave(at(9), at(18), "submit", "approve")
    await reconcile(tradewind.service)
    older = {"$unset": {"worked_minutes": "", "leave_days": "", "leave_by_type": ""}}
    mine = {"employee_id": ObjectId(staff.employee["id"])}
    await tradewind.service.database.driver.update_many(DAYS.name, mine, older)
    async with configured(admin, hrm_attendance_closed_to=day(1)):
        for stage in RECORDED.stages(tradewind.service):
            await stage.change([{"_id": ObjectId(staff.employee["id"])}])
        await reconcile(tradewind.service)
        row = await month_of(staff)
        assert (row["leave"], row["absent"], row["hours"], row["leave_by_type"]) == (1, 1, None, None)
    for stage in RECORDED.stages(tradewind.service):
        await stage.change([{"_id": ObjectId(staff.employee["id"])}])
    await reconcile(tradewind.service)
    assert (await month_of(staff))["leave_by_type"]["annual"] == "1"
