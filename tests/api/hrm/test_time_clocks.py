"""Punches of time clocks, imported as tables."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.hrm.results import reconcile
from plugins.testing import Client, People, expect, unique
from tests.api.crm.tables import as_csv, as_xlsx, form
from tests.api.hrm.staff import AT, Staff
from tests.api.hrm.test_partial_closings import CLOSINGS, WHY
from tests.api.hrm.test_two_readings import month_of
from tests.api.hrm.week import at, day

pytestmark = pytest.mark.gen_test(timeout=30)
PERMISSIONS = ["hrm:punch:import", "hrm:punch:list"]


async def imported(client: Client, content: bytes, **flags: str) -> dict[str, Any]:
    raw, headers = form({**flags, "file": ("punches", content)})
    headers["Accept-Language"] = "en"
    report: dict[str, Any] = expect(await client.post(f"{AT}/punches/import", raw=raw, headers=headers))
    return report


def faults(report: dict[str, Any]) -> list[tuple[int, str]]:
    return [(one["row"], one["message"]) for one in report["errors"]]


async def test_a_table_of_punches_counts_each_once_and_names_the_rows_that_do_not(
    admin: Client, tradewind: Running, people: People
) -> None:
    staff = await Staff.hire(admin, number=unique("E"), user_id=None, attends_from=day(), left_on=day())
    clerk, number = await people.person(PERMISSIONS, "all"), staff.employee["number"]
    rows = [
        ["Employee", "Punched at", "Place", "Device ID"],
        [number, f"{day()} 08:58:30", staff.place["name"], "gate-1"],  # in the business time zone
        [number, at(18.1), "", "gate-2"],
        [number, f"{day()} 08:58:30", staff.place["name"], "gate-1"],
        [number, f"{day(-1)} 09:00", "", ""],
        [unique("nobody"), f"{day()} 09:00", "", ""],
    ]
    tried = await imported(clerk, as_xlsx(rows), headers="labels", dry_run="true")
    report = await imported(clerk, as_xlsx(rows), headers="labels")
    expected = [
        (4, "There is already a punch at that time"),
        (5, "The employee is not subject to attendance on that day"),
        (6, "refers to a record that does not exist"),
    ]
    assert (tried["created"], sorted(faults(tried))) == (report["created"], sorted(faults(report))) == (2, expected)
    await reconcile(tradewind.service)
    result = (await staff.days())[day()]
    assert (result["status"], result["worked_minutes"]) == ("normal", 548)
    found = expect(await clerk.get(f"{AT}/punches?employee_id={staff.employee['id']}&sort=at"))["items"]
    assert [(one["method"], one["device_id"], one["entered_by"], one["counts"]) for one in found] == [
        ("clock", device, clerk.user["userId"], True) for device in ("gate-1", "gate-2")
    ]
    again = await imported(clerk, as_xlsx(rows[:3]), headers="labels")
    assert (again["created"], again["failed"]) == (0, 2)


async def test_a_punch_of_a_closed_day_is_refused_or_booked_as_a_difference(admin: Client, tradewind: Running) -> None:
    staff = await Staff.hire(admin, number=unique("E"), attends_from=day())
    await reconcile(tradewind.service)
    group = {"group_ids": [staff.group["id"]]}
    expect(await admin.post(CLOSINGS, {"closed_to": day(), **group}))
    try:
        rows = [["employee_id", "at", "after_closing"], [staff.employee["number"], at(9), ""]]
        report = await imported(admin, as_csv([*rows, [staff.employee["number"], at(18), "true"]]))
        assert faults(report) == [(2, f"Attendance is closed up to and including {day()}")]
        row, known = await month_of(staff), await month_of(staff, reading="known")
        assert (report["created"], row["missed"], known["missed"]) == (1, 0, 1)
        assert [one["missed"] for one in row["differences"]] == [1]  # the first open day is in the same month
    finally:
        expect(await admin.post(f"{CLOSINGS}/reopen", {**group, **WHY}))
