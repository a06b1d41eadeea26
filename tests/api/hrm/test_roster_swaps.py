"""Swaps of shifts: the consent of the other person, the approval, and what both have on both days."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import configured
from tests.api.hrm.staff import AT, Staff, create
from tests.api.hrm.week import at, day
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=30)
REQUESTS, SWAPS, ROSTERS = f"{AT}/requests", f"{AT}/requests/swaps", f"{AT}/rosters"
WEEK = {"attends_from": day(), "left_on": day(4)}
STAYS = {"attends_from": day()}


async def two(admin: Client) -> tuple[Staff, Staff]:
    """Ann works from nine to six; Ben from noon to nine, but not on Tuesday."""
    ann = await Staff.hire(admin, name="Ann", **WEEK)
    late = {"name": unique("late"), "start": "12:00", "end": "21:00"}
    return ann, await Staff.hire(admin, late, {"working_days": [1, 3, 4, 5]}, name="Ben", **WEEK)


def swap(other: Staff, **fields: Any) -> dict[str, Any]:
    """On Tuesday and Wednesday."""
    days = {"day": day(1), "swap_day": day(2)}
    return {"kind": "swap", "reason": "a wedding", "swap_with": other.employee["id"], **days, **fields}


async def agreed(ann: Staff, ben: Staff) -> dict[str, Any]:
    asked = expect(await ann.client.post(REQUESTS, swap(ben)))
    return dict(expect(await ben.client.post(f"{SWAPS}/{asked['id']}/agree")))


async def shifts(staff: Staff) -> list[str]:
    """What somebody works on Tuesday and Wednesday."""
    found = expect(await staff.admin.get(f"{ROSTERS}/week?day={day()}&group_id={staff.group['id']}"))["items"]
    return [str(found[0][name]).split(" ")[-1] for name in ("tuesday", "wednesday")]


async def test_an_agreed_and_approved_swap_exchanges_both_days_until_it_is_cancelled(admin: Client) -> None:
    ann, ben = await two(admin)
    asked = expect(await ann.client.post(REQUESTS, swap(ben)))
    expect(await ann.client.post(f"{REQUESTS}/{asked['id']}/submit"), 40901)  # Ben has not agreed
    assert f"Ann 想与您换班：{day(1)}" in await titles(ben.client)
    assert [one["id"] for one in expect(await ben.client.get(SWAPS))["items"]] == [asked["id"]]
    expect(await ann.client.post(f"{SWAPS}/{asked['id']}/agree"), 40400)
    expect(await ben.client.post(f"{SWAPS}/{asked['id']}/agree"))
    expect(await ann.client.post(f"{REQUESTS}/{asked['id']}/submit"))
    assert await shifts(ann) == ["09:00–18:00", "09:00–18:00"]
    expect(await admin.post(f"{REQUESTS}/{asked['id']}/approve"))
    assert (await shifts(ann), await shifts(ben)) == (["休", "12:00–21:00"], ["09:00–18:00", "09:00–18:00"])
    assert ((await ann.days())[day(1)]["status"], (await ben.days())[day(1)]["status"]) == ("rest", "absent")
    expect(await admin.post(f"{REQUESTS}/{asked['id']}/cancel"))
    assert (await shifts(ann), await shifts(ben)) == (["09:00–18:00", "09:00–18:00"], ["休", "12:00–21:00"])
    assert (await ann.days())[day(1)]["status"] == "absent"
    assert expect(await admin.get(f"{ROSTERS}?employee_id={ben.employee['id']}"))["items"] == []


async def test_a_swap_of_rosters_that_have_changed_is_neither_made_nor_taken_back(admin: Client) -> None:
    ann, ben = await two(admin)
    asked = await agreed(ann, ben)
    theirs = {"employee_id": ben.employee["id"], "day": day(1)}
    roster = await create(admin, "rosters", shift_id=ben.shift["id"], **theirs)
    expect(await ann.client.post(f"{REQUESTS}/{asked['id']}/submit"), 40901)
    expect(await admin.delete(f"{ROSTERS}/{roster['id']}"))
    expect(await ann.client.post(f"{REQUESTS}/{asked['id']}/submit"))
    expect(await admin.post(f"{REQUESTS}/{asked['id']}/approve"))
    (made,) = expect(await admin.get(f"{ROSTERS}?employee_id={ben.employee['id']}&day_from={day(1)}&day_to={day(1)}"))[
        "items"
    ]
    assert made["request_id"] == asked["id"]
    expect(await admin.patch(f"{ROSTERS}/{made['id']}", {"version": made["version"], "shift_id": None}))
    expect(await admin.post(f"{REQUESTS}/{asked['id']}/cancel"), 40901)


async def test_a_swap_is_refused_on_leave_and_on_closed_days_and_can_be_entered_without_consent(admin: Client) -> None:
    ann, ben = await two(admin)
    asked = await agreed(ann, ben)
    async with configured(admin, hrm_attendance_closed_to=day(1)):
        expect(await ann.client.post(f"{REQUESTS}/{asked['id']}/submit"), 40901)
    leave = await ben.leave(at(2 * 24 + 9), at(2 * 24 + 13), "submit")
    expect(await ann.client.post(f"{REQUESTS}/{asked['id']}/submit"), 40901)
    expect(await admin.post(f"{AT}/leaves/{leave['id']}/withdraw"))
    changed = expect(
        await ann.client.patch(f"{REQUESTS}/{asked['id']}", {"version": asked["version"], "reason": "other"})
    )
    assert changed["agreed_at"] is None
    same = await ann.client.post(REQUESTS, swap(ben, swap_with=ann.employee["id"]))
    assert (same.code, same.fields) == (40001, {"swap_with"})
    expect(await admin.post(f"{REQUESTS}/enter", {**swap(ben), "employee_id": ann.employee["id"]}))
    assert await shifts(ann) == ["休", "12:00–21:00"]


async def test_an_employee_asks_a_colleague_whom_they_do_not_see(admin: Client, people: People) -> None:
    codes = [f"hrm:request:{verb}" for verb in ("create", "read", "update", "submit")]
    asking = await people.person([*codes, "hrm:attendance:punch"])
    ann = await Staff.hire(admin, name="Ann", **STAYS)
    late = await create(admin, "shifts", name=unique("late"), start="12:00", end="21:00")
    own = {"user_id": asking.session["userInfo"]["userId"], "attendance_group_id": ann.group["id"]}
    await create(admin, "employees", name="Eve", number=unique("E"), hired_on=day(), **own, **STAYS)
    await create(admin, "rosters", employee_id=ann.employee["id"], day=day(1), shift_id=late["id"])
    colleagues = expect(await asking.get(f"{REQUESTS}/colleagues"))["items"]
    assert [one["name"] for one in colleagues] == ["Ann"]
    body = swap(ann, swap_day=day(1))
    made = expect(await asking.post(REQUESTS, body))
    changed = {"swap_with": ann.employee["id"], "reason": "a funeral", "version": made["version"]}
    expect(await asking.patch(f"{REQUESTS}/{made['id']}", changed))
    elsewhere = await Staff.hire(admin, name="Far", **STAYS)
    expect(await asking.post(REQUESTS, {**body, "swap_with": elsewhere.employee["id"]}), 40001)
