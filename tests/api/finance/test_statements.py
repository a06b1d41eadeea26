"""Statements of account: every change of what is open, with the balance after it."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.operations.migrations import MIGRATIONS
from plugins.boot.runtime import Running
from plugins.finance.entries import ENTRIES
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.testing import Client, expect, unique
from tests.api.crm.sales import PAYMENTS, customer, in_force
from tests.api.finance.accounts_of_parties import ageing, billed, new_customer, paid, statement
from tests.api.finance.books import AT, Books
from tests.api.finance.filled import OF_FILLING, fill
from tests.api.inventory.goods import Goods

pytestmark = pytest.mark.gen_test(timeout=60)
Record = dict[str, Any]


def lines(found: Record) -> list[tuple[str, ...]]:
    return [(one["day"], one["kind"], one["debit"], one["credit"], one["balance"]) for one in found["items"]]


async def test_a_statement_has_invoices_payments_and_the_balance_after_each(admin: Client) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    first = await billed(admin, party, "100.00", "2026-01-10", "2026-02-10")
    await billed(admin, party, "50.00", "2026-03-01", None)
    await paid(books, first, "30.00", "2026-02-15")
    found = await statement(admin, party, to="2026-12-31")
    assert lines(found) == [
        ("2026-01-10", "owed", "100.00", "0.00", "100.00"),
        ("2026-02-15", "paid", "0.00", "30.00", "70.00"),
        ("2026-03-01", "owed", "50.00", "0.00", "120.00"),
    ]
    assert [one["number"] for one in found["items"][:2]] == [first["number"]] * 2
    sums = (found["opening_balance"], found["debit"], found["credit"], found["closing_balance"])
    assert sums == ("0.00", "150.00", "30.00", "120.00")


async def test_a_statement_names_its_party_and_its_items_as_they_are_called_now(admin: Client) -> None:
    who = await customer(admin)
    party, books = {"customer_id": who["id"]}, await Books.fresh(admin)
    invoice = await billed(admin, party, "10.00", "2026-01-10", None)
    advance = {"direction": "in", "account_id": books.account_id, "amount": "5.00", "day": "2026-01-11", **party}
    expect(await admin.post(f"{AT}/payments", advance))
    renamed = {"name": unique("远望"), "version": who["version"]}
    expect(await admin.patch(f"/api/v1/crm/customers/{who['id']}", renamed))
    found = await statement(admin, party, to="2026-12-31")
    assert (found["customer_name"], found["supplier_name"]) == (renamed["name"], None)
    assert [line["open_item_name"] for line in found["items"]] == [invoice["number"], None]


async def test_the_opening_balance_is_what_was_open_before_the_first_day(admin: Client) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    invoice = await billed(admin, party, "100.00", "2026-01-10", None)
    await paid(books, invoice, "30.00", "2026-02-15")
    found = await statement(admin, party, **{"from": "2026-02-15", "to": "2026-02-15"})
    assert (found["opening_balance"], found["closing_balance"]) == ("100.00", "70.00")
    assert lines(found) == [("2026-02-15", "paid", "0.00", "30.00", "70.00")]


async def test_a_last_day_before_the_first_is_refused(admin: Client) -> None:
    reply = await admin.get(f"{AT}/statements?customer_id={'0' * 24}&from=2026-02-15&to=2026-02-14")
    assert (reply.code, reply.fields) == (40001, {"to"})


async def test_a_statement_has_pages_whose_balances_go_on(admin: Client) -> None:
    party = await new_customer(admin)
    for number in range(5):
        await billed(admin, party, f"{number + 1}.00", "2026-01-10", None)
    whole = lines(await statement(admin, party))
    pages, cursor = [], {}
    while True:
        page = await statement(admin, party, page_size=2, **cursor)
        pages += lines(page)
        assert page["closing_balance"] == "15.00"
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert pages == whole
    assert whole[-1][-1] == "15.00"


async def test_goods_received_are_the_credit_side_of_a_supplier(admin: Client) -> None:
    goods, books = await Goods.fresh(admin), await Books.fresh(admin)
    order = await goods.purchase(3, "4.00")
    expect(await goods.receive(order))
    party = {"supplier_id": order["supplier_id"]}
    item = expect(await admin.get(f"{AT}/payables?resource_id={order['id']}"))["items"][0]
    expect(await admin.post(f"{AT}/payables/{item['id']}/pay", {"account_id": books.account_id, "amount": "5.00"}))
    found = await statement(admin, party)
    sides = [(one["debit"], one["credit"], one["balance"]) for one in found["items"]]
    assert sides == [("0.00", "12.00", "12.00"), ("5.00", "0.00", "7.00")]
    assert (found["debit"], found["credit"], found["closing_balance"]) == ("5.00", "12.00", "7.00")


async def test_a_payment_of_a_contract_that_is_taken_back_leaves_the_balance_as_it_was(admin: Client) -> None:
    made = await in_force(admin, "100.00", signed_date="2026-01-01")
    party = {"customer_id": made["customer_id"]}
    body = {"contract_id": made["id"], "amount": "40.00", "paid_at": "2026-02-01T04:00:00Z"}
    payment = expect(await admin.post(PAYMENTS, body))
    assert (await statement(admin, party))["closing_balance"] == "60.00"
    expect(await admin.delete(f"{PAYMENTS}/{payment['id']}"))
    assert (await statement(admin, party))["closing_balance"] == "100.00"


async def test_an_advance_is_on_the_account_until_it_is_allocated_paid_back_or_reversed(admin: Client) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    invoice = await billed(admin, party, "100.00", "2026-02-10", None)
    advance = expect(await books.enter("in", "80.00", day="2026-02-01", **party))
    assert (await statement(admin, party))["closing_balance"] == "20.00"
    row = await ageing(admin, party, "2026-02-10")
    assert row is not None
    assert (row["total"], row["advances"]) == ("100.00", "80.00")
    expect(await books.allocate(advance, await books.item(invoice), "50.00", day="2026-02-20"))
    expect(await books.enter("out", "10.00", day="2026-02-21", repays_id=advance["id"], **party))
    found = await statement(admin, party)
    assert lines(found)[0] == ("2026-02-01", "advance", "0.00", "80.00", "-80.00")
    assert found["closing_balance"] == "30.00"
    row = await ageing(admin, party, "2026-02-28")
    assert row is not None
    assert (row["total"], row["advances"]) == ("50.00", "20.00")
    other = expect(await books.enter("in", "30.00", day="2026-02-22", **party))
    expect(await books.reverse_payment(other, day="2026-02-23"))
    assert (await statement(admin, party))["closing_balance"] == "30.00"


async def test_what_a_company_owes_us_and_we_owe_it_is_set_off(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    bought, sold = {"supplier_id": await goods.supplier()}, await new_customer(admin)
    await billed(admin, sold, "100.00", "2026-01-10", None)
    await billed(admin, bought, "30.00", "2026-01-11", None)
    found = await statement(admin, {**bought, **sold})
    assert [one["balance"] for one in found["items"]] == ["100.00", "70.00"]
    assert (found["debit"], found["credit"], found["closing_balance"]) == ("100.00", "30.00", "70.00")


async def test_a_statement_is_of_somebody(admin: Client) -> None:
    reply = await admin.get(f"{AT}/statements")
    expect(reply, 40001)
    assert reply.fields == {"customer_id"}


@pytest.mark.parametrize("cursor", ["x", "2026-01-01", "2026-01-01_x", "2026-99-01_65f0c0ffee65f0c0ffee65f0"])
async def test_another_cursor_than_it_gave_is_refused(cursor: str, admin: Client) -> None:
    party = await new_customer(admin)
    reply = await admin.get(f"{AT}/statements?customer_id={party['customer_id']}&cursor={cursor}")
    expect(reply, 40001)
    assert reply.fields == {"cursor"}


async def test_a_statement_is_exported_as_a_table(admin: Client) -> None:
    party = await new_customer(admin)
    await billed(admin, party, "100.00", "2026-01-10", None)
    at = f"{AT}/statements/export?customer_id={party['customer_id']}&fields=day,debit,balance"
    reply = await admin.get(at)
    assert reply.body.decode("utf-8-sig").split() == ["day,debit,balance", "2026-01-10,100.00,100.00"]
    assert (await admin.get(f"{at}&format=xlsx&headers=labels")).status == 200


async def left_by_an_older_version(party: Record, running: Running) -> None:
    """Leave the items of a customer as a version did that knew neither their days nor entries."""
    driver, of_customer = running.service.database.driver, {"customer_id": OPEN_ITEMS.parse_id(party["customer_id"])}
    await driver.update_many(OPEN_ITEMS.name, of_customer, {"$unset": {"day": ""}})
    await driver.delete_many(ENTRIES.name, of_customer)
    await driver.delete_many(MIGRATIONS, OF_FILLING)


async def test_items_of_an_older_version_get_their_entries(admin: Client, tradewind: Running) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    invoice = await billed(admin, party, "100.00", "2026-01-10", None)
    await paid(books, invoice, "30.00", "2026-02-15")
    await left_by_an_older_version(party, tradewind)
    await fill(tradewind.service)
    found = await statement(admin, party)
    assert [line[1:4] for line in lines(found)] == [("paid", "0.00", "30.00"), ("owed", "100.00", "0.00")]
    assert (found["items"][0]["day"], found["closing_balance"]) == ("2026-02-15", "70.00")


async def test_an_item_of_an_older_version_may_be_paid_before_it_has_entries(admin: Client, tradewind: Running) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    invoice = await billed(admin, party, "100.00", "2026-01-10", None)
    await paid(books, invoice, "30.00", "2026-02-15")
    await left_by_an_older_version(party, tradewind)
    await paid(books, invoice, "20.00", "2026-02-20")
    found = await statement(admin, party)
    assert sorted(line[2:4] for line in lines(found)) == [("0.00", "20.00"), ("0.00", "30.00"), ("100.00", "0.00")]
    assert found["closing_balance"] == "50.00"
