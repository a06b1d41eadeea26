"""Flows with branches and parallel lanes: which nodes a request goes through, and what the check of a flow finds."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import (
    AT,
    DEFINITIONS,
    act,
    ask,
    business_type,
    define,
    disable,
    draft,
    id_of,
    node,
    read,
    several,
    waiting,
)
from tests.api.crm.sales import CUSTOMERS, contract

pytestmark = pytest.mark.gen_test(timeout=60)


def when(name: str, *nodes: str, **conditions: tuple[str, Any]) -> dict[str, Any]:
    """A branch for values such as `amount=("gte", 500)`; `customer_id__level` is the field `customer_id.level`."""
    held = [{"field": path.replace("__", "."), "op": op, "value": value} for path, (op, value) in conditions.items()]
    return {"name": name, "conditions": held, "nodes": list(nodes)}


def fork(key: str, *branches: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"key": key, "name": key, "branches": list(branches), **more}


def side_by_side(key: str, *lanes: list[str]) -> dict[str, Any]:
    return {
        "key": key,
        "name": key,
        "lanes": [{"name": f"{key}-{at}", "nodes": nodes} for at, nodes in enumerate(lanes)],
    }


BY_AMOUNT = fork("by-amount", when("large", "board", amount=("gte", 500)), when("rest", "boss"))


async def test_a_request_goes_through_the_first_branch_that_applies(admin: Client, people: People) -> None:
    me, boss, board, last = await several(people, 4)
    flow = await define(admin, BY_AMOUNT, node("board", board), node("boss", boss), node("last", last))
    for amount, first in (("500.00", board), ("499.99", boss), (None, boss)):
        made = await ask(me, flow, record={"amount": amount})
        assert waiting(made) == {id_of(first)}
        assert [one["key"] for one in made["nodes"]][1:] == ["last"]
        assert waiting(expect(await act(first, made, "agree"))) == {id_of(last)}
    assert [one["branch"] for one in made["taken"]] == ["rest"]
    assert expect(await act(last, made, "agree"))["status"] == "approved"


async def test_lanes_are_asked_together_and_join(admin: Client, people: People) -> None:
    me, one, two, three, last = await several(people, 5)
    both = side_by_side("both", ["one", "two"], ["three"])
    flow = await define(admin, both, node("one", one), node("two", two), node("three", three), node("last", last))
    made = await ask(me, flow)
    assert (made["current"], waiting(made)) == (["one", "three"], {id_of(one), id_of(three)})
    assert expect(await act(one, made, "agree"))["current"] == ["three", "two"]
    assert waiting(expect(await act(three, made, "agree"))) == {id_of(two)}
    assert waiting(expect(await act(two, made, "agree"))) == {id_of(last)}
    back = expect(await act(last, made, "send-back", to="both"))
    assert back["current"] == ["one", "three"]
    assert expect(await act(three, made, "reject"))["status"] == "rejected"


async def test_somebody_asked_in_two_lanes_decides_on_each(admin: Client, people: People) -> None:
    me, both = await several(people, 2)
    lanes = side_by_side("lanes", ["one"], ["two"])
    made = await ask(me, await define(admin, lanes, node("one", both), node("two", both)))
    assert expect(await act(both, made, "agree", node="two"))["current"] == ["one"]
    expect(await act(both, made, "agree", node="two"), 40901)
    assert expect(await act(both, made, "agree"))["status"] == "approved"


async def test_the_initiator_chooses_where_the_node_lets_them(admin: Client, people: People) -> None:
    me, one, two, stranger = await several(people, 4)
    fast, slow = when("slow", "first"), when("fast", "second")
    flow = await define(
        admin, fork("way", fast, slow, choice=True), node("first", one), {**node("second", one, two), "choice": True}
    )
    made = await draft(me, flow)
    for wrong in ({"node": "first", "users": [id_of(two)]}, {"node": "second", "users": [id_of(stranger)]}):
        expect(await act(me, made, "submit", choices=[wrong]), 40001)
    choices = [{"node": "way", "branch": "fast"}, {"node": "second", "users": [id_of(two)]}]
    assert waiting(expect(await act(me, made, "submit", choices=choices))) == {id_of(two)}


async def test_branches_see_references_the_initiator_and_sums(admin: Client, people: People) -> None:
    department = await people.department()
    boss, board = await several(people, 2)
    made = await contract(admin, "1200.00", name=unique("contract"))
    customer = expect(await admin.get(f"{CUSTOMERS}/{made['customer_id']}"))
    nodes = [
        fork(
            "who",
            when(
                "level",
                "board",
                customer_id__level=("eq", customer["level"]),
                initiator__department_id=("eq", department),
            ),
            when("rest", "boss"),
        ),
        node("board", board),
        node("boss", boss),
    ]
    mine = {"field": "id", "op": "eq", "value": made["id"]}
    flow = await define(admin, *nodes, biz_type="CONTRACT", conditions=[mine], priority=0)
    (inside,) = await several(people, 1, department_id=department)
    for who, asked in ((admin, "boss"), (inside, "board")):
        body = {"biz_type": "CONTRACT", "resource_id": made["id"], "initiator_id": id_of(who)}
        tried = expect(await admin.post(f"{AT}/simulate", body))
        assert [one["key"] for one in tried["nodes"]] == [asked]
    expect(await admin.delete(f"{DEFINITIONS}/{flow['id']}"))
    by_sum = fork("sum", when("many", "board", lines__quantity__sum=("gt", 5)), when("rest", "boss"))
    flow = await define(admin, by_sum, *nodes[1:])
    made = await ask(admin, flow, record={"lines": [{"quantity": "3"}, {"quantity": "2.001"}]})
    assert waiting(made) == {id_of(board)}


@pytest.mark.parametrize(
    ("nodes", "field"),
    [
        ([fork("f", when("a", "x"), when("b", "gone")), node("x")], "nodes[0].branches[1].nodes"),
        ([fork("f", when("a", "x"), when("b", "x")), node("x")], "nodes[0].branches[1].nodes"),
        ([fork("f", when("a", "f"), when("b")), node("x")], "nodes[0]"),
        ([fork("f", when("a", "x"), when("a")), node("x")], "nodes[0].branches[1].name"),
        ([{**fork("f", when("a", "x"), when("b")), "approvers": {"users": [1]}}, node("x")], "nodes[0].branches"),
        ([side_by_side("l", ["x"], []), node("x")], "nodes[0].lanes[1].nodes"),
        ([{**node("x", mode="all"), "deadline": {"hours": 8, "then": "agree"}}], "nodes[0].deadline.then"),
        (
            [fork("a", when("1", "b"), when("2"))]
            + [fork(f"{one}", when("1", f"{chr(ord(one) + 1)}"), when("2")) for one in "bcde"]
            + [node("f")],
            "nodes[5]",
        ),
    ],
)
async def test_nodes_that_are_no_tree_are_refused(nodes: list[dict[str, Any]], field: str, admin: Client) -> None:
    body = {"name": "flow", "biz_type": "GENERAL", "nodes": nodes, "enabled": False}
    reply = await admin.post(DEFINITIONS, body)
    expect(reply, 40001)
    assert reply.fields == {field}


@pytest.mark.parametrize(
    ("branches", "rule", "values"),
    [
        ([when("a", "x", amount=("gt", 500)), when("b", "y", amount=("lt", 500))], "uncovered", {"amount": "500"}),
        ([when("a", "x", amount=("gt", 5)), when("b", "y", amount=("gt", 9)), when("c", "z")], "unreachable", {}),
        ([when("a", "x", amount=("gt", 5)), when("b")], "nobody_asked", {"amount": "5"}),
    ],
)
async def test_a_flow_whose_branches_fail_is_not_enabled(
    branches: list[dict[str, Any]], rule: str, values: dict[str, Any], admin: Client
) -> None:
    nodes = [fork("f", *branches), *(node(key) for key in "xyz" if any(key in one["nodes"] for one in branches))]
    flow = await define(admin, *nodes, enabled=False)
    found = expect(await admin.post(f"{DEFINITIONS}/{flow['id']}/check"))
    (fault,) = found["faults"]
    assert (found["passed"], fault["rule"], fault["blocks"], fault["values"]) == (False, rule, True, values)
    expect(await admin.patch(f"{DEFINITIONS}/{flow['id']}", {"version": flow["version"], "enabled": True}), 40001)


async def test_the_check_shows_a_real_record_that_no_branch_takes(admin: Client) -> None:
    kind = await business_type(admin)
    linear = await define(admin, node("x"), biz_type=kind, priority=1)
    large, small = [await draft(admin, linear, record={"amount": amount}) for amount in ("700", "7")]
    nodes = [fork("f", when("a", "x", amount=("lt", 500)), when("b", "y", amount=("eq", None))), node("x"), node("y")]
    flow = await define(admin, *nodes, biz_type=kind, enabled=False)
    found = expect(await admin.post(f"{DEFINITIONS}/{flow['id']}/check"))["faults"]
    assert [(one["rule"], one["resource_id"]) for one in found] == [("uncovered", large["id"])]
    assert (await read(admin, small))["status"] == "draft"


async def test_the_check_names_who_may_not_decide_and_whose_request_cannot_pass(admin: Client, people: People) -> None:
    (boss,) = await several(people, 1)
    powerless = await people.person([])
    pair = {**node("pair", boss, powerless, mode="all"), "absent": "refuse"}
    flow = await define(admin, BY_AMOUNT, node("board", boss), node("boss", boss), pair)
    found = expect(await admin.post(f"{DEFINITIONS}/{flow['id']}/check"))
    assert [(one["rule"], one["node"]) for one in found["faults"]] == [("not_permitted", "pair"), ("quorum", "pair")]
    assert [one["id"] for one in found["faults"][0]["people"]] == [id_of(powerless)]
    assert not any(one["blocks"] for one in found["faults"])


@pytest.mark.parametrize("lacking", ["signatures", "permission"])
async def test_a_flow_that_people_as_they_are_cannot_decide_is_not_enabled(
    lacking: str, admin: Client, people: People
) -> None:
    (boss,), powerless = await several(people, 1), await people.person([])
    three, alone = node("second", boss, mode="quorum:3"), {**node("second", powerless), "absent": "refuse"}
    flow = await define(admin, node("first", boss), three if lacking == "signatures" else alone, enabled=False)
    found = expect(await admin.post(f"{DEFINITIONS}/{flow['id']}/check"))
    (fault,) = [one for one in found["problems"] if one["blocks"]]
    refused = await admin.patch(f"{DEFINITIONS}/{flow['id']}", {"version": flow["version"], "enabled": True})
    assert [(one["field"], one["rule"]) for one in refused.data["errors"]] == [("nodes[1].approvers", "quorum")]
    assert fault["example"]
    assert fault["example"] in refused.json["msg"]


async def test_a_flow_that_cannot_be_decided_when_it_is_restored_comes_back_disabled(
    admin: Client, people: People
) -> None:
    (boss,) = await several(people, 1)
    flow = await define(admin, {**node("only", boss), "absent": "refuse"})
    path = f"{DEFINITIONS}/{flow['id']}"
    expect(await admin.delete(path))
    await disable(admin, boss)
    restored = expect(await admin.post(f"{path}/restore"))
    assert restored["enabled"] is False
    refused = await admin.patch(path, {"version": restored["version"], "enabled": True})
    assert refused.fields == {"nodes[0].approvers"}
    expect(await admin.delete(path))
