"""Approved overtime in the monthly sheet by rate, what punches show of it, and the leave that it earns."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.hrm.results import reconcile
from plugins.testing import Client, expect, unique
from tests.api.hrm.staff import AT, Staff, create
from tests.api.hrm.week import MONDAY, MONTH, at, day

pytestmark = pytest.mark.gen_test(timeout=60)
WEEK = {"attends_from": day(), "left_on": day(7)}
WEEKDAYS = {"working_days": [1, 2, 3, 4, 5], "holidays": [{"day": day(4), "name": "Founding day"}]}


async def hired(admin: Client) -> Staff:
    return await Staff.hire(admin, {"break_start": "12:00", "break_end": "13:00"}, WEEKDAYS, **WEEK, number=unique("E"))


async def enter(staff: Staff, kind: str, starts: float, ends: float, **fields: Any) -> dict[str, Any]:
    body = {"kind": kind, "reason": "as agreed", "starts_at": at(starts), "ends_at": at(ends), **fields}
    made: dict[str, Any] = expect(
        await staff.admin.post(f"{AT}/requests/enter", {**body, "employee_id": staff.employee["id"]})
    )
    return made


async def month_of(staff: Staff) -> dict[str, Any]:
    asked = f"{AT}/attendance/monthly?month={MONTH}&number={staff.employee['number']}"
    (row,) = expect(await staff.admin.get(asked))["items"]
    return dict(row)


async def test_a_month_has_overtime_by_rate_and_what_punches_do_not_show(admin: Client, tradewind: Running) -> None:
    staff = await hired(admin)
    for hour in (9, 19.5, 5 * 24 + 10, 5 * 24 + 15):
        await staff.punch_at(tradewind, MONDAY + timedelta(hours=hour))
    await enter(staff, "overtime", 18, 20, compensation="paid")
    await enter(staff, "overtime", 4 * 24 + 10, 4 * 24 + 11.5, compensation="compensatory")
    await enter(staff, "overtime", 5 * 24 + 10, 5 * 24 + 15, compensation="paid")
    await enter(staff, "trip", 24, 3 * 24)
    await enter(staff, "outside", 3 * 24 + 13, 3 * 24 + 15)
    await reconcile(tradewind.service)
    row = await month_of(staff)
    assert row["overtime_paid"] == {"working_day": "2", "rest_day": "5", "holiday": "0"}
    assert row["overtime_compensatory"] == {"working_day": "0", "rest_day": "0", "holiday": "1.5"}
    assert (row["overtime_unproven"], row["rest_days_worked"], row["overtime"]) == ("2", 1, "4")
    assert (row["trip_days"], row["outside_days"]) == (2, 1)


async def test_overtime_in_lieu_is_earned_by_its_rate_and_taken_as_leave(admin: Client, tradewind: Running) -> None:
    staff = await hired(admin)
    rates = {"working_day": "1", "rest_day": "2", "holiday": "3"}
    earned = {"accrual": "overtime", "unit": "hour", "overtime_rates": rates, "starts_on": f"{MONTH[:4]}-01-01"}
    type = await create(admin, "leave-types", code=unique("lieu").replace("-", "_"), name="调休", **earned)
    first = await enter(staff, "overtime", 18, 18.75, compensation="compensatory")
    await enter(staff, "overtime", 24 + 18, 24 + 18.75, compensation="compensatory")
    await enter(staff, "overtime", 5 * 24 + 10, 5 * 24 + 11, compensation="compensatory")
    await reconcile(tradewind.service)
    leave = {"type": type["code"], "employee_id": staff.employee["id"], "starts_at": at(7 * 24 + 9)}
    expect(await admin.post(f"{AT}/leaves/enter", {**leave, "ends_at": at(7 * 24 + 14)}), 40901)
    expect(await admin.post(f"{AT}/leaves/enter", {**leave, "ends_at": at(7 * 24 + 12.5)}))
    expect(await admin.post(f"{AT}/requests/{first['id']}/cancel"))
    entries = f"{AT}/leave-balances/{staff.employee['id']}/entries?type={type['code']}&day={day(7)}"
    assert [
        (one["day"], one["kind"], one["amount"], one["balance"]) for one in expect(await admin.get(entries))["items"]
    ] == [
        (day(1), "earned", "0.5", "0.5"),
        (day(5), "earned", "2", "2.5"),
        (day(7), "taken", "-3", "-0.5"),
    ]


async def test_leave_over_a_trip_is_refused(admin: Client) -> None:
    staff = await hired(admin)
    trip = await enter(staff, "trip", 24, 3 * 24)
    leave = {"type": "sick", "employee_id": staff.employee["id"], "starts_at": at(48 + 13), "ends_at": at(48 + 18)}
    reply = await admin.post(f"{AT}/leaves/enter", leave)
    expect(reply, 40901)
    assert day(1) in reply.body.decode()
    expect(await admin.post(f"{AT}/requests/{trip['id']}/cancel"))
    expect(await admin.post(f"{AT}/leaves/enter", leave))
