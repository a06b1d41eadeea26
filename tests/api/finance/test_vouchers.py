"""Vouchers, balances and periods over HTTP."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.crm.sales import PAYMENTS, in_force
from tests.api.finance.accounts_of_parties import new_customer
from tests.api.finance.books import AT, Books
from tests.api.inventory.goods import AT as STOCK, Goods

pytestmark = pytest.mark.gen_test(timeout=60)
CLIENTS = 50
EVERYTHING = [
    *(f"finance:{entity}:{action}" for entity in ("account", "voucher") for action in ("list", "read", "create")),
    "finance:voucher:reverse",
]


async def test_vouchers_move_the_balance(admin: Client) -> None:
    books = await Books.fresh(admin)
    expect(await books.book("income", "100.10"))
    expect(await books.book("expense", "0.35"))
    assert await books.balance() == "99.75"


@pytest.mark.parametrize("category", ["bank_charge", "tax"])
async def test_what_the_bank_and_the_tax_office_take_each_month_has_a_category(admin: Client, category: str) -> None:
    books = await Books.fresh(admin)
    assert expect(await books.book("expense", "15.00", category=category))["category"] == category


async def test_a_transfer_moves_money_between_accounts(admin: Client) -> None:
    here, there = await Books.fresh(admin), await Books.fresh(admin)
    expect(await here.book("transfer", "40.00", to_account_id=there.account_id))
    assert (await here.balance(), await there.balance()) == ("-40.00", "40.00")


@pytest.mark.parametrize("kind", ["transfer", "income"])
async def test_a_transfer_alone_has_a_second_account(kind: str, admin: Client) -> None:
    books = await Books.fresh(admin)
    to = None if kind == "transfer" else (await Books.fresh(admin)).account_id
    reply = await books.book(kind, "1.00", to_account_id=to)
    expect(reply, 40001)
    assert reply.fields == {"to_account_id"}


async def test_a_transfer_to_the_same_account_is_refused(admin: Client) -> None:
    books = await Books.fresh(admin)
    assert (await books.book("transfer", "1.00", to_account_id=books.account_id)).fields == {"to_account_id"}


async def test_a_reversal_takes_the_balance_back(admin: Client) -> None:
    books = await Books.fresh(admin)
    voucher = expect(await books.book("income", "100.00"))
    reversal = expect(await books.reverse(voucher))
    assert (reversal["amount"], reversal["reverses_id"]) == ("-100.00", voucher["id"])
    assert await books.balance() == "0.00"


async def test_a_voucher_is_reversed_once(admin: Client) -> None:
    books = await Books.fresh(admin)
    voucher = expect(await books.book("income", "100.00"))
    replies = await asyncio.gather(*(books.reverse(voucher) for _ in range(10)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 9}
    assert await books.balance() == "0.00"


async def test_a_reversal_is_not_reversed(admin: Client) -> None:
    books = await Books.fresh(admin)
    reversal = expect(await books.reverse(expect(await books.book("income", "1.00"))))
    expect(await books.reverse(reversal), 40901)


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_a_voucher_is_neither_edited_nor_deleted(method: str, admin: Client) -> None:
    voucher = expect(await (await Books.fresh(admin)).book("income", "1.00"))
    expect(await admin.call(method, f"{AT}/vouchers/{voucher['id']}", {"version": 1}), 40500)


async def test_fifty_vouchers_at_once_are_numbered_without_gap_or_double(admin: Client) -> None:
    books = await Books.fresh(admin)
    replies = await asyncio.gather(*(books.book("income", "0.10", day="2001-01-05") for _ in range(CLIENTS)))
    assert sorted(expect(reply)["number"] for reply in replies) == [f"2001-01-{n:06}" for n in range(1, CLIENTS + 1)]
    assert await books.balance() == "5.00"


async def test_a_refused_voucher_takes_no_number(admin: Client) -> None:
    books = await Books.fresh(admin)
    expect(await Books(admin, "f" * 24).book("income", "1.00", day="2002-01-05"), 40001)
    assert expect(await books.book("income", "1.00", day="2002-01-05"))["number"] == "2002-01-000001"


async def test_nothing_is_dated_into_a_closed_month(admin: Client) -> None:
    books = await Books.fresh(admin)
    voucher = expect(await books.book("income", "7.00", day="2015-03-31"))
    assert expect(await admin.post(f"{AT}/periods/2015-03/close"))["closed"] is True
    expect(await books.book("income", "1.00", day="2015-03-01"), 40901)
    expect(await books.reverse(voucher, day="2015-03-31"), 40901)
    expect(await books.reverse(voucher, day="2015-04-01"))
    assert await books.balance() == "0.00"


async def test_no_invoice_takes_effect_and_no_contract_is_paid_in_a_closed_month(admin: Client) -> None:
    contract = await in_force(admin)
    payment = {"contract_id": contract["id"], "amount": "1.00", "paid_at": "2012-05-31T15:59:59Z"}
    paid = expect(await admin.post(PAYMENTS, payment))
    body = {"direction": "out", "number": unique("INV"), "counterparty": "c", "amount": "1.00", "day": "2012-05-31"}
    invoice = expect(await admin.post(f"{AT}/invoices", body))
    expect(await admin.post(f"{AT}/periods/2012-05/close"))
    expect(await admin.post(PAYMENTS, payment), 40901)
    expect(await admin.delete(f"{PAYMENTS}/{paid['id']}"), 40901)
    expect(await admin.post(f"{AT}/invoices/{invoice['id']}/confirm"), 40901)
    expect(await admin.post(PAYMENTS, {**payment, "paid_at": "2012-05-31T16:00:00Z"}))


@pytest.mark.parametrize("movement", ["receipt", "delivery", "transfer", "count"])
async def test_no_stock_moves_in_a_closed_month(movement: str, admin: Client) -> None:
    goods, month = await Goods.stocked(admin, 5), "2011-07"
    await admin.post(f"{AT}/periods/{month}/close")
    at = {
        "receipt": f"purchase-orders/{(await goods.purchase(1))['id']}/receive",
        "delivery": f"sales-orders/{(await goods.sale(1))['id']}/deliver",
        "transfer": "transfers",
        "count": "stock-counts",
    }[movement]
    lines = [{"product_id": goods.product_id, ("counted" if movement == "count" else "quantity"): "1"}]
    body = {
        "transfer": {"from_warehouse_id": goods.warehouse_id, "to_warehouse_id": await goods.warehouse()},
        "count": {"warehouse_id": goods.warehouse_id},
    }.get(movement, {})
    expect(await admin.post(f"{STOCK}/{at}", {**body, "lines": lines, "day": f"{month}-31"}), 40901)
    assert len(await goods.ledger()) == 1
    expect(await admin.post(f"{STOCK}/{at}", {**body, "lines": lines, "day": "2011-08-01"}))


@pytest.mark.parametrize("months", [0, 1])
async def test_a_month_that_is_not_over_is_not_closed(months: int, admin: Client) -> None:
    today = datetime.now(ZoneInfo("Asia/Shanghai")).date()
    month = (today.replace(day=1) + timedelta(days=31 * months)).isoformat()[:7]
    expect(await admin.post(f"{AT}/periods/{month}/close"), 40901)
    assert all(one["id"] != month or not one["closed"] for one in expect(await admin.get(f"{AT}/periods"))["items"])


@pytest.mark.parametrize(
    ("month", "code"), [("1969-12", 40001), ("2200-01", 40001), ("0000-01", 40001), ("1970-13", 40400)]
)
async def test_a_month_out_of_bounds_is_refused(month: str, code: int, admin: Client) -> None:
    expect(await admin.post(f"{AT}/periods/{month}/close"), code)


async def test_a_month_is_closed_once(admin: Client) -> None:
    expect(await admin.post(f"{AT}/periods/2014-03/close"))
    expect(await admin.post(f"{AT}/periods/2014-03/close"), 40901)


async def test_a_voucher_is_in_the_month_or_behind_its_closing_never_both(admin: Client) -> None:
    books = await Books.fresh(admin)
    booked = [books.book("income", "1.00", day="2013-05-01") for _ in range(10)]
    *replies, closed = await asyncio.gather(*booked, admin.post(f"{AT}/periods/2013-05/close"))
    accepted = sum(reply.code == 0 for reply in replies)
    assert {reply.code for reply in replies} <= {0, 40901}
    assert expect(closed)["last_number"] == accepted == len(await books.vouchers())
    assert await books.balance() == f"{accepted}.00"


async def test_an_account_with_vouchers_cannot_be_deleted(admin: Client) -> None:
    books = await Books.fresh(admin)
    expect(await books.book("income", "1.00"))
    expect(await admin.delete(f"{AT}/accounts/{books.account_id}"), 40901)


async def test_the_account_of_a_colleague_takes_vouchers(people: People) -> None:
    owner, stranger = await people.person(EVERYTHING), await people.person(EVERYTHING)
    books = await Books.fresh(owner)
    expect(await Books(stranger, books.account_id).book("income", "1.00"))
    assert await books.balance() == "1.00"


async def test_nothing_but_a_reversal_is_booked_on_an_account_that_is_disabled(admin: Client) -> None:
    books, other = await Books.fresh(admin), await Books.fresh(admin)
    voucher = expect(await books.book("income", "10.00"))
    account = expect(await admin.get(f"{AT}/accounts/{books.account_id}"))
    expect(await admin.patch(f"{AT}/accounts/{account['id']}", {"version": account["version"], "status": "disabled"}))
    for reply, field in (
        (await books.book("income", "1.00"), "account_id"),
        (await other.book("transfer", "1.00", to_account_id=books.account_id), "to_account_id"),
    ):
        expect(reply, 40001)
        assert reply.fields == {field}
    expect(await books.reverse(voucher))
    assert (await books.balance(), await other.balance()) == ("0.00", "0.00")


async def test_what_a_reversal_may_be_refused_for_includes_what_the_payment_of_the_voucher_settles(
    admin: Client,
) -> None:
    query = f"user_id=1&method=POST&path={AT}/vouchers/{{id}}/reverse"
    explained = await admin.get(f"/api/v1/system/authorization/explain?{query}", headers={"Accept-Language": "en"})
    reasons = {one["reason"] for one in expect(explained)["conditions"]}
    assert "The amount exceeds the open balance: …" in reasons


async def test_nothing_gets_into_a_month_once_it_is_closed(admin: Client) -> None:
    for month in ("1984-01", "1984-02", "1984-03", "1984-04", "1984-05"):
        party = await new_customer(admin)
        body = {"direction": "out", "counterparty": "c", "amount": "1.00", "day": f"{month}-15", **party}
        drafts = [expect(await admin.post(f"{AT}/invoices", {**body, "number": unique("INV")})) for _ in range(12)]
        statement = f"{AT}/statements?customer_id={party['customer_id']}&to={month}-28"

        async def close(month: str = month, statement: str = statement) -> Any:
            expect(await admin.post(f"{AT}/periods/{month}/close"))
            return expect(await admin.get(statement))

        confirming = [admin.post(f"{AT}/invoices/{one['id']}/confirm") for one in drafts]
        closed, *replies = await asyncio.gather(close(), *confirming)
        assert {reply.code for reply in replies} <= {0, 40901}
        assert expect(await admin.get(statement)) == closed
