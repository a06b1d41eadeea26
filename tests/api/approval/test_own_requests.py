"""Nobody decides on what they submitted, created or own: neither at the record nor in a flow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from handlers.access.requests import OWN_REQUEST
from plugins.boot.registry import load_plugins
from plugins.boot.runtime import Running
from plugins.records.transitions import action_handlers
from plugins.testing import Client, People, Reply, eventually, expect, serving, unique
from tests.api.approval.flows import (
    ALLOWED,
    DEFINITIONS,
    INSTANCES,
    act,
    ask,
    configured,
    define,
    id_of,
    node,
    read,
    requested,
    several,
    waiting,
)
from tests.api.approval.test_people import delegate
from tests.api.crm.sales import CONTRACTS, CRM, contract, in_force
from tests.api.finance.books import AT as FINANCE
from tests.api.hrm.staff import AT as HRM
from tests.api.inventory.goods import AT as INVENTORY, Goods
from tests.support.catalogue import CATALOGUE

pytestmark = pytest.mark.gen_test(timeout=60)
CLAIMS, ORDERS, LEAVES = f"{FINANCE}/expense-claims", f"{INVENTORY}/purchase-orders", f"{HRM}/leaves"
REVISIONS = f"{INVENTORY}/purchase-order-revisions"
REQUESTS, AMENDMENTS = f"{HRM}/requests", f"{CRM}/contract-amendments"
LOGS = "/api/v1/system/operation-logs"
MODULES = ("crm:", "finance:", "inventory:", "hrm:", "approval:")
EVERYTHING = [code for code in CATALOGUE.permissions if code.startswith(MODULES)]
Record = dict[str, Any]
_days = count()


@dataclass(frozen=True)
class Kind:
    """A kind of record with a decision, and how to create one."""

    biz_type: str
    at: str
    draft: Callable[[Client], Awaitable[Record]]
    approve: str
    pending: str
    approved: str


async def _claim(client: Client) -> Record:
    line = {"day": "2026-11-18", "category": "travel", "amount": "1200.00"}
    made: Record = expect(await client.post(CLAIMS, {"title": unique("trip"), "lines": [line]}))
    return made


async def _order(client: Client) -> Record:
    goods = await Goods.fresh(client)
    lines = [{"product_id": goods.product_id, "quantity": "3"}]
    made: Record = expect(await client.post(ORDERS, {"supplier_id": await goods.supplier(), "lines": lines}))
    return made


async def _revision(client: Client) -> Record:
    order = await _order(client)
    admin = await Client(client.url).log_in("admin")
    ordered = expect(await admin.post(f"{ORDERS}/{order['id']}/confirm"))
    more = {"version": ordered["version"], "reason": "more", "lines": [{"line": 1, "quantity": "5"}]}
    made: Record = expect(await client.post(f"{ORDERS}/{order['id']}/revise", more))
    return made


async def _leave(client: Client) -> Record:
    day = date(2026, 12, 2) + timedelta(days=next(_days))  # leaves of a person must not overlap
    hours = {"starts_at": f"{day}T01:00:00Z", "ends_at": f"{day}T10:00:00Z"}
    made: Record = expect(await client.post(LEAVES, {"type": "annual", **hours}))
    return made


async def _trip(client: Client) -> Record:
    worker = {"number": unique("E"), "name": "Worker", "hired_on": "2026-01-01", "user_id": id_of(client)}
    await client.post(f"{HRM}/employees", worker)  # who is one already stays one
    day = date(2026, 12, 2) + timedelta(days=next(_days))
    hours = {"starts_at": f"{day}T01:00:00Z", "ends_at": f"{day}T10:00:00Z"}
    made: Record = expect(await client.post(REQUESTS, {"kind": "trip", "reason": "fair", **hours}))
    return made


async def _amendment(client: Client) -> Record:
    signed = await in_force(await Client(client.url).log_in("admin"))
    made: Record = expect(await client.post(AMENDMENTS, {"contract_id": signed["id"], "amount": "120.00"}))
    return made


KINDS = (
    Kind("CONTRACT", CONTRACTS, contract, "approve", "pending", "in_force"),
    Kind("CONTRACT_AMENDMENT", AMENDMENTS, _amendment, "approve", "pending", "in_force"),
    Kind("PURCHASE_ORDER", ORDERS, _order, "confirm", "pending", "ordered"),
    Kind("PURCHASE_ORDER_REVISION", REVISIONS, _revision, "confirm", "pending", "in_force"),
    Kind("EXPENSE", CLAIMS, _claim, "approve", "submitted", "approved"),
    Kind("LEAVE", LEAVES, _leave, "approve", "pending", "approved"),
    Kind("EMPLOYEE_REQUEST", REQUESTS, _trip, "approve", "pending", "approved"),
)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=[kind.biz_type for kind in KINDS])


async def colleagues(people: People, count: int, department: int | None = None) -> list[Client]:
    """Create people with all these permissions and a data scope of all rows."""
    return [await people.person(EVERYTHING, "all", department) for _ in range(count)]


@pytest.fixture(scope="module")
def team(io_loop: IOLoop, people: People) -> list[Client]:
    """Three colleagues whose records no flow is about."""
    made: list[Client] = io_loop.run_sync(lambda: colleagues(people, 3))
    return made


async def submit(kind: Kind, client: Client, record: Record) -> None:
    """Submit the record for approval."""
    assert expect(await client.post(f"{kind.at}/{record['id']}/submit"))["status"] == kind.pending


async def decide(kind: Kind, client: Client, record: Record, action: str | None = None) -> Reply:
    """Decide at the record."""
    return await client.post(f"{kind.at}/{record['id']}/{action or kind.approve}")


async def status(kind: Kind, client: Client, record: Record) -> str:
    """The state of the record."""
    return str(expect(await client.get(f"{kind.at}/{record['id']}"))["status"])


def test_every_kind_of_record_with_an_approval_is_tested_here() -> None:
    lives = {handler.life.collection.name for _, handler in action_handlers(CATALOGUE.routes) if handler.life.approval}
    assert {CATALOGUE.biz_types[kind.biz_type].name for kind in KINDS} == lives


# -- at the record


@each_kind
async def test_the_creator_of_a_record_does_not_decide_on_it(kind: Kind, team: list[Client]) -> None:
    maker, other, _ = team
    record = await kind.draft(maker)
    await submit(kind, maker, record)
    for action in (kind.approve, "reject"):
        refused = await decide(kind, maker, record, action)
        expect(refused, 40901)
        assert refused.json["msg"] == OWN_REQUEST.zh
    assert await status(kind, maker, record) == kind.pending
    assert expect(await decide(kind, other, record))["status"] == kind.approved


@each_kind
async def test_a_person_who_submitted_the_record_of_another_does_not_decide_on_it(
    kind: Kind, team: list[Client]
) -> None:
    maker, submitter, other = team
    record = await kind.draft(maker)
    await submit(kind, submitter, record)
    expect(await decide(kind, submitter, record), 40901)
    expect(await decide(kind, maker, record), 40901)
    decided = expect(await decide(kind, other, record))
    assert (decided["status"], decided["submitted_by"]) == (kind.approved, id_of(submitter))


async def test_the_owner_of_a_contract_does_not_approve_it(team: list[Client]) -> None:
    maker, owner, _ = team
    made = await contract(maker, owner_id=id_of(owner))
    expect(await maker.post(f"{CONTRACTS}/{made['id']}/submit"))
    expect(await owner.post(f"{CONTRACTS}/{made['id']}/approve"), 40901)


async def test_the_creator_of_a_purchase_order_does_not_confirm_its_draft_either(team: list[Client]) -> None:
    maker, other, _ = team
    order = await _order(maker)
    expect(await maker.post(f"{ORDERS}/{order['id']}/confirm"), 40901)
    assert expect(await other.post(f"{ORDERS}/{order['id']}/confirm"))["status"] == "ordered"


@each_kind
async def test_super_administrators_are_exempt_and_the_operation_log_says_so(kind: Kind, admin: Client) -> None:
    record = await kind.draft(admin)
    await submit(kind, admin, record)
    assert expect(await decide(kind, admin, record))["status"] == kind.approved

    async def logged() -> Any:
        return expect(await admin.get(f"{LOGS}?resource_id={record['id']}&exemption=own_request"))["items"]

    (entry,) = await eventually(logged)
    assert entry["path"] == f"{kind.at}/{record['id']}/{kind.approve}"


async def test_deciding_on_records_of_others_needs_no_exemption(admin: Client, team: list[Client]) -> None:
    maker = team[0]
    record = await _claim(maker)
    expect(await maker.post(f"{CLAIMS}/{record['id']}/submit"))
    expect(await admin.post(f"{CLAIMS}/{record['id']}/approve"))

    async def logged() -> Any:
        rows = expect(await admin.get(f"{LOGS}?resource_id={record['id']}"))["items"]
        return {row["path"].rpartition("/")[2]: row["exemption"] for row in rows} if len(rows) == 3 else None

    assert await eventually(logged) == {"expense-claims": None, "submit": None, "approve": None}


@each_kind
async def test_the_option_allows_people_to_decide_on_their_own(kind: Kind, admin: Client, team: list[Client]) -> None:
    maker = team[0]
    record = await kind.draft(maker)
    await submit(kind, maker, record)
    async with configured(admin, **ALLOWED):
        assert expect(await decide(kind, maker, record))["status"] == kind.approved


async def test_without_the_approval_plugin_nobody_decides_on_their_own_either(mongodb_uri: str, tmp_path: Path) -> None:
    plugins = load_plugins(("auth", "rbac", "crm", "inventory", "finance"))
    async with serving(mongodb_uri, tmp_path, plugins) as alone:
        everybody = People(await Client(alone.url).log_in("admin"))
        maker, other = await colleagues(everybody, 2)
        for kind in KINDS[:3]:  # leaves are decided on in flows alone
            record = await kind.draft(maker)
            await submit(kind, maker, record)
            expect(await decide(kind, maker, record), 40901)
            expect(await decide(kind, other, record))


# -- in a flow


async def flow_of(kind: Kind, admin: Client, initiator: Client, *asked: Client) -> None:
    """Create a flow for the requests of this person; the condition on them keeps other tests apart."""
    body = {
        "name": unique("own"),
        "biz_type": kind.biz_type,
        "priority": 1,
        "nodes": [node("one", *asked, mode="all")],
        "conditions": [
            {"field": "user_id" if kind.biz_type == "LEAVE" else "creator_id", "op": "eq", "value": id_of(initiator)}
        ],
    }
    expect(await admin.post(DEFINITIONS, body))


async def approval_of(reader: Client, record: Record) -> Record:
    """The approval of a submitted record."""
    rows = expect(await reader.get(f"{INSTANCES}?resource_id={record['id']}"))["items"]
    return await read(reader, rows[0])


@each_kind
async def test_a_flow_asks_neither_the_creator_nor_the_submitter_of_a_record(
    kind: Kind, admin: Client, people: People
) -> None:
    maker, submitter, other = await colleagues(people, 3)
    await flow_of(kind, admin, maker, maker, submitter, other)
    record = await kind.draft(maker)
    await submit(kind, submitter, record)
    assert waiting(await approval_of(other, record)) == {id_of(other)}


async def test_a_flow_does_not_ask_the_owner_of_a_contract(admin: Client, people: People) -> None:
    maker, owner, other = await colleagues(people, 3)
    await flow_of(KINDS[0], admin, maker, owner, other)
    made = await contract(maker, owner_id=id_of(owner))
    expect(await maker.post(f"{CONTRACTS}/{made['id']}/submit"))
    asked = await approval_of(other, made)
    assert waiting(asked) == {id_of(other)}
    expect(await act(other, asked, "transfer", user_id=id_of(owner)), 40901)


@each_kind
async def test_with_the_option_a_flow_asks_every_approver_it_names(kind: Kind, admin: Client, people: People) -> None:
    maker, other = await colleagues(people, 2)
    await flow_of(kind, admin, maker, maker, other)
    record = await kind.draft(maker)
    async with configured(admin, **ALLOWED):
        await submit(kind, maker, record)
        asked = await approval_of(other, record)
        assert waiting(asked) == {id_of(maker), id_of(other)}
        expect(await act(maker, asked, "agree"))
        expect(await act(other, asked, "agree"))
    assert await status(kind, other, record) == kind.approved


async def test_an_earlier_task_of_ones_own_request_is_transferred_but_not_decided(
    admin: Client, people: People
) -> None:
    me, other = await several(people, 2)
    async with configured(admin, **ALLOWED):
        made = await ask(me, await define(admin, node("one", me)))
        assert waiting(made) == {id_of(me)}
    for action in ("agree", "reject", "send-back"):
        refused = await act(me, made, action)
        expect(refused, 40901)
        assert refused.json["msg"] == OWN_REQUEST.zh
    assert waiting(expect(await act(me, made, "transfer", user_id=id_of(other)))) == {id_of(other)}
    assert expect(await act(other, made, "agree"))["status"] == "approved"


async def test_a_node_that_names_only_excluded_people_asks_their_leader(admin: Client, people: People) -> None:
    department = await people.department()
    (maker,) = await colleagues(people, 1, department)
    owner, leader = await colleagues(people, 2)
    led = {"version": 1, "leader_user_id": id_of(owner)}
    expect(await admin.patch(f"/api/v1/system/departments/{department}", led))
    await flow_of(KINDS[0], admin, maker, maker, owner)
    made = await contract(maker, owner_id=id_of(owner))
    expect(await maker.post(f"{CONTRACTS}/{made['id']}/submit"))
    # their leader is the owner, who is excluded too: nobody is above, so a super administrator is asked
    assert waiting(await approval_of(leader, made)) == {1}
    led = {"version": 2, "leader_user_id": id_of(leader)}
    expect(await admin.patch(f"/api/v1/system/departments/{department}", led))
    another = await contract(maker, owner_id=id_of(owner))
    expect(await maker.post(f"{CONTRACTS}/{another['id']}/submit"))
    assert waiting(await approval_of(leader, another)) == {id_of(leader)}


async def test_a_node_without_other_approvers_is_not_skipped(admin: Client, people: People) -> None:
    me, other = await several(people, 2)
    made = await ask(me, await define(admin, node("one", other), node("two", me), node("three", other)))
    second = expect(await act(other, made, "agree"))
    assert (second["node"], waiting(second)) == ("two", {1})
    third = expect(await act(admin, made, "agree"))
    assert (third["node"], waiting(third)) == ("three", {id_of(other)})
    assert expect(await act(other, made, "agree"))["status"] == "approved"


async def test_a_quorum_counts_the_people_who_are_asked(admin: Client, people: People) -> None:
    me, first, second = await several(people, 3)
    made = await ask(me, await define(admin, node("one", me, first, second, mode="quorum:2")))
    assert waiting(made) == {id_of(first), id_of(second)}
    assert expect(await act(first, made, "agree"))["status"] == "pending"
    assert expect(await act(second, made, "agree"))["status"] == "approved"


async def test_a_super_administrator_is_asked_about_their_own_request(admin: Client, people: People) -> None:
    (other,) = await several(people, 1)
    made = await ask(admin, await define(admin, node("one", admin, other, mode="all")))
    assert waiting(made) == {1, id_of(other)}
    expect(await act(admin, made, "agree"))

    async def logged() -> Any:
        return expect(await admin.get(f"{LOGS}?resource_id={made['id']}&exemption=own_request"))["items"]

    assert [entry["path"].rpartition("/")[2] for entry in await eventually(logged)] == ["agree"]


async def test_other_plugins_may_name_the_people_behind_a_record(
    admin: Client, people: People, tradewind: Running
) -> None:
    me, behind, other = await several(people, 3)
    definition = await define(admin, node("one", me, behind, other, mode="all"))
    record_id = await requested(tradewind, definition["biz_type"], initiator_id=id_of(me), own=[id_of(behind), None])
    asked = await approval_of(other, {"id": record_id})
    assert waiting(asked) == {id_of(other)}


async def test_the_owner_of_a_record_is_not_the_delegate_of_an_approver(
    admin: Client, people: People, tradewind: Running
) -> None:
    me, behind, other = await several(people, 3)
    await delegate(other, behind)
    definition = await define(admin, node("one", other))
    record_id = await requested(tradewind, definition["biz_type"], initiator_id=id_of(me), own=[id_of(behind)])
    assert waiting(await approval_of(other, {"id": record_id})) == {id_of(other)}
