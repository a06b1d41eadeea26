"""Every cent is counted once by the dashboards and in what is open, however it came in, and not at all once it is reversed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, expect, serving, unique
from tests.api.crm.sales import PAYMENTS, in_force
from tests.api.finance.accounts_of_parties import new_customer
from tests.api.finance.books import AT as FINANCE, Books
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
ZERO = Decimal(0)
# what the dashboards call them
FIGURES = ("received", "trend", "income", "expense", "sales", "purchase", "receivable", "payable")


@pytest.fixture(scope="module")
def admin(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The administrator of a company of its own, so that nothing else changes its figures."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("figures"))
    running = io_loop.run_sync(block.__aenter__)
    yield io_loop.run_sync(lambda: Client(running.url).log_in("admin"))
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@dataclass
class Figures:
    """By how much the figures change. Income less expense is always what the accounts change by."""

    client: Client
    before: dict[str, Decimal]

    @classmethod
    async def of(cls, client: Client) -> Figures:
        """From now on."""
        return cls(client, await _read(client))

    async def changed(self) -> dict[str, str]:
        """What changed since the last time."""
        now = await _read(self.client)
        change = {name: now[name] - self.before[name] for name in now}
        self.before = now
        assert change["income"] - change["expense"] == change.pop("balance")
        return {name: f"{change[name]:.2f}" for name in FIGURES if change[name]}


async def _read(client: Client) -> dict[str, Decimal]:
    async def ask(path: str) -> Any:
        return expect(await client.get(path))

    summary = await ask("/api/dashboard/finance-summary")
    trend = (await ask("/api/dashboard/sales-trend?days=30"))["items"]
    months = (await ask("/api/dashboard/sales-vs-purchase?months=2"))["items"]
    accounts = (await ask(f"{FINANCE}/accounts?page_size=200"))["items"]
    open_now = {kind: (await ask(f"{FINANCE}/ageing?kind={kind}"))["totals"] for kind in ("receivable", "payable")}
    sums = {
        "received": [(await ask("/api/dashboard/overview"))["received_amount"]],
        "trend": [row["amount"] for row in trend],
        "income": [summary["income"]],
        "expense": [summary["expense"]],
        "sales": [row["sales"] for row in months],
        "purchase": [row["purchase"] for row in months],
        "balance": [row["balance"] for row in accounts],
        **{kind: [totals["total"], f"-{totals['advances']}"] for kind, totals in open_now.items()},
    }
    return {name: sum(map(Decimal, amounts), ZERO) for name, amounts in sums.items()}


async def test_a_payment_of_a_contract_that_came_to_an_account_is_one_income(admin: Client) -> None:
    books, contract = await Books.fresh(admin), await in_force(admin, "100.00")
    figures = await Figures.of(admin)
    body = {"contract_id": contract["id"], "amount": "25.00", "account_id": books.account_id}
    payment = expect(await admin.post(PAYMENTS, body))
    once = {"received": "25.00", "trend": "25.00", "income": "25.00", "receivable": "-25.00"}
    assert await figures.changed() == once
    expect(await admin.post(f"{PAYMENTS}/{payment['id']}/reverse"))
    assert await figures.changed() == {name: f"{-Decimal(amount):.2f}" for name, amount in once.items()}


async def test_a_payment_in_finance_that_is_allocated_to_a_contract_is_the_same(admin: Client) -> None:
    books, contract = await Books.fresh(admin), await in_force(admin, "100.00")
    item = await books.item(contract)
    figures = await Figures.of(admin)
    party = {"customer_id": contract["customer_id"]}
    payment = expect(await books.enter("in", "40.00", (item, "25.00"), **party))
    assert await figures.changed() == {
        "received": "25.00",
        "trend": "25.00",
        "income": "40.00",
        "receivable": "-40.00",
    }
    expect(await books.allocate(payment, item, "15.00"))
    assert await figures.changed() == {"received": "15.00", "trend": "15.00"}
    expect(await books.reverse_payment(payment))
    assert await figures.changed() == {
        "received": "-40.00",
        "trend": "-40.00",
        "income": "-40.00",
        "receivable": "40.00",
    }


async def test_an_invoice_for_a_contract_is_no_second_receivable_and_paid_with_it(admin: Client) -> None:
    books, contract = await Books.fresh(admin), await in_force(admin, "113.00")
    item = await books.item(contract)
    figures = await Figures.of(admin)
    body = {"direction": "out", "counterparty": item["counterparty"], "open_item_id": item["id"]}
    first, second = [
        expect(await admin.post(f"{FINANCE}/invoices", {**body, "number": unique("INV"), **amounts}))
        for amounts in ({"amount": "50.00", "tax": "6.50"}, {"amount": "50.00", "tax": "6.50"})
    ]
    for invoice in (first, second):
        expect(await admin.post(f"{FINANCE}/invoices/{invoice['id']}/confirm"))
    assert await figures.changed() == {}

    async def paid() -> list[tuple[str, str]]:
        found = [expect(await admin.get(f"{FINANCE}/invoices/{one['id']}")) for one in (first, second)]
        return [(one["status"], one["paid"]) for one in found]

    received = {"contract_id": contract["id"], "account_id": books.account_id}
    payments = [expect(await admin.post(PAYMENTS, {**received, "amount": amount})) for amount in ("56.50", "56.50")]
    assert await paid() == [("paid", "56.50"), ("paid", "56.50")]
    assert (await figures.changed())["receivable"] == "-113.00"
    expect(await admin.post(f"{PAYMENTS}/{payments[1]['id']}/reverse"))
    assert await paid() == [("paid", "56.50"), ("confirmed", "0.00")]
    reply = await books.pay_invoice(second, "1.00")
    expect(reply, 40901)  # it is paid where the contract is


async def test_an_invoice_for_a_sales_order_is_paid_by_what_the_order_is_paid(admin: Client) -> None:
    goods, books = await Goods.stocked(admin, 5), await Books.fresh(admin)
    figures = await Figures.of(admin)
    order = expect(await goods.deliver(await goods.sale(2, "10.00")))
    assert await figures.changed() == {"sales": "20.00", "receivable": "20.00"}
    item = await books.item(order)
    body = {"direction": "out", "counterparty": "somebody", "open_item_id": item["id"], "number": unique("INV")}
    invoice = expect(await admin.post(f"{FINANCE}/invoices", {**body, "amount": "20.00"}))
    expect(await admin.post(f"{FINANCE}/invoices/{invoice['id']}/confirm"))
    assert await figures.changed() == {}
    payment = expect(await books.enter("in", "20.00", (item, "20.00")))
    assert await figures.changed() == {"income": "20.00", "receivable": "-20.00"}
    assert expect(await admin.get(f"{FINANCE}/invoices/{invoice['id']}"))["status"] == "paid"
    expect(await books.reverse_payment(payment))
    assert await figures.changed() == {"income": "-20.00", "receivable": "20.00"}
    assert expect(await admin.get(f"{FINANCE}/invoices/{invoice['id']}"))["status"] == "confirmed"


async def test_goods_that_come_back_take_away_what_was_sold_and_bought(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    figures = await Figures.of(admin)
    order = expect(await goods.deliver(await goods.sale(2, "10.00")))
    bought = expect(await goods.receive(await goods.purchase(3, "4.00")))
    assert await figures.changed() == {
        "sales": "20.00",
        "purchase": "12.00",
        "receivable": "20.00",
        "payable": "12.00",
    }
    (delivery,) = expect(await admin.get(f"{AT}/deliveries?order_id={order['id']}"))["items"]
    (receipt,) = expect(await admin.get(f"{AT}/receipts?order_id={bought['id']}"))["items"]
    line = {"lines": [{"product_id": goods.product_id, "quantity": "1"}]}
    sold_back = expect(await admin.post(f"{AT}/deliveries/{delivery['id']}/returns", line))
    expect(await admin.post(f"{AT}/receipts/{receipt['id']}/returns", line))
    assert await figures.changed() == {
        "sales": "-10.00",
        "purchase": "-4.00",
        "receivable": "-10.00",
        "payable": "-4.00",
    }
    expect(await admin.post(f"{AT}/sales-returns/{sold_back['id']}/reverse"))
    assert await figures.changed() == {"sales": "10.00", "receivable": "10.00"}


async def test_an_invoice_counts_when_it_is_paid_and_not_what_is_credited(admin: Client) -> None:
    books = await Books.fresh(admin)
    figures = await Figures.of(admin)
    sent, received = [await books.invoice(direction, "100.00", "13.00") for direction in ("out", "in")]
    assert await figures.changed() == {"receivable": "113.00", "payable": "113.00"}
    for invoice in (sent, received):
        expect(await admin.post(f"{FINANCE}/invoices/{invoice['id']}/credit-notes", {"amount": "10.00"}))
    assert await figures.changed() == {"receivable": "-10.00", "payable": "-10.00"}
    for invoice in (sent, received):
        expect(await books.pay_invoice(invoice))
    assert await figures.changed() == {
        "income": "103.00",
        "expense": "103.00",
        "receivable": "-103.00",
        "payable": "-103.00",
    }


async def test_an_advance_is_income_when_it_comes_and_none_when_it_is_paid_back(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    figures = await Figures.of(admin)
    advance = expect(await books.enter("in", "30.00", **party))
    assert await figures.changed() == {"income": "30.00", "receivable": "-30.00"}
    expect(await books.enter("out", "30.00", repays_id=advance["id"], **party))
    assert await figures.changed() == {"expense": "30.00", "receivable": "30.00"}


async def test_a_claim_is_owed_when_it_is_approved_and_expense_when_it_is_paid(admin: Client) -> None:
    books = await Books.fresh(admin)
    figures = await Figures.of(admin)
    claim = await books.claim("submit", "approve")
    assert await figures.changed() == {"payable": "100.05"}
    expect(await books.pay_claim(claim))
    assert await figures.changed() == {"expense": "100.05", "payable": "-100.05"}
