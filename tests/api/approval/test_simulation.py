"""What an editor of flows is told before records go through them: what conditions may name, and whom a flow would ask."""

from __future__ import annotations

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import AT, DEFINITIONS, define, id_of, node, read, waiting
from tests.api.crm.sales import CONTRACTS, contract

pytestmark = pytest.mark.gen_test(timeout=60)
TYPES, SIMULATE = f"{AT}/types", f"{AT}/simulate"
SELLING = ["crm:customer:create", *(f"crm:contract:{action}" for action in ("list", "read", "create", "submit"))]
MOST_CONDITIONS = 20


async def test_a_trial_on_a_record_tells_whom_its_submission_will_ask_and_why(admin: Client, people: People) -> None:
    seller, boss, board = [await people.person([*SELLING, "approval:task:agree"]) for _ in range(3)]
    made = await contract(seller, "1200.00", name=unique("contract"))
    mine = {"field": "name", "op": "eq", "value": made["name"]}
    nodes = [node("first", boss), node("second", board)]
    large = {**mine, "field": "amount", "op": "gte", "value": "2000"}
    other = await define(admin, *nodes, biz_type="CONTRACT", conditions=[mine, large], priority=0)
    flow = await define(admin, *nodes, biz_type="CONTRACT", conditions=[mine], priority=1)

    tried = expect(await admin.post(SIMULATE, {"biz_type": "CONTRACT", "resource_id": made["id"]}))
    assert (tried["definition_id"], tried["initiator_id"]) == (flow["id"], id_of(seller))
    assert {one["id"]: one["failed"] for one in tried["flows"]}.items() >= {
        other["id"]: [large],
        flow["id"]: [],
    }.items()
    english = await admin.post(
        SIMULATE, {"biz_type": "CONTRACT", "resource_id": made["id"]}, headers={"Accept-Language": "en"}
    )
    (asked,), (after,) = [one["approvers"] for one in expect(english)["nodes"]]
    assert (asked["user_id"], asked["because"], after["user_id"]) == (id_of(boss), "Users", id_of(board))

    submitted = expect(await seller.post(f"{CONTRACTS}/{made['id']}/submit", {}))
    assert waiting(await read(admin, {"id": submitted["approval"]})) == {id_of(boss)}
    values = {"biz_type": "CONTRACT", "resource_id": made["id"], "record": {"amount": "2000.00"}}
    assert expect(await admin.post(SIMULATE, values))["definition_id"] == other["id"]
    for one in (other, flow):
        expect(await admin.delete(f"{DEFINITIONS}/{one['id']}"))


async def test_a_trial_reads_no_record_that_the_caller_may_not_read(admin: Client, people: People) -> None:
    made = await contract(admin, "1200.00", name=unique("contract"))
    body = {"biz_type": "CONTRACT", "resource_id": made["id"]}
    for permissions in ([], ["crm:contract:read"]):  # without the permission, and outside of the data scope
        who = await people.person(["approval:definition:simulate", *permissions])
        expect(await who.post(SIMULATE, body), 40400)
    reply = await admin.post(SIMULATE, {**body, "biz_type": "GENERAL"})
    expect(reply, 40001)
    assert reply.fields == {"resource_id"}


async def test_conditions_take_every_field_that_they_are_offered(admin: Client) -> None:
    for one in expect(await admin.get(TYPES))["items"]:
        fields = [field for field in one["fields"] if "exists" in field["operators"]]
        assert len(fields) == len(one["fields"])
        for first in range(0, len(fields), MOST_CONDITIONS):
            conditions = [{"field": of["field"], "op": "exists"} for of in fields[first : first + MOST_CONDITIONS]]
            flow = {"name": unique("flow"), "biz_type": one["biz_type"], "conditions": conditions, "enabled": False}
            made = expect(await admin.post(DEFINITIONS, {**flow, "nodes": [node("one")]}))
            expect(await admin.delete(f"{DEFINITIONS}/{made['id']}"))
