"""Contracts, expense claims and purchase orders are approved by flows that know none of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import (
    DEFINITIONS,
    EVERYTHING,
    INSTANCES,
    act,
    configured,
    id_of,
    node,
    read,
    several,
    waiting,
)
from tests.api.crm.sales import CONTRACTS, contract
from tests.api.finance.books import AT as FINANCE
from tests.api.inventory.goods import AT as INVENTORY, Goods

pytestmark = pytest.mark.gen_test(timeout=60)
CLAIMS, ORDERS = f"{FINANCE}/expense-claims", f"{INVENTORY}/purchase-orders"
Record = dict[str, Any]


@dataclass(frozen=True)
class Business:
    """A kind of record with approval: its path, the field with its name, and the names of its states."""

    biz_type: str
    at: str
    named_by: str
    draft: Callable[[Client, str], Awaitable[Record]]
    pending: str
    approved: str
    rejected: str
    approve: str
    names: Callable[[Record], Any]


async def _contract(client: Client, name: str) -> Record:
    return await contract(client, "1200.00", name=name)


async def _claim(client: Client, name: str) -> Record:
    line = {"day": "2026-11-18", "category": "travel", "amount": "1200.00"}
    made: Record = expect(await client.post(CLAIMS, {"title": name, "lines": [line]}))
    return made


async def _order(client: Client, name: str) -> Record:
    goods = await Goods.fresh(client)
    line = {"product_id": goods.product_id, "quantity": "300", "price": "4.00"}
    body = {"supplier_id": await goods.supplier(), "lines": [line], "remark": name}
    made: Record = expect(await client.post(ORDERS, body))
    return made


KINDS = [
    Business(
        "CONTRACT",
        CONTRACTS,
        "name",
        _contract,
        "pending",
        "in_force",
        "rejected",
        "approve",
        lambda record: record["customer"],
    ),
    Business(
        "EXPENSE",
        CLAIMS,
        "title",
        _claim,
        "submitted",
        "approved",
        "rejected",
        "approve",
        lambda record: record["title"],
    ),
    Business(
        "PURCHASE_ORDER",
        ORDERS,
        "remark",
        _order,
        "pending",
        "ordered",
        "draft",
        "confirm",
        lambda record: record["supplier"] and record["lines"][0]["product"],
    ),
]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=[kind.biz_type for kind in KINDS])


@dataclass
class Case:
    """A submitted record, its approval, and its approver."""

    kind: Business
    admin: Client
    boss: Client
    record: Record
    approval: Record

    async def status(self) -> str:
        """The state of the record."""
        return str(expect(await self.admin.get(f"{self.kind.at}/{self.record['id']}"))["status"])

    async def do(self, action: str) -> Any:
        """Call an action on the record itself."""
        return expect(await self.admin.post(f"{self.kind.at}/{self.record['id']}/{action}"))


async def submitted(kind: Business, admin: Client, people: People) -> Case:
    """Create a flow for a record of this name, and that record, submitted by the administrator."""
    (boss,) = await several(people, 1, EVERYTHING)
    name = unique("asked for")
    flow = {
        "name": name,
        "biz_type": kind.biz_type,
        "nodes": [node("boss", boss)],
        "priority": 1,
        "conditions": [
            {"field": kind.named_by, "op": "eq", "value": name},
            {"field": "amount", "op": "gte", "value": "1200.00"},
        ],
    }
    expect(await admin.post(DEFINITIONS, flow))
    record = await kind.draft(admin, name)
    pending = expect(await admin.post(f"{kind.at}/{record['id']}/submit"))
    assert pending["status"] == kind.pending
    rows = expect(await boss.get(f"{INSTANCES}?resource_id={record['id']}"))["items"]
    return Case(kind, admin, boss, record, await read(boss, rows[0]))


@each_kind
async def test_an_approved_record_takes_effect(kind: Business, admin: Client, people: People) -> None:
    case = await submitted(kind, admin, people)
    assert (case.approval["initiator_id"], waiting(case.approval)) == (1, {id_of(case.boss)})
    assert case.approval["record"]["amount"] == "1200.00"
    expect(await act(case.boss, case.approval, "agree"))
    assert await case.status() == kind.approved


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.biz_type != "EXPENSE"], ids=lambda kind: kind.biz_type)
async def test_an_approval_does_not_take_effect_while_the_record_is_on_hold(
    kind: Business, admin: Client, people: People
) -> None:
    case = await submitted(kind, admin, people)
    path = f"{kind.at}/{case.record['id']}"
    expect(await admin.post(f"{path}/hold", {"reason": "price is disputed"}))
    reply = await act(case.boss, case.approval, "agree")
    expect(reply, 40901)
    assert "price is disputed" in reply.json["msg"]
    expect(await admin.post(f"{path}/{kind.approve}"), 40901)
    assert await case.status() == kind.pending
    assert waiting(await read(case.boss, case.approval)) == {id_of(case.boss)}
    expect(await admin.post(f"{path}/release"))
    expect(await act(case.boss, case.approval, "agree"))
    assert await case.status() == kind.approved


@each_kind
async def test_a_rejected_record_can_be_submitted_again(kind: Business, admin: Client, people: People) -> None:
    case = await submitted(kind, admin, people)
    expect(await act(case.boss, case.approval, "reject", comment="too dear"))
    assert await case.status() == kind.rejected
    assert expect(await admin.get(f"{kind.at}/{case.record['id']}"))["reason"] == "too dear"
    assert (await case.do("submit"))["status"] == kind.pending


@each_kind
async def test_a_returned_record_is_a_draft_and_resumes_the_same_approval(
    kind: Business, admin: Client, people: People
) -> None:
    case = await submitted(kind, admin, people)
    expect(await act(case.boss, case.approval, "send-back"))
    assert await case.status() == "draft"
    await case.do("submit")
    assert waiting(await read(case.boss, case.approval)) == {id_of(case.boss)}


@each_kind
async def test_a_withdrawn_record_has_no_pending_tasks(kind: Business, admin: Client, people: People) -> None:
    case = await submitted(kind, admin, people)
    assert (await case.do("withdraw"))["status"] == "draft"
    assert (await read(case.boss, case.approval))["status"] == "withdrawn"
    expect(await act(case.boss, case.approval, "agree"), 40901)
    assert await case.status() == "draft"


@each_kind
async def test_a_request_that_its_initiator_withdraws_makes_the_record_a_draft(
    kind: Business, admin: Client, people: People
) -> None:
    case = await submitted(kind, admin, people)
    expect(await act(admin, case.approval, "withdraw"))
    assert await case.status() == "draft"


@each_kind
async def test_a_decision_at_the_record_ends_its_approval(kind: Business, admin: Client, people: People) -> None:
    case = await submitted(kind, admin, people)
    await case.do(kind.approve)
    assert await case.status() == kind.approved
    assert (await read(case.boss, case.approval))["status"] == "withdrawn"
    expect(await act(case.boss, case.approval, "reject"), 40901)
    assert await case.status() == kind.approved


@each_kind
@pytest.mark.parametrize("chosen", ["leave", "approve", "refuse"])
async def test_without_a_matching_flow_the_option_decides(chosen: str, kind: Business, admin: Client) -> None:
    record = await kind.draft(admin, unique("no flow for this"))
    async with configured(admin, approval_without_definition=chosen):
        reply = await admin.post(f"{kind.at}/{record['id']}/submit")
    expect(reply, 40901 if chosen == "refuse" else 0)
    status = expect(await admin.get(f"{kind.at}/{record['id']}"))["status"]
    assert status == {"leave": kind.pending, "approve": kind.approved, "refuse": "draft"}[chosen]


@each_kind
async def test_approvers_read_names_of_records_that_they_do_not_see(
    kind: Business, admin: Client, people: People
) -> None:
    case = await submitted(kind, admin, people)
    assert isinstance(kind.names(case.approval["record"]), str)
