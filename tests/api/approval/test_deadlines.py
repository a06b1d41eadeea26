"""Time limits of nodes, in working hours, and people who are on leave or may not decide."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plugins.api import utc_now
from plugins.api.ports import WorkingTime
from plugins.approval.deadlines import handle_due
from plugins.approval.records import INSTANCES
from plugins.boot.runtime import Running
from plugins.hrm.leave_records import LEAVES
from plugins.testing import Client, People, expect
from tests.api.approval.flows import ask, define, id_of, node, read, several, waiting
from tests.api.notification.inboxes import titles

pytestmark = pytest.mark.gen_test(timeout=60)


def limited(*people: Client, then: str, **more: Any) -> dict[str, Any]:
    return {**node("one", *people, **more), "deadline": {"hours": 8, "remind": 2, "then": then}}


async def let_pass(running: Running, made: Mapping[str, Any], name: str = "due_at") -> None:
    """Move a moment of the first current node into the past, and let the job look."""
    past = utc_now() - timedelta(minutes=1)
    key = {"_id": INSTANCES.parse_id(made["id"])}
    change = {"$set": {f"visits.0.{name}": past, "due": past}}
    await running.service.database.store(INSTANCES).update_many(key, change, unversioned=True)
    await handle_due(running.service)


@pytest.mark.parametrize(
    ("then", "status"), [("agree", "approved"), ("reject", "rejected"), ("return", "returned"), ("remind", "pending")]
)
async def test_a_node_whose_time_is_over_is_decided_by_its_rule_once(
    then: str, status: str, admin: Client, people: People, tradewind: Running
) -> None:
    me, boss = await several(people, 2)
    made = await ask(me, await define(admin, limited(boss, then=then)))
    await let_pass(tradewind, made, "remind_at")
    assert f"催办审批：{made['title']}" in await titles(boss)
    await let_pass(tradewind, made)
    await handle_due(tradewind.service)
    now = await read(me, made)
    assert now["status"] == status
    assert (await titles(boss)).count(f"审批已超过时限：{made['title']}") == 1
    assert [step["action"] for step in now["history"][1:]] == ([] if then == "remind" else [f"overdue-{then}"])


async def test_who_does_not_decide_in_time_is_replaced_by_their_leader(
    admin: Client, people: People, tradewind: Running
) -> None:
    department = await people.department()
    me, leader = await several(people, 2)
    (boss,) = await several(people, 1, department_id=department)
    expect(
        await admin.patch(f"/api/v1/system/departments/{department}", {"version": 1, "leader_user_id": id_of(leader)})
    )
    made = await ask(me, await define(admin, limited(boss, then="escalate")))
    await let_pass(tradewind, made)
    now = await read(me, made)
    assert waiting(now) == {id_of(leader)}
    assert (now["tasks"][-1]["on_behalf_of"], now["tasks"][-1]["absent"]) == (id_of(boss), "leader")


async def test_people_on_leave_or_without_the_permission_are_replaced_and_told(
    admin: Client, people: People, tradewind: Running
) -> None:
    me, away, substitute = await several(people, 3)
    powerless = await people.person(["approval:task:list", "notification:list"])
    now = utc_now()
    span = {"starts_at": now - timedelta(hours=1), "ends_at": now + timedelta(hours=1)}
    store = tradewind.service.database.store(LEAVES)
    leave = await store.create({"type": "annual", "user_id": id_of(away), "status": "approved", **span})
    for one in (away, powerless):
        rule = {"absent": "substitute", "substitutes": {"users": [id_of(substitute)]}}
        made = await ask(me, await define(admin, {**node("one", one), **rule}))
        assert waiting(made) == {id_of(substitute)}
        for told in (me, one):
            assert f"审批人暂缺，已按流程规则改由他人审批：{made['title']}" in await titles(told)
    await store.delete(leave["id"])


async def test_working_hours_leave_out_nights_breaks_and_weekends(tradewind: Running) -> None:
    working = tradewind.service.part(WorkingTime)
    friday = datetime(2099, 1, 2, 9, 0, tzinfo=UTC)  # 17:00 in Shanghai
    assert await working.after(friday, timedelta(hours=2)) == datetime(2099, 1, 5, 2, 0, tzinfo=UTC)
    assert await working.after(friday, timedelta(hours=5)) == datetime(2099, 1, 5, 6, 0, tzinfo=UTC)
