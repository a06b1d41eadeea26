"""Purchase and sales orders over HTTP: their states, and what each allows."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
PURCHASES, SALES = f"{AT}/purchase-orders", f"{AT}/sales-orders"


async def test_a_line_takes_the_price_of_its_product(admin: Client) -> None:
    goods = await Goods.fresh(admin, price="9.90", cost="4.00")
    assert (await goods.sale(3))["amount"] == "29.70"
    assert (await goods.purchase(3))["amount"] == "12.00"


async def test_an_order_takes_the_name_of_its_customer_unless_one_is_given(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    first, second = [expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")})) for _ in range(2)]
    body = {"lines": [{"product_id": goods.product_id, "quantity": "1"}]}
    order = expect(await admin.post(SALES, {**body, "customer_id": first["id"]}))
    assert order["customer_name"] == first["name"]
    change = {"customer_id": second["id"], "version": order["version"]}
    assert expect(await admin.patch(f"{SALES}/{order['id']}", change))["customer_name"] == second["name"]
    assert (await admin.post(SALES, body)).fields == {"customer_name"}
    assert (await admin.post(SALES, {**body, "customer_id": "0" * 24})).fields == {"customer_id"}


async def test_a_discount_is_off_the_whole_line_and_its_parts_add_up(admin: Client) -> None:
    goods = await Goods.stocked(admin, 7)
    order = await goods.sale(7, "2.35", discount="0.15")
    assert order["amount"] == "13.98"
    for quantity in (1, 2, 4):
        expect(await goods.deliver(order, quantity))
    parts = expect(await admin.get(f"{AT}/deliveries?order_id={order['id']}"))["items"]
    assert sorted(part["amount"] for part in parts) == ["2.00", "3.99", "7.99"]


async def test_a_discount_is_a_part_of_the_price(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    for discount in ("1.01", "-0.1"):
        line = {"product_id": goods.product_id, "quantity": "1", "discount": discount}
        reply = await admin.post(SALES, {"customer_name": "somebody", "lines": [line]})
        assert reply.fields == {"lines[0].discount"}


async def test_an_order_is_received_in_parts(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await goods.purchase(3)
    assert order["status"] == "ordered"
    assert expect(await goods.receive(order, 1))["status"] == "partly_received"
    received = expect(await goods.receive(order))
    assert (received["status"], received["lines"][0]["received"]) == ("received", "3")


async def test_an_order_is_delivered_in_parts(admin: Client) -> None:
    goods = await Goods.stocked(admin, 3)
    order = await goods.sale(3)
    assert expect(await goods.deliver(order, 1))["status"] == "partly_delivered"
    assert expect(await goods.deliver(order))["status"] == "delivered"


async def test_more_than_is_open_cannot_be_received(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    expect(await goods.receive(await goods.purchase(3), 4), 40901)
    assert await goods.stock() == ("0", "0.00")


async def test_a_draft_cannot_be_received(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    line = {"product_id": goods.product_id, "quantity": "1"}
    draft = expect(await admin.post(PURCHASES, {"supplier_id": await goods.supplier(), "lines": [line]}))
    expect(await admin.post(f"{PURCHASES}/{draft['id']}/receive", {"warehouse_id": goods.warehouse_id}), 40901)


async def test_without_a_warehouse_nothing_is_received(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    line = {"product_id": goods.product_id, "quantity": "1"}
    placeless = expect(await admin.post(PURCHASES, {"supplier_id": await goods.supplier(), "lines": [line]}))
    expect(await admin.post(f"{PURCHASES}/{placeless['id']}/confirm"))
    reply = await goods.receive(placeless)
    expect(reply, 40001)
    assert reply.fields == {"warehouse_id"}


@pytest.mark.parametrize("at", [PURCHASES, SALES])
async def test_a_confirmed_order_cannot_be_edited(at: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order = await (goods.purchase(1) if at == PURCHASES else goods.sale(1))
    expect(await admin.patch(f"{at}/{order['id']}", {"version": order["version"], "remark": "later"}), 40901)


@pytest.mark.parametrize("at", [PURCHASES, SALES])
async def test_a_cancelled_order_moves_nothing(at: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order = await (goods.purchase(1) if at == PURCHASES else goods.sale(1))
    assert expect(await admin.post(f"{at}/{order['id']}/cancel"))["status"] == "cancelled"
    expect(await (goods.receive(order) if at == PURCHASES else goods.deliver(order)), 40901)
    assert await goods.stock() == ("5", "20.00")


async def test_a_partly_shipped_order_is_closed_and_not_cancelled(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order = await goods.sale(3)
    expect(await goods.deliver(order, 1))
    expect(await admin.post(f"{SALES}/{order['id']}/cancel"), 40901)
    assert expect(await admin.post(f"{SALES}/{order['id']}/close"))["status"] == "closed"
    expect(await goods.deliver(order), 40901)


async def test_changed_lines_change_the_amount_of_a_draft(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    line = {"product_id": goods.product_id, "quantity": "1", "price": "2.00"}
    draft = expect(await admin.post(SALES, {"customer_name": "somebody", "lines": [line]}))
    lines = [{**line, "quantity": "2.5"}]
    assert expect(await admin.patch(f"{SALES}/{draft['id']}", {"version": 1, "lines": lines}))["amount"] == "5.00"


@pytest.mark.parametrize("at", [PURCHASES, SALES])
async def test_an_order_whose_day_is_cleared_gets_today(at: str, admin: Client) -> None:
    goods = await Goods.fresh(admin)
    by = {"customer_name": "somebody"} if at == SALES else {"supplier_id": await goods.supplier()}
    draft = expect(await admin.post(at, {**by, "lines": [{"product_id": goods.product_id, "quantity": "1"}]}))
    changed = expect(await admin.patch(f"{at}/{draft['id']}", {"version": 1, "ordered_on": None}))
    assert changed["ordered_on"] == draft["ordered_on"]


async def test_a_delivery_has_price_and_cost(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5, "4.00")
    order = await goods.sale(2, "9.90")
    expect(await goods.deliver(order))
    delivery = expect(await admin.get(f"{AT}/deliveries?order_id={order['id']}"))["items"][0]
    assert (delivery["amount"], delivery["cost"]) == ("19.80", "8.00")


@pytest.mark.parametrize("documents", ["receipts", "deliveries"])
async def test_a_document_of_a_movement_is_read_as_it_is_listed(documents: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order = await (goods.purchase(2) if documents == "receipts" else goods.sale(2))
    expect(await (goods.receive(order) if documents == "receipts" else goods.deliver(order)))
    (listed,) = expect(await admin.get(f"{AT}/{documents}?order_id={order['id']}"))["items"]
    assert expect(await admin.get(f"{AT}/{documents}/{listed['id']}")) == listed


async def disable(admin: Client, what: str, id: str) -> None:
    record = expect(await admin.get(f"{AT}/{what}/{id}"))
    expect(await admin.patch(f"{AT}/{what}/{id}", {"version": record["version"], "status": "disabled"}))


async def test_disabled_products_are_not_bought_but_their_stock_is_sold(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    sale, purchase = await goods.sale(2), await goods.purchase(1)
    supplier = purchase["supplier_id"]
    for what, id in (("products", goods.product_id), ("warehouses", goods.warehouse_id), ("suppliers", supplier)):
        await disable(admin, what, id)
    line = {"product_id": goods.product_id, "quantity": "1"}
    reply = await admin.post(PURCHASES, {"supplier_id": await goods.supplier(), "lines": [line]})
    expect(reply, 40001)
    assert reply.fields == {"lines[0].product_id"}
    expect(await admin.post(SALES, {"customer_name": "somebody", "lines": [line]}))
    other = {"product_id": (await Goods.fresh(admin)).product_id, "quantity": "1"}
    reply = await admin.post(PURCHASES, {"supplier_id": supplier, "lines": [other]})
    expect(reply, 40001)
    assert reply.fields == {"supplier_id"}
    reply = await goods.receive(purchase)
    expect(reply, 40001)
    assert reply.fields == {"warehouse_id"}
    expect(await goods.deliver(sale))
    expect(await goods.transfer(await goods.warehouse(), 3))


@pytest.mark.parametrize("at", ["purchase-orders", "sales-orders"])
async def test_an_order_is_found_by_its_reference_and_by_its_remark(at: str, admin: Client) -> None:
    goods = await Goods.fresh(admin)
    reference, remark = unique("their-number"), unique("ring-twice")
    whose = {"supplier_id": await goods.supplier()} if at == "purchase-orders" else {"customer_name": "somebody"}
    body = {
        **whose,
        "lines": [{"product_id": goods.product_id, "quantity": "1"}],
        "reference": reference,
        "remark": remark,
    }
    order = expect(await admin.post(f"{AT}/{at}", body))
    assert order["reference"] == reference
    for query in (f"q={reference}", f"q={remark}", f"reference={reference}"):
        assert [row["id"] for row in expect(await admin.get(f"{AT}/{at}?{query}"))["items"]] == [order["id"]]
    changed = {"version": order["version"], "reference": "other"}
    assert expect(await admin.patch(f"{AT}/{at}/{order['id']}", changed))["reference"] == "other"
    expect(await admin.post(f"{AT}/{at}", {**body, "reference": "x" * 101}), 40001)


async def test_the_refusal_of_more_than_is_open_says_how_much_is_open(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    bought, sold = await goods.purchase(5), await goods.sale(3)
    assert expect(await goods.receive(bought, 6), 40901) == {"open": "5", "field": "lines[0].quantity"}
    assert expect(await goods.deliver(sold, "3.5"), 40901) == {"open": "3", "field": "lines[0].quantity"}


async def _draft(client: Client) -> dict[str, Any]:
    """The body of a sales order of goods that this person made."""
    goods = await Goods.fresh(client)
    return {"customer_name": "somebody", "lines": [{"product_id": goods.product_id, "quantity": "1"}]}


async def test_the_customer_of_a_sales_order_is_looked_up(admin: Client) -> None:
    draft = await _draft(admin)
    unknown = "65f0c0ffee65f0c0ffee65f0"
    reply = await admin.post(SALES, {**draft, "customer_id": unknown})
    (fault,) = expect(reply, 40001)["errors"]
    assert (fault["field"], fault["rule"]) == ("customer_id", "reference")
    customer = expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))["id"]
    order = expect(await admin.post(SALES, {**draft, "customer_id": customer}))
    change = {"version": order["version"], "customer_id": unknown}
    assert (await admin.patch(f"{SALES}/{order['id']}", change)).fields == {"customer_id"}


async def test_an_order_cannot_name_a_customer_that_its_creator_cannot_see(admin: Client, people: People) -> None:
    masters = ["inventory:product:create", "inventory:warehouse:create"]
    seller = await people.person(["inventory:sales-order:create", "crm:customer:create", *masters], "self")
    draft = await _draft(seller)
    theirs = expect(await admin.post("/api/v1/crm/customers", {"name": unique("customer")}))["id"]
    own = expect(await seller.post("/api/v1/crm/customers", {"name": unique("customer")}))["id"]
    assert (await seller.post(SALES, {**draft, "customer_id": theirs})).fields == {"customer_id"}
    assert expect(await seller.post(SALES, {**draft, "customer_id": own}))["customer_id"] == own
