"""Payments: one document for money that comes or goes, allocated to open items to the cent, and reversed."""

from __future__ import annotations

import asyncio
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, People, Reply, expect, unique
from tests.api.crm.sales import PAYMENTS as RECEIPTS, in_force
from tests.api.finance.accounts_of_parties import aged, ageing, billed, new_customer
from tests.api.finance.books import AT, Books
from tests.api.inventory.goods import Goods

pytestmark = pytest.mark.gen_test(timeout=60)
SUMS = ("allocated", "unallocated", "status")


def shown(record: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(record[name] for name in names)


def rules(reply: Reply) -> list[tuple[str, str]]:
    assert reply.code == 40001, reply
    return [(one["field"], one["rule"]) for one in reply.data["errors"]]


async def read(books: Books, payment: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = expect(await books.client.get(f"{AT}/payments/{payment['id']}"))
    return found


async def test_a_payment_settles_several_items_and_the_rest_is_an_advance(admin: Client) -> None:
    books = await Books.fresh(admin)
    first, second = [await books.item(await books.invoice()) for _ in range(2)]
    paid = expect(await books.enter("in", "200.00", (first, "113.00"), (second, "7.00"), reference="8812"))
    assert shown(paid, *SUMS, "counterparty") == ("120.00", "80.00", "booked", "c")
    assert await books.balance() == "200.00"
    assert shown(await books.item({"id": first["resource_id"]}), "paid", "status") == ("113.00", "paid")
    assert shown(await books.item({"id": second["resource_id"]}), "paid", "status") == ("7.00", "partly_paid")
    invoice = expect(await admin.get(f"{AT}/invoices/{first['resource_id']}"))
    assert shown(invoice, "paid", "status") == ("113.00", "paid")
    (voucher,) = await books.vouchers()
    assert shown(voucher, "kind", "amount", "payment_id") == ("income", "200.00", paid["id"])


async def test_an_advance_is_allocated_later_and_never_twice(admin: Client) -> None:
    books = await Books.fresh(admin)
    advance = expect(await books.enter("in", "50.00", counterparty="c"))
    item = await books.item(await books.invoice())
    assert shown(expect(await books.allocate(advance, item, "20.00")), *SUMS) == ("20.00", "30.00", "booked")
    refused = await books.allocate(advance, item, "30.01")
    assert (refused.code, refused.data["open"]) == (40901, "30.00")
    assert shown(expect(await books.allocate(advance, item, "30.00")), *SUMS) == ("50.00", "0.00", "booked")
    assert shown(await books.item({"id": item["resource_id"]}), "paid") == ("50.00",)
    assert [row["amount"] for row in (await read(books, advance))["allocations"]] == ["20.00", "30.00"]


async def test_a_reversed_payment_leaves_no_trace_in_any_sum_and_stays_readable(admin: Client) -> None:
    books, goods = await Books.fresh(admin), await Goods.fresh(admin)
    order = expect(await goods.receive(await goods.purchase(3, "4.00")))
    item, claim = await books.item(order), await books.claim("submit", "approve")
    owed = await books.item(claim)
    paid = expect(await books.enter("out", "20.00", (item, "12.00")))
    reimbursed = expect(await books.enter("out", "100.05", (owed, "100.05")))
    assert expect(await admin.get(f"{AT}/expense-claims/{claim['id']}"))["status"] == "paid"
    for one in (paid, reimbursed):
        gone = expect(await books.reverse_payment(one, reason="entered twice"))
        assert shown(gone, *SUMS, "reason") == ("0.00", "0.00", "reversed", "entered twice")
        expect(await books.reverse_payment(one), 40901)
        expect(await books.allocate(one, item, "1.00"), 40901)
    assert shown(await books.item(order), "paid", "status") == ("0.00", "open")
    assert shown(await books.item(claim), "paid", "status") == ("0.00", "open")
    assert expect(await admin.get(f"{AT}/expense-claims/{claim['id']}"))["status"] == "approved"
    assert await books.balance() == "0.00"
    assert [row["amount"] for row in (await read(books, paid))["allocations"]] == ["12.00"]
    vouchers = {row["id"]: row for row in await books.vouchers()}
    reversal = vouchers[(await read(books, paid))["reversal_voucher_id"]]
    assert shown(reversal, "amount", "reverses_id", "remark") == ("-20.00", paid["voucher_id"], "entered twice")


@pytest.mark.parametrize("by_voucher", [False, True])
async def test_a_payment_is_not_reversed_before_the_day_on_which_it_was_allocated(
    by_voucher: bool, admin: Client
) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    body = {"direction": "in", "account_id": books.account_id, "amount": "50.00", "day": "2026-01-05", **party}
    advance = expect(await admin.post(f"{AT}/payments", body))
    bill = await billed(admin, party, "50.00", "2026-01-02", "2026-02-01")
    (item,) = expect(await admin.get(f"{AT}/receivables?resource_id={bill['id']}"))["items"]
    expect(await books.allocate(advance, item, "50.00", day="2026-01-20"))
    at = f"{AT}/vouchers/{advance['voucher_id']}" if by_voucher else f"{AT}/payments/{advance['id']}"
    assert rules(await admin.post(f"{at}/reverse", {"day": "2026-01-19"})) == [("day", "minimum")]
    expect(await admin.post(f"{at}/reverse", {"day": "2026-01-20"}))
    for day in ("2026-01-02", "2026-01-19", "2026-01-20"):
        assert (await aged(admin, party, day))[0] == "50.00"


@pytest.mark.parametrize("by_voucher", [False, True])
async def test_an_advance_is_not_reversed_while_what_paid_it_back_still_stands(by_voucher: bool, admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    advance = expect(await books.enter("in", "50.00", day="2026-01-05", **party))
    early = await books.enter("out", "30.00", repays_id=advance["id"], day="2026-01-04")
    assert rules(early) == [("day", "minimum")]
    back = expect(await books.enter("out", "30.00", repays_id=advance["id"], day="2026-01-20"))
    expect(await books.reverse_payment(back, day="2026-01-25"))
    at = f"{AT}/vouchers/{advance['voucher_id']}" if by_voucher else f"{AT}/payments/{advance['id']}"
    assert rules(await admin.post(f"{at}/reverse", {"day": "2026-01-24"})) == [("day", "minimum")]
    expect(await admin.post(f"{at}/reverse", {"day": "2026-01-25"}))
    days = {"2026-01-04": None, "2026-01-05": "50.00", "2026-01-24": "20.00", "2026-01-25": None}
    for day, left in days.items():
        row = await ageing(admin, party, day)
        assert (row and row["advances"]) == left


async def test_what_is_given_back_to_an_advance_is_not_used_before(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    advance = expect(await books.enter("in", "50.00", day="2026-01-05", **party))
    bill = await billed(admin, party, "50.00", "2026-01-02", "2026-02-01")
    (item,) = expect(await admin.get(f"{AT}/receivables?resource_id={bill['id']}"))["items"]
    back = expect(await books.enter("out", "30.00", repays_id=advance["id"], day="2026-01-20"))
    expect(await books.reverse_payment(back, day="2026-01-25"))
    for day in ("2026-01-10", "2026-01-24"):
        refused = [
            await books.allocate(advance, item, "20.01", day=day),
            await books.enter("out", "20.01", repays_id=advance["id"], day=day),
        ]
        assert [(one.code, one.data["open"]) for one in refused] == [(40901, "20.00")] * 2
    expect(await books.allocate(advance, item, "20.00", day="2026-01-10"))
    expect(await books.allocate(advance, item, "30.00", day="2026-01-25"))
    assert (await aged(admin, party, "2026-01-24"))[0] == "30.00"


async def test_a_payment_is_not_reversed_while_what_it_paid_too_much_is_still_paid_back(admin: Client) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    bill = await billed(admin, party, "50.00", "2026-01-02", "2026-02-01")
    (item,) = expect(await admin.get(f"{AT}/receivables?resource_id={bill['id']}"))["items"]
    settled = expect(await books.enter("in", "50.00", (item, "50.00"), day="2026-01-05"))
    expect(await admin.post(f"{AT}/invoices/{bill['id']}/credit-notes", {"day": "2026-01-10"}))
    back = expect(await books.enter("out", "50.00", (item, "50.00"), day="2026-01-20"))
    expect(await books.reverse_payment(settled, day="2026-01-30"), 40901)
    expect(await books.reverse_payment(back, day="2026-01-25"))
    assert rules(await books.reverse_payment(settled, day="2026-01-24")) == [("day", "minimum")]
    expect(await books.reverse_payment(settled, day="2026-01-25"))
    sums = [(await aged(admin, party, f"2026-01-{day}"))[0] for day in ("02", "05", "10", "20", "25")]
    assert sums == ["50.00", "0.00", "-50.00", "0.00", "0.00"]


async def test_a_reversed_voucher_reverses_its_payment(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice()
    expect(await books.pay_invoice(invoice, "13.00"))
    (voucher,) = await books.vouchers()
    expect(await books.reverse(voucher))
    payment = await read(books, {"id": voucher["payment_id"]})
    assert shown(payment, *SUMS) == ("0.00", "0.00", "reversed")
    assert expect(await admin.get(f"{AT}/invoices/{invoice['id']}"))["status"] == "confirmed"
    expect(await books.reverse_payment(payment), 40901)


async def test_paying_an_invoice_a_payable_or_a_claim_is_a_payment(admin: Client) -> None:
    books, goods = await Books.fresh(admin), await Goods.fresh(admin)
    invoice, claim = await books.invoice(), await books.claim("submit", "approve")
    item = await books.item(expect(await goods.receive(await goods.purchase(3, "4.00"))))
    expect(await books.pay_invoice(invoice))
    expect(await books.pay_claim(claim))
    expect(await admin.post(f"{AT}/payables/{item['id']}/pay", {"account_id": books.account_id}))
    rows = expect(await admin.get(f"{AT}/payments?account_id={books.account_id}&sort=number"))["items"]
    assert [shown(row, "direction", "amount", "unallocated") for row in rows] == [
        ("in", "113.00", "0.00"),
        ("out", "100.05", "0.00"),
        ("out", "12.00", "0.00"),
    ]
    assert rows[2]["supplier_id"] == item["supplier_id"]
    settled = [(await books.item(one))["id"] for one in (invoice, claim)] + [item["id"]]
    assert [row["allocations"][0]["open_item_id"] for row in rows] == settled


async def test_many_payments_of_one_item_at_once_settle_it_to_the_cent(admin: Client) -> None:
    await check_payments_at_once(admin, 40)


async def check_payments_at_once(admin: Client, many: int) -> None:
    """Fail unless as many of the payments as the item has room for are entered."""
    books = await Books.fresh(admin)
    invoice = await books.invoice()
    item = await books.item(invoice)
    replies = await asyncio.gather(*(books.enter("in", "11.00", (item, "10.00")) for _ in range(many)))
    assert Counter(reply.code for reply in replies) == {0: 11, 40901: many - 11}
    assert {reply.data["open"] for reply in replies if reply.code} == {"3.00"}
    assert shown(await books.item(invoice), "paid", "status") == ("110.00", "partly_paid")
    assert await books.balance() == "121.00"


async def test_an_advance_is_spent_once_by_many_who_allocate_pay_back_and_reverse_it(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoices = [await books.invoice() for _ in range(4)]
    items = [await books.item(one) for one in invoices]
    advance = expect(await books.enter("in", "50.00", counterparty="c"))
    replies = await asyncio.gather(
        *(books.allocate(advance, item, "20.00") for item in items),
        *(books.enter("out", "20.00", repays_id=advance["id"]) for _ in range(4)),
        books.reverse_payment(advance),
    )
    assert {reply.code for reply in replies} == {0, 40901}
    left = await read(books, advance)
    allocated, unallocated, repaid = (Decimal(left[name]) for name in ("allocated", "unallocated", "repaid"))
    assert allocated == sum([Decimal((await books.item(one))["paid"]) for one in invoices])
    if left["status"] == "reversed":
        assert (allocated, unallocated, repaid, await books.balance()) == (0, 0, 0, "0.00")
    else:
        assert (allocated + repaid, unallocated) == (40, 10)
        assert Decimal(await books.balance()) == 50 - repaid


async def test_an_advance_is_paid_back_by_a_payment_that_names_it(admin: Client) -> None:
    books = await Books.fresh(admin)
    advance = expect(await books.enter("in", "50.00", counterparty="c"))
    back = expect(await books.enter("out", "20.00", repays_id=advance["id"]))
    assert shown(back, *SUMS, "counterparty") == ("0.00", "0.00", "booked", "c")
    assert shown(await read(books, advance), "unallocated", "repaid") == ("30.00", "20.00")
    refused = await books.enter("out", "30.01", repays_id=advance["id"])
    assert (refused.code, refused.data["open"]) == (40901, "30.00")
    expect(await books.reverse_payment(advance), 40901)
    expect(await books.reverse_payment(back))
    assert shown(await read(books, advance), "unallocated", "repaid") == ("50.00", "0.00")
    expect(await books.reverse_payment(advance))
    expect(await books.enter("out", "1.00", repays_id=advance["id"]), 40901)
    assert await books.balance() == "0.00"


async def test_what_was_allocated_to_a_contract_is_received_there(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    item = await books.item(made)
    paid = expect(await books.enter("in", "40.00", (item, "40.00"), method="cash"))
    assert paid["customer_id"] == made["customer_id"]
    assert expect(await admin.get(f"/api/v1/crm/contracts/{made['id']}"))["received_amount"] == "40.00"
    (received,) = expect(await admin.get(f"{RECEIPTS}?contract_id={made['id']}"))["items"]
    assert shown(received, "amount", "account_id", "method") == ("40.00", books.account_id, "cash")
    refused = await books.enter("in", "70.00", (item, "60.01"))
    assert (refused.code, refused.data["open"]) == (40901, "60.00")
    expect(await books.reverse_payment(paid))
    assert expect(await admin.get(f"/api/v1/crm/contracts/{made['id']}"))["received_amount"] == "0.00"
    assert shown(await books.item(made), "paid", "status") == ("0.00", "open")
    assert await books.balance() == "0.00"


async def test_allocations_name_the_item_that_they_cannot_settle(admin: Client) -> None:
    books = await Books.fresh(admin)
    item = await books.item(await books.invoice())
    contract = await books.item(await in_force(admin, "100.00"))
    at = "allocations[0].open_item_id"
    unknown = {"id": "6561b1c0e4b0a1b2c3d4e5f6"}
    assert rules(await books.enter("out", "5.00", (item, "5.00"))) == [(at, "reference")]
    assert rules(await books.enter("in", "5.00", (unknown, "5.00"))) == [(at, "reference")]
    assert rules(await books.enter("in", "5.00", (item, "5.00"), counterparty="other")) == [(at, "reference")]
    assert rules(await books.enter("in", "9.00", (item, "5.00"), (contract, "1.00"))) == [
        ("allocations[1].open_item_id", "reference")
    ]
    assert rules(await books.enter("in", "9.00", (item, "1.00"), (item, "1.00"))) == [
        ("allocations[1].open_item_id", "duplicate")
    ]
    assert rules(await books.enter("in", "5.00", (item, "5.01"))) == [("allocations", "maximum")]
    assert rules(await books.enter("in", "12345678901234.00")) == [("amount", "maximum")]
    assert rules(await books.enter("in", "5.00", repays_id=unknown["id"])) == [("repays_id", "reference")]
    advance = expect(await books.enter("in", "5.00", counterparty="c"))
    assert rules(await books.allocate(advance, item, "1.00", day="2026-01-01")) == [("day", "minimum")]
    assert await books.balance() == "5.00"


async def test_a_void_item_and_a_closed_month_take_no_payment(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice()
    expect(await admin.post(f"{AT}/invoices/{invoice['id']}/void"))
    expect(await books.enter("in", "5.00", (await books.item(invoice), "5.00")), 40901)
    expect(await admin.post(f"{AT}/periods/2019-02/close"))
    expect(await books.enter("in", "5.00", day="2019-02-03"), 40901)
    paid = expect(await books.enter("in", "5.00", day="2019-03-03"))
    expect(await books.reverse_payment(paid, day="2019-02-28"), 40901)
    assert (await read(books, paid))["status"] == "booked"
    assert await books.balance() == "5.00"


async def test_only_cashiers_pay_from_their_account_and_people_see_payments_in_their_scope(
    admin: Client, people: People
) -> None:
    granted = [f"finance:payment:{action}" for action in ("list", "read", "create", "allocate", "reverse")]
    cashier, other = await people.person(granted), await people.person(granted)
    books = await Books.fresh(admin)
    at = f"{AT}/accounts/{books.account_id}"
    expect(await admin.patch(at, {"version": 1, "cashier_ids": [cashier.user["userId"]]}))
    own, foreign = Books(cashier, books.account_id), Books(other, books.account_id)
    assert rules(await foreign.enter("in", "5.00")) == [("account_id", "keeper")]
    paid = expect(await own.enter("in", "5.00"))
    expect(await other.get(f"{AT}/payments/{paid['id']}"), 40400)
    expect(await foreign.reverse_payment(paid), 40400)
    expect(await own.reverse_payment(paid))
    nobody = await people.person(["finance:payment:list"])
    expect(await Books(nobody, books.account_id).enter("in", "5.00"), 40300)


async def test_an_idempotency_key_enters_a_payment_once(admin: Client) -> None:
    books = await Books.fresh(admin)
    body = {"direction": "in", "account_id": books.account_id, "amount": "5.00"}
    headers = {"Idempotency-Key": unique("payment")}
    made = [await admin.call("POST", f"{AT}/payments", body, headers=headers) for _ in range(2)]
    assert len({expect(reply)["id"] for reply in made}) == 1
    assert await books.balance() == "5.00"


async def test_what_is_paid_of_a_contract_is_paid_of_the_invoices_that_bill_it(admin: Client) -> None:
    books, made = await Books.fresh(admin), await in_force(admin, "100.00")
    item = await books.item(made)
    body = {"direction": "out", "counterparty": "c", "open_item_id": item["id"]}
    drafts = [
        expect(await admin.post(f"{AT}/invoices", {**body, "number": unique("INV"), "amount": amount, "day": day}))
        for amount, day in (("55.00", "2026-01-02"), ("40.00", "2026-01-01"))
    ]
    late, early = [expect(await admin.post(f"{AT}/invoices/{one['id']}/confirm")) for one in drafts]
    paid = expect(await books.enter("in", "70.00", (item, "70.00")))
    assert [await invoice(admin, one) for one in (early, late)] == [("40.00", "paid"), ("30.00", "partly_paid")]
    third = expect(await admin.post(f"{AT}/invoices", {**body, "number": unique("INV"), "amount": "5.00"}))
    assert expect(await admin.post(f"{AT}/invoices/{third['id']}/confirm"))["status"] == "confirmed"
    expect(await books.reverse_payment(paid))
    assert [await invoice(admin, one) for one in (early, late)] == [("0.00", "confirmed"), ("0.00", "confirmed")]


async def invoice(client: Client, record: dict[str, Any]) -> tuple[Any, ...]:
    return shown(expect(await client.get(f"{AT}/invoices/{record['id']}")), "paid", "status")
