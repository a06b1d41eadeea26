"""After data resets in any order no record of another module refers to a removed one."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from bson import ObjectId
from tornado.ioloop import IOLoop

from plugins.api.data import Database
from plugins.boot.runtime import Running
from plugins.files.records import ATTACHMENTS
from plugins.testing import Client, expect, unique
from tests.api.crm.sales import contract, in_force
from tests.api.finance.books import Books
from tests.api.inventory.goods import Goods
from tests.support.demo import serving_demo

pytestmark = pytest.mark.gen_test(timeout=60)
RESET = "/api/v1/system/data-reset"
FINANCE = "/api/v1/finance"
MODULES = ("approval", "cms", "crm", "dashboard", "files", "finance", "hrm", "inventory", "notification")
_SHUFFLED = random.Random(7)
ORDERS = [(module,) for module in MODULES] + [
    tuple(_SHUFFLED.sample(MODULES, count)) for count in (2, 3, 4, len(MODULES))
]
# fields of history, or keys of their own, which do not refer to a record
HISTORY = ("core_", "auth_", "notification_sent", "notification_signals", "notification_progress")
_ID = re.compile(r"[0-9a-f]{24}")
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def company(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with demo data."""
    block = serving_demo(mongodb_uri, tmp_path_factory.mktemp("company"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def owner(io_loop: IOLoop, company: Running) -> Client:
    """Its administrator."""
    client: Client = io_loop.run_sync(lambda: Client(company.url).log_in("admin"))
    return client


@pytest.fixture(scope="module")
def books(io_loop: IOLoop, company: Running, owner: Client) -> Rows:
    """Every record, of modules that refer to each other in each way."""

    async def make() -> Rows:
        await _trade(company.service.database, owner)
        return await _stored(company.service.database)

    rows: Rows = io_loop.run_sync(make)
    return rows


async def _trade(database: Database, owner: Client) -> None:
    agreed, asked = await in_force(owner, "100.00"), await contract(owner, "7.00")
    expect(await owner.post(f"/api/v1/crm/contracts/{asked['id']}/submit", {}))
    owed = expect(await owner.get(f"{FINANCE}/receivables?resource_id={agreed['id']}"))["items"][0]
    accounts = await Books.fresh(owner)
    expect(await accounts.enter("in", "3.00", (owed, "2.00")))
    expect(await accounts.enter("in", "4.00", customer_id=agreed["customer_id"]))
    received = {"contract_id": agreed["id"], "amount": "5.00", "account_id": accounts.account_id}
    for _ in range(2):
        payment = expect(await owner.post("/api/v1/crm/payments", received))
    expect(await owner.post(f"/api/v1/crm/payments/{payment['id']}/reverse", {}))
    billed = {
        "direction": "out",
        "number": unique("INV"),
        "counterparty": "c",
        "amount": "9.00",
        "open_item_id": owed["id"],
    }
    expect(await owner.post(f"{FINANCE}/invoices", billed))
    goods = await Goods.fresh(owner)
    bought = await goods.purchase(3, "4.00")
    expect(await goods.receive(bought))
    due = expect(await owner.get(f"{FINANCE}/payables?resource_id={bought['id']}"))["items"][0]
    expect(await owner.post(f"{FINANCE}/payables/{due['id']}/pay", {"account_id": accounts.account_id}))
    line = {"product_id": goods.product_id, "quantity": "1"}
    order = {"customer_name": "somebody", "customer_id": agreed["customer_id"], "lines": [line]}
    expect(await owner.post("/api/v1/inventory/sales-orders", order))
    for biz_type, id in (("CUSTOMER", agreed["customer_id"]), ("CONTRACT", asked["id"]), ("PRODUCT", goods.product_id)):
        await database.store(ATTACHMENTS).create({"biz_type": biz_type, "resource_id": id, "file_name": "a.txt"})
    for instance in await database.driver.find("approval_instances", {}, limit=3):
        await database.store(ATTACHMENTS).create(
            {"biz_type": "APPROVAL", "resource_id": str(instance["_id"]), "file_name": "a.txt"}
        )


async def _stored(database: Database) -> Rows:
    names = [name for name in database.collections if not name.startswith(HISTORY)]
    return {name: await database.driver.find(name, {}) for name in names}


async def _restore(database: Database, books: Rows) -> None:
    for name, rows in books.items():
        await database.driver.delete_many(name, {})
        if rows:
            await database.driver.insert(name, rows)


def _mentions(value: Any) -> Iterator[str]:
    """Yield every identifier in a value, including texts."""
    if isinstance(value, ObjectId):
        yield str(value)
    elif isinstance(value, str):
        yield from _ID.findall(value)
    elif isinstance(value, dict):
        for child in value.values():
            yield from _mentions(child)
    elif isinstance(value, list):
        for child in value:
            yield from _mentions(child)


def _ids(books: Rows) -> dict[str, str]:
    return {str(row["_id"]): name for name, rows in books.items() for row in rows if isinstance(row["_id"], ObjectId)}


def _orphans(before: Rows, after: Rows) -> set[tuple[str, str]]:
    """Return the pairs of collections of which the first still refers to removed records of the second."""
    there = _ids(after)
    gone = {id: name for id, name in _ids(before).items() if id not in there}
    return {(name, gone[id]) for name, rows in after.items() for row in rows for id in _mentions(row) if id in gone}


@pytest.mark.parametrize("modules", ORDERS, ids="-".join)
async def test_nothing_refers_to_what_was_reset(
    modules: Sequence[str], company: Running, owner: Client, books: Rows
) -> None:
    database = company.service.database
    await _restore(database, books)
    for module in modules:
        expect(await owner.post(RESET, {"modules": [module], "confirm": "RESET"}))
        assert _orphans(books, await _stored(database)) == set()


async def test_what_stays_no_longer_names_what_is_gone(company: Running, owner: Client, books: Rows) -> None:
    database = company.service.database
    await _restore(database, books)
    answer = expect(await owner.post(RESET, {"modules": ["crm"], "confirm": "RESET"}))
    removed = {row["name"]: row["removed"] for row in answer["collections"]}
    assert removed["finance_open_items"] > 0
    assert removed["files_attachments"] >= 2
    assert answer["removed"] == sum(removed.values())
    owed = expect(await owner.get(f"{FINANCE}/receivables?page_size=200"))["items"]
    assert {item["biz_type"] for item in owed} <= {"INVOICE", "SALES_ORDER"}
    assert {item["customer_id"] for item in owed} == {None}
    orders = (await _stored(database))["inventory_sales_orders"]
    assert len(orders) == len(books["inventory_sales_orders"])
    assert {order.get("customer_id") for order in orders} == {None}
