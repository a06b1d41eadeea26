"""Closing groups and single people: their days stay as they were paid, those of others are open."""

from __future__ import annotations

import random
from typing import Any

import pytest
from bson import ObjectId

from plugins.boot.runtime import Running
from plugins.hrm.closing import load_closed_days
from plugins.hrm.closing_records import CLOSINGS as RECORDS
from plugins.hrm.results import reconcile
from plugins.testing import Client, expect
from tests.api.approval.flows import configured
from tests.api.hrm.staff import AT, Staff
from tests.api.hrm.test_two_readings import LATE, NEXT, hired, month_of, shown, sick
from tests.api.hrm.week import day

pytestmark = pytest.mark.gen_test(timeout=60)
CLOSINGS = f"{AT}/attendance/closings"
WHY = {"reason": "only a test"}


async def test_a_closed_group_has_two_readings_and_others_stay_open(admin: Client, tradewind: Running) -> None:
    staff, other = [await hired(admin, tradewind, left_on=NEXT) for _ in range(2)]
    paid = await month_of(staff)
    group = {"group_ids": [staff.group["id"]]}
    made = expect(await admin.post(CLOSINGS, {"closed_to": day(1), **group}))
    assert (made["people"], made["employee_ids"], made["group_ids"]) == (1, None, group["group_ids"])
    try:
        expect(await admin.post(CLOSINGS, {"closed_to": day(1), **group}), 40901)
        expect(await sick(staff, 33, 42), 40901)
        expect(await sick(other, 33, 42))
        assert (await month_of(other))["leave"] == 1
        expect(await sick(staff, 33, 42, **LATE))
        row, known = await month_of(staff), await month_of(staff, reading="known")
        assert (row["absent"], row["leave"], known["leave"]) == (paid["absent"], 0, 1)
        (difference,) = row["differences"]  # booked on the first open day, which is in the same month
        assert shown(difference) == (-1, 1, "1", "8")
    finally:
        expect(await admin.post(f"{CLOSINGS}/reopen", {**group, **WHY}))
    await reconcile(tradewind.service)
    row = await month_of(staff)
    assert (row["leave"], row["differences"]) == (1, [])


async def test_one_person_is_reopened_while_everyone_else_stays_closed(admin: Client, tradewind: Running) -> None:
    staff, other = [await hired(admin, tradewind) for _ in range(2)]
    async with configured(admin, hrm_attendance_closed_to=day(1)):
        # a closing of before closings could name people has none of these fields
        unset = {"$unset": dict.fromkeys(("people", "members", "group_ids", "employee_ids", "not_agreed"), "")}
        await tradewind.service.database.store(RECORDS).update_many({"people": None}, unset, unversioned=True)
        person = {"employee_ids": [staff.employee["id"]]}
        made = expect(await admin.post(f"{CLOSINGS}/reopen", {"closed_to": day(), **person, **WHY}))
        assert (made["people"], made["reopened"], made["closed_to"]) == (1, True, day())
        expect(await sick(staff, 9, 12), 40901)
        expect(await sick(staff, 33, 42))
        expect(await sick(other, 33, 42), 40901)
        expect(await admin.post(CLOSINGS, {"closed_to": day(1), **person}))
        expect(await admin.post(f"{CLOSINGS}/reopen", {"closed_to": day(1), **person, **WHY}), 40901)
        unknown = {"closed_to": day(1), "employee_ids": ["0" * 24]}
        assert (await admin.post(CLOSINGS, unknown)).fields == {"employee_ids"}


async def test_each_person_is_closed_up_to_the_day_that_the_acts_about_them_say(
    admin: Client, tradewind: Running
) -> None:
    async with configured(admin, hrm_attendance_closed_to=None):
        await check_closings(admin, tradewind, random.Random(11), 12)


async def check_closings(admin: Client, running: Running, chance: random.Random, acts: int) -> None:
    """Close and reopen random people up to random days, and compare with a model."""
    several = [await Staff.hire(admin, attends_from=day()) for _ in range(3)]
    several.append(await Staff.hire(admin, attends_from=day(), attendance_group_id=several[0].group["id"]))
    groups = {str(one.employee["id"]): one.employee["attendance_group_id"] for one in several}
    closed: dict[str, str] = dict.fromkeys([*groups, "everyone"], "")
    try:
        for _ in range(acts):
            body, whom = _whom(chance, groups)
            until, reopens = chance.choice(["", *(day(number) for number in range(5))]), chance.random() < 0.4
            moves = {id for id in whom if (until < closed[id] if reopens else until > closed[id])}
            path = f"{CLOSINGS}/reopen" if reopens else CLOSINGS
            if not until and not reopens:
                continue
            given = {"closed_to": until or None, **body, **(WHY if reopens else {})}
            fits = ("everyone" in moves) if not body else bool(moves)
            expect(await admin.post(path, given), 0 if fits else 40901)
            if fits:
                closed |= dict.fromkeys(moves, until)
            known = await load_closed_days(running.service, [ObjectId(id) for id in groups])
            assert {id: str(known.of(ObjectId(id)) or "") for id in groups} == {id: closed[id] for id in groups}
    finally:
        await admin.post(f"{CLOSINGS}/reopen", {"employee_ids": list(groups), **WHY})


def _whom(chance: random.Random, groups: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return whom a random body names, and the keys of the model that it is about."""
    kind = chance.choice(["everyone", "group", "employee"])
    if kind == "everyone":
        return {}, [*groups, "everyone"]
    if kind == "employee":
        ids = chance.sample([*groups], chance.randrange(1, 3))
        return {"employee_ids": ids}, ids
    group = chance.choice([*groups.values()])
    return {"group_ids": [group]}, [id for id, theirs in groups.items() if theirs == group]
