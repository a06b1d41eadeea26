"""Credit notes over HTTP: they take an invoice back, or a part of it, and less is owed."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from plugins.testing import Client, People, Reply, expect, unique
from tests.api.finance.books import AT, Books

pytestmark = pytest.mark.gen_test(timeout=60)


async def credit(client: Client, invoice: dict[str, Any], **body: Any) -> Reply:
    """Credit an invoice."""
    return await client.post(f"{AT}/invoices/{invoice['id']}/credit-notes", body)


async def read(client: Client, invoice: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = expect(await client.get(f"{AT}/invoices/{invoice['id']}"))
    return found


async def item_of(client: Client, invoice: dict[str, Any]) -> tuple[str, str, str]:
    """Amount, paid and status of the open item of an invoice that was sent."""
    every = "&".join(f"status={status}" for status in ("open", "partly_paid", "paid", "void"))
    (item,) = expect(await client.get(f"{AT}/receivables?resource_id={invoice['id']}&{every}"))["items"]
    return item["amount"], item["paid"], item["status"]


async def test_a_credit_note_of_a_part_leaves_less_to_pay(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice("out", "100.00", "13.00")
    note = expect(await credit(admin, invoice, amount="20.00", tax="2.60", reason="too many"))
    named = ("invoice_id", "invoice_name", "direction", "amount", "tax", "total", "reason")
    assert [note[name] for name in named] == [
        invoice["id"],
        invoice["number"],
        "out",
        "20.00",
        "2.60",
        "22.60",
        "too many",
    ]
    after = await read(admin, invoice)
    assert (after["status"], after["credited"], after["total"]) == ("confirmed", "22.60", "113.00")
    assert await item_of(admin, invoice) == ("90.40", "0.00", "open")
    assert expect(await books.pay_invoice(invoice, "90.41"), 40901)["open"] == "90.40"
    assert expect(await books.pay_invoice(invoice))["status"] == "paid"
    assert await books.balance() == "90.40"


async def test_without_an_amount_all_that_is_left_is_credited(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice("out", "100.00", "13.00")
    expect(await credit(admin, invoice, amount="0.01"))
    note = expect(await credit(admin, invoice))
    assert (note["amount"], note["tax"], note["total"]) == ("99.99", "13.00", "112.99")
    assert (await read(admin, invoice))["status"] == "credited"
    assert await item_of(admin, invoice) == ("0.00", "0.00", "void")
    for reply in (await credit(admin, invoice), await books.pay_invoice(invoice)):
        expect(reply, 40901)
    listed = expect(await admin.get(f"{AT}/credit-notes?invoice_id={invoice['id']}&sort=created_at"))["items"]
    assert [one["total"] for one in listed] == ["0.01", "112.99"]


async def test_what_was_paid_is_a_credit_where_less_is_owed(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice("out", "100.00", "0.00")
    expect(await books.pay_invoice(invoice, "60.00"))
    expect(await credit(admin, invoice, amount="30.00"))
    assert (await read(admin, invoice))["status"] == "partly_paid"
    expect(await credit(admin, invoice, amount="20.00"))
    assert (await read(admin, invoice))["status"] == "paid"
    assert await item_of(admin, invoice) == ("50.00", "60.00", "paid")
    (voucher,) = await books.vouchers()
    expect(await books.reverse(voucher))
    assert (await read(admin, invoice))["status"] == "confirmed"
    assert await item_of(admin, invoice) == ("50.00", "0.00", "open")
    expect(await credit(admin, invoice))
    assert (await read(admin, invoice))["status"] == "credited"


async def test_a_repayment_of_what_was_credited_whole_can_be_reversed(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice("out", "100.00", "0.00")
    expect(await books.pay_invoice(invoice))
    expect(await credit(admin, invoice))
    back = expect(await books.enter("out", "100.00", (await books.item(invoice), "100.00")))
    assert (await read(admin, invoice))["status"] == "credited"
    expect(await books.reverse_payment(back))
    assert (await read(admin, invoice))["status"] == "paid"
    assert (await item_of(admin, invoice))[:2] == ("0.00", "100.00")


async def test_a_credit_note_that_was_entered_by_mistake_is_reversed_once_and_the_invoice_owed_again(
    admin: Client,
) -> None:
    invoice = await (await Books.fresh(admin)).invoice("out", "100.00", "13.00")
    note = expect(await credit(admin, invoice))
    assert (await read(admin, invoice))["status"] == "credited"
    at = f"{AT}/credit-notes/{note['id']}/reverse"
    replies = await asyncio.gather(*(admin.post(at, {"reason": "wrong invoice"}) for _ in range(5)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 4}
    (reversal,) = [reply.data for reply in replies if reply.code == 0]
    named = ("invoice_id", "amount", "tax", "total", "reverses_id", "reason")
    assert [reversal[name] for name in named] == [
        invoice["id"],
        "-100.00",
        "-13.00",
        "-113.00",
        note["id"],
        "wrong invoice",
    ]
    assert expect(await admin.get(f"{AT}/credit-notes/{note['id']}"))["reversed_by_id"] == reversal["id"]
    after = await read(admin, invoice)
    assert (after["status"], after["credited"], after["credited_tax"]) == ("confirmed", "0.00", "0.00")
    assert await item_of(admin, invoice) == ("113.00", "0.00", "open")
    expect(await admin.post(f"{AT}/credit-notes/{reversal['id']}/reverse", {}), 40901)
    expect(await credit(admin, invoice, amount="100.00", tax="13.00"))


async def test_the_reversal_of_a_credit_note_after_payments_leaves_the_rest_to_pay(admin: Client) -> None:
    books = await Books.fresh(admin)
    invoice = await books.invoice("out", "100.00", "0.00")
    note = expect(await credit(admin, invoice, amount="30.00"))
    expect(await books.pay_invoice(invoice))
    assert (await read(admin, invoice))["status"] == "paid"
    expect(await admin.post(f"{AT}/credit-notes/{note['id']}/reverse", {}))
    assert (await read(admin, invoice))["status"] == "partly_paid"
    assert await item_of(admin, invoice) == ("100.00", "70.00", "partly_paid")


async def test_more_than_is_left_is_refused_and_names_the_field(admin: Client) -> None:
    invoice = await (await Books.fresh(admin)).invoice("in", "100.00", "13.00")
    assert expect(await credit(admin, invoice, amount="100.01"), 40901) == {"open": "100.00", "field": "amount"}
    assert expect(await credit(admin, invoice, amount="1.00", tax="13.01"), 40901) == {"open": "13.00", "field": "tax"}
    for body in ({"tax": "1.00"}, {"amount": "0.00"}, {"amount": "1.001"}, {"amount": 1234567890123456.0}):
        expect(await credit(admin, invoice, **body), 40001)
    assert (await read(admin, invoice))["credited"] is None


async def test_of_fifty_credit_notes_at_once_no_more_than_the_invoice_is_credited(admin: Client) -> None:
    invoice = await (await Books.fresh(admin)).invoice("out", "100.00", "0.00")
    replies = await asyncio.gather(*(credit(admin, invoice, amount="10.00") for _ in range(50)))
    assert Counter(reply.code for reply in replies) == {0: 10, 40901: 40}
    assert (await read(admin, invoice))["credited"] == "100.00"
    assert await item_of(admin, invoice) == ("0.00", "0.00", "void")


async def test_only_what_is_confirmed_is_credited_and_not_in_a_closed_month(admin: Client) -> None:
    body = {"direction": "out", "number": unique("INV"), "counterparty": "c", "amount": "1.00"}
    draft = expect(await admin.post(f"{AT}/invoices", body))
    expect(await credit(admin, draft), 40901)
    invoice = await (await Books.fresh(admin)).invoice()
    await admin.post(f"{AT}/periods/2009-02/close")
    expect(await credit(admin, invoice, day="2009-02-28"), 40901)
    assert (await item_of(admin, invoice))[0] == "113.00"
    assert expect(await credit(admin, invoice, day="2009-03-01"))["day"] == "2009-03-01"


async def test_only_permitted_users_credit_an_invoice_and_see_the_credit_note(admin: Client, people: People) -> None:
    invoice = await (await Books.fresh(admin)).invoice()
    clerk = await people.person(["finance:invoice:pay", "finance:credit-note:list"])
    other = await people.person(["finance:invoice:credit"])
    expect(await credit(clerk, invoice), 40300)
    expect(await credit(other, invoice), 40400)
    note = expect(await credit(admin, invoice))
    assert expect(await clerk.get(f"{AT}/credit-notes?invoice_id={invoice['id']}"))["items"] == []
    exported = await admin.get(f"{AT}/credit-notes/export?invoice_id={invoice['id']}")
    assert exported.body.decode().count(note["number"]) == 1
