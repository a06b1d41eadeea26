"""`scripts/verify-ledgers` says what does not agree, and nothing while everything does."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from bson import Decimal128, ObjectId

from plugins.runtime import Running
from plugins.testing import Client, expect
from scripts.ledger_verification import differences
from tests.plugins.crm.sales import PAYMENTS, in_force
from tests.plugins.finance.books import AT, Books
from tests.plugins.inventory.goods import Goods

pytestmark = pytest.mark.gen_test(timeout=60)
OFF = Decimal128(Decimal("123.45"))


async def record_of(what: str, admin: Client) -> tuple[str, str, str]:
    """Collection, field and id of something new that is kept as a sum."""
    if what == "stock":
        goods = await Goods.stocked(admin, 7)
        rows = expect(await admin.get(f"/api/v1/inventory/stock?product_id={goods.product_id}"))["items"]
        return "inventory_stock", "value", rows[0]["id"]
    if what == "balance":
        books = await Books.fresh(admin)
        expect(await books.book("income", "10.00"))
        return "finance_accounts", "balance", books.account_id
    if what == "invoice":
        return "finance_invoices", "paid", (await (await Books.fresh(admin)).invoice())["id"]
    if what == "payable":
        goods = await Goods.fresh(admin)
        order = expect(await goods.receive(await goods.purchase(3)))
        rows = expect(await admin.get(f"{AT}/payables?resource_id={order['id']}"))["items"]
        return "finance_open_items", "paid", rows[0]["id"]
    contract = await in_force(admin)
    expect(await admin.post(PAYMENTS, {"contract_id": contract["id"], "amount": "1.00"}))
    return "crm_contracts", "received_amount", contract["id"]


@pytest.mark.parametrize("what", ["stock", "balance", "invoice", "payable", "contract"])
async def test_a_sum_that_is_not_that_of_its_entries_is_told(what: str, admin: Client, tradewind: Running) -> None:
    driver = tradewind.service.database.driver
    collection, field, id = await record_of(what, admin)
    key = {"_id": ObjectId(id)}
    before: Any = await driver.find_one(collection, key)
    named = str(before["product_id"]) if what == "stock" else id

    async def told() -> list[str]:
        return [fault for fault in await differences(driver) if named in fault]

    assert await told() == []
    await driver.update_one(collection, key, {"$set": {field: OFF}})
    try:
        (fault,) = await told()
        assert f"the {field} is 123.45" in fault
    finally:
        await driver.update_one(collection, key, {"$set": {field: before[field]}})
    assert await told() == []


async def test_a_number_that_is_missing_is_told(admin: Client, tradewind: Running) -> None:
    driver = tradewind.service.database.driver
    expect(await (await Books.fresh(admin)).book("income", "1.00", day="2041-07-01"))
    await driver.update_one("finance_periods", {"_id": "2041-07"}, {"$inc": {"last_number": 1}})
    try:
        assert [fault for fault in await differences(driver) if "2041-07" in fault] == [
            "period 2041-07: 1 vouchers, the highest number is 1, the last one given 2"
        ]
    finally:
        await driver.update_one("finance_periods", {"_id": "2041-07"}, {"$inc": {"last_number": -1}})
