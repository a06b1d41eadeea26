"""Allocations that are changed later: taken back, moved to another item of the party, refunded on a contract."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from plugins.testing import Client, Reply, expect, unique
from tests.api.crm.sales import CONTRACTS, PAYMENTS as RECEIPTS, in_force
from tests.api.crm.test_amendments import amended
from tests.api.finance.accounts_of_parties import aged, ageing, billed, dunned, new_customer
from tests.api.finance.books import AT, Books
from tests.api.inventory.goods import AT as INVENTORY, Goods
from tests.api.inventory.test_document_numbers import numbered

pytestmark = pytest.mark.gen_test(timeout=60)
NOBODY = {"id": "6561b1c0e4b0a1b2c3d4e5f6"}
Record = dict[str, Any]


def shown(record: Record, *names: str) -> tuple[Any, ...]:
    return tuple(record[name] for name in names)


def rules(reply: Reply) -> list[tuple[str, str]]:
    assert reply.code == 40001, reply
    return [(one["field"], one["rule"]) for one in reply.data["errors"]]


def refusal(reply: Reply) -> Any:
    assert reply.code == 40901, reply
    return reply.data


async def take_back(books: Books, payment: Record, item: Record, **fields: Any) -> Reply:
    return await books.client.post(f"{AT}/payments/{payment['id']}/take-back", {"open_item_id": item["id"], **fields})


async def credit(
    books: Books, item: Record, *parts: tuple[Record, str], what: str = "receivables", **more: Any
) -> Reply:
    rows = [{"open_item_id": one["id"], "amount": amount} for one, amount in parts]
    return await books.client.post(f"{AT}/{what}/{item['id']}/credits", {"allocations": rows, **more})


async def received(admin: Client, contract: Record) -> Any:
    return expect(await admin.get(f"{CONTRACTS}/{contract['id']}"))["received_amount"]


async def owed(admin: Client, party: Record, amount: str, due_on: str = "2026-02-01") -> Record:
    """The open item of an invoice of January 2nd."""
    bill = await billed(admin, party, amount, "2026-01-02", due_on)
    (item,) = expect(await admin.get(f"{AT}/receivables?resource_id={bill['id']}"))["items"]
    return dict(item)


async def overpaid(books: Books, party: Record, amount: str, credited: str) -> tuple[Record, Record]:
    """An item that was paid on January 5th and of which a part was credited on the 10th, and its payment."""
    item = await owed(books.client, party, amount)
    payment = expect(await books.enter("in", amount, (item, amount), day="2026-01-05", **party))
    note = {"amount": credited, "day": "2026-01-10"}
    expect(await books.client.post(f"{AT}/invoices/{item['resource_id']}/credit-notes", note))
    return item, payment


async def item_now(books: Books, item: Record) -> tuple[Any, ...]:
    return shown(await books.item({"id": item["resource_id"]}), "paid", "status")


# -- taken back


async def test_an_allocation_that_is_taken_back_leaves_an_advance_and_stays_readable(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    item = await owed(admin, party, "50.00")
    payment = expect(await books.enter("in", "60.00", (item, "50.00"), day="2026-01-05", **party))
    gone = expect(await take_back(books, payment, item, day="2026-01-20", reason="wrong invoice"))
    assert shown(gone, "allocated", "unallocated", "status", "allocations") == ("0.00", "60.00", "booked", [])
    (row,) = gone["taken_back"]
    assert shown(row, "open_item_id", "amount", "day", "taken_back_on", "reason") == (
        item["id"],
        "50.00",
        "2026-01-05",
        "2026-01-20",
        "wrong invoice",
    )
    assert await item_now(books, item) == ("0.00", "open")
    assert expect(await admin.get(f"{AT}/invoices/{item['resource_id']}"))["status"] == "confirmed"
    for day, left, advance in (("2026-01-19", "0.00", "10.00"), ("2026-01-20", "50.00", "60.00")):
        assert (await aged(admin, party, day))[0] == left
        row = await ageing(admin, party, day)
        assert row is not None
        assert row["advances"] == advance
    assert await books.balance() == "60.00"
    other = await owed(admin, party, "60.00")
    assert expect(await books.allocate(gone, other, "60.00"))["unallocated"] == "0.00"
    expect(await books.reverse_payment(payment))
    assert (await item_now(books, item), await item_now(books, other)) == (("0.00", "open"),) * 2
    assert await books.balance() == "0.00"


async def test_a_part_is_taken_back_of_the_latest_allocations_to_the_item(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    item = await owed(admin, party, "50.00")
    payment = expect(await books.enter("in", "40.00", (item, "10.00"), day="2026-01-05", **party))
    expect(await books.allocate(payment, item, "30.00", day="2026-01-08"))
    gone = expect(await take_back(books, payment, item, amount="35.00", day="2026-01-20"))
    assert [shown(row, "amount", "day") for row in gone["allocations"]] == [("5.00", "2026-01-05")]
    assert [shown(row, "amount", "day") for row in gone["taken_back"]] == [
        ("30.00", "2026-01-08"),
        ("5.00", "2026-01-05"),
    ]
    assert await item_now(books, item) == ("5.00", "partly_paid")


async def test_what_cannot_be_taken_back_is_refused_and_nothing_is_half_booked(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    item, other = [await owed(admin, party, "50.00") for _ in range(2)]
    payment = expect(await books.enter("in", "50.00", (item, "20.00"), day="2026-01-05", **party))
    assert refusal(await take_back(books, payment, item, amount="20.01"))["open"] == "20.00"
    for unknown in (other, NOBODY):
        refused = await take_back(books, payment, unknown)
        assert (refused.json["msg"], refusal(refused)["open"]) == ("该收付款未核销该款项", "0.00")
    assert rules(await take_back(books, payment, item, day="2026-01-04")) == [("day", "minimum")]
    for amount in ("0.00", "-1.00", "0.001", "12345678901234.00"):
        assert (await take_back(books, payment, item, amount=amount)).fields == {"amount"}
    assert rules(await take_back(books, payment, item, day="2199-12-31")) == [("day", "future")]
    assert (await admin.post(f"{AT}/payments/{payment['id']}/take-back", {})).fields == {"open_item_id"}
    expect(await take_back(books, NOBODY, item), 40400)
    expect(await take_back(books, payment, item, version=payment["version"] + 1), 40902)
    assert await item_now(books, item) == ("20.00", "partly_paid")
    expect(await books.reverse_payment(payment))
    expect(await take_back(books, payment, item), 40901)


async def test_nothing_is_taken_back_in_a_closed_month(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    bill = await billed(admin, party, "50.00", "2007-01-02", "2007-02-01")
    (item,) = expect(await admin.get(f"{AT}/receivables?resource_id={bill['id']}"))["items"]
    payment = expect(await books.enter("in", "50.00", (item, "50.00"), day="2007-01-05", **party))
    await admin.post(f"{AT}/periods/2007-01/close")
    expect(await take_back(books, payment, item, day="2007-01-06"), 40901)
    assert await item_now(books, item) == ("50.00", "paid")
    expect(await take_back(books, payment, item, day="2007-02-01"))


async def test_many_who_take_back_at_once_take_back_no_more_than_there_is(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    item = await owed(admin, party, "50.00")
    payment = expect(await books.enter("in", "50.00", (item, "50.00"), **party))
    replies = await asyncio.gather(*(take_back(books, payment, item, amount="4.00") for _ in range(30)))
    assert Counter(reply.code for reply in replies) == {0: 12, 40901: 18}
    assert await item_now(books, item) == ("2.00", "partly_paid")
    left = expect(await admin.get(f"{AT}/payments/{payment['id']}"))
    assert shown(left, "allocated", "unallocated") == ("2.00", "48.00")


async def test_what_was_entered_at_a_contract_is_taken_back_there(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    body = {"contract_id": made["id"], "amount": "30.00", "account_id": books.account_id}
    expect(await admin.post(RECEIPTS, body))
    (payment,) = expect(await admin.get(f"{AT}/payments?account_id={books.account_id}"))["items"]
    expect(await take_back(books, payment, await books.item(made)), 40901)
    assert await received(admin, made) == "30.00"


async def test_what_finance_allocated_to_a_contract_is_taken_back_in_parts_or_whole(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    item = await books.item(made)
    payment = expect(await books.enter("in", "40.00", (item, "40.00")))
    for part, left, status in (({"amount": "10.00"}, "30.00", "partly_paid"), ({}, "0.00", "open")):
        expect(await take_back(books, payment, item, **part))
        assert (await received(admin, made), await item_now(books, item)) == (left, (left, status))
    rows = expect(await admin.get(f"{RECEIPTS}?contract_id={made['id']}"))["items"]
    assert sorted(row["amount"] for row in rows) == ["-10.00", "-30.00", "40.00"]


async def test_a_part_of_what_was_paid_too_much_of_a_contract_settles_an_invoice_and_another_contract(
    admin: Client,
) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00", signed_date="2026-01-02")
    party = {"customer_id": made["customer_id"]}
    item, other = await books.item(made), await books.item(await in_force(admin, "20.00", **party))
    payment = expect(await books.enter("in", "100.00", (item, "100.00"), day="2026-01-05"))
    claim = {"direction": "out", "number": unique("INV"), "amount": "100.00", "open_item_id": item["id"]}
    invoice = expect(await admin.post(f"{AT}/invoices", claim))
    expect(await admin.post(f"{AT}/invoices/{invoice['id']}/confirm"))
    expect(await admin.post(f"{AT}/invoices/{invoice['id']}/credit-notes", {"amount": "40.00"}))
    bill = await owed(admin, party, "50.00")
    assert refusal(await credit(books, item, (bill, "40.01")))["open"] == "40.00"
    moved = expect(await credit(books, item, (bill, "25.00"), (other, "10.00")))
    assert (moved["paid"], await received(admin, made)) == ("65.00", "65.00")
    assert await received(admin, {"id": other["resource_id"]}) == "10.00"
    assert await item_now(books, bill) == ("25.00", "partly_paid")
    expect(await books.reverse_payment(payment))
    assert (await received(admin, made), await item_now(books, bill)) == ("0.00", ("0.00", "open"))
    assert await books.balance() == "0.00"


async def test_a_part_of_a_refund_that_is_taken_back_counts_even_if_the_contract_is_paid_again(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    item = await books.item(made)
    moved = (("in", "100.00"), ("out", "30.00"), ("in", "30.00"))
    _, refund, _ = [expect(await books.enter(way, amount, (item, amount))) for way, amount in moved]
    expect(await take_back(books, refund, item, amount="10.00"))
    assert await received(admin, made) == "110.00"


async def test_of_two_allocations_to_a_contract_one_is_taken_back(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    item = await books.item(made)
    payment = expect(await books.enter("in", "90.00", (item, "60.00"), customer_id=made["customer_id"]))
    expect(await books.allocate(payment, item, "30.00"))
    assert expect(await take_back(books, payment, item, amount="30.00"))["allocated"] == "60.00"
    rows = expect(await admin.get(f"{RECEIPTS}?contract_id={made['id']}"))["items"]
    assert sorted(row["amount"] for row in rows) == ["-30.00", "30.00", "60.00"]
    assert await received(admin, made) == "60.00"


# -- credits between items


async def test_what_was_paid_too_much_settles_another_item_of_the_customer(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    item, payment = await overpaid(books, party, "100.00", "60.00")
    first, second = await owed(admin, party, "45.00"), await owed(admin, party, "80.00")
    left = expect(await credit(books, item, (first, "45.00"), (second, "15.00"), day="2026-01-20", reason="agreed"))
    assert shown(left, "amount", "paid", "status") == ("40.00", "40.00", "paid")
    assert (await item_now(books, first), await item_now(books, second)) == (
        ("45.00", "paid"),
        ("15.00", "partly_paid"),
    )
    changed = expect(await admin.get(f"{AT}/payments/{payment['id']}"))
    assert shown(changed, "allocated", "unallocated") == ("100.00", "0.00")
    assert [shown(row, "open_item_id", "amount", "day") for row in changed["allocations"]] == [
        (item["id"], "40.00", "2026-01-05"),
        (first["id"], "45.00", "2026-01-20"),
        (second["id"], "15.00", "2026-01-20"),
    ]
    assert [shown(row, "amount", "taken_back_on", "reason") for row in changed["taken_back"]] == [
        ("60.00", "2026-01-20", "agreed")
    ]
    # 125.00 are open besides what was paid too much, until that is used for them
    assert [(await aged(admin, party, f"2026-01-{day}"))[0] for day in ("19", "20")] == ["65.00", "65.00"]
    assert await books.balance() == "100.00"


async def test_a_credit_is_taken_from_several_payments_the_latest_first(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    item, other = await owed(admin, party, "100.00"), await owed(admin, party, "100.00")
    early, late = [
        expect(await books.enter("in", amount, (item, amount), day=day, **party))
        for amount, day in (("70.00", "2026-01-05"), ("30.00", "2026-01-08"))
    ]
    expect(
        await admin.post(f"{AT}/invoices/{item['resource_id']}/credit-notes", {"amount": "50.00", "day": "2026-01-10"})
    )
    expect(await credit(books, item, (other, "50.00")))
    sums = [
        [row["amount"] for row in expect(await admin.get(f"{AT}/payments/{one['id']}"))["allocations"]]
        for one in (early, late)
    ]
    assert sums == [["50.00", "20.00"], ["30.00"]]
    assert (await item_now(books, item), await item_now(books, other)) == (("50.00", "paid"), ("50.00", "partly_paid"))


async def test_a_credit_that_cannot_be_given_names_what_is_wrong(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    item, _ = await overpaid(books, party, "100.00", "60.00")
    mine, small = await owed(admin, party, "100.00"), await owed(admin, party, "5.00")
    foreign = await owed(admin, await new_customer(admin), "100.00")
    at = "allocations[0].open_item_id"
    for wrong in (foreign, item, NOBODY):
        assert rules(await credit(books, item, (wrong, "5.00"))) == [(at, "reference")]
    assert rules(await credit(books, item, (mine, "5.00"), (mine, "5.00"))) == [
        ("allocations[1].open_item_id", "duplicate")
    ]
    assert refusal(await credit(books, item, (mine, "60.01")))["open"] == "60.00"
    assert refusal(await credit(books, mine, (small, "1.00")))["open"] == "0.00"
    assert refusal(await credit(books, item, (mine, "1.00"), (small, "5.01"))) == {
        "open": "5.00",
        "field": "allocations[1].amount",
    }
    assert rules(await credit(books, item, (mine, "5.00"), day="2026-01-04")) == [("day", "minimum")]
    expect(await credit(books, item, (mine, "5.00"), what="payables"), 40901)
    expect(await credit(books, item, (mine, "12345678901234567.00")), 40001)
    expect(await credit(books, item), 40001)
    assert (await item_now(books, item), await item_now(books, mine)) == (("100.00", "paid"), ("0.00", "open"))


async def test_a_supplier_who_was_paid_too_much_is_paid_by_that_for_another_purchase(admin: Client) -> None:
    books, goods = await Books.fresh(admin), await Goods.fresh(admin)
    supplier = await goods.supplier()
    items = []
    for _ in range(2):
        line = {"product_id": goods.product_id, "quantity": "5", "price": "4.00"}
        body = {"supplier_id": supplier, "warehouse_id": goods.warehouse_id, "lines": [line]}
        order = expect(await admin.post(f"{INVENTORY}/purchase-orders", body))
        expect(await admin.post(f"{INVENTORY}/purchase-orders/{order['id']}/confirm"))
        items.append(await books.item(expect(await goods.receive(order))))
    first, second = items
    expect(await books.enter("out", "20.00", (first, "20.00")))
    (receipt,) = expect(await admin.get(f"{INVENTORY}/receipts?order_id={first['resource_id']}"))["items"]
    lines = [{"product_id": goods.product_id, "quantity": "3"}]
    expect(await admin.post(f"{INVENTORY}/receipts/{receipt['id']}/returns", {"lines": lines}))
    left = expect(await credit(books, first, (second, "12.00"), what="payables"))
    assert shown(left, "amount", "paid") == ("8.00", "8.00")
    assert await item_now(books, second) == ("12.00", "partly_paid")
    assert await books.balance() == "-20.00"


# -- refunds on contracts


async def test_a_refund_is_allocated_to_a_contract_and_can_be_reversed(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    item = await books.item(made)
    paid = expect(await books.enter("in", "100.00", (item, "100.00")))
    assert refusal(await books.enter("out", "100.01", (item, "100.01")))["open"] == "100.00"
    back = expect(await books.enter("out", "30.00", (item, "30.00")))
    assert (await received(admin, made), await item_now(books, item)) == ("70.00", ("70.00", "partly_paid"))
    rows = expect(await admin.get(f"{RECEIPTS}?contract_id={made['id']}"))["items"]
    assert sorted(row["amount"] for row in rows) == ["-30.00", "100.00"]
    expect(await books.reverse_payment(paid), 40901)
    assert await books.balance() == "70.00"
    expect(await books.reverse_payment(back))
    assert (await received(admin, made), await item_now(books, item)) == ("100.00", ("100.00", "paid"))
    expect(await books.reverse_payment(paid))
    assert (await received(admin, made), await books.balance()) == ("0.00", "0.00")


async def test_a_refund_on_a_contract_that_has_ended_leaves_nothing_owed(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    item = await books.item(made)
    expect(await books.enter("in", "40.00", (item, "40.00")))
    expect(await admin.post(f"{CONTRACTS}/{made['id']}/terminate", {"reason": "agreed"}))
    expect(await books.enter("out", "25.00", (item, "25.00")))
    assert shown(await books.item(made), "amount", "paid", "status") == ("15.00", "15.00", "paid")
    assert refusal(await books.enter("out", "15.01", (item, "15.01")))["open"] == "15.00"


async def test_a_payment_at_a_contract_is_not_reversed_while_its_refund_stands(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    body = {"contract_id": made["id"], "amount": "100.00", "account_id": books.account_id}
    entered = expect(await admin.post(RECEIPTS, {**body, "paid_at": "2026-01-05T04:00:00Z"}))
    item = await books.item(made)
    back = expect(await books.enter("out", "30.00", (item, "30.00"), day="2026-01-10"))
    expect(await admin.post(f"{RECEIPTS}/{entered['id']}/reverse", {}), 40901)
    expect(await admin.delete(f"{RECEIPTS}/{entered['id']}"), 40901)
    assert (await received(admin, made), await books.balance()) == ("70.00", "70.00")
    expect(await books.reverse_payment(back, day="2026-01-15"))
    early = await admin.post(f"{RECEIPTS}/{entered['id']}/reverse", {"day": "2026-01-14"})
    assert rules(early) == [("day", "minimum")]
    expect(await admin.post(f"{RECEIPTS}/{entered['id']}/reverse", {"day": "2026-01-15"}))
    assert (await received(admin, made), await books.balance()) == ("0.00", "0.00")


async def test_payments_and_refunds_of_a_contract_can_be_reversed_in_any_order(admin: Client) -> None:
    """Once too much is paid: none of two payments could be reversed before the refund, nor the refund before them."""
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    item, moved = await books.item(made), (("in", "60.00"), ("out", "30.00"), ("in", "60.00"), ("out", "70.00"))
    first, soon, second, back = [expect(await books.enter(way, sum, (item, sum))) for way, sum in moved]
    expect(await books.reverse_payment(soon))
    for payment in (first, second):
        expect(await books.reverse_payment(payment), 40901)
    expect(await books.reverse_payment(back))
    assert (await received(admin, made), await item_now(books, item)) == ("120.00", ("120.00", "paid"))
    assert refusal(await books.enter("in", "1.00", (item, "1.00")))["open"] == "0.00"
    assert (await amended(admin, made, amount="110.00"))["status"] == "in_force"
    expect(await books.enter("out", "10.00", (item, "10.00")))
    expect(await books.reverse_payment(first))
    assert (await received(admin, made), await item_now(books, item)) == ("50.00", ("50.00", "partly_paid"))


# -- numbers, and the dunning list


async def test_payments_are_numbered_as_a_setting_says(admin: Client) -> None:
    books = await Books.fresh(admin)
    before = expect(await books.enter("in", "1.00"))
    (voucher,) = await books.vouchers()
    assert before["number"] == f"PY-{voucher['number']}"
    default = {"format": "{prefix}-{yyyy}-{MM}-{seq:6}", "gapless": True}
    async with numbered(admin, "R{yyyy}{MM}/{seq:4}", key="finance_payment_number", default=default):
        replies = await asyncio.gather(*(books.enter("in", "1.00") for _ in range(6)))
        refused = await books.enter("in", "1.00", counterparty="x" * 201)
        last = expect(await books.enter("in", "1.00"))
    month = f"{datetime.now(ZoneInfo('Asia/Shanghai')):%Y%m}"
    assert sorted(expect(one)["number"] for one in replies) == [f"R{month}/{n:04}" for n in range(1, 7)]
    assert (refused.code, last["number"]) == (40001, f"R{month}/0007")
    assert expect(await books.enter("in", "1.00"))["number"].startswith("PY-")


@pytest.mark.parametrize("on", ["2026-03-01", "2031-01-01"])
async def test_the_dunning_list_can_leave_out_what_is_on_hold(on: str, admin: Client) -> None:
    goods, party = await Goods.stocked(admin, 9), await new_customer(admin)
    await owed(admin, party, "7.00", "2026-01-20")
    body = {"customer_name": "somebody", "warehouse_id": goods.warehouse_id, "terms_days": 0, **party}
    line = {"product_id": goods.product_id, "quantity": "2", "price": "10.00"}
    order = expect(await admin.post(f"{INVENTORY}/sales-orders", {**body, "lines": [line]}))
    at = f"{INVENTORY}/sales-orders/{order['id']}"
    expect(await admin.post(f"{at}/confirm"))
    expect(await admin.post(f"{at}/deliver", {"day": "2026-01-15"}))
    expect(await admin.post(f"{at}/hold", {"reason": "wrong colour", "disputed": True}))
    for without, amount, count in (("false", "27.00", 2), ("true", "7.00", 1)):
        row = await dunned(admin, {**party, "without_held": without}, on)
        assert row is not None
        assert shown(row, "amount", "count") == (amount, count)
        assert len(row["items"]) == count
    expect(await admin.post(f"{at}/release", {}))
    row = await dunned(admin, {**party, "without_held": "true"}, on)
    assert row is not None
    assert row["amount"] == "27.00"
