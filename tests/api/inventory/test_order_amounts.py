"""What orders with taxes, discounts and freight come to, over HTTP."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, expect
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
PURCHASES, SALES = f"{AT}/purchase-orders", f"{AT}/sales-orders"


def order_body(goods: Goods, **further: Any) -> dict[str, Any]:
    line = {"product_id": goods.product_id, "quantity": "3", "price": "9.99", "tax_rate": "0.13"}
    return {"customer_name": "somebody", "warehouse_id": goods.warehouse_id, "lines": [line], **further}


async def test_an_order_without_anything_new_has_no_tax(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await goods.sale(3)
    assert (order["amount"], order["net_amount"], order["tax_amount"]) == ("29.70", "29.70", "0.00")
    assert {name: order["lines"][0][name] for name in ("net", "tax", "amount")} == {
        "net": "29.70",
        "tax": "0.00",
        "amount": "29.70",
    }


async def test_tax_is_added_to_prices_or_is_part_of_them(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    without = expect(await admin.post(SALES, order_body(goods)))
    within = expect(await admin.post(SALES, order_body(goods, prices_include_tax=True)))
    assert [without[name] for name in ("net_amount", "tax_amount", "amount")] == ["29.97", "3.90", "33.87"]
    assert [within[name] for name in ("net_amount", "tax_amount", "amount")] == ["26.52", "3.45", "29.97"]


async def test_an_order_that_is_not_kept_comes_to_what_its_creation_would(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    body = order_body(goods, order_discount="1", freight="15", prices_include_tax=True)
    made, asked = expect(await admin.post(SALES, body)), {name: body[name] for name in body if "warehouse" not in name}
    asked.pop("customer_name")
    counted = expect(await admin.post(f"{SALES}/amounts", asked))
    assert {**made, "lines": [{**made["lines"][0], **counted["lines"][0]}]} == made
    assert {**made, **counted, "lines": made["lines"]} == made
    line = {"product_id": goods.product_id}  # whose quantity has not been entered yet
    unpriced = expect(await admin.post(f"{PURCHASES}/amounts", {"lines": [line]}))
    product = expect(await admin.get(f"{AT}/products/{goods.product_id}"))
    assert (unpriced["lines"][0]["price"], unpriced["amount"]) == (product["cost"], "0.00")


async def test_a_draft_whose_discount_or_freight_changes_is_computed_again(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    draft = expect(await admin.post(SALES, order_body(goods, order_discount="9.97", freight="15")))
    assert [draft[name] for name in ("net_amount", "tax_amount", "amount")] == ["35.00", "2.60", "37.60"]
    at = f"{SALES}/{draft['id']}"
    changed = expect(await admin.patch(at, {"version": 1, "order_discount": None, "freight": None}))
    assert changed["amount"] == "33.87"
    reply = await admin.patch(at, {"version": 2, "order_discount": "29.98"})
    expect(reply, 40001)
    assert reply.fields == {"order_discount"}


async def test_deliveries_add_up_to_the_order_and_the_first_has_the_freight(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    draft = expect(await admin.post(SALES, order_body(goods, order_discount="0.50", freight="15.00")))
    order = expect(await admin.post(f"{SALES}/{draft['id']}/confirm"))
    for quantity in ("0.7", "1.1", None):
        expect(await goods.deliver(order, quantity))
    query = f"order_id={order['id']}&sort=created_at"
    shipped = expect(await admin.get(f"{AT}/deliveries?{query}"))["items"]
    assert [one["freight"] for one in shipped] == ["15.00", "0.00", "0.00"]
    assert sum(Decimal(one["amount"]) for one in shipped) == Decimal(order["amount"])


async def test_stock_costs_what_was_paid_without_tax(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    line = {"product_id": goods.product_id, "quantity": "3", "price": "11.30", "tax_rate": "0.13"}
    body = {"supplier_id": await goods.supplier(), "warehouse_id": goods.warehouse_id, "prices_include_tax": True}
    draft = expect(await admin.post(PURCHASES, {**body, "lines": [line], "freight": "8.00"}))
    order = expect(await admin.post(f"{PURCHASES}/{draft['id']}/confirm"))
    expect(await goods.receive(order, 1))
    expect(await goods.receive(order))
    assert await goods.stock() == ("3", "30.00")
    received = expect(await admin.get(f"{AT}/receipts?order_id={order['id']}&sort=created_at"))["items"]
    assert [(one["amount"], one["cost"]) for one in received] == [("19.30", "10.00"), ("22.60", "20.00")]
    owed = expect(await admin.get(f"/api/v1/finance/payables?q={order['number']}"))["items"]
    assert [one["amount"] for one in owed] == ["41.90"]


async def test_an_order_that_was_closed_early_counts_with_what_was_shipped(admin: Client) -> None:
    day = f"{date.today() - timedelta(days=200)}"
    before = await traded_in(admin, day[:7], "sales")
    goods = await Goods.stocked(admin, 10)
    body = order_body(goods, order_discount="0.50", freight="15.00", ordered_on=day)
    draft = expect(await admin.post(SALES, body))
    order = expect(await admin.post(f"{SALES}/{draft['id']}/confirm"))
    expect(await goods.deliver(order, 1))
    expect(await admin.post(f"{SALES}/{draft['id']}/close"))
    (delivery,) = expect(await admin.get(f"{AT}/deliveries?order_id={order['id']}"))["items"]
    assert await traded_in(admin, day[:7], "sales") - before == Decimal(delivery["amount"])


@pytest.mark.parametrize(
    ("trade", "ship", "shipments"), [("sales", "deliver", "deliveries"), ("purchase", "receive", "receipts")]
)
async def test_a_closed_order_counts_with_what_is_owed_for_it_also_when_a_shipment_is_reversed(
    trade: str, ship: str, shipments: str, admin: Client
) -> None:
    day = f"{date.today() - timedelta(days=170)}"
    before = await traded_in(admin, day[:7], trade)
    goods = await Goods.stocked(admin, 10)
    body = order_body(goods, order_discount="0.50", freight="15.00", ordered_on=day)
    if trade == "purchase":
        body = {**body, "supplier_id": await goods.supplier()}
        del body["customer_name"]
    draft = expect(await admin.post(f"{AT}/{trade}-orders", body))
    at = f"{AT}/{trade}-orders/{draft['id']}"
    expect(await admin.post(f"{at}/confirm"))
    for quantity in ("0.7", "1.1"):
        line = {"product_id": goods.product_id, "quantity": quantity}
        expect(await admin.post(f"{at}/{ship}", {"lines": [line]}))
    expect(await admin.post(f"{at}/close"))
    first, second = expect(await admin.get(f"{AT}/{shipments}?order_id={draft['id']}&sort=created_at"))["items"]

    async def shown() -> tuple[Decimal, Decimal, Decimal]:
        order = expect(await admin.get(at))
        owed = await owed_for(admin, trade, order)
        return Decimal(order["shipped_amount"]), owed, await traded_in(admin, day[:7], trade) - before

    assert set(await shown()) == {Decimal(first["amount"]) + Decimal(second["amount"])}
    expect(await admin.post(f"{AT}/{shipments}/{first['id']}/reverse"))
    assert set(await shown()) == {Decimal(second["amount"])}
    expect(await admin.post(f"{AT}/{shipments}/{second['id']}/reverse"))
    assert set(await shown()) == {Decimal(0)}


async def owed_for(admin: Client, trade: str, order: dict[str, Any]) -> Decimal:
    items = "receivables" if trade == "sales" else "payables"
    query = f"resource_id={order['id']}&status=open,void"
    rows = expect(await admin.get(f"/api/v1/finance/{items}?{query}"))["items"]
    return sum((Decimal(row["amount"]) for row in rows), Decimal(0))


async def traded_in(admin: Client, month: str, trade: str) -> Decimal:
    rows = expect(await admin.get("/api/dashboard/sales-vs-purchase?months=12"))["items"]
    return sum((Decimal(row[trade]) for row in rows if row["month"] == month), Decimal(0))
