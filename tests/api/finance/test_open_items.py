"""Receivables from contracts and payment plans, payables from goods received: what is owed, and what is paid of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.sales import CONTRACTS, PAYMENTS, PLANS, contract, in_force
from tests.api.finance.accounts_of_parties import aged, new_customer
from tests.api.finance.books import AT, Books
from tests.api.inventory.goods import Goods

SALES = "/api/v1/inventory/sales-orders"

pytestmark = pytest.mark.gen_test(timeout=60)


async def item_of(client: Client, what: str, record: dict[str, Any], status: str = "") -> dict[str, Any] | None:
    """The open item of a record, or None."""
    query = f"resource_id={record['id']}" + (f"&status={status}" if status else "")
    rows = expect(await client.get(f"{AT}/{what}?{query}"))["items"]
    assert len(rows) <= 1
    return rows[0] if rows else None


def shown(item: dict[str, Any] | None, *names: str) -> tuple[Any, ...]:
    assert item is not None
    return tuple(item[name] for name in names)


async def test_a_contract_in_force_is_a_receivable_by_its_plans(admin: Client) -> None:
    made = await in_force(admin, "100.00")
    owed = await item_of(admin, "receivables", made)
    assert shown(owed, "number", "amount", "paid", "due_on") == (made["number"], "100.00", "0.00", None)
    for amount, day in (("60.00", "2031-03-01"), ("40.00", "2031-02-01")):
        expect(await admin.post(PLANS, {"contract_id": made["id"], "amount": amount, "due_date": day}))
    owed = await item_of(admin, "receivables", made)
    assert shown(owed, "due_on") == ("2031-02-01",)
    assert owed is not None
    assert [part["amount"] for part in owed["schedule"]] == ["40.00", "60.00"]


async def test_payments_of_a_contract_leave_less_to_receive(admin: Client) -> None:
    made = await in_force(admin, "100.00")
    paid = expect(await admin.post(PAYMENTS, {"contract_id": made["id"], "amount": "30.00"}))
    assert shown(await item_of(admin, "receivables", made), "paid", "status") == ("30.00", "partly_paid")
    expect(await admin.post(PAYMENTS, {"contract_id": made["id"], "amount": "70.00"}))
    assert await item_of(admin, "receivables", made) is None
    assert shown(await item_of(admin, "receivables", made, "paid"), "paid") == ("100.00",)
    expect(await admin.delete(f"{PAYMENTS}/{paid['id']}"))
    assert shown(await item_of(admin, "receivables", made), "paid") == ("70.00",)


async def test_nothing_is_owed_before_a_contract_is_in_force_or_after_it_was_terminated(admin: Client) -> None:
    draft = await contract(admin, "100.00")
    expect(await admin.post(f"{CONTRACTS}/{draft['id']}/submit", {}))
    assert await item_of(admin, "receivables", draft) is None
    expect(await admin.post(f"{CONTRACTS}/{draft['id']}/approve", {}))
    assert await item_of(admin, "receivables", draft) is not None
    expect(await admin.post(f"{CONTRACTS}/{draft['id']}/terminate", {"reason": "bankrupt"}))
    assert await item_of(admin, "receivables", draft) is None


async def test_goods_received_are_payable_and_paid_by_vouchers(admin: Client) -> None:
    goods, books = await Goods.fresh(admin), await Books.fresh(admin)
    order = await goods.purchase(3, "4.00")
    assert await item_of(admin, "payables", order) is None
    expect(await goods.receive(order, 1))
    assert shown(await item_of(admin, "payables", order), "amount") == ("4.00",)
    expect(await goods.receive(order))
    item = await item_of(admin, "payables", order)
    assert item is not None
    part = {"account_id": books.account_id, "amount": "5.00"}
    assert expect(await admin.post(f"{AT}/payables/{item['id']}/pay", part))["status"] == "partly_paid"
    rest = {"account_id": books.account_id}
    assert expect(await admin.post(f"{AT}/payables/{item['id']}/pay", rest))["status"] == "paid"
    assert await books.balance() == "-12.00"
    voucher = next(one for one in await books.vouchers() if one["amount"] == "5.00")
    expect(await books.reverse(voucher))
    assert shown(await item_of(admin, "payables", order), "paid", "status") == ("7.00", "partly_paid")


async def test_goods_delivered_are_receivable_by_the_parts_delivered(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order = await goods.sale(3, "9.99", discount="0.05")
    assert await item_of(admin, "receivables", order) is None
    expect(await goods.deliver(order, 1))
    owed = await item_of(admin, "receivables", order)
    named = ("biz_type", "number", "counterparty", "amount", "paid", "status")
    assert shown(owed, *named) == ("SALES_ORDER", order["number"], "somebody", "9.49", "0.00", "open")
    expect(await goods.deliver(order))
    assert shown(await item_of(admin, "receivables", order), "amount") == (order["amount"],)


async def test_each_delivery_is_due_by_the_terms_of_its_order(admin: Client) -> None:
    goods, party = await Goods.stocked(admin, 5), await new_customer(admin)
    line = {"product_id": goods.product_id, "quantity": "5", "price": "10.00"}
    body = {"customer_name": "somebody", "warehouse_id": goods.warehouse_id, "lines": [line], "terms_days": 30, **party}
    order = expect(await admin.post(SALES, body))
    assert order["terms_days"] == 30
    expect(await admin.post(f"{SALES}/{order['id']}/confirm"))
    for day, quantity, due_on in (("2026-03-01", "3", "2026-03-31"), ("2026-04-01", "2", "2026-03-31")):
        part = {"day": day, "lines": [{"product_id": goods.product_id, "quantity": quantity}]}
        expect(await admin.post(f"{SALES}/{order['id']}/deliver", part))
        assert shown(await item_of(admin, "receivables", order), "due_on") == (due_on,)
    owed = await item_of(admin, "receivables", order)
    assert owed is not None
    assert [(part["due_on"], part["amount"]) for part in owed["schedule"]] == [
        ("2026-03-31", "30.00"),
        ("2026-05-01", "20.00"),
    ]
    # open, and due for 1 to 30, 31 to 60, 61 to 90 and more days
    assert await aged(admin, party, "2026-04-15") == ("20.00", "30.00", "0.00", "0.00", "0.00")
    delivery = expect(await admin.get(f"/api/v1/inventory/deliveries?order_id={order['id']}&sort=day"))["items"][0]
    expect(await admin.post(f"/api/v1/inventory/deliveries/{delivery['id']}/reverse", {"day": "2026-04-10"}))
    assert await aged(admin, party, "2026-04-15") == ("20.00", "0.00", "0.00", "0.00", "0.00")
    assert shown(await item_of(admin, "receivables", order), "due_on", "schedule") == ("2026-05-01", None)


async def test_what_is_delivered_for_a_contract_is_owed_for_the_contract_alone(admin: Client) -> None:
    goods, signed = await Goods.stocked(admin, 5), await in_force(admin, "100.00")
    line = {"product_id": goods.product_id, "quantity": "2", "price": "50.00"}
    body = {"customer_name": "somebody", "warehouse_id": goods.warehouse_id, "lines": [line]}
    order = expect(await admin.post(SALES, {**body, "contract_id": signed["id"]}))
    assert (order["contract_id"], order["contract_name"]) == (signed["id"], signed["name"])
    expect(await admin.post(f"{SALES}/{order['id']}/confirm"))
    expect(await goods.deliver(order))
    assert await item_of(admin, "receivables", order) is None
    assert shown(await item_of(admin, "receivables", signed), "amount") == ("100.00",)
    assert [one["id"] for one in expect(await admin.get(f"{SALES}?contract_id={signed['id']}"))["items"]] == [
        order["id"]
    ]
    assert (await admin.post(SALES, {**body, "contract_id": order["id"]})).fields == {"contract_id"}


async def test_fifty_payments_of_one_payable_are_one(admin: Client) -> None:
    goods, books = await Goods.fresh(admin), await Books.fresh(admin)
    order = await goods.purchase(3, "4.00")
    expect(await goods.receive(order))
    item = await item_of(admin, "payables", order)
    assert item is not None
    body = {"account_id": books.account_id, "amount": "12.00"}
    replies = await asyncio.gather(*(admin.post(f"{AT}/payables/{item['id']}/pay", body) for _ in range(50)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 49}
    assert await books.balance() == "-12.00"


async def test_what_is_paid_elsewhere_is_not_paid_here(admin: Client) -> None:
    books = await Books.fresh(admin)
    received = await item_of(admin, "receivables", await in_force(admin))
    invoiced = await item_of(admin, "payables", await books.invoice("in"))
    for item in (received, invoiced):
        assert item is not None
        expect(await admin.post(f"{AT}/payables/{item['id']}/pay", {"account_id": books.account_id}), 40901)
    assert await books.balance() == "0.00"


async def billing(client: Client, item: dict[str, Any]) -> dict[str, Any]:
    """A draft of an invoice that bills a payable."""
    bills = {"number": unique("INV"), "counterparty": "s", "amount": item["amount"], "open_item_id": item["id"]}
    made: dict[str, Any] = expect(await client.post(f"{AT}/invoices", {"direction": "in", **bills}))
    return made


async def test_an_invoice_that_is_confirmed_while_what_it_bills_is_paid_is_paid_too(admin: Client) -> None:
    goods, books = await Goods.fresh(admin), await Books.fresh(admin)
    requests, invoices = [], []
    for _ in range(10):
        order = await goods.purchase(3, "4.00")
        expect(await goods.receive(order))
        item = await item_of(admin, "payables", order)
        assert item is not None
        invoices.append(await billing(admin, item))
        requests.append(admin.post(f"{AT}/invoices/{invoices[-1]['id']}/confirm"))
        requests.append(admin.post(f"{AT}/payables/{item['id']}/pay", {"account_id": books.account_id}))
    for reply in await asyncio.gather(*requests):
        expect(reply)
    read = [expect(await admin.get(f"{AT}/invoices/{invoice['id']}")) for invoice in invoices]
    assert [(invoice["status"], invoice["paid"]) for invoice in read] == [("paid", "12.00")] * 10


async def test_an_invoice_that_bills_an_order_is_no_further_payable(admin: Client) -> None:
    goods, books = await Goods.fresh(admin), await Books.fresh(admin)
    order = await goods.purchase(3, "4.00")
    expect(await goods.receive(order))
    item = await item_of(admin, "payables", order)
    assert item is not None
    invoice = await billing(admin, item)
    expect(await admin.post(f"{AT}/invoices/{invoice['id']}/confirm"))
    assert await item_of(admin, "payables", invoice) is None
    expect(await books.pay_invoice(invoice), 40901)


@pytest.mark.parametrize("direction", ["in", "out"])
async def test_an_invoice_bills_nothing_of_the_other_direction_and_no_other_invoice(
    direction: str, admin: Client
) -> None:
    goods, books = await Goods.fresh(admin), await Books.fresh(admin)
    order = await goods.purchase(3, "4.00")
    expect(await goods.receive(order))
    of = await (
        item_of(admin, "payables", order)
        if direction == "out"
        else item_of(admin, "payables", await books.invoice("in"))
    )
    assert of is not None
    body = {"direction": direction, "number": unique("INV"), "counterparty": "s", "amount": "12.00"}
    reply = await admin.post(f"{AT}/invoices", {**body, "open_item_id": of["id"]})
    expect(reply, 40001)
    assert reply.fields == {"open_item_id"}
    draft = expect(await admin.post(f"{AT}/invoices", body))
    expect(await admin.patch(f"{AT}/invoices/{draft['id']}", {"version": 1, "open_item_id": of["id"]}), 40001)


async def test_a_void_invoice_is_not_owed(admin: Client) -> None:
    invoice = await (await Books.fresh(admin)).invoice()
    assert await item_of(admin, "receivables", invoice) is not None
    expect(await admin.post(f"{AT}/invoices/{invoice['id']}/void"))
    assert await item_of(admin, "receivables", invoice) is None


async def test_an_item_knows_its_customer_or_supplier_and_when_it_changed(admin: Client) -> None:
    made = await in_force(admin, "100.00")
    expect(
        await admin.post(PAYMENTS, {"contract_id": made["id"], "amount": "30.00", "paid_at": "2026-01-05T12:00:00Z"})
    )
    owed = await item_of(admin, "receivables", made)
    assert shown(owed, "customer_id", "supplier_id", "day") == (made["customer_id"], None, made["signed_date"])
    assert owed is not None
    assert await changes_of(admin, owed) == [
        ("2026-01-05", "paid", "0.00", "30.00"),
        (made["signed_date"], "owed", "100.00", "0.00"),
    ]
    goods = await Goods.fresh(admin)
    order = await goods.purchase(3, "4.00")
    for day in ("2026-02-03", "2026-02-04"):
        expect(await admin.post(f"/api/v1/inventory/purchase-orders/{order['id']}/receive", receipt(order, day)))
    owed = await item_of(admin, "payables", order)
    assert shown(owed, "customer_id", "supplier_id", "day") == (None, order["supplier_id"], "2026-02-03")
    assert owed is not None
    assert await changes_of(admin, owed) == [
        ("2026-02-03", "owed", "0.00", "4.00"),
        ("2026-02-04", "owed", "0.00", "4.00"),
    ]


async def changes_of(client: Client, item: dict[str, Any]) -> list[tuple[str, ...]]:
    """The lines of the statement of an item: day, kind, debit and credit. They add up to what is open."""
    said = expect(await client.get(f"{AT}/statements?open_item_id={item['id']}"))
    assert Decimal(said["closing_balance"]) == Decimal(item["amount"]) - Decimal(item["paid"])
    return [tuple(line[name] for name in ("day", "kind", "debit", "credit")) for line in said["items"]]


def receipt(order: dict[str, Any], day: str) -> dict[str, Any]:
    return {"day": day, "lines": [{"product_id": order["lines"][0]["product_id"], "quantity": "1"}]}


async def test_an_invoice_names_its_customer_or_supplier(admin: Client) -> None:
    customer = (await in_force(admin, "1.00"))["customer_id"]
    body = {"direction": "out", "number": unique("INV"), "counterparty": "c", "amount": "5.00"}
    draft = expect(await admin.post(f"{AT}/invoices", {**body, "customer_id": customer}))
    expect(await admin.post(f"{AT}/invoices/{draft['id']}/confirm"))
    assert shown(await item_of(admin, "receivables", draft), "customer_id") == (customer,)
    refused = await admin.post(f"{AT}/invoices", {**body, "direction": "in", "customer_id": customer})
    assert (refused.code, refused.fields) == (40001, {"customer_id"})
