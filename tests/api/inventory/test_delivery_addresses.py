"""Where the goods of orders go, over HTTP: chosen for each document, and kept by it."""

from __future__ import annotations

import pytest

from plugins.testing import Client, expect, unique
from tests.api.crm.sales import CUSTOMERS, customer
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=60)
ADDRESSES = [
    {"name": "office", "address": "Century Avenue 100", "billing": True},
    {"name": "pier", "address": "Pier 4", "contact": "Li", "delivery": True},
    {"name": "branch", "address": "West Street 7", "delivery": True},
]
SALES = f"{AT}/sales-orders"


async def test_a_sales_order_goes_to_the_address_of_its_customer_that_was_chosen(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    party, other = await customer(admin, addresses=ADDRESSES), await customer(admin, addresses=ADDRESSES[2:])
    line = {"product_id": goods.product_id, "quantity": "1"}
    body = {"customer_id": party["id"], "warehouse_id": goods.warehouse_id, "lines": [line]}
    order = expect(await admin.post(SALES, body))
    found = [order["delivery_address"]]
    for change in (
        {"delivery_address_name": "branch"},
        {"delivery_address": "typed"},
        {"remark": "soon"},
        {"customer_id": other["id"]},
        {"delivery_address": None},
        {"customer_id": party["id"], "delivery_address_name": "pier"},
    ):
        order = expect(await admin.patch(f"{SALES}/{order['id']}", {**change, "version": order["version"]}))
        found.append(order["delivery_address"])
    assert found == ["Pier 4 (Li)", "West Street 7", "typed", "typed", "West Street 7", None, "Pier 4 (Li)"]
    unknown = await admin.post(SALES, {**body, "delivery_address_name": "no such"})
    expect(unknown, 40001)
    assert unknown.fields == {"delivery_address_name"}

    expect(await admin.patch(f"{CUSTOMERS}/{party['id']}", {"addresses": [], "version": party["version"]}))
    expect(await admin.post(f"{SALES}/{order['id']}/confirm"))
    expect(await goods.deliver(order))
    (delivery,) = expect(await admin.get(f"{AT}/deliveries?order_id={order['id']}"))["items"]
    assert delivery["delivery_address"] == "Pier 4 (Li)"


async def test_a_purchase_order_goes_to_its_warehouse_and_a_receipt_where_it_says(admin: Client) -> None:
    goods, code = await Goods.fresh(admin), unique("WH")
    place = expect(await admin.post(f"{AT}/warehouses", {"code": code, "name": code, "address": "Dock 9"}))
    goods.warehouse_id = place["id"]
    order = await goods.purchase(2)
    for further in ({}, {"delivery_address": "Dock 10"}):
        expect(await goods.receive(order, 1, **further))
    receipts = expect(await admin.get(f"{AT}/receipts?order_id={order['id']}&sort=created_at"))["items"]
    assert [order["delivery_address"], *(one["delivery_address"] for one in receipts)] == [
        "Dock 9",
        "Dock 9",
        "Dock 10",
    ]
