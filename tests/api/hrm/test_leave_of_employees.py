"""Leave belongs to the employee, whichever account they have, and its days follow the calendar."""

from __future__ import annotations

from typing import Any

import pytest
from bson import Decimal128, ObjectId

from plugins.boot.runtime import Running
from plugins.hrm.leave_owners import _assign
from plugins.hrm.leave_records import LEAVES
from plugins.hrm.leaves import _note_days
from plugins.hrm.results import reconcile
from plugins.testing import Client, expect
from tests.api.approval.flows import configured
from tests.api.hrm.staff import AT, Staff
from tests.api.hrm.week import at, day
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=30)
WEEK = (at(9), at(4 * 24 + 18))  # from Monday morning to Friday evening


async def change(staff: Staff, **values: Any) -> None:
    at = f"{AT}/employees/{staff.employee['id']}"
    expect(await staff.admin.patch(at, {**values, "version": expect(await staff.admin.get(at))["version"]}))


async def declare(staff: Staff, *holidays: str) -> None:
    body = {"version": 1, "holidays": [{"day": one} for one in holidays]}
    expect(await staff.admin.patch(f"{AT}/attendance-groups/{staff.group['id']}", body))


async def taken(staff: Staff) -> str:
    balances = f"{AT}/employees/{staff.employee['id']}/leave-balances?year={day()[:4]}"
    return str(expect(await staff.admin.get(balances))["items"][0]["taken"])


async def seen(client: Client) -> list[str]:
    return [leave["id"] for leave in expect(await client.get(f"{AT}/leaves?user_id={client.user['userId']}"))["items"]]


async def test_leave_stays_with_its_employee_when_the_account_moves(admin: Client, tradewind: Running) -> None:
    former = await Staff.hire(admin, attends_from=day(), left_on=day(4))
    leave = await former.leave(*WEEK, "submit", "approve")
    await change(former, user_id=None)
    other = await Staff.hire(admin, user_id=former.client.user["userId"], attends_from=day(), left_on=day(4))
    await reconcile(tradewind.service)
    assert [await taken(one) for one in (former, other)] == ["5", "0"]
    assert {row["status"] for row in (await former.days()).values()} == {"leave"}
    assert {row["status"] for row in (await other.days()).values()} == {"absent"}
    assert leave["id"] not in await seen(former.client)


async def test_another_account_of_an_employee_sees_their_leave(admin: Client) -> None:
    staff, other = await Staff.hire(admin), await Staff.hire(admin)
    leave = await staff.leave(*WEEK, "submit", "approve")
    await change(other, user_id=None)
    await change(staff, user_id=other.client.user["userId"])
    assert await seen(other.client) == [leave["id"]]
    expect(await other.client.post(f"{AT}/leaves", {"type": "sick", "starts_at": WEEK[0], "ends_at": WEEK[1]}))
    assert expect(await admin.get(f"{AT}/leaves?employee_id={staff.employee['id']}&with_total=true"))["total"] == 2


async def test_leave_that_was_requested_before_employment_was_recorded_becomes_the_employees(admin: Client) -> None:
    staff, other = await Staff.hire(admin), await Staff.hire(admin)
    account = staff.client.user["userId"]
    await change(staff, user_id=None)
    leave = await staff.leave(*WEEK, "submit", "approve")
    await change(other, user_id=account)
    assert await taken(other) == "5"
    assert expect(await admin.get(f"{AT}/leaves/{leave['id']}"))["employee_id"] == other.employee["id"]


async def test_older_leave_is_given_to_whoever_has_the_account(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, attends_from=day(), left_on=day(4))
    leave = await staff.leave(*WEEK, "submit", "approve")
    leaves, id = tradewind.service.database.store(LEAVES), ObjectId(leave["id"])
    older = await leaves.update_unversioned({"_id": id}, {"$set": {"employee_id": None}})
    assert older is not None
    assert await taken(staff) == "0"
    assert await _assign(tradewind.service, [{**older, "_id": id}]) == 1
    assert await taken(staff) == "5"


async def test_a_holiday_that_is_declared_later_is_not_taken_from_leave(admin: Client) -> None:
    staff = await Staff.hire(admin)
    leave = await staff.leave(*WEEK, "submit", "approve")
    await declare(staff, day(2), day(4))
    assert await taken(staff) == "3"
    counted = expect(await admin.get(f"{AT}/leaves/{leave['id']}"))
    assert (counted["days"], counted["hours"]) == ("3", "27")
    told = f"日历或班次变更，您 {day()} 起的请假由 5 天变为 3 天"
    assert any(told in title for title in await titles(staff.client))


async def test_leave_is_counted_by_the_group_to_which_its_employee_moves(admin: Client) -> None:
    staff, other = await Staff.hire(admin), await Staff.hire(admin, group={"working_days": [4]})
    await staff.leave(*WEEK, "submit", "approve")
    await change(staff, attendance_group_id=other.group["id"])
    assert await taken(staff) == "5"  # of days before the move
    moved = {"from": day(2), "group_id": other.group["id"]}
    expect(await admin.post(f"{AT}/employees/{staff.employee['id']}/assignments", moved))
    assert await taken(staff) == "3"


async def test_a_holiday_that_is_declared_after_closing_gives_the_day_of_leave_back(admin: Client) -> None:
    staff = await Staff.hire(admin)
    await staff.leave(*WEEK, "submit", "approve")
    async with configured(admin, hrm_attendance_closed_to=day(6)):
        await declare(staff, day(2))
        assert await taken(staff) == "4"


async def test_leave_after_the_last_day_of_work_takes_nothing(admin: Client) -> None:
    staff = await Staff.hire(admin)
    await staff.leave(*WEEK, "submit", "approve")
    await change(staff, left_on=day(2))
    assert await taken(staff) == "3"
    await change(staff, left_on=None)
    assert await taken(staff) == "5"


async def test_leave_from_a_closed_month_into_an_open_one_is_counted_anew_in_both(admin: Client) -> None:
    staff = await Staff.hire(admin)
    leave = await staff.leave(*WEEK, "submit", "approve")
    async with configured(admin, hrm_attendance_closed_to=day(1)):
        await declare(staff, day(0), day(1), day(3))
        counted = expect(await admin.get(f"{AT}/leaves/{leave['id']}"))
        assert (counted["days"], counted["hours"], await taken(staff)) == ("2", "18", "2")


async def test_older_leave_keeps_what_was_noted_of_closed_days_that_were_worked(
    admin: Client, tradewind: Running
) -> None:
    staff = await Staff.hire(admin)
    leave = await staff.leave(*WEEK, "submit", "approve")
    leaves, id = tradewind.service.database.store(LEAVES), ObjectId(leave["id"])
    older = await leaves.update_unversioned({"_id": id}, {"$set": {"days": Decimal128("4.5"), "by_day": None}})
    assert older is not None
    assert await _note_days(tradewind.service, [{**older, "_id": id}]) == 1
    async with configured(admin, hrm_attendance_closed_to=day(1)):
        await declare(staff, day(1), day(3))
        assert await taken(staff) == "2.5"


async def test_leave_over_the_turn_of_the_year_gives_each_year_its_holiday_back(admin: Client) -> None:
    staff = await Staff.hire(admin)
    await staff.leave("2025-12-29T01:00:00Z", "2026-01-02T10:00:00Z", "submit", "approve")
    async with configured(admin, hrm_attendance_closed_to="2025-12-31"):
        await declare(staff, "2025-12-31", "2026-01-01")
        balances = f"{AT}/employees/{staff.employee['id']}/leave-balances?year="
        taken = [expect(await admin.get(f"{balances}{year}"))["items"][0]["taken"] for year in (2025, 2026)]
        assert taken == ["2", "1"]


async def test_leave_of_over_a_year_ago_keeps_its_days(admin: Client) -> None:
    staff = await Staff.hire(admin)
    leave = await staff.leave("2025-03-03T01:00:00Z", "2025-03-07T10:00:00Z", "submit", "approve")
    await declare(staff, "2025-03-05")
    assert expect(await admin.get(f"{AT}/leaves/{leave['id']}"))["days"] == leave["days"] == "5"


async def test_a_night_workers_day_of_leave_is_one_day(admin: Client, tradewind: Running) -> None:
    nights = {"start": "22:00", "end": "06:00", "break_start": "02:00", "break_end": "02:30"}
    staff = await Staff.hire(admin, nights, attends_from=day(), left_on=day(2))
    leave = await staff.leave(at(24), at(48), "submit", "approve")
    await reconcile(tradewind.service)
    assert (leave["days"], leave["hours"]) == ("1", "7.5")
    assert [row["status"] for _, row in sorted((await staff.days()).items())] == ["absent", "leave", "absent"]
