"""Lines of orders over HTTP: prices, the same product twice, services, words, and what is moved and returned of each."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client, expect
from tests.api.approval.flows import configured
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
PURCHASES, SALES = f"{AT}/purchase-orders", f"{AT}/sales-orders"


async def sold(goods: Goods, *lines: dict[str, Any], **terms: Any) -> dict[str, Any]:
    """A confirmed sales order with these lines, of the goods unless a line says otherwise."""
    body = {"customer_name": "somebody", "warehouse_id": goods.warehouse_id, "lines": of(goods, *lines), **terms}
    draft = expect(await goods.client.post(SALES, body))
    order: dict[str, Any] = expect(await goods.client.post(f"{SALES}/{draft['id']}/confirm"))
    return order


def of(goods: Goods, *lines: dict[str, Any]) -> list[dict[str, Any]]:
    return [line if "description" in line else {"product_id": goods.product_id, **line} for line in lines]


async def faults_of(goods: Goods, *lines: dict[str, Any]) -> set[tuple[str, str]]:
    """What is wrong with an order of these lines."""
    reply = await goods.client.post(SALES, {"customer_name": "somebody", "lines": of(goods, *lines)})
    return {(one["field"], one["rule"]) for one in expect(reply, 40001)["errors"]}


async def shipped(goods: Goods, order: dict[str, Any], documents: str = "deliveries") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = expect(
        await goods.client.get(f"{AT}/{documents}?order_id={order['id']}&sort=created_at")
    )["items"]
    return found


async def test_a_unit_price_has_up_to_six_decimals_and_may_be_that_of_many_units(admin: Client) -> None:
    goods = await Goods.fresh(admin, price="0.195")
    lines = [
        {"quantity": "1198"},
        {"quantity": "1198", "price": "0.195"},
        {"quantity": "250", "unit_price": "12.345678", "price_per": "100"},
        {"quantity": "3", "price": "10", "discount": "0.1", "discount_amount": "0.50"},
    ]
    order = await sold(goods, *lines)
    assert [(line["price"], line["amount"]) for line in order["lines"]] == [
        ("0.195", "233.61"),
        ("0.195", "233.61"),
        ("12.345678", "30.86"),
        ("10.00", "26.50"),
    ]
    assert order["amount"] == "524.58"
    counted = expect(await admin.post(f"{SALES}/amounts", {"lines": of(goods, *lines)}))["lines"]
    assert all(line["unit_price"] == line["price"] for line in (*order["lines"], *counted))
    wrong = [
        {"quantity": "1", "price": "0.1234567"},
        {"quantity": "1", "price": "1", "unit_price": "2"},
        {"quantity": "1", "price": "1", "discount_amount": "1.01"},
    ]
    assert [await faults_of(goods, line) for line in wrong] == [
        {("lines[0].price", "pattern")},
        {("lines[0].unit_price", "invalid")},
        {("lines[0].discount_amount", "maximum")},
    ]


async def test_the_same_product_on_two_lines_is_delivered_and_returned_line_by_line(
    admin: Client, tradewind: Running
) -> None:
    goods = await Goods.stocked(admin, 20, "10.00")
    order = await sold(goods, {"quantity": "10", "price": "20"}, {"quantity": "1", "price": "0"})
    assert ([line["line"] for line in order["lines"]], order["amount"]) == ([1, 2], "200.00")
    at = f"{SALES}/{order['id']}/deliver"
    vague = {"product_id": goods.product_id, "quantity": "1"}
    assert (await admin.post(at, {"lines": [vague]})).fields == {"lines[0].line"}
    assert (await admin.post(at, {"lines": [{"line": 3, "quantity": "1"}]})).fields == {"lines[0].line"}
    named = [{"line": 2, "quantity": "1"}, {"line": 1, "product_id": goods.product_id, "quantity": "4"}]
    after = expect(await admin.post(at, {"lines": named}))
    assert [line["delivered"] for line in after["lines"]] == ["4", "1"]
    expect(await admin.post(at))
    first, second = await shipped(goods, order)
    assert [(line["line"], line["amount"]) for one in (first, second) for line in one["lines"]] == [
        (1, "80.00"),
        (2, "0.00"),
        (1, "120.00"),
    ]
    back = expect(await admin.post(f"{AT}/deliveries/{first['id']}/returns", {"lines": [{"line": 1, "quantity": "3"}]}))
    assert (back["lines"][0]["line"], back["amount"], back["cost"]) == (1, "60.00", "30.00")
    expect(await admin.post(f"{AT}/deliveries/{second['id']}/reverse"))
    again = expect(await admin.get(f"{SALES}/{order['id']}"))
    assert [line["delivered"] for line in again["lines"]] == ["4", "1"]
    assert await goods.stock() == ("18", "180.00")
    found = await differences(tradewind.service.database.driver)
    assert [one for one in found if order["number"] in one or goods.product_id in one] == []


async def test_a_service_is_delivered_and_owed_without_stock_and_words_cost_nothing(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5, "4.00")
    hour = await Goods.fresh(admin, kind="service", price="80.00")
    lines = [
        {"quantity": "2", "price": "9.90"},
        {"description": "安装调试", "quantity": "1.5", "price": "100", "tax_rate": "0.06"},
        {"description": "分两批交货", "kind": "text"},
        {"product_id": hour.product_id, "description": "培训", "quantity": "1"},
    ]
    order = await sold(goods, *lines)
    assert [line["kind"] for line in order["lines"]] == ["product", "service", "text", "service"]
    assert [line["amount"] for line in order["lines"]] == ["19.80", "159.00", "0.00", "80.00"]
    assert expect(await goods.deliver(order))["status"] == "delivered"
    (delivery,) = await shipped(goods, order)
    assert (delivery["amount"], delivery["cost"]) == ("258.80", "8.00")
    assert [line["description"] for line in delivery["lines"]] == [None, "安装调试", "培训"]
    assert (await goods.stock(), await hour.stock()) == (("3", "12.00"), ("0", "0.00"))
    back = {"lines": [{"line": 2, "quantity": "0.5"}]}
    assert expect(await admin.post(f"{AT}/deliveries/{delivery['id']}/returns", back))["amount"] == "53.00"
    expect(await admin.post(f"{AT}/deliveries/{delivery['id']}/reverse"))
    assert await goods.stock() == ("5", "20.00")
    words = {**lines[2], "quantity": order["lines"][2]["quantity"]}  # as a form sends what it has read
    assert (await sold(goods, lines[0], words))["amount"] == "19.80"


async def test_a_service_that_is_bought_adds_nothing_to_the_stock(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    lines = of(goods, {"quantity": "2", "price": "4"}, {"description": "运输", "quantity": "1", "price": "7"})
    body = {"supplier_id": await goods.supplier(), "warehouse_id": goods.warehouse_id, "lines": lines}
    draft = expect(await admin.post(PURCHASES, body))
    order = expect(await admin.post(f"{PURCHASES}/{draft['id']}/confirm"))
    expect(await goods.receive(order))
    (receipt,) = await shipped(goods, order, "receipts")
    assert (receipt["amount"], receipt["cost"], await goods.stock()) == ("15.00", "8.00", ("2", "8.00"))
    back = expect(await admin.post(f"{AT}/receipts/{receipt['id']}/returns"))
    assert (back["amount"], back["cost"], back["difference"]) == ("15.00", "8.00", "0.00")
    assert await goods.stock() == ("0", "0.00")


async def test_a_line_that_contradicts_its_kind_is_refused(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    hour = await Goods.fresh(admin, kind="service")
    words = {"description": "words", "kind": "text"}
    assert await faults_of(goods, words) == {("lines", "required")}
    wrong = [
        {**words, "quantity": "1"},
        {"description": "nothing to price", "kind": "service"},
        {"description": "no product", "kind": "product", "quantity": "1"},
        {"quantity": "1", "kind": "service"},
        {},
        {"product_id": hour.product_id, "kind": "product", "quantity": "1"},
    ]
    assert await faults_of(goods, *wrong) == {
        ("lines[0].quantity", "invalid"),
        ("lines[1].price", "required"),
        ("lines[1].quantity", "required"),
        ("lines[2].product_id", "required"),
        ("lines[3].kind", "invalid"),
        ("lines[4].quantity", "required"),
        ("lines[5].kind", "invalid"),
    }
    counted = {"product_id": hour.product_id, "counted": "1"}
    reply = await admin.post(f"{AT}/stock-counts", {"warehouse_id": hour.warehouse_id, "lines": [counted]})
    assert reply.fields == {"lines[0].product_id"}
    at = f"{AT}/products/{hour.product_id}"
    expect(await admin.patch(at, {"version": 1, "kind": "product"}), 40901)


async def test_an_order_has_at_most_a_thousand_lines(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    assert await faults_of(goods, *[{"quantity": "1"}] * 1001) == {("lines", "maxItems")}
    asked = {"lines": of(goods, *[{"quantity": "1", "price": "0.3"}] * 1000)}
    assert expect(await admin.post(f"{SALES}/amounts", asked))["amount"] == "300.00"


async def test_documents_of_an_earlier_version_go_on_without_numbers_of_lines(
    admin: Client, tradewind: Running
) -> None:
    goods = await Goods.stocked(admin, 9)
    order = await goods.sale(3, "1.00")
    expect(await goods.deliver(order, 1))
    older = {f"lines.$[].{name}": "" for name in ("line", "kind", "description")}
    driver = tradewind.service.database.driver
    for collection, key in (("inventory_sales_orders", "number"), ("inventory_deliveries", "order_number")):
        await driver.update_many(collection, {key: order["number"]}, {"$unset": older})
    expect(await goods.deliver(order))
    first, second = await shipped(goods, order)
    assert [one["lines"][0]["line"] for one in (first, second)] == [None, None]
    back = {"lines": [{"product_id": goods.product_id, "quantity": "1"}]}
    expect(await admin.post(f"{AT}/deliveries/{second['id']}/returns", back))
    expect(await admin.post(f"{AT}/deliveries/{first['id']}/reverse"))
    after = expect(await admin.get(f"{SALES}/{order['id']}"))
    assert (after["lines"][0]["delivered"], after["shipped_amount"], after["returned_amount"]) == ("2", "2.00", "1.00")
    assert await goods.stock() == ("8", "32.00")


async def test_the_tax_of_a_new_order_is_rounded_as_the_setting_says(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    lines = [{"quantity": "1", "price": "0.05", "tax_rate": "0.13"}] * 3
    assert (await sold(goods, *lines))["tax_amount"] == "0.02"
    async with configured(admin, inventory_tax_rounding="line"):
        order = await sold(goods, *lines)
    assert (order["tax_amount"], order["tax_rounding"]) == ("0.03", "line")
    assert sum(Decimal(line["tax"]) for line in order["lines"]) == Decimal(order["tax_amount"])
