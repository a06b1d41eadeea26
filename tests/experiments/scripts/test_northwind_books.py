"""`python -m tests.experiments.northwind_load --books`: from the order to the cash, to the cent, by the CSV files alone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import PASSWORD, Client, expect, serving
from tests.experiments.scripts.northwind_chain import BUCKETS, LAST, Chain
from tests.experiments.scripts.northwind_figures import money
from tests.experiments.scripts.northwind_folder import FOLDER, Run, copy_since, needs_folder, northwind

pytestmark = [needs_folder, pytest.mark.gen_test(timeout=300)]
SINCE = "1998-03-01"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the company, with the orders of its last months."""
    return copy_since(SINCE, FOLDER, tmp_path_factory.mktemp("northwind") / "files")


@pytest.fixture(scope="module")
def tradewind(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that holds nothing else."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("data"), demo=False)
    yield io_loop.run_sync(block.__aenter__)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def load(tradewind: Running, folder: Path) -> Run:
    return await northwind(
        folder,
        "--base",
        tradewind.url,
        "--passwords",
        folder / "passwords.json",
        "--books",
        admin_password=PASSWORD,
    )


@pytest.fixture(scope="module")
def admin(io_loop: IOLoop, tradewind: Running, folder: Path) -> Client:
    """The administrator, once the company is there."""
    run: Run = io_loop.run_sync(lambda: load(tradewind, folder))
    assert run.code == 0, run.err
    client: Client = io_loop.run_sync(lambda: Client(tradewind.url).log_in("admin"))
    return client


@pytest.fixture(scope="module")
def chain(folder: Path, admin: Client) -> Chain:
    """What the files say, once the service holds them."""
    return Chain(folder)


async def every(admin: Client, path: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    cursor = ""
    while True:
        page = expect(await admin.get(f"{path}{'&' if '?' in path else '?'}page_size=200{cursor}"))
        records += page["items"]
        if page["next_cursor"] is None:
            return records
        cursor = f"&cursor={page['next_cursor']}"


async def codes(admin: Client) -> dict[str, str]:
    """The codes of the customers by id."""
    return {record["id"]: record["code"] for record in await every(admin, "/api/v1/crm/customers")}


@pytest.mark.parametrize("days_later", [-21, 0, 40, 70])
async def test_ageing_on_a_day_is_that_of_the_files(days_later: int, admin: Client, chain: Chain) -> None:
    on = LAST + timedelta(days=days_later)
    found = expect(await admin.get(f"/api/v1/finance/ageing?kind=receivable&day={on}"))
    names, amounts = await codes(admin), (*BUCKETS, "advances", "total")
    shown = {names[row["customer_id"]]: {name: row[name] for name in amounts} for row in found["items"]}
    expected = chain.ageing(on)
    assert shown == expected
    totals = {name: money(Decimal(row[name]) for row in expected.values()) for name in amounts}
    assert found["totals"] == totals
    assert len([name for name in amounts if totals[name] != "0.00"]) >= 4


async def test_the_statement_of_a_customer_has_every_delivery_and_payment(admin: Client, chain: Chain) -> None:
    names = await codes(admin)
    counted = {code: len(chain.statement(code)) for code in names.values()}
    for code in sorted(counted, key=lambda one: -counted[one])[:4]:
        id = next(id for id, name in names.items() if name == code)
        statement = expect(await admin.get(f"/api/v1/finance/statements?customer_id={id}&page_size=1000"))
        lines = chain.statement(code)
        assert sorted((line["day"], line["debit"], line["credit"]) for line in statement["items"]) == lines
        debit, credit = (money(Decimal(line[side]) for line in lines) for side in (1, 2))
        assert (statement["debit"], statement["credit"]) == (debit, credit)
        assert statement["closing_balance"] == f"{Decimal(debit) - Decimal(credit):.2f}"


async def test_what_was_received_is_on_the_account_and_is_the_income(admin: Client, chain: Chain) -> None:
    received = f"{chain.received():.2f}"
    payments = await every(admin, "/api/v1/finance/payments")
    (account,) = await every(admin, "/api/v1/finance/accounts")
    summary = expect(await admin.get("/api/dashboard/finance-summary"))
    assert money(Decimal(one["amount"]) for one in payments) == received
    assert account["balance"] == received
    assert (summary["income"], summary["expense"]) == (received, "0.00")


async def test_freight_and_discounts_are_those_of_the_files(admin: Client, chain: Chain, folder: Path) -> None:
    orders = await every(admin, "/api/v1/inventory/sales-orders")
    lines = [line for order in orders for line in order["lines"]]
    full = sum(Decimal(line["price"]) * Decimal(line["quantity"]) for line in lines)
    assert money(Decimal(order["freight"]) for order in orders) == money(chain.freight.values())
    assert full - sum(Decimal(line["amount"]) for line in lines) == chain.discounts(folder)
    assert money(Decimal(order["amount"]) for order in orders) == money(chain.price.values())


async def test_deliveries_come_to_what_customers_owe_and_paid(admin: Client, chain: Chain) -> None:
    deliveries = await every(admin, "/api/v1/inventory/deliveries")
    delivered = money(chain.price[order] for order in chain.shipped)
    assert money(Decimal(one["amount"]) for one in deliveries) == delivered
    items = [
        item
        for status in ("open", "partly_paid", "paid")
        for item in await every(admin, f"/api/v1/finance/receivables?status={status}")
    ]
    assert money(Decimal(item["amount"]) for item in items) == delivered
    assert money(Decimal(item["paid"]) for item in items) == money(chain.paid.values())


async def test_invoices_are_paid_by_what_pays_their_deliveries(admin: Client, chain: Chain) -> None:
    invoices = await every(admin, "/api/v1/finance/invoices")
    shown = {one["number"]: (one["total"], one["paid"], one["due_on"]) for one in invoices}
    assert shown == {
        f"NW-{order}": (
            f"{chain.price[order]:.2f}",
            f"{chain.paid[order]:.2f}",
            (day + timedelta(days=14)).isoformat(),
        )
        for order, day in chain.shipped.items()
        if chain.price[order] >= 2000
    }
    assert {"paid", "partly_paid", "confirmed"} == {one["status"] for one in invoices}


@pytest.mark.usefixtures("chain")
async def test_the_ledgers_agree_with_their_entries(tradewind: Running) -> None:
    assert await differences(tradewind.service.database.driver) == []


@pytest.mark.usefixtures("chain")
async def test_a_second_run_books_nothing_again(tradewind: Running, folder: Path) -> None:
    run = await load(tradewind, folder)
    assert run.out.splitlines()[-1] == "0 created, 0 changed"
