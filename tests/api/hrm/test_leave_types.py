"""Types of leave as records: who may request them, and how they are taken."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.files.samples import note
from tests.api.hrm.staff import AT, Staff, create

pytestmark = pytest.mark.gen_test(timeout=30)
MORNING = ("2026-12-01T01:00:00Z", "2026-12-01T04:00:00Z")
BREAK = {"break_start": "12:00", "break_end": "13:00"}


async def new_type(admin: Client, **fields: Any) -> dict[str, Any]:
    return await create(admin, "leave-types", **{"code": unique("type").replace("-", "_"), "name": "育儿假", **fields})


async def ask(client: Client, type: dict[str, Any], code: int = 0) -> dict[str, Any]:
    body = {"type": type["code"], "starts_at": MORNING[0], "ends_at": MORNING[1]}
    made: dict[str, Any] = expect(await client.post(f"{AT}/leaves", body), code)
    return made


async def test_the_kinds_of_before_are_the_first_types(admin: Client) -> None:
    types = expect(await admin.get(f"{AT}/leave-types"))["items"]
    assert [(one["code"], one["name"], one["paid"], one["accrual"]) for one in types[:3]] == [
        ("annual", "年假", True, "unlimited"),
        ("sick", "病假", True, "unlimited"),
        ("personal", "事假", False, "unlimited"),
    ]


async def test_a_type_of_the_company_is_requested_until_it_is_disabled(admin: Client) -> None:
    type = await new_type(admin, name_en="Parental leave")
    staff = await Staff.hire(admin)
    assert (await ask(staff.client, type))["type"] == type["code"]
    (shown,) = expect(await admin.get("/api/v1/system/dictionaries?types=hrm_leave_type"))["items"]
    assert next(one["label"] for one in shown["items"] if one["value"] == type["code"]) == "育儿假"
    expect(await admin.patch(f"{AT}/leave-types/{type['id']}", {"version": 1, "status": "disabled"}))
    await ask(staff.client, type, 40001)


async def test_a_code_stays_and_leave_in_use_stays_in_days(admin: Client) -> None:
    type = await new_type(admin)
    await ask((await Staff.hire(admin)).client, type)
    at = f"{AT}/leave-types/{type['id']}"
    expect(await admin.patch(at, {"version": 1, "code": "other_code"}), 40901)
    expect(await admin.patch(at, {"version": 1, "unit": "hour"}), 40901)
    expect(await admin.patch(at, {"version": 1, "unit": "day"}))


async def test_what_is_earned_needs_an_amount_per_year(admin: Client) -> None:
    body = {"code": unique("type").replace("-", "_"), "name": "育儿假", "accrual": "yearly"}
    assert (await admin.post(f"{AT}/leave-types", body)).fields == {"amount"}


async def test_a_type_of_a_department_is_for_its_employees_only(admin: Client, people: People) -> None:
    department = await people.department()
    type = await new_type(admin, department_ids=[department])
    theirs, other = await Staff.hire(admin, department_id=department), await Staff.hire(admin)
    await ask(theirs.client, type)
    await ask(other.client, type, 40001)


async def test_leave_that_needs_evidence_is_submitted_with_a_file(admin: Client) -> None:
    type, staff = await new_type(admin, evidence_required=True), await Staff.hire(admin)
    leave = await ask(staff.client, type)
    expect(await staff.client.post(f"{AT}/leaves/{leave['id']}/submit"), 40901)
    stored = await note(staff.client, "certificate")
    body = {"biz_type": "LEAVE", "resource_id": leave["id"], "object_key": stored["objectKey"]}
    expect(await staff.client.post("/api/attachments", body))
    assert expect(await staff.client.post(f"{AT}/leaves/{leave['id']}/submit"))["status"] == "pending"


async def test_leave_by_the_day_takes_no_part_of_a_day_and_by_the_hour_takes_hours(admin: Client) -> None:
    staff = await Staff.hire(admin, BREAK)
    by_day = await ask(staff.client, await new_type(admin, unit="day"))
    expect(await staff.client.post(f"{AT}/leaves/{by_day['id']}/submit"), 40901)
    hourly = await new_type(admin, unit="hour", accrual="yearly", amount="4", starts_on="2026-01-01")
    by_hour = await ask(staff.client, hourly)
    expect(await staff.client.post(f"{AT}/leaves/{by_hour['id']}/submit"))
    balances = expect(await staff.client.get(f"{AT}/leave-balances?year=2026"))["items"]
    found = next(one for one in balances if one["type"] == hourly["code"])
    assert (found["unit"], found["days"], found["pending"], found["remaining"]) == ("hour", "4", "3", "1")
