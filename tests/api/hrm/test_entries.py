"""Entries for other people: forgotten punches, and leave that was requested by other means."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from handlers.data.database import utc_now
from plugins.boot.runtime import Running
from plugins.testing import Client, People, Reply, expect
from tests.api.hrm.staff import AT, Staff

pytestmark = pytest.mark.gen_test(timeout=30)
YESTERDAY = (utc_now() + timedelta(hours=8)).date() - timedelta(days=1)
MORNING, EVENING = f"{YESTERDAY}T00:55:00Z", f"{YESTERDAY}T10:05:00Z"  # in Shanghai five to nine, five past six
WEDNESDAY = ("2026-12-02T01:00:00Z", "2026-12-02T10:00:00Z")


async def hired(admin: Client, **fields: Any) -> Staff:
    return await Staff.hire(admin, attends_from=f"{YESTERDAY - timedelta(days=3)}", **fields)


async def enter(by: Client, staff: Staff, at: str, **fields: Any) -> Reply:
    body = {"employee_id": staff.employee["id"], "at": at, "reason": "forgotten"}
    return await by.post(f"{AT}/punches/enter", {**body, **fields})


async def enter_leave(by: Client, staff: Staff, *span: str, type: str = "annual") -> Reply:
    body = {"employee_id": staff.employee["id"], "type": type, "starts_at": span[0], "ends_at": span[1]}
    return await by.post(f"{AT}/leaves/enter", body)


async def test_an_entered_punch_recomputes_its_day(admin: Client, tradewind: Running) -> None:
    staff = await hired(admin)
    await staff.punch_at(tradewind, datetime.fromisoformat(MORNING))
    entered = expect(await enter(admin, staff, EVENING, reason="phone was empty"))
    shown = (entered["method"], entered["counts"], entered["entered_by"], entered["remark"], entered["day"])
    assert shown == ("manual", True, 1, "phone was empty", f"{YESTERDAY}")
    assert (await staff.days())[f"{YESTERDAY}"]["status"] == "normal"
    mine = expect(await staff.client.get(f"{AT}/punches?user_id={staff.client.user['userId']}"))["items"]
    assert entered["id"] in {punch["id"] for punch in mine}


async def test_a_second_punch_of_the_same_minute_is_not_entered(admin: Client) -> None:
    staff = await hired(admin)
    expect(await enter(admin, staff, MORNING))
    expect(await enter(admin, staff, MORNING), 40901)


@pytest.mark.parametrize("away", [timedelta(minutes=5), timedelta(days=-400)])
async def test_a_punch_of_the_last_year_can_be_entered(away: timedelta, admin: Client) -> None:
    staff = await hired(admin)
    reply = await enter(admin, staff, f"{utc_now() + away:%Y-%m-%dT%H:%M:%SZ}")
    expect(reply, 40001)
    assert reply.fields == {"at"}


async def test_a_punch_before_attendance_is_not_entered(admin: Client) -> None:
    early = f"{YESTERDAY - timedelta(days=9)}T01:00:00Z"
    expect(await enter(admin, await hired(admin), early), 40901)


async def test_nobody_enters_records_for_themselves(admin: Client) -> None:
    staff = await hired(admin)
    expect(await enter(staff.client, staff, MORNING), 40901)
    expect(await enter_leave(staff.client, staff, *WEDNESDAY), 40901)


async def test_employees_outside_of_the_scope_are_unknown(admin: Client, people: People) -> None:
    department = await people.department()
    clerk = await people.person(["hrm:punch:enter", "hrm:leave:enter", "hrm:leave:list"], "department", department)
    staff = await hired(admin)
    for reply in (await enter(clerk, staff, MORNING), await enter_leave(clerk, staff, *WEDNESDAY)):
        expect(reply, 40001)
        assert reply.fields == {"employee_id"}
    expect(await clerk.get(f"{AT}/employees/{staff.employee['id']}/leave-balances"), 40400)
    own = await hired(admin, department_id=department)
    expect(await enter(clerk, own, MORNING))
    leave = expect(await enter_leave(clerk, own, *WEDNESDAY))
    seen = expect(await clerk.get(f"{AT}/leaves"))["items"]
    assert [one["id"] for one in seen] == [leave["id"]]


async def test_entered_leave_is_approved_and_in_the_results(admin: Client) -> None:
    staff = await hired(admin)
    leave = expect(await enter_leave(admin, staff, f"{YESTERDAY}T01:00:00Z", f"{YESTERDAY}T10:00:00Z"))
    shown = (leave["status"], leave["days"], leave["user_id"], leave["entered_by"], leave["decided_by"])
    assert shown == ("approved", "1", staff.client.user["userId"], 1, 1)
    assert (await staff.days())[f"{YESTERDAY}"]["status"] == "leave"
    expect(await enter_leave(admin, staff, f"{YESTERDAY}T02:00:00Z", f"{YESTERDAY}T10:00:00Z"), 40901)


async def test_an_employee_without_account_can_be_on_leave(admin: Client) -> None:
    staff = await hired(admin, user_id=None)
    leave = expect(await enter_leave(admin, staff, f"{YESTERDAY}T01:00:00Z", f"{YESTERDAY}T10:00:00Z"))
    assert (leave["employee_id"], leave["user_id"]) == (staff.employee["id"], None)
    assert (await staff.days())[f"{YESTERDAY}"]["status"] == "leave"
    balances = expect(await admin.get(f"{AT}/employees/{staff.employee['id']}/leave-balances?year={YESTERDAY.year}"))
    assert balances["items"][0]["taken"] == "1"
