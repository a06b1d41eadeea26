"""Business plugins request approval and receive the outcome by events; approvers are notified."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.api import ApiError
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import (
    INSTANCES,
    act,
    configured,
    define,
    id_of,
    node,
    read,
    requested,
    several,
    waiting,
)

pytestmark = pytest.mark.gen_test(timeout=60)


@pytest.fixture(scope="module")
def finished(tradewind: Running) -> list[dict[str, Any]]:
    """All events `approval.finished` from now on."""
    heard: list[dict[str, Any]] = []

    async def hear(payload: Any) -> None:
        # without the approvals of other plugins
        heard.append({name: value for name, value in payload.items() if name != "request"})

    tradewind.service.events.listen("approval.finished", hear)
    return heard


def outcomes(finished: list[dict[str, Any]], resource_id: str) -> list[str]:
    """The outcomes of the approvals of a record."""
    return [one["outcome"] for one in finished if one["resource_id"] == resource_id]


async def instance_of(client: Client, resource_id: str) -> dict[str, Any]:
    """The one approval of a record."""
    rows = expect(await client.get(f"{INSTANCES}?resource_id={resource_id}"))["items"]
    assert len(rows) == 1
    return await read(client, rows[0])


async def test_a_record_with_a_matching_flow_starts_an_approval(
    admin: Client, people: People, tradewind: Running, finished: list[dict[str, Any]]
) -> None:
    me, first = await several(people, 2)
    definition = await define(admin, node("one", first))
    id = await requested(tradewind, definition["biz_type"], initiator_id=id_of(me))
    made = await instance_of(first, id)
    assert (made["initiator_id"], waiting(made), outcomes(finished, id)) == (id_of(me), {id_of(first)}, [])
    expect(await act(first, made, "agree"))
    assert outcomes(finished, id) == ["approved"]
    assert finished[-1]["by"] == id_of(first)


@pytest.mark.parametrize(
    ("action", "outcome"), [("reject", "rejected"), ("send-back", "returned"), ("withdraw", "withdrawn")]
)
async def test_business_plugins_receive_the_outcome(
    action: str, outcome: str, admin: Client, people: People, tradewind: Running, finished: list[dict[str, Any]]
) -> None:
    me, first = await several(people, 2)
    definition = await define(admin, node("one", first))
    id = await requested(tradewind, definition["biz_type"], initiator_id=id_of(me))
    who = me if action == "withdraw" else first
    expect(await act(who, await instance_of(me, id), action, comment="because"))
    assert outcomes(finished, id) == [outcome]
    assert finished[-1]["reason"] == "because"


async def test_a_record_without_a_matching_flow_stays_with_its_plugin(
    tradewind: Running, finished: list[dict[str, Any]]
) -> None:
    id = await requested(tradewind, unique("NOTHING"))
    assert outcomes(finished, id) == []


async def test_the_option_refuses_records_without_a_matching_flow(admin: Client, tradewind: Running) -> None:
    async with configured(admin, approval_without_definition="refuse"):
        with pytest.raises(ApiError) as refused:
            await requested(tradewind, unique("NOTHING"))
    assert refused.value.kind.code == 40901


async def test_the_option_approves_records_without_a_matching_flow(
    admin: Client, tradewind: Running, finished: list[dict[str, Any]]
) -> None:
    async with configured(admin, approval_without_definition="approve"):
        id = await requested(tradewind, unique("NOTHING"))
    assert outcomes(finished, id) == ["approved"]


async def test_the_first_flow_whose_conditions_hold_applies(admin: Client, people: People, tradewind: Running) -> None:
    me, small, large = await several(people, 3)
    rest = await define(admin, node("small", small), priority=20)
    condition = {"field": "amount", "op": "gte", "value": "1000.00"}
    body = {**await _body(rest), "nodes": [node("large", large)], "conditions": [condition], "priority": 10}
    expect(await admin.post("/api/v1/approvals/definitions", body))
    for amount, asked in (("999.99", small), ("1000", large), (12000, large)):
        id = await requested(tradewind, rest["biz_type"], record={"amount": amount}, initiator_id=id_of(me))
        assert waiting(await instance_of(asked, id)) == {id_of(asked)}


async def _body(definition: dict[str, Any]) -> dict[str, Any]:
    return {name: definition[name] for name in ("name", "biz_type")}


async def test_a_returned_record_resumes_the_same_approval(admin: Client, people: People, tradewind: Running) -> None:
    me, first = await several(people, 2)
    definition = await define(admin, node("one", first))
    id = await requested(tradewind, definition["biz_type"], initiator_id=id_of(me))
    made = await instance_of(me, id)
    expect(await act(first, made, "send-back"))
    expect(await act(me, made, "submit"), 40901)
    await requested(tradewind, definition["biz_type"], resource_id=id, title="better", initiator_id=id_of(me))
    again = await instance_of(me, id)
    assert (again["id"], again["title"], waiting(again)) == (made["id"], "better", {id_of(first)})


async def test_a_record_has_one_approval_at_a_time(admin: Client, people: People, tradewind: Running) -> None:
    (me,) = await several(people, 1)
    definition = await define(admin, node("one", me))
    id = await requested(tradewind, definition["biz_type"], initiator_id=id_of(me))
    with pytest.raises(ApiError) as refused:
        await requested(tradewind, definition["biz_type"], resource_id=id, initiator_id=id_of(me))
    assert refused.value.kind.code == 40901


async def test_the_approval_of_a_withdrawn_record_ends(admin: Client, people: People, tradewind: Running) -> None:
    (me,) = await several(people, 1)
    definition = await define(admin, node("one", me))
    id = await requested(tradewind, definition["biz_type"], initiator_id=id_of(me))
    cancelled = {"biz_type": definition["biz_type"], "resource_id": id}
    await tradewind.service.events.emit("approval.cancelled", cancelled)
    assert (await instance_of(me, id))["status"] == "withdrawn"


async def test_an_outcome_that_a_business_plugin_refuses_leaves_the_task_pending(
    admin: Client, people: People, tradewind: Running
) -> None:
    me, first = await several(people, 2)
    definition = await define(admin, node("one", first))
    id = await requested(tradewind, definition["biz_type"], initiator_id=id_of(me))
    made = await instance_of(me, id)

    async def refuse(payload: Any) -> None:
        if payload["resource_id"] == id:
            raise RuntimeError("the business fails")

    tradewind.service.events.listen("approval.finished", refuse)
    expect(await act(first, made, "agree"), 50000)
    assert await read(me, made) == made


async def test_approvers_and_initiators_are_notified(admin: Client, people: People, tradewind: Running) -> None:
    me, first, copied = await several(people, 3)
    definition = await define(admin, node("one", first), copies={"users": [id_of(copied)]})
    id = await requested(tradewind, definition["biz_type"], initiator_id=id_of(me))
    made = await instance_of(first, id)
    expect(await act(first, made, "agree"))
    kinds = {}
    for name, client in (("me", me), ("first", first), ("copied", copied)):
        rows = expect(await client.get("/api/v1/notifications"))["items"]
        assert {row["data"]["instance_id"] for row in rows} == {made["id"]}
        kinds[name] = [row["kind"] for row in rows]
    assert kinds == {"me": ["approval_result"], "first": ["approval_task"], "copied": ["approval_copy"]}
