"""Month end, instalments and cash discounts over HTTP: when orders and invoices are due, in which parts, and what is off."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.sales import CUSTOMERS, customer
from tests.api.finance.accounts_of_parties import aged, dunned, paid
from tests.api.finance.books import AT as FINANCE, Books
from tests.api.finance.test_adjustments import adjust
from tests.api.finance.test_billed_items import billed, item_of
from tests.api.finance.test_terms import order_of, ship
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
THIRDS = [{"percent": "30", "days": 0}, {"percent": "70.00", "days": 30}]
AGREED = {"terms_days": 45, "terms_from": "month_end", "discount_percent": "2", "discount_days": 10}


def parts(item: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(part["due_on"], part["amount"], part["paid"]) for part in item["schedule"]]


async def party_of(client: Client, at: str, **terms: Any) -> dict[str, str]:
    """The customer or supplier, with these terms, for whom such orders are."""
    if at == "sales-orders":
        return {"customer_id": (await customer(client, **terms))["id"]}
    code = unique("SUP")
    return {"supplier_id": expect(await client.post(f"{AT}/suppliers", {"code": code, "name": code, **terms}))["id"]}


async def invoiced(client: Client, party: dict[str, str], amount: str, day: str, **further: Any) -> dict[str, Any]:
    """A confirmed invoice."""
    direction = "out" if "customer_id" in party else "in"
    body = {"direction": direction, "number": unique("INV"), "amount": amount, "day": day, **party, **further}
    draft = expect(await client.post(f"{FINANCE}/invoices", body))
    made: dict[str, Any] = expect(await client.post(f"{FINANCE}/invoices/{draft['id']}/confirm"))
    return made


@pytest.mark.parametrize(("at", "kind"), [("sales-orders", "receivable"), ("purchase-orders", "payable")])
async def test_each_shipment_is_due_in_the_parts_that_are_agreed(at: str, kind: str, admin: Client) -> None:
    goods, books = await Goods.stocked(admin, 9), await Books.fresh(admin)
    party = await party_of(admin, at, terms_from="month_end", instalments=THIRDS)
    order = await order_of(
        goods, at, party, lines=[{"product_id": goods.product_id, "quantity": "6", "price": "11.11"}]
    )
    assert (order["terms_from"], order["terms_days"], order["instalments"][0]) == (
        "month_end",
        None,
        {"percent": "30", "days": 0},
    )
    expect(await admin.post(f"{AT}/{at}/{order['id']}/confirm"))
    await ship(goods, at, order, "2026-01-10", "3")
    assert parts(await books.item(order)) == [("2026-01-31", "10.00", "0.00"), ("2026-03-02", "23.33", "0.00")]
    await ship(goods, at, order, "2026-02-10", "3")
    item = await books.item(order)
    assert parts(item) == [
        ("2026-01-31", "10.00", "0.00"),
        ("2026-02-28", "10.00", "0.00"),
        ("2026-03-02", "23.33", "0.00"),
        ("2026-03-30", "23.33", "0.00"),
    ]
    assert await aged(admin, party, "2026-03-02", kind) == ("46.66", "20.00", "0.00", "0.00", "0.00")
    expect(await books.enter("in" if kind == "receivable" else "out", "15.00", (item, "15.00"), day="2026-02-15"))
    assert (await books.item(order))["due_on"] == "2026-02-28"
    assert await aged(admin, party, "2026-03-10", kind) == ("23.33", "28.33", "0.00", "0.00", "0.00")


async def test_an_invoice_is_due_in_the_parts_of_its_party_and_payments_settle_the_first(admin: Client) -> None:
    books, party = await Books.fresh(admin), await party_of(admin, "sales-orders", instalments=THIRDS)
    invoice = await invoiced(admin, party, "33.33", "2026-01-10", tax="0.00")
    assert (invoice["due_on"], invoice["instalments"]) == ("2026-02-09", [THIRDS[0], {"percent": "70", "days": 30}])
    item = await item_of(admin, invoice)
    assert (item["due_on"], parts(item)) == (
        "2026-01-10",
        [("2026-01-10", "10.00", "0.00"), ("2026-02-09", "23.33", "0.00")],
    )
    await paid(books, invoice, "4.00", "2026-01-12")
    row = await dunned(admin, party, "2026-01-20")
    assert row is not None
    assert (row["amount"], row["oldest_due_on"]) == ("6.00", "2026-01-10")
    expect(await books.enter("in", "10.00", (item, "10.00"), day="2026-01-25"))
    after = await item_of(admin, invoice)
    assert (after["due_on"], [part["paid"] for part in after["schedule"]]) == ("2026-02-09", ["10.00", "4.00"])
    expect(await adjust(admin, after, "rebate", "9.33", day="2026-01-26"))
    assert await aged(admin, party, "2026-02-10") == ("0.00", "10.00", "0.00", "0.00", "0.00")


async def test_a_due_day_that_somebody_sets_wins_over_the_terms(admin: Client) -> None:
    party = await party_of(admin, "purchase-orders", instalments=THIRDS, terms_from="month_end")
    invoice = await invoiced(admin, party, "100.00", "2026-01-10", due_on="2026-06-30")
    item = await item_of(admin, invoice, "payables")
    assert (invoice["due_on"], item["due_on"], item["schedule"]) == ("2026-06-30", "2026-06-30", None)


async def test_a_draft_takes_over_all_terms_of_its_party_but_those_that_it_states(admin: Client) -> None:
    party = await party_of(admin, "sales-orders", **AGREED)
    other = await party_of(admin, "sales-orders", instalments=THIRDS)
    body = {"direction": "out", "amount": "100.00", "day": "2026-01-10"}
    draft = expect(await admin.post(f"{FINANCE}/invoices", {**body, **party}))
    assert {name: draft[name] for name in AGREED} == AGREED
    assert (draft["due_on"], draft["discount_until"], draft["discount_amount"]) == ("2026-03-17", "2026-01-20", "2.00")
    path, changes = (
        f"{FINANCE}/invoices/{draft['id']}",
        [{"terms_from": None}, {"amount": "50.00"}, other, {"terms_days": 7}],
    )
    due = []
    for change in changes:
        draft = expect(await admin.patch(path, {"version": draft["version"], **change}))
        due.append((draft["due_on"], draft["discount_amount"]))
    assert due == [("2026-02-24", "2.00"), ("2026-02-24", "1.00"), ("2026-02-09", None), ("2026-01-17", None)]
    stated = expect(
        await admin.post(f"{FINANCE}/invoices", {**body, **party, "terms_days": 5, "discount_percent": "3"})
    )
    assert (stated["due_on"], stated["terms_from"], stated["discount_until"]) == ("2026-01-15", None, "2026-01-15")
    assert stated["discount_amount"] == "3.00"


@pytest.mark.parametrize("at", ["sales-orders", "purchase-orders"])
async def test_days_that_an_order_states_replace_instalments(at: str, admin: Client) -> None:
    goods = await Goods.fresh(admin)
    theirs, others = await party_of(admin, at, instalments=THIRDS), await party_of(admin, at, **AGREED)
    stated = await order_of(goods, at, theirs, terms_days=7)
    assert (stated["terms_days"], stated["instalments"]) == (7, None)
    draft = await order_of(goods, at, theirs)
    path = f"{AT}/{at}/{draft['id']}"
    draft = expect(await admin.patch(path, {"version": draft["version"], "terms_days": 9}))
    assert (draft["terms_days"], draft["instalments"]) == (9, None)
    draft = expect(await admin.patch(path, {"version": draft["version"], **others}))
    assert {name: draft[name] for name in AGREED} == AGREED


async def test_an_invoice_of_an_order_offers_the_discount_of_the_order_and_its_item_says_so(admin: Client) -> None:
    goods = await Goods.stocked(admin, 9)
    order = await order_of(goods, "sales-orders", {}, discount_percent="3", discount_days=14, terms_days=30)
    expect(await admin.post(f"{AT}/sales-orders/{order['id']}/confirm"))
    await ship(goods, "sales-orders", order, "2026-01-10", "5")
    item = await item_of(admin, order)
    assert (item["discount_percent"], item["discount_until"]) == ("3", None)
    invoice = await billed(admin, item, "50.00", day="2026-01-12")
    assert (invoice["discount_until"], invoice["discount_amount"]) == ("2026-01-26", "1.50")
    item = await item_of(admin, order)
    assert (item["discount_until"], item["discount_amount"]) == ("2026-01-26", "1.50")
    expect(await adjust(admin, item, "cash_discount", item["discount_amount"], day="2026-01-20"))
    assert (await item_of(admin, order))["amount"] == "48.50"


async def test_instalments_that_are_not_a_hundred_percent_are_refused_by_name(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    draft = await order_of(goods, "sales-orders", {})
    wrong = {"instalments": [{"percent": "30", "days": 0}, {"percent": "69.9999", "days": 30}]}
    many = {"instalments": [{"percent": "7.6923", "days": days} for days in range(13)]}
    broken = {"instalments": [{"percent": "x", "days": 0}, {"days": -1, "percent": "100"}]}
    for body in (wrong, many, broken, {"instalments": []}, {"terms_from": "week"}, {"discount_percent": "101"}):
        (name,) = body
        for reply in (
            await admin.post(CUSTOMERS, {"name": "晨光科技", **body}),
            await admin.patch(f"{AT}/sales-orders/{draft['id']}", {"version": draft["version"], **body}),
            await admin.post(
                f"{FINANCE}/invoices", {"direction": "out", "counterparty": "c", "amount": "1.00", **body}
            ),
        ):
            assert expect(reply, 40001)["errors"][0]["field"].startswith(name)
