"""Opening items over HTTP: what was owed when the books began is due and paid as anything else, and is no income."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, Reply, expect, unique
from tests.api.finance.accounts_of_parties import aged, new_customer, statement
from tests.api.finance.books import AT, Books

pytestmark = pytest.mark.gen_test(timeout=60)
ITEMS = f"{AT}/opening-items"
DAY, LATER = "2026-11-01", "2026-11-20"


async def opened(client: Client, party: dict[str, Any], **further: Any) -> dict[str, Any]:
    """An opening item of 100.00."""
    kind = "payable" if "supplier_id" in party else "receivable"
    body = {"kind": kind, "number": unique("OLD"), "amount": "100.00", "day": DAY, "due_on": "2026-09-30", **party}
    made: dict[str, Any] = expect(await client.post(ITEMS, {**body, **further}))
    return made


async def reverse(client: Client, item: dict[str, Any], **body: Any) -> Reply:
    return await client.post(f"{ITEMS}/{item['id']}/reverse", body)


async def test_what_a_customer_owed_before_is_aged_by_its_due_day_and_paid_without_any_income_before_that(
    admin: Client,
) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    opening = await opened(admin, party)
    assert await aged(admin, party, LATER) == ("0.00", "0.00", "100.00", "0.00", "0.00")
    assert (await books.vouchers(), opening["counterparty"]) == ([], "晨光科技")
    item = await books.item(opening)
    assert (item["number"], item["biz_type"], item["invoiced"]) == (opening["number"], "OPENING", None)
    expect(await books.enter("in", "100.00", (item, "100.00"), day=LATER))
    told = await statement(admin, party)
    assert [(line["day"], line["kind"]) for line in told["items"]] == [(DAY, "owed"), (LATER, "paid")]
    assert told["closing_balance"] == "0.00"


async def test_no_invoice_bills_what_was_invoiced_in_the_old_books(admin: Client) -> None:
    item = await (await Books.fresh(admin)).item(await opened(admin, await new_customer(admin)))
    refused = await admin.post(f"{AT}/invoices", {"direction": "out", "open_item_id": item["id"], "amount": "100.00"})
    expect(refused, 40001)
    assert refused.fields == {"open_item_id"}


async def test_a_document_is_entered_once_until_it_is_reversed(admin: Client) -> None:
    party = await new_customer(admin)
    opening = await opened(admin, party)
    again = {"kind": "receivable", "number": opening["number"], "amount": "90.00", "day": DAY, **party}
    assert expect(await admin.post(ITEMS, again), 40900)["field"] == "number"
    reversed_ = expect(await reverse(admin, opening, day=LATER, reason="typed wrong"))
    assert (reversed_["status"], reversed_["reversed_on"], reversed_["reason"]) == ("reversed", LATER, "typed wrong")
    expect(await reverse(admin, opening), 40901)
    expect(await admin.post(ITEMS, again))
    assert (await statement(admin, party))["closing_balance"] == "90.00"


async def test_an_item_of_which_something_is_paid_is_not_reversed_before_the_payment(admin: Client) -> None:
    books = await Books.fresh(admin)
    supplier = expect(await admin.post("/api/v1/inventory/suppliers", {"code": unique("SUP"), "name": "s"}))
    opening = await opened(admin, {"supplier_id": supplier["id"]})
    item = await books.item(opening)
    pay = {"account_id": books.account_id, "amount": "40.00"}
    expect(await admin.post(f"{AT}/payables/{item['id']}/pay", pay))
    expect(await reverse(admin, opening), 40901)
    expect(await reverse(admin, opening, day="2026-10-31"), 40001)
    (voucher,) = await books.vouchers()
    expect(await books.reverse(voucher))
    expect(await reverse(admin, opening))
    assert (await books.item(opening))["status"] == "void"


async def test_what_a_supplier_owes_is_no_opening_item(admin: Client) -> None:
    body = {"kind": "payable", "number": "1", "amount": "1.00", **await new_customer(admin)}
    refused = await admin.post(ITEMS, body)
    expect(refused, 40001)
    assert refused.fields == {"customer_id"}
