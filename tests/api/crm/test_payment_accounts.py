"""Payments of contracts in the books: the account moves with them, and nothing counts twice or stays behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from plugins.boot.registry import load_plugins
from plugins.crm.options import PAYMENT_ACCOUNT_KEY
from plugins.testing import Client, expect, serving
from tests.api.crm.sales import CONTRACTS, PAYMENTS, PLANS, in_force
from tests.api.finance.books import AT, Books

pytestmark = pytest.mark.gen_test(timeout=60)
NOBODY = "65f0c0ffee65f0c0ffee65f0"


@asynccontextmanager
async def default_account(admin: Client, code: str) -> AsyncIterator[None]:
    """Payments come to the account with this code, unless they name one."""
    configs = "/api/v1/system/configs"
    expect(await admin.patch(configs, {"values": {PAYMENT_ACCOUNT_KEY: code}}))
    try:
        yield
    finally:
        expect(await admin.patch(configs, {"values": {PAYMENT_ACCOUNT_KEY: ""}}))


async def figures(admin: Client, days: str) -> tuple[str, int]:
    """Income of these days, and how many payments the ranking counts."""
    first, last = days.split("/")
    days = f"date_from={first}&date_to={last}"
    income = expect(await admin.get(f"/api/dashboard/finance-summary?{days}"))["income"]
    ranked = expect(await admin.get(f"/api/dashboard/sales-ranking?by=payments&{days}"))["items"]
    return income, sum(row["count"] for row in ranked)


async def booked(admin: Client, contract: dict[str, Any]) -> list[dict[str, Any]]:
    rows = expect(await admin.get(f"{AT}/payments?customer_id={contract['customer_id']}&sort=number"))["items"]
    return [row for row in rows if row["status"] == "booked"]


async def test_a_payment_with_an_account_is_income_once(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    body = {"contract_id": made["id"], "account_id": books.account_id, "paid_at": "2011-05-04T12:00:00+08:00"}
    paid = expect(await admin.post(PAYMENTS, {**body, "amount": "30.00", "method": "cash", "reference": "8812"}))
    assert paid["account_id"] == books.account_id
    assert await books.balance() == "30.00"
    assert await figures(admin, "2011-05-01/2011-05-31") == ("30.00", 1)
    (payment,) = await booked(admin, made)
    item = await books.item(made)
    assert (item["paid"], payment["allocations"][0]["open_item_id"]) == ("30.00", item["id"])
    named = ("day", "amount", "unallocated", "method", "reference", "resource_id")
    assert [payment[name] for name in named] == ["2011-05-04", "30.00", "0.00", "cash", "8812", paid["id"]]
    expect(await admin.post(PAYMENTS, {**body, "amount": "70.01"}), 40901)
    assert await books.balance() == "30.00"


async def test_a_reversed_payment_stays_beside_its_reversal_and_the_sums_are_nothing(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    plan = expect(await admin.post(PLANS, {"contract_id": made["id"], "amount": "50.00", "due_date": "2031-01-31"}))
    day = {"paid_at": "2011-06-04T12:00:00+08:00"}
    body = {"contract_id": made["id"], "plan_id": plan["id"], "amount": "20.00", **day}
    with_account = expect(await admin.post(PAYMENTS, {**body, "account_id": books.account_id}))
    without = expect(await admin.post(PAYMENTS, body))
    assert await figures(admin, "2011-06-01/2011-06-30") == ("40.00", 2)
    for payment in (with_account, without):
        at = f"{PAYMENTS}/{payment['id']}/reverse"
        if payment is with_account:
            early = await admin.post(at, {"day": "2011-06-03"})
            assert (early.code, early.fields) == (40001, {"day"})
        gone = expect(await admin.post(at, {"day": "2011-06-05", "reason": "entered twice"}))
        assert (gone["amount"], gone["reason"], gone["reversed_on"]) == ("20.00", "entered twice", "2011-06-05")
        assert gone["reversed_at"] is not None
        opposite = expect(await admin.get(f"{PAYMENTS}/{gone['reversed_by_id']}"))
        assert (opposite["amount"], opposite["reverses_id"], opposite["reason"]) == (
            "-20.00",
            payment["id"],
            "entered twice",
        )
        assert opposite["owner_id"] == payment["owner_id"]
        for one in (payment, opposite):
            expect(await admin.post(f"{PAYMENTS}/{one['id']}/reverse", {}), 40901)
            expect(await admin.delete(f"{PAYMENTS}/{one['id']}"), 40901)
    assert await figures(admin, "2011-06-01/2011-06-30") == ("0.00", 0)
    # each counts on its own day, as vouchers do
    assert await figures(admin, "2011-06-01/2011-06-04") == ("40.00", 2)
    assert await figures(admin, "2011-06-05/2011-06-30") == ("-40.00", 0)
    rows = expect(await admin.get(f"{PAYMENTS}?contract_id={made['id']}"))["items"]
    assert sum(Decimal(row["amount"]) for row in rows) == 0
    assert expect(await admin.get(f"{CONTRACTS}/{made['id']}"))["received_amount"] == "0.00"
    assert expect(await admin.get(f"{PLANS}/{plan['id']}"))["paid_amount"] == "0.00"
    assert (await books.item(made))["paid"] == await books.balance() == "0.00"
    assert await booked(admin, made) == []


async def test_a_deleted_payment_leaves_the_account_and_a_reversal_in_finance_the_contract(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    body = {"contract_id": made["id"], "account_id": books.account_id, "amount": "20.00"}
    deleted, reversed_ = [expect(await admin.post(PAYMENTS, body)) for _ in range(2)]
    expect(await admin.delete(f"{PAYMENTS}/{deleted['id']}"))
    assert await books.balance() == "20.00"
    (payment,) = await booked(admin, made)
    expect(await books.reverse_payment(payment))
    assert expect(await admin.get(f"{PAYMENTS}/{reversed_['id']}"))["reversed_at"] is not None
    assert expect(await admin.get(f"{CONTRACTS}/{made['id']}"))["received_amount"] == "0.00"
    assert (await books.item(made))["paid"] == await books.balance() == "0.00"
    item = await books.item(made)
    expect(await books.enter("in", "5.00", (item, "5.00")))
    rows = expect(await admin.get(f"{PAYMENTS}?contract_id={made['id']}&account_id={books.account_id}"))["items"]
    (received,) = [row for row in rows if row["finance_payment_id"] is not None]
    assert [row["amount"] for row in rows if row["reverses_id"] is not None] == ["-20.00"]
    expect(await admin.post(f"{PAYMENTS}/{received['id']}/reverse", {}), 40901)
    expect(await admin.delete(f"{PAYMENTS}/{received['id']}"), 40901)


async def test_a_setting_names_the_account_of_payments_that_name_none(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    code = expect(await admin.get(f"{AT}/accounts/{books.account_id}"))["code"]
    body = {"contract_id": made["id"], "amount": "20.00"}
    assert expect(await admin.post(PAYMENTS, body))["account_id"] is None
    async with default_account(admin, code):
        assert expect(await admin.post(PAYMENTS, body))["account_id"] == books.account_id
    async with default_account(admin, "no-such-account"):
        refused = await admin.post(PAYMENTS, body)
        assert (refused.code, refused.fields) == (40001, {"account_id"})
    assert await books.balance() == "20.00"


async def test_a_payment_is_not_reversed_into_a_closed_month(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    body = {"contract_id": made["id"], "account_id": books.account_id, "amount": "20.00"}
    paid = expect(await admin.post(PAYMENTS, body))
    expect(await admin.post(f"{AT}/periods/2010-11/close"))
    expect(await admin.post(f"{PAYMENTS}/{paid['id']}/reverse", {"day": "2010-11-03"}), 40901)
    expect(await admin.post(PAYMENTS, {**body, "paid_at": "2010-11-03T12:00:00+08:00"}), 40901)
    assert expect(await admin.get(f"{PAYMENTS}/{paid['id']}"))["reversed_at"] is None
    assert await books.balance() == "20.00"


async def test_without_finance_a_payment_comes_to_no_account(mongodb_uri: str, tmp_path: Path) -> None:
    async with serving(mongodb_uri, tmp_path, load_plugins(("auth", "rbac", "system", "crm")), demo=False) as running:
        admin = await Client(running.url).log_in("admin")
        made = await in_force(admin, "100.00")
        body = {"contract_id": made["id"], "amount": "30.00"}
        reply = await admin.post(PAYMENTS, {**body, "account_id": NOBODY})
        assert (reply.code, reply.fields) == (40001, {"account_id"})
        assert expect(await admin.post(PAYMENTS, body))["account_id"] is None
