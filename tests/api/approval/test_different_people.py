"""A node asks as many different persons as it needs; where they are fewer, its rule for absence acts and says so."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from plugins.testing import Client, People, expect
from tests.api.approval.flows import (
    DEFINITIONS,
    act,
    ask,
    define,
    disable,
    draft,
    id_of,
    node,
    read,
    several,
    waiting,
)
from tests.api.approval.test_people import delegate

pytestmark = pytest.mark.gen_test(timeout=60)
SEQUENCES = int(os.environ.get("TRADEWIND_TEST_SEQUENCES", "12"))
Instance = dict[str, Any]


async def led(admin: Client, people: People, leader: Client) -> int:
    """A department with this leader."""
    department: int = await people.department()
    body = {"version": 1, "leader_user_id": id_of(leader)}
    expect(await admin.patch(f"/api/v1/system/departments/{department}", body))
    return department


def extra(instance: Instance) -> list[tuple[int, int | None, str]]:
    """Who was asked by a rule for absence, in whose place, and by which rule."""
    tasks = (task for task in instance["tasks"] if task["status"] == "pending")
    return [(task["user_id"], task["on_behalf_of"], task["absent"]) for task in tasks if task["absent"] != "delegate"]


def by_rule(instance: Instance) -> list[tuple[int, int | None, str]]:
    return [one for one in extra(instance) if one[2] is not None]


@pytest.mark.parametrize("mode", ["quorum:2", "all"])
async def test_an_approver_who_delegates_to_another_one_is_replaced_by_the_leader(
    mode: str, admin: Client, people: People
) -> None:
    first, second, leader = await several(people, 3)
    (me,) = await several(people, 1, department_id=await led(admin, people, leader))
    await delegate(first, second)
    made = await ask(me, await define(admin, node("both", first, second, mode=mode)))
    assert waiting(made) == {id_of(second), id_of(leader)}
    assert by_rule(made) == [(id_of(leader), id_of(first), "leader")]
    assert expect(await act(second, made, "agree"))["status"] == "pending"
    assert expect(await act(leader, made, "agree"))["status"] == "approved"


@pytest.mark.parametrize("mode", ["quorum:2", "all"])
async def test_a_disabled_approver_does_not_lower_the_need(mode: str, admin: Client, people: People) -> None:
    me, gone, left = await several(people, 3)
    definition = await define(admin, node("both", gone, left, mode=mode))
    await disable(admin, gone)
    made = await ask(me, definition)
    assert by_rule(made) == [(1, id_of(gone), "leader")]
    assert expect(await act(left, made, "agree"))["status"] == "pending"


async def test_a_person_who_is_named_as_a_leader_too_is_one_person(admin: Client, people: People) -> None:
    (boss,) = await several(people, 1)
    department = await led(admin, people, boss)
    (me,) = await several(people, 1)
    made = await ask(me, await define(admin, node("both", boss, department_leader=department, mode="all")))
    assert waiting(made) == {id_of(boss), 1}


async def test_the_substitutes_of_a_node_are_asked_before_anybody_else(admin: Client, people: People) -> None:
    me, gone, left, spare = await several(people, 4)
    rule = {"absent": "substitute", "substitutes": {"users": [id_of(left), id_of(spare)]}}
    definition = await define(admin, {**node("both", gone, left, mode="all"), **rule})
    await disable(admin, gone)
    made = await ask(me, definition)
    assert by_rule(made) == [(id_of(spare), id_of(gone), "substitute")]
    simulated = expect(await admin.post(f"{DEFINITIONS}/{definition['id']}/simulate", {"initiator_id": id_of(me)}))
    assert {one["user_id"] for one in simulated["nodes"][0]["approvers"]} == waiting(made)


async def test_a_node_that_refuses_absence_cannot_be_submitted_to(admin: Client, people: People) -> None:
    me, gone, left = await several(people, 3)
    definition = await define(admin, {**node("both", gone, left, mode="all"), "absent": "refuse"})
    await disable(admin, gone)
    made = await draft(me, definition)
    expect(await act(me, made, "submit"), 40901)
    assert (await read(me, made))["status"] == "draft"


async def test_a_later_node_that_refuses_absence_sends_the_request_back(admin: Client, people: People) -> None:
    me, first, gone = await several(people, 3)
    last = {**node("last", gone, first, mode="quorum:2"), "absent": "refuse"}
    made = await ask(me, await define(admin, node("one", first), last))
    await disable(admin, gone)
    back = expect(await act(first, made, "agree"))
    assert (back["status"], back["history"][-1]["action"], back["history"][-1]["to"]) == (
        "returned",
        "return",
        "initiator",
    )


async def test_nobody_makes_themselves_a_substitute(admin: Client, people: People) -> None:
    codes = [f"approval:definition:{action}" for action in ("list", "read", "create", "update")]
    editor = await people.person(codes, "all")
    own = {"absent": "substitute", "substitutes": {"users": [id_of(editor)]}}
    body = {"name": "flow", "biz_type": "GENERAL", "nodes": [{**node("one", admin), **own}], "enabled": False}
    expect(await editor.post(DEFINITIONS, body), 40300)


# -- random sequences


async def test_no_sequence_of_absences_lets_fewer_people_pass_a_node(admin: Client, people: People) -> None:
    outcomes = [await pass_at_random(random.Random(seed), admin, people) for seed in range(SEQUENCES)]
    assert "approved" in outcomes


async def pass_at_random(chance: random.Random, admin: Client, people: People) -> str:
    """Let people delegate, leave, transfer and hand over at random until the request ends; then count who agreed.

    A request that nobody may be asked about any more is refused.
    """
    team = await several(people, 6)
    size = chance.randint(2, 4)
    named, mode = team[1 : size + 1], chance.choice(("all", f"quorum:{chance.randint(2, size)}"))
    needed = size if mode == "all" else int(mode[-1])
    definition = await define(admin, node("one", *named, mode=mode))
    present, made, steps = {id_of(one): one for one in team[1:]}, None, []
    for number in range(18):
        if made is None and number > chance.randint(0, 4):
            made = await draft(team[0], definition)
            if (await act(team[0], made, "submit")).code == 40901:
                return "refused"
        who, other = chance.sample(list(present.values()), 2)
        step = chance.choice(("delegate", "delegate", "disable", "transfer", "hand over", *["agree"] * 5))
        steps.append((step, id_of(who), id_of(other)))
        if step == "delegate":
            await delegate(who, other)
        elif step == "disable" and len(present) > 3:
            await disable(admin, who)
            del present[id_of(who)]
        elif step == "hand over":
            await admin.post(f"/api/v1/system/users/{id_of(who)}/handover", {"to": id_of(other)})
        elif made is not None:
            body = {"user_id": id_of(other)} if step == "transfer" else {}
            await act(who, made, step if step == "transfer" else "agree", **body)
        if made is not None and (now := await read(admin, made))["status"] != "pending":
            agreed = {task["user_id"] for task in now["tasks"] if task["status"] == "agreed"}
            assert now["status"] == "approved", (mode, steps)
            assert len(agreed) >= needed, (mode, needed, agreed, steps)
            return "approved"
    return "pending"
