"""Leave allowances and balances."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from plugins.testing import Client, People, expect
from tests.api.hrm.staff import AT, Staff

pytestmark = pytest.mark.gen_test(timeout=30)
TWO_DAYS = ("2026-12-02T01:00:00Z", "2026-12-03T10:00:00Z")
NEW_YEAR = ("2026-12-31T01:00:00Z", "2027-01-02T10:00:00Z")  # one day of the old year, two of the new


async def allow(admin: Client, staff: Staff, days: str, **fields: Any) -> dict[str, Any]:
    body = {"type": "annual", "employee_id": staff.employee["id"], "days": days, **fields}
    made: dict[str, Any] = expect(await admin.post(f"{AT}/leave-allowances", body))
    return made


async def annual(client: Client, of: str = "", year: int = 2026) -> dict[str, Any]:
    items = expect(await client.get(f"{AT}{of}/leave-balances?year={year}"))["items"]
    balance: dict[str, Any] = next(item for item in items if item["type"] == "annual")
    return balance


async def test_a_balance_excludes_taken_and_pending_leave(admin: Client) -> None:
    staff = await Staff.hire(admin)
    await allow(admin, staff, "10")
    await staff.leave(*TWO_DAYS, "submit", "approve")
    await staff.leave("2026-12-08T01:00:00Z", "2026-12-08T03:00:00Z", "submit")
    await staff.leave("2026-12-10T01:00:00Z", "2026-12-10T10:00:00Z")  # a draft
    expected = {"days": "10", "taken": "2", "pending": "0.5", "remaining": "7.5"}
    for balance in (await annual(staff.client), await annual(admin, f"/employees/{staff.employee['id']}")):
        assert {name: balance[name] for name in expected} == expected


async def test_leave_that_exceeds_the_balance_is_refused_and_stays_a_draft(admin: Client) -> None:
    staff = await Staff.hire(admin)
    await allow(admin, staff, "1.5")
    draft = await staff.leave(*TWO_DAYS)
    reply = await staff.client.post(f"{AT}/leaves/{draft['id']}/submit", headers={"Accept-Language": "en"})
    expect(reply, 40901)
    assert reply.json["msg"] == "Only 1.5 days of this type of leave are left in 2026"
    assert expect(await admin.get(f"{AT}/leaves/{draft['id']}"))["status"] == "draft"
    body = {"employee_id": staff.employee["id"], "type": "annual", "starts_at": TWO_DAYS[0], "ends_at": TWO_DAYS[1]}
    expect(await admin.post(f"{AT}/leaves/enter", body), 40901)
    expect(await admin.post(f"{AT}/leaves/enter", {**body, "type": "sick"}))


async def test_cancelled_leave_returns_to_the_balance(admin: Client) -> None:
    staff = await Staff.hire(admin)
    await allow(admin, staff, "2")
    await staff.leave(*TWO_DAYS, "submit", "approve", "cancel")
    assert (await staff.leave(*TWO_DAYS, "submit"))["status"] == "pending"


async def test_concurrent_requests_do_not_exceed_the_balance(admin: Client) -> None:
    staff = await Staff.hire(admin)
    await allow(admin, staff, "2")
    drafts = [await staff.leave(f"2026-12-0{day}T01:00:00Z", f"2026-12-0{day}T10:00:00Z") for day in range(1, 6)]
    replies = await asyncio.gather(*(staff.client.post(f"{AT}/leaves/{one['id']}/submit") for one in drafts))
    assert Counter(reply.code for reply in replies) == {0: 2, 40901: 3}


async def test_leave_over_new_year_counts_in_both_years(admin: Client) -> None:
    staff = await Staff.hire(admin)
    await allow(admin, staff, "1", year=2026)
    await allow(admin, staff, "3", year=2027)
    await staff.leave(*NEW_YEAR, "submit")
    pending = [(await annual(staff.client, year=year))["pending"] for year in (2026, 2027)]
    assert pending == ["1", "2"]


async def test_the_most_specific_allowance_applies(admin: Client) -> None:
    staff = await Staff.hire(admin)
    everybody = {"type": "other", "days": "1"}
    for fields in ({}, {"year": 2031}, {"employee_id": staff.employee["id"], "days": "5"}):
        expect(await admin.post(f"{AT}/leave-allowances", {**everybody, **fields}))
    expect(await admin.post(f"{AT}/leave-allowances", everybody), 40900)
    balances = expect(await staff.client.get(f"{AT}/leave-balances?year=2031"))["items"]
    assert next(item for item in balances if item["type"] == "other")["days"] == "5"
    for row in expect(await admin.get(f"{AT}/leave-allowances?type=other"))["items"]:
        expect(await admin.delete(f"{AT}/leave-allowances/{row['id']}"))
    assert (await annual(admin))["days"] is None  # of whom nothing says


async def test_a_person_who_sees_a_department_sets_no_allowance_of_everybody(admin: Client, people: People) -> None:
    department = await people.department()
    clerk = await people.person(["hrm:leave-allowance:create"], "department", department)
    body = {"type": "other", "days": "1", "year": 2050}
    expect(await clerk.post(f"{AT}/leave-allowances", body), 40300)
    staff = await Staff.hire(admin)
    reply = await clerk.post(f"{AT}/leave-allowances", {**body, "employee_id": staff.employee["id"]})
    expect(reply, 40001)
    assert reply.fields == {"employee_id"}
