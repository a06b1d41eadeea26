"""Forms: the declared fields of requests about no record, over the API, in conditions, and when they change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import (
    AT,
    DEFINITIONS,
    INSTANCES,
    act,
    business_type,
    define,
    draft,
    id_of,
    node,
    several,
    waiting,
)
from tests.api.approval.test_branches import BY_AMOUNT

pytestmark = pytest.mark.gen_test(timeout=30)
FORMS = f"{AT}/forms"


def field(name: str, type: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "label": f"{name}（中文）", "label_en": name.title(), "type": type, **more}


AMOUNT = field("amount", "money", required=True)
FIELDS = [
    AMOUNT,
    field("since", "day"),
    field("customer", "reference", target="crm_customers"),
    field("sure", "boolean"),
]


@asynccontextmanager
async def form(admin: Client, *fields: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """A form for a business type of its own."""
    body = {"name": unique("form"), "biz_type": await business_type(admin), "fields": [*fields]}
    made = expect(await admin.post(FORMS, body))
    yield made
    expect(await admin.delete(f"{FORMS}/{made['id']}"))


async def test_requests_have_the_fields_of_the_form_of_their_type(admin: Client, people: People) -> None:
    me, boss = await several(people, 2)
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))
    async with form(admin, *FIELDS) as made:
        flow = await define(admin, node("first", boss), biz_type=made["biz_type"])
        body = {"definition_id": flow["id"], "title": "stamp"}
        wrong = {"amount": "much", "since": "2026-02-30", "customer": "0" * 24, "other": 1}
        reply = await me.post(INSTANCES, {**body, "record": wrong})
        assert (reply.code, reply.fields) == (40001, {"record.amount", "record.since", "record.other"})
        reply = await me.post(INSTANCES, {**body, "record": {"amount": 1, "customer": "0" * 24}})
        assert (reply.code, reply.fields) == (40001, {"record.customer"})
        assert (await me.post(INSTANCES, body)).fields == {"record.amount"}
        asked = await draft(me, flow, record={"amount": 1200, "customer": customer["id"], "sure": True})
        assert asked["record"]["amount"] == "1200.00"
        assert [one["value"] for one in asked["content"]] == ["1,200.00", customer["name"], "是"]
        reply = await me.patch(f"{INSTANCES}/{asked['id']}", {"version": asked["version"], "record": {}})
        assert (reply.code, reply.fields) == (40001, {"record.amount"})
        shown = expect(await me.get(f"{FORMS}/fields?definition_id={flow['id']}"))
        assert [(one["field"], one["kind"], one["required"]) for one in shown][:2] == [
            ("amount", "money", True),
            ("since", "day", False),
        ]


async def test_conditions_name_what_the_form_has_and_branches_are_taken_by_it(admin: Client, people: People) -> None:
    me, boss, board = await several(people, 3)
    async with form(admin, *FIELDS) as made:
        kind, nodes = made["biz_type"], [BY_AMOUNT, node("board", board), node("boss", boss)]
        for condition in ({"field": "amout", "op": "gte", "value": 1}, {"field": "since", "op": "gt", "value": "soon"}):
            body = {"name": unique("flow"), "biz_type": kind, "conditions": [condition], "nodes": [node("one", boss)]}
            expect(await admin.post(DEFINITIONS, body), 40001)
        flow = await define(admin, *nodes, biz_type=kind, conditions=[{"field": "sure", "op": "eq", "value": True}])
        asked = await draft(me, flow, record={"amount": "900", "sure": True})
        assert waiting(expect(await act(me, asked, "submit"))) == {id_of(board)}
        fewer = {"version": made["version"], "fields": [field("since", "day")]}
        expect(await admin.patch(f"{FORMS}/{made['id']}", fewer), 40901)


async def test_a_draft_of_before_a_change_of_the_form_is_checked_when_it_is_submitted(
    admin: Client, people: People
) -> None:
    me, boss = await several(people, 2)
    async with form(admin, AMOUNT) as made:
        flow = await define(admin, node("first", boss), biz_type=made["biz_type"])
        asked = await draft(me, flow, record={"amount": "1"})
        more = {"version": made["version"], "fields": [AMOUNT, field("reason", "text", required=True)]}
        expect(await admin.patch(f"{FORMS}/{made['id']}", more))
        reply = await act(me, asked, "submit")
        assert (reply.code, reply.fields) == (40001, {"record.reason"})


async def test_a_form_names_what_is_wrong_with_its_fields(admin: Client) -> None:
    wrong = [field("kind", "choice"), field("who", "reference", target="no_such"), AMOUNT, {**AMOUNT, "label": "x"}]
    body = {"name": unique("form"), "biz_type": await business_type(admin), "fields": wrong}
    reply = await admin.post(FORMS, body)
    assert (reply.code, reply.fields) == (
        40001,
        {"fields[0].dictionary", "fields[1].target", "fields[3].name", "fields[3].label_en"},
    )
