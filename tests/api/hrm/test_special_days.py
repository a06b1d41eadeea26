"""Special days, and changes of working time that are rehearsed before they are made."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.hrm.results import reconcile
from plugins.testing import Client, expect, unique
from tests.api.crm.test_tables import imported
from tests.api.hrm.staff import AT, Staff, create
from tests.api.hrm.week import at, day
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=30)
DAYS = f"{AT}/special-days"


async def at_own_place(admin: Client, running: Running) -> tuple[Staff, str]:
    """Somebody at a place of their own, absent from Monday to Wednesday, on leave on Tuesday; and that place."""
    place = (await create(admin, "places", name=unique("place"), location={"lng": 1, "lat": 1}))["id"]
    staff = await Staff.hire(admin, attends_from=day(), left_on=day(2), place_id=place)
    await staff.leave(at(33), at(42), "submit", "approve")
    await reconcile(running.service)
    return staff, place


async def statuses(staff: Staff, running: Running) -> list[str]:
    await reconcile(running.service)
    return [row["status"] for _, row in sorted((await staff.days()).items())]


async def test_a_holiday_of_a_place_that_is_declared_late_counts_days_and_leave_anew(
    admin: Client, tradewind: Running
) -> None:
    staff, place = await at_own_place(admin, tradewind)
    made = []
    for number, expected in enumerate((["rest", "leave", "absent"], ["rest", "rest", "absent"])):
        body = {"day": day(number), "kind": "holiday", "name": "春节", "place_id": place}
        made.append(await create(admin, "special-days", **body))
        assert await statuses(staff, tradewind) == expected
    told = await titles(staff.client)
    assert any(f"您 {day(1)} 起的请假由 1 天变为 0 天" in title for title in told)
    assert any(f"您 {day()} 至 {day()} 间有 1 天的考勤结果发生变化" in title for title in told)
    expect(await admin.patch(f"{DAYS}/{made[0]['id']}", {"version": 1, "kind": "workday"}))
    assert await statuses(staff, tradewind) == ["absent", "rest", "absent"]
    expect(await admin.delete(f"{DAYS}/{made[1]['id']}"))
    assert await statuses(staff, tradewind) == ["absent", "leave", "absent"]
    expect(await admin.post(f"{DAYS}/{made[1]['id']}/restore"))
    assert await statuses(staff, tradewind) == ["absent", "rest", "absent"]


async def test_a_group_overrides_the_special_days_of_the_place(admin: Client, tradewind: Running) -> None:
    staff, place = await at_own_place(admin, tradewind)
    await create(admin, "special-days", day=day(), kind="holiday", place_id=place)
    own = {"version": 1, "holidays": [{"day": day(), "working": True}]}
    expect(await admin.patch(f"{AT}/attendance-groups/{staff.group['id']}", own))
    assert await statuses(staff, tradewind) == ["absent", "leave", "absent"]


async def test_a_rehearsal_says_whose_days_and_minutes_change_and_stores_nothing(
    admin: Client, tradewind: Running
) -> None:
    staff, place = await at_own_place(admin, tradewind)
    body = {"day": day(1), "kind": "holiday", "place_id": place}
    (row,) = expect(await admin.post(f"{DAYS}/rehearse", body))["items"]
    changes = {"results": 1, "first_day": day(1), "last_day": day(1), "leave_days": "-1"}
    minutes = dict.fromkeys(("late_minutes", "early_minutes", "worked_minutes", "overtime_minutes"), 0)
    person = {"employee_id": staff.employee["id"], "employee_name": "Mei"}
    assert row == {**person, **changes, **minutes}
    holidays = {"version": 1, "holidays": [{"day": day(number)} for number in (0, 1, 2)]}
    (row,) = expect(await admin.post(f"{AT}/attendance-groups/{staff.group['id']}/rehearse", holidays))["items"]
    assert (row["results"], row["leave_days"]) == (3, "-1")
    expect(await admin.post(f"{AT}/attendance-groups/{staff.group['id']}/rehearse", {**holidays, "version": 7}), 40902)
    shift: dict[str, Any] = {"version": 1, "grace_minutes": 5}
    assert expect(await admin.post(f"{AT}/shifts/{staff.shift['id']}/rehearse", shift))["items"] == []
    assert await statuses(staff, tradewind) == ["absent", "leave", "absent"]


async def test_the_yearly_notice_is_imported_as_a_table_after_a_dry_run(admin: Client) -> None:
    table = "day,kind,name\n2031-01-01,holiday,元旦\n2031-01-04,workday,元旦调休\n2031-01-33,holiday,\n"
    for dry_run, known in (("true", 0), ("false", 2)):
        report = await imported(admin, DAYS, table.encode(), dry_run=dry_run)
        assert (report["created"], report["failed"]) == (2, 1)
        found = expect(await admin.get(f"{DAYS}?day_from=2031-01-01&day_to=2031-01-31"))["items"]
        assert len(found) == known
