"""Currencies over HTTP: documents keep theirs and their rate, and figures are in the company's own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import pytest

from plugins.testing import Client, Reply, expect, unique
from tests.api.finance.accounts_of_parties import aged, new_customer, statement
from tests.api.finance.books import AT, Books
from tests.api.finance.closed_books import today

pytestmark = pytest.mark.gen_test(timeout=60)
RATES = f"{AT}/exchange-rates"
DAY, LATER = "2026-11-02", "2026-11-20"


@asynccontextmanager
async def rate(client: Client, currency: str, rate: str, day: str = DAY) -> AsyncIterator[None]:
    """A rate that is there for a while."""
    made = expect(await client.post(RATES, {"currency": currency, "day": day, "rate": rate}))
    try:
        yield
    finally:
        expect(await client.delete(f"{RATES}/{made['id']}"))


async def opened(client: Client, party: dict[str, Any], **further: Any) -> dict[str, Any]:
    """An opening item of 100.01."""
    body = {"kind": "receivable", "number": unique("OLD"), "amount": "100.01", "day": DAY, "due_on": DAY, **party}
    made: dict[str, Any] = expect(await client.post(f"{AT}/opening-items", {**body, **further}))
    return made


async def adjust(client: Client, item: dict[str, Any], amount: str) -> None:
    body = {"kind": "rebate", "amount": amount, "day": LATER}
    expect(await client.post(f"{AT}/open-items/{item['id']}/adjustments", body))


async def test_what_is_no_rate_of_a_currency_is_refused_by_its_field(admin: Client) -> None:
    good = {"currency": "SEK", "day": DAY, "rate": "0.75123456"}
    made = expect(await admin.post(RATES, good))
    assert made["rate"] == "0.75123456"
    expect(await admin.post(RATES, good), 40900)
    bad: list[dict[str, Any]] = [{"rate": rate} for rate in ("0", "-1", "1e30", "1000000", "0.123456789", None, "NaN")]
    bad += [{"currency": code} for code in ("XXX", "sek", "", ["SEK"], None)] + [{"day": "2999-01-01"}]
    for one in bad:
        refused = await admin.post(RATES, good | one)
        expect(refused, 40001)
        assert refused.fields == set(one)
    expect(await admin.patch("/api/v1/system/configs", {"values": {"finance_currency": "EUR"}}), 40901)
    expect(await admin.delete(f"{RATES}/{made['id']}"))


async def test_a_document_takes_the_last_rate_until_its_day_and_none_for_the_companys_own_currency(
    admin: Client,
) -> None:
    party = await new_customer(admin)
    async with rate(admin, "EUR", "7.80"), rate(admin, "EUR", "9.00", "2026-11-03"):
        opening = await opened(admin, party, currency="EUR")
        given = await opened(admin, party, currency="EUR", rate="7.00000001")
        own = await opened(admin, party, currency="CNY")
    assert (opening["currency"], opening["rate"], given["rate"]) == ("EUR", "7.80", "7.00000001")
    assert (own["currency"], own["rate"]) == (None, None)
    body = {"kind": "receivable", "number": unique("OLD"), "amount": "100.00", "day": "2026-11-01", **party}
    for wrong, field in (
        ({"currency": "EUR"}, "currency"),
        ({"currency": "CNY", "rate": "1.00"}, "rate"),
        ({"rate": "7.80"}, "rate"),
        ({"currency": "EUR", "rate": "999999.99", "amount": "9999999999999.99"}, "amount"),
    ):
        refused = await admin.post(f"{AT}/opening-items", body | wrong)
        expect(refused, 40001)
        assert refused.fields == {field}


async def test_a_typed_rate_far_from_that_of_the_day_is_refused_by_every_document_and_without_one_none_is(
    admin: Client,
) -> None:
    party, books = await new_customer(admin), await Books.fresh(admin)
    line = {"description": "x", "quantity": "1", "price": "1.00"}
    opening = {"kind": "receivable", "day": DAY, "due_on": DAY}
    paid = {"direction": "in", "account_id": books.account_id, "day": DAY, "amount": "1.00"}
    documents: tuple[tuple[str, dict[str, Any]], ...] = (
        (f"{AT}/opening-items", {**opening, "amount": "1.00", "number": "OLD"}),
        (f"{AT}/invoices", {"direction": "out", "day": DAY, "amount": "1.00", "number": "INV"}),
        (f"{AT}/payments", paid),
        ("/api/v1/crm/contracts", {"name": "c", "amount": "1.00", "signed_date": DAY}),
        ("/api/v1/inventory/sales-orders", {"ordered_on": DAY, "lines": [line]}),
    )

    async def enter(at: str, document: dict[str, Any], typed: str) -> Reply:
        number = {"number": unique("N")} if "number" in document else {}
        body = {**document, **party, **number, "currency": "EUR", "rate": typed}
        return await admin.post(at, body, headers={"Accept-Language": "en"})

    for at, document in documents:
        async with rate(admin, "EUR", "7.80"):
            for wrong in ("0.77999999", "78.00000001"):
                refused = await enter(at, document, wrong)
                assert (refused.code, refused.fields) == (40001, {"rate"}), at
                assert refused.json["msg"].endswith("that of the day, 7.8")
            assert expect(await enter(at, document, "78"))["rate"] == "78.00"
        assert expect(await enter(at, document, "0.00000001"))["rate"] == "0.00000001"


async def test_what_is_open_is_shown_in_both_currencies_and_nothing_is_left_when_it_is_settled_in_parts(
    admin: Client,
) -> None:
    books, party = await Books.fresh(admin), await new_customer(admin)
    opening = await opened(admin, party, currency="EUR", rate="7.77777777")
    item = await books.item(opening)
    shown = ("currency", "amount", "paid", "base_amount", "base_paid")
    assert [item[name] for name in shown] == ["EUR", "100.01", "0.00", "777.86", "0.00"]
    assert await aged(admin, party, LATER) == ("0.00", "777.86", "0.00", "0.00", "0.00")
    for part in ("33.33", "33.33", "33.35"):
        await adjust(admin, item, part)
    told = await statement(admin, party)
    assert [(line["credit"], line["currency"], line["currency_amount"]) for line in told["items"]] == [
        ("0.00", "EUR", "100.01"),
        ("259.24", "EUR", "-33.33"),
        ("259.23", "EUR", "-33.33"),
        ("259.39", "EUR", "-33.35"),
    ]
    assert told["closing_balance"] == "0.00"


async def test_tax_of_an_invoice_and_its_credit_note_is_in_the_companys_currency_by_the_rate_of_the_invoice(
    admin: Client,
) -> None:
    party, day = await new_customer(admin), "2024-02-05"
    body = {"direction": "out", "number": unique("INV"), "amount": "100.00", "tax": "13.00", "day": day, **party}
    draft = expect(await admin.post(f"{AT}/invoices", {**body, "currency": "USD", "rate": "7.12345"}))
    draft = expect(
        await admin.patch(f"{AT}/invoices/{draft['id']}", {"currency": "EUR", "rate": "8", "version": draft["version"]})
    )
    refused = await admin.patch(f"{AT}/invoices/{draft['id']}", {"currency": "USD", "version": draft["version"]})
    expect(refused, 40001)
    assert refused.fields == {"currency"}  # the rate of another currency is not kept
    draft = expect(await admin.patch(f"{AT}/invoices/{draft['id']}", {"rate": "7.12345", "version": draft["version"]}))
    invoice = expect(await admin.post(f"{AT}/invoices/{draft['id']}/confirm"))
    assert (invoice["total"], invoice["currency"]) == ("113.00", "EUR")
    note = expect(
        await admin.post(f"{AT}/invoices/{invoice['id']}/credit-notes", {"amount": "0.07", "tax": "0.01", "day": day})
    )
    assert (note["total"], note["currency"], note["rate"]) == ("0.08", "EUR", "7.12345")
    (taxes,) = expect(await admin.get(f"{AT}/taxes?from=2024-02-01"))["items"]
    assert (taxes["net"], taxes["tax"]) == ("711.85", "92.53")  # 712.345 and 92.60485 less 0.498 and 0.0712
    listed = expect(await admin.get(f"{AT}/taxes/documents?from=2024-02-01"))["items"]
    assert [(one["net"], one["tax"]) for one in listed] == [("712.35", "92.60"), ("-0.50", "-0.07")]
    assert (await (await Books.fresh(admin)).item(invoice))["base_amount"] == "804.38"


async def test_a_draft_has_the_rate_of_its_day_unless_somebody_typed_one(admin: Client) -> None:
    body = {"direction": "out", "counterparty": "c", "currency": "NZD", "amount": "100.00", "day": DAY}
    async with rate(admin, "NZD", "4.20"), rate(admin, "NZD", "4.30", LATER):
        draft = expect(await admin.post(f"{AT}/invoices", body))
        at = f"{AT}/invoices/{draft['id']}"
        early = await admin.patch(at, {"day": "2026-11-01", "version": draft["version"]})
        assert (early.code, early.fields) == (40001, {"currency"})
        for change, expected in (
            ({"day": LATER}, "4.30"),
            ({"day": DAY, "remark": "back"}, "4.20"),
            ({"rate": "4.25"}, "4.25"),
            ({"day": LATER}, "4.25"),
            ({"day": LATER, "rate": None}, "4.30"),
            ({"day": DAY, "rate": "4.30"}, "4.30"),
        ):
            draft = expect(await admin.patch(at, {**change, "version": draft["version"]}))
            assert draft["rate"] == expected, change


async def account(client: Client, currency: str | None) -> Books:
    """A new account in a currency."""
    code = unique("ACC")
    body = {"code": code, "name": code, "type": "bank", "currency": currency}
    return Books(client, expect(await client.post(f"{AT}/accounts", body))["id"])


async def differences(client: Client, **query: Any) -> list[str]:
    """The realised differences, the first first."""
    rows = expect(await client.get(f"{AT}/exchange-differences?{urlencode(query)}&sort=id"))["items"]
    return [row["difference"] for row in rows]


async def test_a_payment_at_another_rate_realises_the_difference_and_its_reversal_takes_it_back(admin: Client) -> None:
    books, party = await account(admin, "EUR"), await new_customer(admin)
    item = await books.item(await opened(admin, party, currency="EUR", rate="7.50"))
    async with rate(admin, "EUR", "7.60"):
        payment = expect(await books.enter("in", "100.01", (item, "60.00"), (item, "40.01"), day=LATER), 40001)
        payment = expect(await books.enter("in", "100.01", (item, "100.01"), day=LATER))
    (voucher,) = await books.vouchers()
    assert (await books.balance(), voucher["currency"], voucher["base_amount"]) == ("100.01", "EUR", "760.08")
    (row,) = expect(await admin.get(f"{AT}/exchange-differences?payment_id={payment['id']}"))["items"]
    shown = ("day", "currency", "amount", "payment_rate", "document_rate", "difference")
    assert [row[name] for name in shown] == [LATER, "EUR", "100.01", "7.60", "7.50", "10.00"]
    item = await books.item({"id": item["resource_id"]})
    assert (item["status"], item["base_amount"], item["base_paid"]) == ("paid", "750.08", "750.08")
    expect(await books.reverse_payment(payment))
    assert await differences(admin, payment_id=payment["id"]) == ["10.00", "-10.00"]
    assert (await books.balance(), (await books.item({"id": item["resource_id"]}))["base_paid"]) == ("0.00", "0.00")
    assert (await statement(admin, party))["closing_balance"] == "750.08"
    months = expect(await admin.get(f"{AT}/exchange-differences/months"))["items"]
    assert {LATER[:7], today().isoformat()[:7]} >= {one["month"] for one in months if one["currency"] == "EUR"}


async def test_a_supplier_paid_in_parts_from_an_account_in_the_companys_currency_costs_what_the_money_is_worth(
    admin: Client,
) -> None:
    books, number = await Books.fresh(admin), unique("INV")
    body = {"direction": "in", "number": number, "counterparty": "c", "currency": "USD", "rate": "7.00", "day": DAY}
    draft = expect(await admin.post(f"{AT}/invoices", {**body, "amount": "100.00"}))
    invoice = expect(await admin.post(f"{AT}/invoices/{draft['id']}/confirm"))
    pay = {"account_id": books.account_id, "day": LATER}
    refused = await admin.post(f"{AT}/invoices/{invoice['id']}/pay", pay)
    expect(refused, 40001)
    assert refused.fields == {"rate"}
    for part in ("33.33", "33.33", "33.34"):
        expect(await admin.post(f"{AT}/invoices/{invoice['id']}/pay", {**pay, "amount": part, "rate": "7.111"}))
    assert (await books.balance(), (await books.item(invoice))["status"]) == ("-711.10", "paid")
    assert await differences(admin, open_item_id=(await books.item(invoice))["id"]) == ["-3.70", "-3.70", "-3.70"]


async def test_money_of_one_currency_settles_and_moves_in_that_currency_alone(admin: Client) -> None:
    books, own, party = await account(admin, "USD"), await Books.fresh(admin), await new_customer(admin)
    euro = await books.item(await opened(admin, party, currency="EUR", rate="7.50"))
    for payer, fields, field in (
        (books, {"rate": "7.00"}, "account_id"),
        (books, {"currency": "USD", "rate": "7.00"}, "allocations[0].open_item_id"),
        (books, {"currency": "EUR", "rate": "7.00"}, "account_id"),
        (own, {"currency": "CNY"}, "allocations[0].open_item_id"),
    ):
        refused = await payer.enter("in", "10.00", (euro, "10.00"), day=LATER, **fields)
        expect(refused, 40001)
        assert refused.fields == {field}, (fields, refused.body)
    to = {"to_account_id": own.account_id, "rate": "7.20"}
    for wrong, field in (({}, "to_amount"), ({"rate": None, "to_amount": "700.00"}, "account_id")):
        refused = await books.book("transfer", "100.00", **{**to, **wrong})
        expect(refused, 40001)
        assert refused.fields == {field}
    moved = expect(await books.book("transfer", "100.00", **to, to_amount="719.00"))
    assert (await books.balance(), await own.balance()) == ("-100.00", "719.00")
    changed = expect(await admin.get(f"{AT}/accounts/{books.account_id}"))
    body = {"currency": "EUR", "version": changed["version"]}
    expect(await admin.patch(f"{AT}/accounts/{books.account_id}", body), 40901)
    expect(await books.reverse(moved))
    assert (await books.balance(), await own.balance()) == ("0.00", "0.00")


async def test_an_advance_at_one_rate_is_used_and_paid_back_at_others(admin: Client) -> None:
    books, party = await account(admin, "EUR"), await new_customer(admin)
    item = await books.item(await opened(admin, party, currency="EUR", rate="7.50"))
    advance = expect(await books.enter("in", "100.03", day=LATER, rate="7.61", **party))
    assert (await statement(admin, party))["closing_balance"] == "-11.15"
    expect(await books.allocate(advance, item, "50.01", day=LATER))
    take = {"open_item_id": item["id"], "amount": "20.00", "day": LATER}
    expect(await admin.post(f"{AT}/payments/{advance['id']}/take-back", take))
    back = {"repays_id": advance["id"], "rate": "7.70", "day": LATER}
    paid = expect(await books.enter("out", "70.02", **back))
    assert await differences(admin, payment_id=advance["id"]) == ["5.50", "-2.20"]
    assert await differences(admin, payment_id=paid["id"]) == ["-6.30"]
    told = await statement(admin, party)
    assert told["closing_balance"] == "525.00"  # 70.00 at 7.50
    expect(await books.reverse_payment(paid))
    expect(await books.reverse_payment(advance))
    assert (await statement(admin, party))["closing_balance"] == "750.08"
    assert sum(map(Decimal, await differences(admin, payment_id=advance["id"]))) == 0


async def test_a_company_without_exchange_rates_sees_no_currency_on_its_pages(admin: Client) -> None:
    for one in expect(await admin.get(f"{RATES}?page_size=200"))["items"]:  # that other tests have left
        expect(await admin.delete(f"{RATES}/{one['id']}"))

    async def shown(*pages: str) -> list[bool]:
        found = [
            (await admin.get(page if page.startswith(AT) else f"/api/v1/console/{page}")).body.decode()
            for page in pages
        ]
        return ["币种" in page or "汇兑损益" in page for page in found]

    pages = ("pages/finance.invoice", "records/finance.payments", "pages/finance.statement", "pages/finance.account")
    pages += (
        "pages/inventory.sales-order",
        "records/inventory.receipts",
        "pages/inventory.price-list",
        "records/crm.customers",
        "records/crm.contracts",
        "records/crm.payments",
    )
    pages += (f"{AT}/invoices/template?format=csv", f"{AT}/payments/template?format=csv")
    assert await shown(*pages) == [False] * len(pages)
    async with rate(admin, "NOK", "0.70"):
        assert await shown(*pages) == [True] * len(pages)


async def test_a_payable_in_a_currency_is_paid_in_parts_and_reversing_a_voucher_makes_it_open_again(
    admin: Client,
) -> None:
    books = await account(admin, "USD")
    opening = await opened(admin, {"kind": "payable", "counterparty": "c"}, currency="USD", rate="7.00")
    item = await books.item(opening)
    for fields in ({"amount": "60.00", "rate": "7.10"}, {"rate": "6.95"}):
        expect(await admin.post(f"{AT}/payables/{item['id']}/pay", {"account_id": books.account_id, **fields}))
    assert await differences(admin, open_item_id=item["id"]) == ["-6.00", "2.00"]
    paid = await books.item(opening)
    assert (paid["status"], paid["base_amount"], paid["base_paid"]) == ("paid", "700.07", "700.07")
    second, _ = await books.vouchers()
    expect(await books.reverse(second))
    told = expect(await admin.get(f"{AT}/statements?open_item_id={item['id']}"))
    assert (told["closing_balance"], await books.balance()) == ("280.07", "-60.00")
    assert await differences(admin, open_item_id=item["id"]) == ["-6.00", "2.00", "-2.00"]
