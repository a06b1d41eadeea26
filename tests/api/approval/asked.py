"""A submitted record with an attachment and something below it, and everybody who is asked about it, or was, or never."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from plugins.api import store_money
from plugins.api.values import store_quantity
from plugins.boot.runtime import Running
from plugins.testing import Client, People, expect, unique
from tests.api.approval.flows import DEFINITIONS, EVERYTHING, INSTANCES, act, id_of, node
from tests.api.approval.test_people import delegate
from tests.api.crm.sales import CONTRACTS, PLANS, contract
from tests.api.files.samples import attach, note
from tests.api.inventory.goods import AT as INVENTORY, Goods

ORDERS, RECEIPTS = f"{INVENTORY}/purchase-orders", f"{INVENTORY}/receipts"
Record = dict[str, Any]
NAMES = (
    "asked",
    "decided",
    "copied",
    "delegate",
    "delegator",
    "transferred away",
    "transferred to",
    "initiator",
    "withdrawn",
    "never",
)


async def _contract(maker: Client) -> Record:
    return await contract(maker, "1200.00", name=unique("contract"))


async def _plan(maker: Client, made: Record, _: Running) -> Record:
    body = {"contract_id": made["id"], "amount": "100.00", "due_date": "2099-01-01"}
    planned: Record = expect(await maker.post(PLANS, body))
    return planned


async def _order(maker: Client) -> Record:
    goods = await Goods.fresh(maker)
    line = {"product_id": goods.product_id, "quantity": "3", "price": "4.00"}
    body = {"supplier_id": await goods.supplier(), "warehouse_id": goods.warehouse_id, "lines": [line]}
    made: Record = expect(await maker.post(ORDERS, body))
    return made


async def _receipt(_: Client, made: Record, running: Running) -> Record:
    """A receipt as the service stores it: goods come in only after the approval."""
    collections = running.catalogue.collections
    receipts, product_id = collections["inventory_receipts"], made["lines"][0]["product_id"]
    amount = store_money(Decimal("12.00"))
    line = {"quantity": store_quantity(Decimal(3)), "amount": amount, "cost": amount}
    stored = await running.service.database.store(receipts).create(
        {
            "number": unique("GR")[:32],
            "order_id": collections["inventory_purchase_orders"].parse_id(made["id"]),
            "order_number": made["number"],
            "warehouse_id": collections["inventory_warehouses"].parse_id(made["warehouse_id"]),
            "day": "2026-11-20",
            "lines": [{"product_id": collections["inventory_products"].parse_id(product_id), **line}],
            "amount": amount,
            "cost": amount,
        }
    )
    return {"id": str(stored["id"])}


@dataclass(frozen=True)
class Kind:
    """A kind of record, and of what hangs below it."""

    biz_type: str
    at: str
    draft: Callable[[Client], Awaitable[Record]]
    below_at: str
    parent: str
    below: Callable[[Client, Record, Running], Awaitable[Record]]


KINDS = {
    "contract": Kind("CONTRACT", CONTRACTS, _contract, PLANS, "contract_id", _plan),
    "purchase order": Kind("PURCHASE_ORDER", ORDERS, _order, RECEIPTS, "order_id", _receipt),
}


@dataclass(frozen=True)
class Case:
    """The record of a kind, what hangs below it, its attachment, and a record of which nobody is asked."""

    kind: Kind
    record: Record
    below: Record
    file: Record
    other: Record
    title: str


@dataclass(frozen=True)
class Cast:
    """Everybody by what they have to do with the records, all with the same one role."""

    role_id: int
    clients: Mapping[str, Client]
    cases: Mapping[str, Case]


async def assemble(people: People, running: Running, *kinds: str) -> Cast:
    """Make the people and a case of these kinds. The role of the people has permissions of approvals and no others."""
    role_id = await people.role(EVERYTHING)
    clients = {}
    for name in NAMES:
        clients[name] = await people.admin.log_in((await people.account([role_id]))["username"])
    await delegate(clients["delegator"], clients["delegate"])
    cases = {name: await _case(people, running, kind, clients) for name, kind in KINDS.items() if name in kinds}
    return Cast(role_id, clients, cases)


async def _case(people: People, running: Running, kind: Kind, clients: Mapping[str, Client]) -> Case:
    maker = people.admin
    record, other = await kind.draft(maker), await kind.draft(maker)
    below, file = await kind.below(maker, record, running), await note(maker)
    expect(await attach(maker, record, file, kind.biz_type))
    await _submitted(people, kind, clients["initiator"], record, [clients["withdrawn"]])
    expect(await people.admin.post(f"{kind.at}/{record['id']}/withdraw", {}))
    asked = [clients[name] for name in ("asked", "decided", "delegator", "transferred away")]
    instance = await _submitted(people, kind, clients["initiator"], record, asked, clients["copied"])
    expect(await act(clients["decided"], instance, "agree"))
    to = id_of(clients["transferred to"])
    expect(await act(clients["transferred away"], instance, "transfer", user_id=to))
    return Case(kind, record, below, file, other, instance["title"])


async def _submitted(
    people: People, kind: Kind, initiator: Client, record: Record, asked: list[Client], *copied: Client
) -> Record:
    """The approval of the record, which the initiator submits, by a flow for this record alone."""
    admin = people.admin
    body = {
        "name": unique("flow"),
        "biz_type": kind.biz_type,
        "priority": 1,
        "conditions": [{"field": "id", "op": "eq", "value": record["id"]}],
        "nodes": [node("first", *asked, mode="all")],
        "copies": {"users": [id_of(one) for one in copied]},
    }
    flow = expect(await admin.post(DEFINITIONS, body))
    who = f"/api/v1/system/users/{id_of(initiator)}"
    before = expect(await admin.get(who))
    may_submit = await people.role([f"{_resource(kind)}:submit"], "all")
    expect(await admin.patch(who, {"version": before["version"], "role_ids": [*_ids(before), may_submit]}))
    expect(await initiator.post(f"{kind.at}/{record['id']}/submit"))
    now = expect(await admin.get(who))
    expect(await admin.patch(who, {"version": now["version"], "role_ids": _ids(before)}))
    expect(await admin.delete(f"{DEFINITIONS}/{flow['id']}"))
    found = expect(await admin.get(f"{INSTANCES}?resource_id={record['id']}&status=pending"))["items"]
    assert len(found) == 1
    instance: Record = found[0]
    return instance


def _resource(kind: Kind) -> str:
    return {"CONTRACT": "crm:contract", "PURCHASE_ORDER": "inventory:purchase-order"}[kind.biz_type]


def _ids(user: Record) -> list[int]:
    return list(user["role_ids"])
