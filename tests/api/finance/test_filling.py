"""Databases of a version without entries, parties and receivables of deliveries: what the background work makes of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from bson import ObjectId
from tornado.ioloop import IOLoop

from handlers.operations.migrations import MIGRATIONS
from plugins.api.business import Debt
from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client, expect, serving
from tests.api.crm.sales import PAYMENTS, PLANS, in_force
from tests.api.finance.accounts_of_parties import BUCKETS, ageing, new_customer, statement
from tests.api.finance.books import Books
from tests.api.finance.filled import SALES_ORDERS, fill
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=60)
# what open items, orders and shipments of such a version do not have
NEW_FIELDS = {
    "finance_open_items": ("customer_id", "supplier_id", "day", "terms_days"),
    "inventory_sales_orders": (
        "terms_days",
        "shipped_amount",
        "returned_amount",
        "freight",
        "tax_amount",
        "net_amount",
        "contract_id",
    ),
    "inventory_purchase_orders": (
        "terms_days",
        "shipped_amount",
        "returned_amount",
        "freight",
        "tax_amount",
        "net_amount",
    ),
    "inventory_deliveries": ("freight", "returned_amount", "reversed_by_id"),
    "inventory_receipts": ("freight", "returned_amount", "reversed_by_id"),
    "crm_payments": ("account_id", "reversed_at", "reverses_id", "finance_payment_id"),
    "finance_vouchers": ("payment_id",),
}
WITHOUT_ITEM = ("SALES_ORDER", "EXPENSE")


@pytest.fixture(scope="module")
def running(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of its own, because all of its records become older."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("older"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def owner(io_loop: IOLoop, running: Running) -> Client:
    """The administrator of that server."""
    client: Client = io_loop.run_sync(lambda: Client(running.url).log_in("admin"))
    return client


@dataclass
class Older:
    """A company with a record of each kind that owes, and its customer and supplier."""

    running: Running
    customer: dict[str, Any]
    supplier: dict[str, Any]
    records: Mapping[str, dict[str, Any]]

    async def items(self) -> dict[str, dict[str, Any]]:
        """The open items of the records by business type, as they are stored."""
        ids = {record["id"]: kind for kind, record in self.records.items()}
        rows = await self.running.service.database.driver.find(
            "finance_open_items", {"resource_id": {"$in": list(ids)}}
        )
        found = {ids[row["resource_id"]]: row for row in rows}
        assert len(found) == len(rows)
        return found

    async def make_older(self) -> None:
        """Leave everything as such a version has stored it."""
        driver = self.running.service.database.driver
        for collection, fields in NEW_FIELDS.items():
            await driver.update_many(collection, {}, {"$unset": dict.fromkeys(fields, "")})
        await driver.delete_many("finance_open_items", {"biz_type": {"$in": list(WITHOUT_ITEM)}})
        for collection in ("finance_open_item_entries", "finance_payments", MIGRATIONS):
            await driver.delete_many(collection, {})


async def company(admin: Client, running: Running) -> Older:
    """Deliveries on two days, a receipt, a contract with a payment, an invoice that was paid in part, and claims."""
    goods, books = await Goods.stocked(admin, 9), await Books.fresh(admin)
    party = await new_customer(admin)
    line = {"product_id": goods.product_id, "quantity": "5", "price": "10.00"}
    body = {"customer_name": "晨光科技", **party, "warehouse_id": goods.warehouse_id, "lines": [line]}
    sale = expect(await admin.post(f"{AT}/sales-orders", body))
    expect(await admin.post(f"{AT}/sales-orders/{sale['id']}/confirm"))
    for day, quantity in (("2026-03-02", "2"), ("2026-04-06", "3")):
        part = {"product_id": goods.product_id, "quantity": quantity}
        expect(await admin.post(f"{AT}/sales-orders/{sale['id']}/deliver", {"day": day, "lines": [part]}))
    purchase = expect(await goods.receive(await goods.purchase(3, "4.00")))
    contract = await in_force(admin, "100.00", **party)
    plan = {"contract_id": contract["id"], "amount": "60.00", "due_date": "2026-05-05"}
    expect(await admin.post(PLANS, plan))
    expect(await admin.post(PAYMENTS, {"contract_id": contract["id"], "amount": "25.00"}))
    invoice = await books.invoice()
    expect(await books.pay_invoice(invoice, "13.00"))
    approved, paid = [await books.claim("submit", "approve") for _ in range(2)]
    expect(await books.pay_claim(paid))
    records = {
        "SALES_ORDER": sale,
        "PURCHASE_ORDER": purchase,
        "CONTRACT": contract,
        "INVOICE": invoice,
        "EXPENSE": approved,
        "EXPENSE paid": paid,
    }
    return Older(running, party, {"supplier_id": purchase["supplier_id"]}, records)


async def test_every_record_of_an_older_database_has_the_right_creditor_and_debtor(
    owner: Client, running: Running
) -> None:
    older = await company(owner, running)
    assert {kind.partition(" ")[0] for kind in older.records} | {"OPENING"} == {
        debt.biz_type for debt in running.catalogue.of_kind(Debt)
    }
    named = ("amount", "paid", "status", "customer_id", "supplier_id", "counterparty", "number", "direction")
    before = {kind: {name: item.get(name) for name in named} for kind, item in (await older.items()).items()}
    await older.make_older()
    await asyncio.gather(fill(running.service), fill(running.service))
    await fill(running.service)
    after = {kind: {name: item.get(name) for name in named} for kind, item in (await older.items()).items()}
    assert after == before

    found = await statement(owner, older.customer)
    assert found["closing_balance"] == "125.00"
    delivered = [line for line in found["items"] if line["biz_type"] == "SALES_ORDER"]
    assert [(line["day"], line["debit"]) for line in delivered] == [("2026-03-02", "20.00"), ("2026-04-06", "30.00")]
    row = await ageing(owner, older.customer, "2026-12-31")
    assert row is not None
    assert sum(Decimal(row[name]) for name in BUCKETS) == Decimal(row["total"]) == Decimal("125.00")
    then = await ageing(owner, older.customer, "2026-03-31")
    assert then is not None
    assert then["total"] == "20.00"
    owed = await ageing(owner, older.supplier, "2026-12-31", "payable")
    assert owed is not None
    assert owed["total"] == "12.00"
    assert await differences(running.service.database.driver) == []


async def test_the_work_goes_on_from_the_place_that_was_reached_and_ends(owner: Client, running: Running) -> None:
    older = await company(owner, running)
    await older.make_older()
    driver = running.service.database.driver
    reached = {"after": ObjectId(older.records["SALES_ORDER"]["id"]), "passes": 1, "again_at": None}
    await driver.insert(MIGRATIONS, [{"_id": SALES_ORDERS, **reached}])
    await fill(running.service)
    assert set(older.records) - set(await older.items()) == {"SALES_ORDER"}  # the place was beyond it
    await driver.delete_many(MIGRATIONS, {"_id": SALES_ORDERS})
    await fill(running.service)
    assert set(older.records) - set(await older.items()) == set()
    await driver.delete_many("finance_open_items", {"resource_id": older.records["SALES_ORDER"]["id"]})
    await fill(running.service)
    assert "SALES_ORDER" not in await older.items()  # it looks through them again a day later
    await driver.update_many(MIGRATIONS, {"_id": SALES_ORDERS}, {"$unset": {"again_at": ""}})
    await driver.delete_many("finance_open_item_entries", {"resource_id": older.records["SALES_ORDER"]["id"]})
    await fill(running.service)
    assert (await older.items())["SALES_ORDER"]["amount"].to_decimal() == Decimal("50.00")


async def test_what_nobody_can_report_does_not_hold_up_the_others(owner: Client, running: Running) -> None:
    older = await company(owner, running)
    await older.make_older()
    driver, lost = running.service.database.driver, ObjectId()
    orphan = {"direction": "out", "biz_type": "CONTRACT", "resource_id": str(lost), "number": "lost", "deleted": False}
    amounts = {name: (await older.items())["CONTRACT"][name] for name in ("amount", "paid", "status", "paid_elsewhere")}
    stamps = {
        name: (await older.items())["CONTRACT"][name]
        for name in ("created_at", "updated_at", "creator_id", "creator_department_id")
    }
    await driver.insert("finance_open_items", [{"_id": lost, **orphan, **amounts, **stamps, "version": 1}])
    try:
        await fill(running.service)
        assert set(await older.items()) == set(older.records)
        found = await driver.find_one("finance_open_items", {"_id": lost})
        assert found is not None
        assert found["day"] is not None
    finally:
        for collection, field in (("finance_open_items", "_id"), ("finance_open_item_entries", "open_item_id")):
            await driver.delete_many(collection, {field: lost})
