"""Approvers: users, roles and leaders of the moment, and their delegates."""

from __future__ import annotations

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect
from tests.api.approval.flows import (
    AT,
    DEFINITIONS,
    EVERYTHING,
    act,
    ask,
    box,
    define,
    disable,
    id_of,
    node,
    several,
    waiting,
)

pytestmark = pytest.mark.gen_test(timeout=60)
PAST, FUTURE = "2020-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z"


async def delegate(client: Client, to: Client, starts_at: str = PAST, ends_at: str = FUTURE) -> None:
    """Delegate to another person during this time."""
    body = {"delegate_id": id_of(to), "starts_at": starts_at, "ends_at": ends_at}
    expect(await client.post(f"{AT}/delegations", body))


async def test_holders_of_a_role_are_resolved_when_the_node_becomes_current(admin: Client, people: People) -> None:
    me, first = await several(people, 2)
    role = await people.role(EVERYTHING)
    early = await people.account([role])
    made = await ask(me, await define(admin, node("one", first), node("two", roles=[role], mode="all")))
    late = await people.account([role])
    account = expect(await admin.get(f"/api/v1/system/users/{early['id']}"))
    expect(
        await admin.patch(f"/api/v1/system/users/{early['id']}", {"version": account["version"], "status": "disabled"})
    )
    assert waiting(expect(await act(first, made, "agree"))) == {late["id"]}


async def test_the_leaders_above_the_initiator_are_asked(admin: Client, people: People) -> None:
    above = await people.department()
    below = await people.department(above)
    (boss,), (leader,) = await several(people, 1), await several(people, 1)
    for department, who in ((above, boss), (below, leader)):
        body = {"version": 1, "leader_user_id": id_of(who)}
        expect(await admin.patch(f"/api/v1/system/departments/{department}", body))
    (me,) = await several(people, 1, department_id=below)
    first, second = node("one", initiator_leader=1), node("two", initiator_leader=2)
    made = await ask(me, await define(admin, first, second, node("three", department_leader=below)))
    assert waiting(made) == {id_of(leader)}
    assert waiting(expect(await act(leader, made, "agree"))) == {id_of(boss)}
    assert waiting(expect(await act(boss, made, "agree"))) == {id_of(leader)}


async def test_the_leader_of_a_department_asks_the_leader_above(admin: Client, people: People) -> None:
    above = await people.department()
    below = await people.department(above)
    (boss,), (me,) = await several(people, 1), await several(people, 1, department_id=below)
    for department, who in ((above, boss), (below, me)):
        body = {"version": 1, "leader_user_id": id_of(who)}
        expect(await admin.patch(f"/api/v1/system/departments/{department}", body))
    assert waiting(await ask(me, await define(admin, node("one", initiator_leader=1)))) == {id_of(boss)}


async def test_user_one_is_asked_if_there_is_nobody_else(admin: Client, people: People) -> None:
    me, gone = await several(people, 2)
    definition = await define(admin, node("one", gone))
    await disable(admin, gone)
    assert waiting(await ask(me, definition)) == {1}


async def test_a_delegate_is_asked_between_the_dates_only(admin: Client, people: People) -> None:
    me, first, second, third, delegated = await several(people, 5)
    await delegate(first, delegated)
    await delegate(second, delegated, ends_at="2020-02-01T00:00:00.000Z")
    await delegate(third, delegated, starts_at="2098-01-01T00:00:00.000Z")
    made = await ask(me, await define(admin, node("one", first, second, third, mode="all")))
    assert waiting(made) == {id_of(delegated), id_of(second), id_of(third)}
    task = next(task for task in made["tasks"] if task["user_id"] == id_of(delegated))
    assert task["on_behalf_of"] == id_of(first)


async def test_a_cycle_of_delegations_ends(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    await delegate(first, second)
    await delegate(second, first)
    assert waiting(await ask(me, await define(admin, node("one", first)))) == {id_of(second)}


async def test_a_delegation_with_wrong_dates_or_to_oneself_is_refused(people: People) -> None:
    me, other = await several(people, 2)
    body = {"delegate_id": id_of(other), "starts_at": FUTURE, "ends_at": PAST}
    assert (await me.post(f"{AT}/delegations", body)).fields == {"ends_at"}
    own = {"delegate_id": id_of(me), "starts_at": PAST, "ends_at": FUTURE}
    assert (await me.post(f"{AT}/delegations", own)).fields == {"delegate_id"}


async def test_a_simulation_predicts_the_approval(admin: Client, people: People) -> None:
    me, first, second, away, delegated, copied = await several(people, 6)
    role = await people.role(EVERYTHING)
    holder = await admin.log_in((await people.account([role]))["username"])
    await delegate(away, delegated)
    definition = await define(
        admin,
        node("one", first, away, mode="all"),
        node("two", roles=[role]),
        node("three", second),
        copies={"users": [id_of(copied)]},
    )
    path = f"{DEFINITIONS}/{definition['id']}/simulate"
    simulated = expect(await admin.post(path, {"initiator_id": id_of(me)}))
    expected = [{one["user_id"] for one in step["approvers"]} for step in simulated["nodes"]]
    made = await ask(me, definition)
    happened = [waiting(made)]
    for group in ((first, delegated), (holder,), (second,)):
        for client in group:
            made = expect(await act(client, made, "agree"))
        happened.append(waiting(made))
    assert happened == [*expected, set()]
    assert [one["user_id"] for one in simulated["copies"]] == made["copied"] == [id_of(copied)]


async def test_a_simulation_asks_nobody(admin: Client, people: People, tradewind: Running) -> None:
    (first,) = await several(people, 1)
    definition = await define(admin, node("one", first))
    expect(await admin.post(f"{DEFINITIONS}/{definition['id']}/simulate", {}))
    assert await box(first, "todo") == []
