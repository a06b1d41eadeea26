"""Flows that could not run are refused with errors that name the fields."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect
from tests.api.approval.flows import DEFINITIONS, INSTANCES, define, node

pytestmark = pytest.mark.gen_test(timeout=30)


@pytest.mark.parametrize(
    ("nodes", "field"),
    [
        ([], "nodes"),
        ([node("one"), node("one")], "nodes[1].key"),
        ([node("initiator")], "nodes[0].key"),
        ([node("one", users=[1, 2**40])], "nodes[0].approvers.users"),
        ([node("one"), node("two", roles=[2**40])], "nodes[1].approvers.roles"),
        ([node("one", department_leader=2**40)], "nodes[0].approvers.department_leader"),
        ([node("one", mode="most")], "nodes[0].mode"),
        ([node("one", mode="quorum:0")], "nodes[0].mode"),
    ],
)
async def test_a_flow_that_cannot_work_is_refused(nodes: list[dict[str, Any]], field: str, admin: Client) -> None:
    reply = await admin.post(DEFINITIONS, {"name": "flow", "biz_type": "GENERAL", "nodes": nodes})
    expect(reply, 40001)
    assert reply.fields == {field}


@pytest.mark.parametrize("op", ["gt", "gte", "lt", "lte", "in", "not_in", "contains"])
async def test_a_condition_without_a_value_to_compare_is_refused(op: str, admin: Client) -> None:
    body = {
        "name": "flow",
        "biz_type": "GENERAL",
        "nodes": [node("one")],
        "conditions": [{"field": "amount", "op": op}],
    }
    reply = await admin.post(DEFINITIONS, body)
    expect(reply, 40001)
    assert reply.fields == {"conditions[0].value"}


async def test_mode_and_policy_have_defaults(admin: Client) -> None:
    made = await define(admin, {"key": "one", "name": "one", "approvers": {"users": [1]}})
    (one,) = made["nodes"]
    assert (one["mode"], one["on_reject"], one["absent"]) == ("any", "end", "leader")


async def test_a_record_that_cannot_be_stored_is_refused(admin: Client) -> None:
    definition = await define(admin, node("one"))
    body = {"definition_id": definition["id"], "title": "request", "record": {"a": {"$where": 1}}}
    reply = await admin.post(INSTANCES, body)
    expect(reply, 40001)
    assert reply.fields == {"record"}


async def test_a_simulation_for_an_unknown_initiator_is_refused(admin: Client) -> None:
    definition = await define(admin, node("one"))
    reply = await admin.post(f"{DEFINITIONS}/{definition['id']}/simulate", {"initiator_id": 2**40})
    expect(reply, 40001)
    assert reply.fields == {"initiator_id"}
