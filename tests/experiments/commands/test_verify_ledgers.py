"""The verification of the ledgers: over what the demo data and these tests have booked, and over damage."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from bson import Decimal128, ObjectId
from tornado.ioloop import IOLoop

from config.database import Driver
from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.crm.contract_records import CONTRACTS, PLANS as PLANS_KEPT
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.finance.records import ACCOUNTS, INVOICES, PERIODS, VOUCHERS
from plugins.inventory.records import STOCK, STOCK_ENTRIES
from plugins.testing import Client, expect
from tests.api.crm.sales import PAYMENTS, PLANS, in_force
from tests.api.finance.books import Books
from tests.api.inventory.goods import Goods
from tests.support.commands import run_command
from tests.support.demo import serving_demo

pytestmark = pytest.mark.gen_test(timeout=60)
CENT = Decimal128("0.01")


@pytest.fixture(scope="module")
def tradewind(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of its own: other tests change stored records by hand."""
    block = serving_demo(mongodb_uri, tmp_path_factory.mktemp("ledgers"))
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def admin(io_loop: IOLoop, tradewind: Running) -> Client:
    """The administrator of this server."""
    client: Client = io_loop.run_sync(lambda: Client(tradewind.url).log_in("admin"))
    return client


async def booked(admin: Client) -> tuple[Goods, Books]:
    """Some stock, a balance and a payment."""
    goods, books = await Goods.stocked(admin, 3), await Books.fresh(admin)
    expect(await goods.deliver(await goods.sale(1)))
    expect(await books.book("income", "5.00", day="2012-02-01"))
    expect(await books.pay_invoice(await books.invoice()))
    return goods, books


async def test_what_was_booked_through_the_service_agrees(admin: Client, tradewind: Running) -> None:
    await booked(admin)
    assert await differences(tradewind.service.database.driver) == []


@pytest.mark.parametrize(
    ("collection", "field", "by", "found"),
    [
        (STOCK, "quantity", CENT, "stock of product"),
        (STOCK, "value", CENT, "stock of product"),
        (STOCK_ENTRIES, "value", CENT, "stock of product"),
        (ACCOUNTS, "balance", CENT, "account"),
        (VOUCHERS, "amount", CENT, "account"),
        (PERIODS, "last_number", 1, "period"),
    ],
    ids=lambda part: getattr(part, "name", str(part)),
)
async def test_damage_is_found(
    collection: Any, field: str, by: Any, found: str, admin: Client, tradewind: Running
) -> None:
    goods, books = await booked(admin)
    owner: dict[str, Any] = {
        STOCK.name: {"product_id": ObjectId(goods.product_id)},
        STOCK_ENTRIES.name: {"product_id": ObjectId(goods.product_id)},
        ACCOUNTS.name: {"_id": ObjectId(books.account_id)},
        VOUCHERS.name: {"account_id": ObjectId(books.account_id)},
        PERIODS.name: {"_id": "2012-02"},
    }[collection.name]
    driver = tradewind.service.database.driver
    before = await damaged(driver, collection.name, owner, field, by)
    try:
        assert [sentence for sentence in await differences(driver) if sentence.startswith(found)] != []
    finally:
        await driver.update_one(collection.name, {"_id": before["_id"]}, {"$set": {field: before[field]}})
    assert await differences(driver) == []


async def damaged(driver: Driver, collection: str, filter: dict[str, Any], field: str, by: Any) -> dict[str, Any]:
    """The document as it was before somebody changed it behind the service's back."""
    before = await driver.find_one(collection, filter)
    assert before is not None
    await driver.update_one(collection, {"_id": before["_id"]}, {"$inc": {field: by}})
    return before


async def test_the_command_says_that_all_agrees(admin: Client, tradewind: Running, mongodb_uri: str) -> None:
    await booked(admin)
    settings = {"mongodb_uri": mongodb_uri, "mongodb_database": tradewind.service.settings.mongodb_database}
    done = await run_command("plugins.commands.verify", "--demo", **settings)
    assert (done.code, done.errors) == (0, "")
    assert "agree" in done.output


async def test_amounts_of_any_sign_add_up(admin: Client, tradewind: Running) -> None:
    books = await Books.fresh(admin)
    expect(await books.reverse(expect(await books.book("expense", "0.01"))))
    assert Decimal(await books.balance()) == 0
    assert await differences(tradewind.service.database.driver) == []


async def paid_records(admin: Client) -> dict[str, tuple[str, str]]:
    """Collection → field and id of what payments were entered for."""
    books, goods = await Books.fresh(admin), await Goods.fresh(admin)
    invoice, contract = await books.invoice(), await in_force(admin)
    plan = expect(await admin.post(PLANS, {"contract_id": contract["id"], "amount": "2.00", "due_date": "2031-01-31"}))
    expect(await admin.post(PAYMENTS, {"contract_id": contract["id"], "plan_id": plan["id"], "amount": "1.00"}))
    order = expect(await goods.receive(await goods.purchase(3)))
    payable = expect(await admin.get(f"/api/v1/finance/payables?resource_id={order['id']}"))["items"][0]
    return {
        INVOICES.name: ("paid", invoice["id"]),
        OPEN_ITEMS.name: ("paid", payable["id"]),
        CONTRACTS.name: ("received_amount", contract["id"]),
        PLANS_KEPT.name: ("paid_amount", plan["id"]),
    }


async def test_what_is_kept_as_paid_and_was_not_is_found(admin: Client, tradewind: Running) -> None:
    driver = tradewind.service.database.driver
    for collection, (field, id) in (await paid_records(admin)).items():
        before = await damaged(driver, collection, {"_id": ObjectId(id)}, field, CENT)
        try:
            (sentence,) = await differences(driver)
            assert id in sentence
            assert f"the {field} is" in sentence
        finally:
            await driver.update_one(collection, {"_id": before["_id"]}, {"$set": {field: before[field]}})
    assert await differences(driver) == []
