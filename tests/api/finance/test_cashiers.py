"""Accounts are the company's; on one that names cashiers these alone book, and who sees every row."""

from __future__ import annotations

import pytest

from plugins.testing import Client, People, expect
from tests.api.finance.books import AT, Books

pytestmark = pytest.mark.gen_test(timeout=30)
BOOKKEEPER = [
    *(f"finance:voucher:{action}" for action in ("list", "create", "reverse")),
    *(f"finance:expense-claim:{action}" for action in ("create", "submit")),
    "finance:account:list",
    "finance:account:read",
    "finance:expense-claim:pay",
    "finance:invoice:create",
    "finance:invoice:confirm",
    "finance:invoice:pay",
]


async def entrust(admin: Client, books: Books, *cashiers: Client) -> None:
    """Name the cashiers of the account."""
    at = f"{AT}/accounts/{books.account_id}"
    ids = [cashier.user["userId"] for cashier in cashiers]
    changed = expect(await admin.patch(at, {"version": expect(await admin.get(at))["version"], "cashier_ids": ids}))
    assert len(changed["cashier_names"]) == len(ids)


async def test_only_the_cashiers_of_an_account_book_on_it(admin: Client, people: People) -> None:
    cashier, other, owner = [await people.person(BOOKKEEPER, scope) for scope in ("self", "department", "all")]
    kept, free = await Books.fresh(admin), await Books.fresh(admin)
    await entrust(admin, kept, cashier)
    foreign, elsewhere = Books(other, kept.account_id), Books(other, free.account_id)
    claim, invoice = await elsewhere.claim("submit"), await elsewhere.invoice("in")
    expect(await admin.post(f"{AT}/expense-claims/{claim['id']}/approve"))
    replies = [
        await foreign.book("income", "1.00"),
        await foreign.book("transfer", "1.00", to_account_id=free.account_id),
        await foreign.pay_claim(claim),
        await foreign.pay_invoice(invoice),
        await elsewhere.book("transfer", "1.00", to_account_id=kept.account_id),
    ]
    at_fault = [(reply.code, [(one["field"], one["rule"]) for one in reply.data["errors"]]) for reply in replies]
    fields = ("account_id", "account_id", "account_id", "account_id", "to_account_id")
    assert at_fault == [(40001, [(field, "keeper")]) for field in fields]
    assert (await kept.balance(), await free.balance()) == ("0.00", "0.00")
    for person in (cashier, owner, admin):
        expect(await Books(person, kept.account_id).book("income", "1.00"))
    assert await foreign.balance() == "3.00"  # the account itself stays the company's


async def test_a_voucher_on_an_account_of_other_cashiers_is_not_reversed(admin: Client, people: People) -> None:
    person, books = await people.person(BOOKKEEPER), await Books.fresh(admin)
    own = Books(person, books.account_id)
    voucher = expect(await own.book("income", "5.00"))
    await entrust(admin, books, await people.person(BOOKKEEPER))
    expect(await own.reverse(voucher), 40300)
    await entrust(admin, books, person)
    expect(await own.reverse(voucher))
    assert await books.balance() == "0.00"
