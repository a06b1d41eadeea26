"""A request goes through the flow that its values call for, and a flow says what records have."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import DEFINITIONS, act, ask, define, draft, id_of, node, several, waiting

pytestmark = pytest.mark.gen_test(timeout=60)
SMALL = {"field": "amount", "op": "lt", "value": "500"}
LARGE = {"field": "amount", "op": "gte", "value": "500"}


async def test_a_request_cannot_go_through_a_flow_whose_conditions_do_not_hold(admin: Client, people: People) -> None:
    me, boss = await several(people, 2)
    small = await define(admin, node("one", boss), conditions=[SMALL])
    for who in (me, boss, admin):
        made = await draft(who, small, record={"amount": "90000"})
        expect(await act(who, made, "submit"), 40901)
    assert waiting(await ask(me, small, record={"amount": "499.99"})) == {id_of(boss)}


async def test_a_returned_request_with_other_values_needs_another_flow(admin: Client, people: People) -> None:
    me, boss = await several(people, 2)
    made = await ask(me, await define(admin, node("one", boss), conditions=[SMALL]), record={"amount": "10"})
    back = expect(await act(boss, made, "send-back"))
    body = {"version": back["version"], "record": {"amount": "90000"}}
    expect(await me.patch(f"/api/v1/approvals/instances/{made['id']}", body))
    expect(await act(me, made, "submit"), 40901)


async def test_a_flow_for_the_rest_does_not_take_what_an_earlier_one_is_for(admin: Client, people: People) -> None:
    me, boss, board = await several(people, 3)
    large = await define(admin, node("one", board), conditions=[LARGE], priority=10)
    rest = await define(admin, node("one", boss), biz_type=large["biz_type"], priority=100)
    other = await define(admin, node("one", boss), biz_type=large["biz_type"], priority=100)
    expect(await act(me, await draft(me, rest, record={"amount": "500"}), "submit"), 40901)
    for flow in (rest, other):  # of the same priority
        await ask(me, flow, record={"amount": "499"})
    await ask(me, large, record={"amount": "500"})


# -- what flows may say


def flow(biz_type: str, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": unique("flow"),
        "biz_type": biz_type,
        "enabled": False,
        "nodes": [node("one")],
        "conditions": list(conditions),
    }


@pytest.mark.parametrize(
    ("biz_type", "field", "op", "value"),
    [
        ("CONTRACT", "amount", "gte", "500000.00"),
        ("CONTRACT", "amount", "in", [1, "2.50"]),
        ("CONTRACT", "customer", "contains", "晨光"),
        ("CONTRACT", "signed_date", "lte", "2026-11-20"),
        ("CONTRACT", "owner_id", "exists", True),
        ("CONTRACT", "owner_id", "eq", None),
        ("PURCHASE_ORDER", "supplier", "ne", "x"),
        ("PURCHASE_ORDER", "lines", "exists", True),
        ("LEAVE", "type", "not_in", ["sick", "annual"]),
        ("LEAVE", "department_id", "in", [3, 4]),
        ("EXPENSE", "amount", "lt", 100),
        ("GENERAL", "anything.at.all", "gt", "x"),
    ],
)
async def test_a_condition_on_what_records_have_is_taken(
    biz_type: str, field: str, op: str, value: Any, admin: Client
) -> None:
    expect(await admin.post(DEFINITIONS, flow(biz_type, {"field": field, "op": op, "value": value})))


@pytest.mark.parametrize(
    ("biz_type", "field", "op", "value", "wrong"),
    [
        ("CONTRACT", "amout", "gte", "5", "conditions[0].field"),
        ("CONTRACT", "amount.value", "gte", "5", "conditions[0].field"),
        ("PURCHASE_ORDER", "lines.quantity", "gte", "5", "conditions[0].field"),
        ("CONTRACT", "amount", "contains", "5", "conditions[0].op"),
        ("CONTRACT", "customer", "gt", "5", "conditions[0].op"),
        ("PURCHASE_ORDER", "lines", "eq", "5", "conditions[0].op"),
        ("CONTRACT", "amount", "gte", "a lot", "conditions[0].value"),
        ("CONTRACT", "amount", "in", ["5", True], "conditions[0].value"),
        ("CONTRACT", "signed_date", "lte", "20.11.2026", "conditions[0].value"),
        ("CONTRACT", "owner_id", "exists", "yes", "conditions[0].value"),
        ("LEAVE", "type", "eq", 5, "conditions[0].value"),
        ("PURCHASE_ORDR", "amount", "gte", "5", "biz_type"),
        ("CUSTOMER", "name", "eq", "x", "biz_type"),  # customers are not approved
    ],
)
async def test_a_condition_that_could_never_hold_is_refused(
    biz_type: str, field: str, op: str, value: Any, wrong: str, admin: Client
) -> None:
    reply = await admin.post(DEFINITIONS, flow(biz_type, {"field": field, "op": op, "value": value}))
    expect(reply, 40001)
    assert reply.fields == {wrong}


async def test_a_flow_changes_to_another_type_only_with_conditions_that_fit(admin: Client) -> None:
    made = expect(await admin.post(DEFINITIONS, flow("CONTRACT", {"field": "amount", "op": "gte", "value": "5"})))
    reply = await admin.patch(f"{DEFINITIONS}/{made['id']}", {"version": made["version"], "biz_type": "LEAVE"})
    expect(reply, 40001)
    assert reply.fields == {"conditions[0].field"}


async def test_a_node_without_approvers_is_refused(admin: Client, people: People) -> None:
    unheld = {"roles": [await people.role()]}
    for approvers in ({}, {"users": []}, {"users": None, "roles": None}, unheld):
        body = {**flow("GENERAL"), "nodes": [{"key": "one", "name": "one", "approvers": approvers}]}
        reply = await admin.post(DEFINITIONS, body)
        expect(reply, 40001)
        assert reply.fields == {"nodes[0].approvers"}
