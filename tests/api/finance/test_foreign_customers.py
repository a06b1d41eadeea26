"""What a customer who owes in other currencies is told: statements and reminders, as answers and as papers."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.sales import customer
from tests.api.finance.accounts_of_parties import billed, dunned, statement
from tests.api.finance.books import AT, Books
from tests.api.finance.test_currencies import LATER, adjust, opened

pytestmark = pytest.mark.gen_test(timeout=60)
Record = dict[str, Any]
SUMS = (
    "currency",
    "opening_balance",
    "debit",
    "credit",
    "closing_balance",
    "current",
    "days_1_30",
    "total",
    "advances",
)


async def owing(admin: Client, *, own: bool = True) -> Record:
    """A customer who owes 60.01 EUR of 100.01 at 7.50, and 50.00 CNY unless not `own`."""
    who = await customer(admin)
    party, books = {"customer_id": who["id"]}, await Books.fresh(admin)
    item = await books.item(await opened(admin, party, currency="EUR", rate="7.50"))
    await adjust(admin, item, "40.00")
    if own:
        await billed(admin, party, "50.00", "2026-11-10", "2026-11-15")
    return {"name": who["name"], "party": party}


async def printed(admin: Client, paper: str, at: str, party: Record, says: str) -> Any:
    """Print a paper in a template that fails unless it says this, and once more in the standard one; return that."""
    name, asked = unique("says"), f"{at}/print?customer_id={party['customer_id']}&language=en"
    who = expect(await admin.get(f"/api/v1/crm/customers/{party['customer_id']}"))["name"]
    source = (
        "#let paper = json(bytes(sys.inputs.paper))\n"
        f'#if paper.values.customer_id == "{who}" {{\n'  # not in the example by which the template is tried
        "  let rows(all, ..names) = all.map(row => names.pos().map(name => row.at(name)))\n"
        f"  let totals = paper.totals.map(one => one.value)\n  {says}\n}}\nx"
    )
    body = {"name": name, "paper": paper, "language": "en", "source": source}
    expect(await admin.post("/api/v1/print/templates", body))
    tried = await admin.get(f"{asked}&to={LATER}&template={name}" if "statements" in at else f"{asked}&template={name}")
    assert tried.status == 200, tried.body.decode()
    standard = await admin.get(f"{asked}&to={LATER}" if "statements" in at else asked)
    assert standard.status == 200, standard.body.decode()
    return standard


async def test_a_statement_says_in_each_currency_what_is_owed_and_since_when(admin: Client) -> None:
    party = (await owing(admin))["party"]
    found = await statement(admin, party, to=LATER)
    assert [[one[name] for name in SUMS] for one in found["currencies"]] == [
        ["CNY", "0.00", "50.00", "0.00", "50.00", "0.00", "50.00", "50.00", "0.00"],
        ["EUR", "0.00", "100.01", "40.00", "60.01", "0.00", "60.01", "60.01", "0.00"],
    ]
    assert found["closing_balance"] == "500.08"
    euro = await statement(admin, party, to=LATER, currency="EUR")
    assert [(one["debit"], one["credit"], one["balance"]) for one in euro["items"]] == [
        ("100.01", "0.00", "100.01"),
        ("0.00", "40.00", "60.01"),
    ]
    assert euro["closing_balance"] == "60.01"
    later = await statement(admin, party, to=LATER, currency="EUR", **{"from": LATER})
    assert [later[name] for name in ("opening_balance", "debit", "credit")] == ["100.01", "0.00", "40.00"]
    own = await statement(admin, party, to=LATER, currency="CNY")
    assert ([one["balance"] for one in own["items"]], own["closing_balance"]) == (["50.00"], "50.00")


async def test_an_advance_in_a_currency_is_no_part_of_what_is_past_due(admin: Client) -> None:
    party, books = (await owing(admin, own=False))["party"], await Books.fresh(admin)
    expect(await books.enter("in", "10.00", day=LATER, currency="EUR", rate="7.60", **party))
    (euro,) = (await statement(admin, party, to=LATER))["currencies"]
    assert [euro[name] for name in ("closing_balance", "total", "advances")] == ["50.01", "60.01", "10.00"]


async def test_the_export_of_a_statement_is_in_the_currency_that_is_asked_for(admin: Client) -> None:
    party = (await owing(admin))["party"]
    at = f"{AT}/statements/export?customer_id={party['customer_id']}&currency=EUR&fields=currency,debit,balance"
    rows = (await admin.get(at)).body.decode("utf-8-sig").split()
    assert rows == ["currency,debit,balance", "EUR,100.01,100.01", "EUR,0.00,60.01"]


async def test_the_paper_of_a_statement_has_a_part_for_each_currency_and_its_total_in_the_companys(
    admin: Client, anonymous: Client
) -> None:
    says = (
        'assert.eq(rows(paper.rows, "currency", "balance"), (("CNY", "50.00"), ("EUR", "100.01"), ("EUR", "60.01")))\n'
        '  assert.eq(rows(paper.tables.first().rows, "currency", "closing_balance"), (("CNY", "50.00"), ("EUR", "60.01")))\n'
        '  assert.eq(rows(paper.tables.last().rows, "days_1_30"), (("50.00",), ("60.01",)))\n'
        '  assert.eq(totals, ("CNY", "800.08", "300.00", "500.08"))'
    )
    paper = await printed(admin, "statement", f"{AT}/statements", (await owing(admin))["party"], says)
    token = paper.headers["X-Print-Token"]
    assert expect(await anonymous.get(f"/api/v1/print/check/{token}?number=&total=500.08")) == {"status": "equal"}


async def test_the_paper_of_a_statement_in_one_other_currency_is_in_that_alone(
    admin: Client, anonymous: Client
) -> None:
    says = (
        'assert.eq(totals, ("EUR", "100.01", "40.00", "60.01"))\n'
        '  assert.eq(rows(paper.tables.first().rows, "currency"), (("EUR",),))'
    )
    party = (await owing(admin, own=False))["party"]
    token = (await printed(admin, "statement", f"{AT}/statements", party, says)).headers["X-Print-Token"]
    asked = f"/api/v1/print/check/{token}?number=&total=60.01"
    assert expect(await anonymous.get(asked)) == {"status": "equal"}
    await billed(admin, party, "50.00", "2026-11-10", None)
    assert expect(await anonymous.get(asked)) == {"status": "older"}


async def test_the_paper_of_a_statement_in_the_companys_currency_names_no_currency(admin: Client) -> None:
    party = {"customer_id": (await customer(admin))["id"]}
    await billed(admin, party, "50.00", "2026-11-10", None)
    says = (
        'assert.eq((totals, rows(paper.rows, "currency")), (("", "50.00", "0.00", "50.00"), (("",),)))\n'
        "  assert(paper.tables.all(one => one.rows.len() == 0))"
    )
    await printed(admin, "statement", f"{AT}/statements", party, says)


async def test_the_dunning_list_says_what_is_past_due_in_each_currency(admin: Client) -> None:
    row = await dunned(admin, (await owing(admin))["party"], LATER)
    assert row is not None
    assert row["amount"] == "500.08"
    assert row["currencies"] == [{"currency": "CNY", "amount": "50.00"}, {"currency": "EUR", "amount": "60.01"}]
    shown = [(one["amount"], one["currency"], one["currency_amount"]) for one in row["items"]]
    assert shown == [("450.08", "EUR", "60.01"), ("50.00", None, None)]
    party = {"customer_id": (await customer(admin))["id"]}
    await billed(admin, party, "50.00", "2026-11-10", "2026-11-15")
    row = await dunned(admin, party, LATER)
    assert row is not None
    assert row["currencies"] is None


async def test_a_reminder_asks_for_what_is_past_due_in_its_currencies(admin: Client, anonymous: Client) -> None:
    says = (
        'assert(paper.letter.contains("60.01 EUR in all"))\n'
        '  assert.eq((totals, rows(paper.rows, "currency", "amount")), (("EUR", "60.01"), (("EUR", "60.01"),)))'
    )
    await printed(admin, "dunning-letter", f"{AT}/dunning", (await owing(admin, own=False))["party"], says)
    says = (
        'assert(paper.letter.contains("50.00 CNY + 60.01 EUR in all"))\n'
        '  assert.eq(rows(paper.rows, "currency", "amount"), (("CNY", "50.00"), ("EUR", "60.01")))\n'
        '  assert.eq(totals, ("CNY", "500.08"))'
    )
    paper = await printed(admin, "dunning-letter", f"{AT}/dunning", (await owing(admin))["party"], says)
    token = paper.headers["X-Print-Token"]
    assert expect(await anonymous.get(f"/api/v1/print/check/{token}?number=&total=500.08")) == {"status": "equal"}
