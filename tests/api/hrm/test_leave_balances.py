"""Balances of leave on any day: earned, carried over, adjusted, taken and expired, each explained by its entries."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect
from tests.api.hrm.staff import AT, Staff, create
from tests.api.hrm.test_leave_types import new_type

pytestmark = pytest.mark.gen_test(timeout=30)
CARRIED = {"accrual": "yearly", "amount": "6.5", "starts_on": "2025-01-01", "carry_over": "5", "carry_over_months": 3}
MONTHLY = {"accrual": "monthly", "amount": "12", "starts_on": "2026-01-01"}


async def take(staff: Staff, type: dict[str, Any], first: str, last: str) -> Any:
    """Enter leave from a morning to an evening."""
    body = {"employee_id": staff.employee["id"], "type": type["code"]}
    span = {"starts_at": f"{first}T01:00:00Z", "ends_at": f"{last}T10:00:00Z"}
    return await staff.admin.post(f"{AT}/leaves/enter", {**body, **span})


async def balance(client: Client, staff: Staff, type: dict[str, Any], day: str) -> dict[str, Any]:
    found = expect(await client.get(f"{AT}/leave-balances/{staff.employee['id']}?day={day}"))["items"]
    of_type: dict[str, Any] = next(one for one in found if one["type"] == type["code"])
    return of_type


async def entries(client: Client, staff: Staff, type: dict[str, Any], day: str) -> list[tuple[str, str, str]]:
    asked = f"{AT}/leave-balances/{staff.employee['id']}/entries?type={type['code']}&day={day}"
    rows = expect(await client.get(asked, headers={"Accept-Language": "en"}))["items"]
    return [(row["text"], row["amount"], row["balance"]) for row in rows]


async def test_a_day_and_a_half_of_last_year_are_carried_over_and_expire(admin: Client) -> None:
    staff, type = await Staff.hire(admin), await new_type(admin, **CARRIED)
    expect(await take(staff, type, "2025-05-12", "2025-05-16"))
    expect(await take(staff, type, "2026-02-03", "2026-02-03"))
    assert (await balance(staff.client, staff, type, "2025-12-31"))["remaining"] == "1.5"
    assert await entries(staff.client, staff, type, "2026-06-30") == [
        ("Carried over from 2025", "1.5", "1.5"),
        ("Earned in 2026", "6.5", "8"),
        ("Taken on 2026-02-03", "-1", "7"),
        ("Expired", "-0.5", "6.5"),
    ]
    now = await balance(staff.client, staff, type, "2026-06-30")
    assert [now[name] for name in ("carried_over", "earned", "expired", "days", "taken", "remaining")] == [
        *("1.5", "6.5", "-0.5", "7.5", "1", "6.5")
    ]


async def test_leave_takes_no_more_than_is_earned_by_then(admin: Client) -> None:
    staff, type = await Staff.hire(admin), await new_type(admin, **MONTHLY)
    assert (await balance(admin, staff, type, "2026-03-31"))["remaining"] == "3"
    refused = await take(staff, type, "2026-04-07", "2026-04-10")
    expect(refused, 40901)
    expect(await take(staff, type, "2026-05-04", "2026-05-07"))
    # what was booked for May is no longer there in April
    expect(await take(staff, type, "2026-04-07", "2026-04-07"), 40901)
    assert ("Taken from 2026-05-04 to 2026-05-07", "-4", "0") in await entries(admin, staff, type, "2026-05-08")


async def test_an_adjustment_has_a_reason_and_is_of_somebody_else(admin: Client) -> None:
    staff, type = await Staff.hire(admin), await new_type(admin, accrual="manual", starts_on="2026-01-01")
    body = {"employee_id": staff.employee["id"], "type": type["code"], "amount": "1.5", "reason": "Sunday"}
    given = {"day": "2026-03-01", "expires_on": "2026-06-30"}
    made = await create(admin, "leave-adjustments", **body, **given)
    assert await entries(admin, staff, type, "2026-07-01") == [
        ("Adjusted: Sunday", "1.5", "1.5"),
        ("Expired", "-1.5", "0"),
    ]
    expect(await staff.client.post(f"{AT}/leave-adjustments", body), 40901)
    expect(await admin.patch(f"{AT}/leave-adjustments/{made['id']}", {"version": 1, "amount": "9"}), 40500)
    reply = await admin.post(f"{AT}/leave-adjustments", {**body, **given, "expires_on": "2026-02-01"})
    assert reply.fields == {"expires_on"}


async def test_an_allowance_replaces_what_the_type_gives_in_its_year(admin: Client) -> None:
    staff, type = await Staff.hire(admin), await new_type(admin, **CARRIED)
    allowance = {"employee_id": staff.employee["id"], "type": type["code"], "year": 2026, "days": "10"}
    await create(admin, "leave-allowances", **allowance)
    assert ("Allowance of 2026", "10", "15") in await entries(admin, staff, type, "2026-01-01")


async def test_balances_are_of_the_people_whom_the_caller_sees(admin: Client, people: People) -> None:
    department = await people.department()
    theirs, other = await Staff.hire(admin, department_id=department), await Staff.hire(admin)
    boss = await people.person(["hrm:leave:list", "hrm:leave-balance:list"], "department", department)
    rows = expect(await boss.get(f"{AT}/leave-balances/all?type=annual"))["items"]
    assert [row["id"] for row in rows] == [theirs.employee["id"]]
    expect(await boss.get(f"{AT}/leave-balances/{other.employee['id']}"), 40400)
    expect(await boss.get(f"{AT}/leave-balances/{other.employee['id']}/entries"), 40400)


async def test_a_year_of_employment_begins_on_its_anniversary(admin: Client) -> None:
    rules = {"accrual": "yearly", "amount": "6", "starts_on": "2025-01-01", "carry_over": "1", "carry_over_months": 2}
    staff = await Staff.hire(admin, hired_on="2024-05-20")
    type = await new_type(admin, **rules, year_of="employment")
    expect(await take(staff, type, "2025-06-02", "2025-06-04"))
    assert (await balance(admin, staff, type, "2026-05-19"))["remaining"] == "4"
    assert await entries(admin, staff, type, "2026-12-31") == [
        ("Carried over from 2025", "4", "4"),
        ("Expired", "-3", "1"),
        ("Earned in 2026", "6", "7"),
        ("Expired", "-1", "6"),
    ]
