"""Expense claims and invoices over HTTP: their states, and the vouchers that pay them."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from handlers.operations.migrations import MIGRATIONS
from plugins.boot.runtime import Running
from plugins.finance.entries import ENTRIES
from plugins.finance.payment_records import OPEN_ITEMS
from plugins.testing import Client, People, eventually, expect, unique
from tests.api.finance.books import AT, Books
from tests.api.finance.filled import OF_FILLING, fill

pytestmark = pytest.mark.gen_test(timeout=30)
CLAIMS, INVOICES = f"{AT}/expense-claims", f"{AT}/invoices"


async def test_a_claim_is_submitted_approved_and_paid(admin: Client) -> None:
    books = await Books.fresh(admin)
    claim = await books.claim("submit", "approve")
    assert (claim["amount"], claim["status"]) == ("100.05", "approved")
    assert expect(await books.pay_claim(claim))["status"] == "paid"
    assert await books.balance() == "-100.05"


async def test_an_invoice_takes_the_name_of_its_customer_unless_one_is_given(admin: Client) -> None:
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))
    body = {"direction": "out", "number": unique("INV"), "amount": "10.00"}
    invoice = expect(await admin.post(INVOICES, {**body, "customer_id": customer["id"]}))
    assert invoice["counterparty"] == customer["name"]
    assert (await admin.post(INVOICES, body)).fields == {"counterparty"}


async def test_a_claim_that_an_older_version_approved_becomes_a_payable(admin: Client, tradewind: Running) -> None:
    books = await Books.fresh(admin)
    claim = await books.claim("submit", "approve")
    of_claim = {"resource_id": claim["id"]}
    for collection in (OPEN_ITEMS, ENTRIES):
        await tradewind.service.database.driver.delete_many(collection.name, of_claim)
    await tradewind.service.database.driver.delete_many(MIGRATIONS, OF_FILLING)
    for _ in range(2):
        await fill(tradewind.service)
    item = await books.item(claim)
    assert (item["amount"], item["paid"], item["status"]) == ("100.05", "0.00", "open")
    expect(await books.pay_claim(claim))
    assert (await books.item(claim))["status"] == "paid"


async def test_a_claim_is_paid_once(admin: Client) -> None:
    books = await Books.fresh(admin)
    claim = await books.claim("submit", "approve")
    replies = await asyncio.gather(*(books.pay_claim(claim) for _ in range(10)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 9}
    assert await books.balance() == "-100.05"


async def test_a_claim_that_was_not_approved_is_not_paid(admin: Client) -> None:
    books = await Books.fresh(admin)
    expect(await books.pay_claim(await books.claim("submit")), 40901)


async def test_who_claims_is_told_of_a_decision_that_no_flow_made(admin: Client, people: People) -> None:
    clerk = await people.person([f"finance:expense-claim:{action}" for action in ("create", "submit", "read")])
    line = {"day": "2018-03-01", "category": "office", "amount": "8.00"}
    claim = expect(await clerk.post(CLAIMS, {"title": "pens", "lines": [line]}))
    expect(await clerk.post(f"{CLAIMS}/{claim['id']}/submit"))
    expect(await admin.post(f"{CLAIMS}/{claim['id']}/reject", {"reason": "no receipt"}))
    (told,) = expect(await clerk.get("/api/v1/notifications"))["items"]
    assert told["title"] == f"{claim['number']} pens：已驳回"
    assert (told["kind"], told["body"]) == ("approval_result", "no receipt")
    assert told["link"] == f"/finance/expense-claims/{claim['id']}"


async def test_a_rejected_claim_is_changed_and_submitted_again(admin: Client) -> None:
    books = await Books.fresh(admin)
    claim = await books.claim("submit")
    at = f"{CLAIMS}/{claim['id']}"
    rejected = expect(await admin.post(f"{at}/reject", {"reason": "no receipt"}))
    assert (rejected["status"], rejected["reason"]) == ("rejected", "no receipt")
    expect(await admin.patch(at, {"version": rejected["version"], "title": "with receipt"}))
    assert expect(await admin.post(f"{at}/submit"))["status"] == "submitted"


@pytest.mark.parametrize("action", ["approve", "reject"])
async def test_nobody_but_a_super_administrator_decides_on_their_own_claim(
    action: str, admin: Client, people: People
) -> None:
    me = await people.person([f"finance:expense-claim:{action}" for action in ("create", "submit", "approve")])
    lines = [{"category": "travel", "amount": "10.00", "day": "2026-11-02"}]
    for who, code in ((me, 40901), (admin, 0)):
        claim = expect(await who.post(CLAIMS, {"title": "trip", "lines": lines}))
        expect(await who.post(f"{CLAIMS}/{claim['id']}/submit"))
        expect(await who.post(f"{CLAIMS}/{claim['id']}/{action}", {} if action == "reject" else None), code)


async def test_a_submitted_claim_cannot_be_changed(admin: Client) -> None:
    claim = await (await Books.fresh(admin)).claim("submit")
    expect(await admin.patch(f"{CLAIMS}/{claim['id']}", {"version": claim["version"], "title": "other"}), 40901)


async def test_a_reversed_payment_is_to_be_made_again(admin: Client) -> None:
    books = await Books.fresh(admin)
    claim = expect(await books.pay_claim(await books.claim("submit", "approve")))
    expect(await books.reverse({"id": claim["voucher_id"]}))
    assert expect(await admin.get(f"{CLAIMS}/{claim['id']}"))["status"] == "approved"
    expect(await books.pay_claim(claim))
    assert await books.balance() == "-100.05"


async def test_a_claim_that_was_approved_by_mistake_is_reversed_and_nothing_is_owed(admin: Client) -> None:
    books = await Books.fresh(admin)
    claim = await books.claim("submit", "approve")
    at = f"{CLAIMS}/{claim['id']}"
    made = expect(await admin.post(f"{at}/reverse", {"day": "2026-11-22", "reason": "twice"}))
    assert (made["status"], made["reversed_on"], made["reason"]) == ("reversed", "2026-11-22", "twice")
    item = await books.item(claim)
    assert (item["amount"], item["status"]) == ("0.00", "void")
    for again in (books.pay_claim(claim), books.enter("out", "1.00", (item, "1.00")), admin.post(f"{at}/reverse")):
        expect(await again, 40901)


async def test_a_claim_of_which_something_is_paid_is_not_reversed(admin: Client) -> None:
    books = await Books.fresh(admin)
    claim = await books.claim("submit", "approve")
    paid = expect(await books.enter("out", "0.05", (await books.item(claim), "0.05")))
    expect(await admin.post(f"{CLAIMS}/{claim['id']}/reverse"), 40901)
    expect(await books.reverse_payment(paid))
    expect(await admin.post(f"{CLAIMS}/{claim['id']}/reverse"))


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("approved", "approved"), ("rejected", "rejected"), ("returned", "draft"), ("withdrawn", "draft")],
)
async def test_the_outcome_of_an_approval_decides_the_claim(
    outcome: str, status: str, admin: Client, tradewind: Running
) -> None:
    claim = await (await Books.fresh(admin)).claim("submit")
    ended = {"biz_type": "EXPENSE", "resource_id": claim["id"], "outcome": outcome, "reason": None}
    await tradewind.service.events.emit("approval.finished", ended)
    assert expect(await admin.get(f"{CLAIMS}/{claim['id']}"))["status"] == status


async def test_submitting_emits_an_event_for_other_plugins(admin: Client, tradewind: Running) -> None:
    heard = []

    async def listener(payload: object) -> None:
        heard.append(payload)

    tradewind.service.events.listen("finance.expense.submitted", listener)
    claim = await (await Books.fresh(admin)).claim("submit")

    async def has_heard() -> bool:
        return any(payload["resource_id"] == claim["id"] for payload in heard)  # type: ignore[index]

    await eventually(has_heard)


async def test_events_of_payments_carry_what_they_state_and_nothing_that_hooks_keep(
    admin: Client, tradewind: Running
) -> None:
    heard: list[dict[str, Any]] = []

    async def listener(payload: dict[str, Any]) -> None:
        heard.append(payload)

    for event in ("finance.invoice.paid", "finance.payment.allocated"):
        tradewind.service.events.listen(event, listener)
    books = await Books.fresh(admin)
    invoice = await books.invoice("out", "100.00", "13.00")
    expect(await books.pay_invoice(invoice, "50.00"))
    (item,) = expect(await admin.get(f"{AT}/receivables?resource_id={invoice['id']}"))["items"]
    body = {"direction": "in", "account_id": books.account_id, "amount": "5.00", "counterparty": item["counterparty"]}
    advance = expect(await admin.post(f"{AT}/payments", body))
    parts = {"allocations": [{"open_item_id": item["id"], "amount": "5.00"}]}
    expect(await admin.post(f"{AT}/payments/{advance['id']}/allocations", parts))
    ours = {invoice["id"], advance["id"]}  # heard more than once where a transaction is tried again
    stated = {frozenset(one) for one in heard if str((one.get("invoice") or one["payment"])["id"]) in ours}
    assert stated == {frozenset({"request", "invoice", "voucher"}), frozenset({"request", "payment"})}


async def test_an_invoice_is_paid_in_parts_and_counts_as_receivable_until_then(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice("out", "100.00", "13.00")
    assert invoice["total"] == "113.00"
    assert expect(await books.pay_invoice(invoice, "50.00"))["status"] == "partly_paid"
    assert invoice["id"] in await _open(admin, "receivables")
    assert expect(await books.pay_invoice(invoice))["status"] == "paid"
    assert invoice["id"] not in await _open(admin, "receivables")
    assert await books.balance() == "113.00"


async def test_an_invoice_received_is_payable_and_paid_from_the_account(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice("in")
    assert invoice["id"] in await _open(admin, "payables")
    expect(await books.pay_invoice(invoice))
    assert await books.balance() == "-113.00"


async def test_more_than_is_open_cannot_be_paid(admin: Client) -> None:
    books = await Books.fresh(admin)
    expect(await books.pay_invoice(await books.invoice(), "113.01"), 40901)
    assert await books.balance() == "0.00"


async def test_fifty_payments_of_one_invoice_are_one(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice()
    replies = await asyncio.gather(*(books.pay_invoice(invoice, "113.00") for _ in range(50)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 49}
    assert await books.balance() == "113.00"


async def test_a_reversed_payment_is_open_again(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice()
    expect(await books.pay_invoice(invoice))
    expect(await books.reverse((await books.vouchers())[0]))
    reopened = expect(await admin.get(f"{INVOICES}/{invoice['id']}"))
    assert (reopened["status"], reopened["paid"]) == ("confirmed", "0.00")


async def test_a_confirmed_invoice_cannot_be_changed(admin: Client) -> None:
    invoice = await (await Books.fresh(admin)).invoice()
    expect(await admin.patch(f"{INVOICES}/{invoice['id']}", {"version": invoice["version"], "tax": "0"}), 40901)


async def test_an_invoice_whose_day_is_cleared_gets_today(admin: Client) -> None:
    body = {"direction": "out", "number": unique("INV"), "counterparty": "c", "amount": "1.00"}
    draft = expect(await admin.post(INVOICES, body))
    at = f"{INVOICES}/{draft['id']}"
    assert expect(await admin.patch(at, {"version": 1, "day": None}))["day"] == draft["day"]
    assert expect(await admin.post(f"{at}/confirm"))["status"] == "confirmed"


async def test_the_number_of_an_invoice_is_taken_once_for_each_counterparty(admin: Client) -> None:
    body = {"direction": "in", "number": unique("INV"), "counterparty": "c", "amount": "1.00"}
    expect(await admin.post(INVOICES, body))
    assert expect(await admin.post(INVOICES, body), 40900)["field"] == "number"
    expect(await admin.post(INVOICES, {**body, "counterparty": "d"}))


async def _open(admin: Client, what: str) -> set[str]:
    return {row["resource_id"] for row in expect(await admin.get(f"{AT}/{what}?page_size=200"))["items"]}


async def test_a_receipt_is_claimed_once_in_the_company_however_its_number_is_written(
    admin: Client, people: People
) -> None:
    other = await people.person([f"finance:expense-claim:{action}" for action in ("create", "update", "delete")])
    number = unique("INV")

    def body(*numbers: str | None) -> dict[str, Any]:
        lines = [
            {"day": "2026-11-18", "category": "travel", "amount": "1.00", "receipt_number": one} for one in numbers
        ]
        return {"title": "trip", "lines": lines}

    first = expect(await admin.post(CLAIMS, body(None, number, None)))
    again = await other.post(CLAIMS, body(None, f" {number.lower()} "))
    assert expect(again, 40900)["field"] == "lines[1].receipt_number"
    own = expect(await other.post(CLAIMS, body(unique("INV"))))
    at = f"{CLAIMS}/{own['id']}"
    expect(await other.patch(at, {"version": 1, "lines": body(number)["lines"]}), 40900)
    assert (await admin.post(CLAIMS, body(number + "1", number + "1"))).fields == {"lines[1].receipt_number"}
    expect(await admin.patch(f"{CLAIMS}/{first['id']}", {"version": 1, "lines": body(number)["lines"]}))
    expect(await admin.delete(f"{CLAIMS}/{first['id']}"))
    expect(await other.patch(at, {"version": 1, "lines": body(number)["lines"]}))
