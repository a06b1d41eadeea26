"""Terms of payment: when what is delivered, received or invoiced is due, and how it ages."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.sales import customer
from tests.api.finance.accounts_of_parties import aged, dunned
from tests.api.finance.books import AT as FINANCE, Books
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)


async def order_of(goods: Goods, at: str, party: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A draft of five pieces for 10.00 each."""
    line = {"product_id": goods.product_id, "quantity": "5", "price": "10.00"}
    who = {"customer_name": "晨光科技"} if at == "sales-orders" else {}
    body = {**who, **party, "warehouse_id": goods.warehouse_id, "lines": [line], **fields}
    made: dict[str, Any] = expect(await goods.client.post(f"{AT}/{at}", body))
    return made


async def ship(goods: Goods, at: str, order: dict[str, Any], day: str, quantity: str) -> None:
    """Deliver or receive some pieces on a day."""
    action = "deliver" if at == "sales-orders" else "receive"
    body = {"day": day, "lines": [{"product_id": goods.product_id, "quantity": quantity}]}
    expect(await goods.client.post(f"{AT}/{at}/{order['id']}/{action}", body))


async def parties(client: Client, terms_days: int | None) -> dict[str, dict[str, str]]:
    """A customer and a supplier with these terms, by the orders that are for them."""
    code = unique("SUP")
    supplier = expect(await client.post(f"{AT}/suppliers", {"code": code, "name": code, "terms_days": terms_days}))
    return {
        "sales-orders": {"customer_id": (await customer(client, terms_days=terms_days))["id"]},
        "purchase-orders": {"supplier_id": supplier["id"]},
    }


@pytest.mark.parametrize("at", ["sales-orders", "purchase-orders"])
async def test_an_order_has_the_terms_of_its_party_unless_it_says(at: str, admin: Client) -> None:
    goods = await Goods.fresh(admin)
    theirs, others = await parties(admin, 30), await parties(admin, 45)
    assert (await order_of(goods, at, theirs[at], terms_days=7))["terms_days"] == 7
    draft = await order_of(goods, at, theirs[at])
    assert draft["terms_days"] == 30
    path = f"{AT}/{at}/{draft['id']}"
    changed = expect(await admin.patch(path, {"version": draft["version"], **others[at]}))
    assert changed["terms_days"] == 45
    changed = expect(await admin.patch(path, {"version": changed["version"], "terms_days": None}))
    assert changed["terms_days"] is None
    changed = expect(await admin.patch(path, {"version": changed["version"], "remark": "soon", **others[at]}))
    assert changed["terms_days"] is None


@pytest.mark.parametrize(("at", "kind"), [("sales-orders", "receivable"), ("purchase-orders", "payable")])
async def test_each_shipment_is_due_after_its_own_day(at: str, kind: str, admin: Client) -> None:
    goods, books = await Goods.stocked(admin, 9), await Books.fresh(admin)
    party = (await parties(admin, 30))[at]
    order = await order_of(goods, at, party)
    expect(await admin.post(f"{AT}/{at}/{order['id']}/confirm"))
    await ship(goods, at, order, "2026-01-10", "2")
    await ship(goods, at, order, "2026-02-10", "3")
    item = await books.item(order)
    parts = [(part["due_on"], part["amount"], part["paid"]) for part in item["schedule"]]
    assert parts == [("2026-02-09", "20.00", "0.00"), ("2026-03-12", "30.00", "0.00")]
    assert (item["due_on"], item["terms_days"]) == ("2026-02-09", 30)
    assert await aged(admin, party, "2026-02-20", kind) == ("30.00", "20.00", "0.00", "0.00", "0.00")
    direction = "in" if kind == "receivable" else "out"
    payment = expect(await books.enter(direction, "25.00", (item, "25.00"), day="2026-02-15"))
    paid = await books.item(order)
    assert [part["paid"] for part in paid["schedule"]] == ["20.00", "5.00"]
    assert paid["due_on"] == "2026-03-12"
    assert await aged(admin, party, "2026-02-20", kind) == ("25.00", "0.00", "0.00", "0.00", "0.00")
    assert await aged(admin, party, "2026-03-20", kind) == ("0.00", "25.00", "0.00", "0.00", "0.00")
    expect(await books.reverse_payment(payment, day="2026-03-15"))
    assert (await books.item(order))["due_on"] == "2026-02-09"
    assert await aged(admin, party, "2026-03-20", kind) == ("0.00", "30.00", "20.00", "0.00", "0.00")


async def test_paying_a_payable_pays_what_is_due_first(admin: Client) -> None:
    goods, books = await Goods.fresh(admin), await Books.fresh(admin)
    party = (await parties(admin, 10))["purchase-orders"]
    order = await order_of(goods, "purchase-orders", party)
    expect(await admin.post(f"{AT}/purchase-orders/{order['id']}/confirm"))
    await ship(goods, "purchase-orders", order, "2026-01-10", "2")
    await ship(goods, "purchase-orders", order, "2026-03-10", "3")
    item = await books.item(order)
    body = {"account_id": books.account_id, "amount": "30.00", "day": "2026-01-15"}
    paid = expect(await admin.post(f"{FINANCE}/payables/{item['id']}/pay", body))
    assert ([part["paid"] for part in paid["schedule"]], paid["due_on"]) == (["20.00", "10.00"], "2026-03-20")
    assert await aged(admin, party, "2026-04-01", "payable") == ("0.00", "20.00", "0.00", "0.00", "0.00")


async def test_a_return_is_not_due_and_what_is_late_is_dunned(admin: Client) -> None:
    goods = await Goods.stocked(admin, 9)
    party = (await parties(admin, 14))["sales-orders"]
    order = await order_of(goods, "sales-orders", party)
    expect(await admin.post(f"{AT}/sales-orders/{order['id']}/confirm"))
    await ship(goods, "sales-orders", order, "2026-01-10", "2")
    await ship(goods, "sales-orders", order, "2026-01-20", "3")
    first = expect(await admin.get(f"{AT}/deliveries?order_id={order['id']}&sort=day"))["items"][0]
    expect(await admin.post(f"{AT}/deliveries/{first['id']}/returns", {"day": "2026-01-22"}))
    assert await dunned(admin, party, "2026-02-03") is None
    row = await dunned(admin, party, "2026-02-10")
    assert row is not None
    assert (row["amount"], row["oldest_due_on"], row["count"]) == ("30.00", "2026-02-03", 1)


@pytest.mark.parametrize("direction", ["out", "in"])
async def test_an_invoice_is_due_by_the_terms_of_its_party_unless_it_says(direction: str, admin: Client) -> None:
    party = (await parties(admin, 20))["sales-orders" if direction == "out" else "purchase-orders"]
    body = {"direction": direction, "counterparty": "c", "amount": "1.00", "day": "2026-01-31", **party}
    due = []
    for further in ({}, {"due_on": "2026-06-30"}):
        draft = expect(await admin.post(f"{FINANCE}/invoices", {**body, "number": unique("INV"), **further}))
        due.append(draft["due_on"])
    assert due == ["2026-02-20", "2026-06-30"]


@pytest.mark.parametrize("direction", ["out", "in"])
async def test_the_due_day_of_a_draft_follows_the_terms_until_somebody_sets_it(direction: str, admin: Client) -> None:
    at = "sales-orders" if direction == "out" else "purchase-orders"
    first, second = [(await parties(admin, days))[at] for days in (20, 30)]
    body = {"direction": direction, "counterparty": "c", "number": unique("INV"), "amount": "1.00", "day": "2026-01-31"}
    draft = expect(await admin.post(f"{FINANCE}/invoices", {**body, **first}))
    due = []
    changes: list[dict[str, Any]] = [
        {"day": "2026-03-01"},
        second,
        {"remark": "soon"},
        {"due_on": "2026-12-31"},
        {"day": "2026-04-01"},
        {"due_on": None},
        first,
    ]
    for change in changes:
        draft = expect(await admin.patch(f"{FINANCE}/invoices/{draft['id']}", {"version": draft["version"], **change}))
        due.append(draft["due_on"])
    assert due == ["2026-03-21", "2026-03-31", "2026-03-31", "2026-12-31", "2026-12-31", None, None]


async def test_without_terms_nothing_is_due_on_any_day(admin: Client) -> None:
    goods, books = await Goods.stocked(admin, 9), await Books.fresh(admin)
    order = expect(await goods.deliver(await goods.sale(2)))
    item = await books.item(order)
    assert (order["terms_days"], item["terms_days"], item["due_on"], item["schedule"]) == (None, None, None, None)
