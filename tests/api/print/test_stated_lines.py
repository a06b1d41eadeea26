"""What papers state of lines: tax by rate with the reason where none is charged, units, and the company's own numbers."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.sales import customer
from tests.api.finance.books import AT as FINANCE, Books
from tests.api.finance.test_billed_items import confirm, item_of
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=60)
WHY = "Article 196 of Directive 2006/112/EC"
TAX_TABLE = 'paper.tables.find(one => one.title == "Tax by rate").rows.map(row => row.values().join("|"))'


async def says(admin: Client, paper: str, at: str, whose: str, claims: dict[str, str]) -> None:
    """Print a paper, and fail unless each expression of its template has its value; `whose`: a text that is on no other."""
    name, claimed = unique("says"), "\n".join(f"  assert.eq({one}, {value})" for one, value in claims.items())
    source = f'#let paper = json(bytes(sys.inputs.paper))\n#if repr(paper).contains("{whose}") {{\n{claimed}\n}}\nx'
    body = {"name": name, "paper": paper, "language": "en", "source": source}
    expect(await admin.post("/api/v1/print/templates", body))
    reply = await admin.get(f"{at}{'&' if '?' in at else '?'}language=en&template={name}")
    assert reply.status == 200, reply.body.decode()


async def taxed(admin: Client, goods: Goods) -> tuple[dict[str, Any], dict[str, Any]]:
    """A confirmed order with two rates, a line on which the buyer owes the tax, words and freight; and its customer."""
    tax = {"code": unique("RC"), "name": "Reverse charge", "rate": "0", "treatment": "reverse_charge", "reason": WHY}
    reverse = expect(await admin.post(f"{AT}/taxes", tax))
    who = await customer(admin)
    address = {"name": "HQ", "address": f"{unique('street')} 1", "billing": True}
    party = {"version": who["version"], "vat_number": unique("DE"), "addresses": [address]}
    who = expect(await admin.patch(f"/api/v1/crm/customers/{who['id']}", party))
    lines = [
        {"product_id": goods.product_id, "quantity": "3", "price": "33.335", "tax_rate": "0.13"},
        {"product_id": goods.product_id, "quantity": "1", "price": "7.10", "tax_rate": "0.06"},
        {"description": "as agreed", "kind": "text"},
        {"description": "help", "quantity": "1", "price": "50", "tax_id": reverse["id"]},
    ]
    body = {"customer_id": who["id"], "lines": lines, "freight": "15.01", "warehouse_id": goods.warehouse_id}
    order = expect(await admin.post(f"{AT}/sales-orders", body))
    return expect(await admin.post(f"{AT}/sales-orders/{order['id']}/confirm")), who


async def test_a_paper_has_net_and_tax_of_each_rate_and_why_there_is_none_and_they_add_up(admin: Client) -> None:
    order, _ = await taxed(admin, await Goods.fresh(admin))
    rows = f'("13%|||100.01|13.00", "6%|||7.10|0.43", "0%|Reverse charge|{WHY}|50.00|0.00", "0%|||15.01|0.00")'
    assert (order["net_amount"], order["tax_amount"]) == ("172.12", "13.43")
    claims = {TAX_TABLE: rows, "paper.rows.map(row => row.unit)": '("Piece", "Piece", "", "")'}
    claims["(paper.rows.at(2).quantity, paper.rows.at(2).amount)"] = '("", "")'
    await says(admin, "sales-order", f"{AT}/sales-orders/{order['id']}/print", order["number"], claims)


async def test_a_paper_without_tax_has_no_table_of_it(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await goods.sale(2, "5.00")
    at = f"{AT}/sales-orders/{order['id']}/print"
    await says(admin, "sales-order", at, order["number"], {TAX_TABLE: "()"})


async def test_invoices_and_credit_notes_state_the_party_units_and_taxes_by_rate(admin: Client) -> None:
    order, who = await taxed(admin, await Goods.fresh(admin))
    item = await item_of(admin, order)
    draft = {
        "direction": "out",
        "open_item_id": item["id"],
        "kind": "part",
        "lines": [{"order_line": 1}, {"order_line": 4}],
    }
    invoice = expect(await confirm(admin, expect(await admin.post(f"{FINANCE}/invoices", draft))))
    at = f"{FINANCE}/invoices/{invoice['id']}"
    rows = f'("13%|||100.01|13.00", "0%|Reverse charge|{WHY}|50.00|0.00")'
    whole = {TAX_TABLE: rows, "paper.rows.first().unit": '"Piece"'}
    await says(admin, "invoice", f"{at}/print", invoice["number"], whole)
    credited = {"lines": [{"line": 1, "quantity": "1"}, {"line": 2}]}
    expect(await admin.post(f"{at}/credit-notes", credited))
    (note,) = expect(await admin.get(f"{FINANCE}/credit-notes?invoice_id={invoice['id']}"))["items"]
    party = f'("{who["name"]}", "{who["vat_number"]}", "{who["addresses"][0]["address"]}")'
    rows = f'("13%|||33.34|4.33", "0%|Reverse charge|{WHY}|50.00|0.00")'
    part = {TAX_TABLE: rows, "paper.rows.first().unit": '"Piece"', "paper.party.map(one => one.value)": party}
    await says(admin, "credit-note", f"{FINANCE}/credit-notes/{note['id']}/print", who["vat_number"], part)


async def test_the_letterhead_has_the_tax_number_of_the_company_where_it_is_set(admin: Client) -> None:
    order, number = await (await Goods.fresh(admin)).sale(1, "5.00"), unique("TAX")
    at, told = f"{AT}/sales-orders/{order['id']}/print", "paper.company.told.map(one => one.label + one.value)"
    await says(admin, "sales-order", at, order["number"], {told: '("Tax number",)'})
    expect(await admin.patch("/api/v1/system/configs", {"values": {"finance_tax_number": number}}))
    try:
        await says(admin, "sales-order", at, order["number"], {told: f'("Tax number{number}",)'})
    finally:
        expect(await admin.patch("/api/v1/system/configs", {"values": {"finance_tax_number": ""}}))


async def test_papers_name_payments_and_expenses_with_words(admin: Client) -> None:
    payment = expect(await (await Books.fresh(admin)).enter("in", "5.00"))
    direction = {'paper.facts.find(one => one.name == "direction").value': '"Received"'}
    await says(admin, "receipt", f"{FINANCE}/payments/{payment['id']}/print", payment["number"], direction)
    spent = [{"day": "2026-11-18", "category": one, "amount": "5.00"} for one in ("travel", "gifts")]
    claim = expect(await admin.post(f"{FINANCE}/expense-claims", {"title": "trip", "lines": spent}))
    words = {"paper.rows.map(row => row.category)": '("Travel", "gifts")'}
    await says(admin, "expense-claim", f"{FINANCE}/expense-claims/{claim['id']}/print", claim["number"], words)
