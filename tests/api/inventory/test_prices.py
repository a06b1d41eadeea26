"""Price lists: what a line is proposed, who departed from it, and what a customer or supplier had last."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.inventory.goods import AT, Goods
from tests.api.inventory.test_lines import PURCHASES, SALES

pytestmark = pytest.mark.gen_test(timeout=30)
LISTS, PRICES = f"{AT}/price-lists", f"{AT}/prices"


async def listed(goods: Goods, *prices: tuple[str, str], **terms: Any) -> str:
    """A price list with these prices of the goods, each from a quantity."""
    code = unique("PL")
    made = expect(await goods.client.post(LISTS, {"code": code, "name": code, **terms}))
    for least, price in prices:
        body = {"price_list_id": made["id"], "product_id": goods.product_id, "min_quantity": least, "price": price}
        expect(await goods.client.post(PRICES, body))
    return str(made["id"])


async def customer(client: Client, *lists: str) -> str:
    body = {"name": unique("customer"), "price_list_ids": [*lists]}
    return str(expect(await client.post("/api/v1/crm/customers", body))["id"])


async def proposed(goods: Goods, customer_id: str, quantity: str, on: str = "2026-06-15") -> tuple[str, str | None]:
    """The price and the list that a line is proposed."""
    lines = [{"product_id": goods.product_id, "quantity": quantity}]
    body = {"customer_id": customer_id, "ordered_on": on, "lines": lines}
    (line,) = expect(await goods.client.post(f"{SALES}/amounts", body))["lines"]
    return line["price"], line["price_list_id"]


async def test_a_line_is_proposed_the_price_of_the_customers_list_by_quantity_and_day(admin: Client) -> None:
    goods = await Goods.fresh(admin, price="10.00")
    group = await listed(goods, ("0", "9.00"), ("100", "8.50"), valid_from="2026-01-01", valid_to="2026-12-31")
    special = await listed(goods, ("50", "7.123456"))
    one, two = await customer(admin, special, group), await customer(admin, group)
    assert await proposed(goods, one, "49") == ("9.00", group)
    assert await proposed(goods, one, "50") == ("7.123456", special)
    assert await proposed(goods, two, "100") == ("8.50", group)
    assert await proposed(goods, two, "99.9") == ("9.00", group)
    assert await proposed(goods, two, "100", "2027-01-01") == ("10.00", None)
    assert await proposed(goods, await customer(admin), "100") == ("10.00", None)
    everybody = await listed(goods, ("0", "9.90"), for_all=True)
    assert await proposed(goods, await customer(admin), "100") == ("9.90", everybody)
    assert await proposed(goods, two, "100") == ("8.50", group)
    assert (await admin.delete(f"{LISTS}/{group}")).code == 40901
    turned = {"code": unique("PL"), "name": "turned", "valid_from": "2026-02-01", "valid_to": "2026-01-01"}
    assert (await admin.post(LISTS, turned)).fields == {"valid_to"}


async def test_a_line_keeps_what_was_proposed_and_who_departed_from_it(admin: Client) -> None:
    goods = await Goods.fresh(admin, price="10.00")
    of = await customer(admin, await listed(goods, ("0", "9.00")))
    lines = [{"product_id": goods.product_id, "quantity": "1"}, {"product_id": goods.product_id, "quantity": "1"}]
    lines[1]["price"] = "8.00"
    order = expect(await admin.post(SALES, {"customer_id": of, "lines": lines}))
    kept = [(one["price"], one["proposed_price"], one["priced_by"]) for one in order["lines"]]
    me = admin.user["userId"]
    assert kept == [("9.00", "9.00", None), ("8.00", "9.00", me)]


async def test_a_purchase_takes_the_price_of_the_suppliers_list(admin: Client) -> None:
    goods = await Goods.fresh(admin, cost="4.00")
    charged = await listed(goods, ("0", "3.50"), kind="purchase")
    await listed(goods, ("0", "1.00"), for_all=True)  # of sales
    body = {"code": unique("SUP"), "name": "supplier", "price_list_ids": [charged]}
    supplier = expect(await admin.post(f"{AT}/suppliers", body))["id"]
    line = {"product_id": goods.product_id, "quantity": "2"}
    order = expect(await admin.post(PURCHASES, {"supplier_id": supplier, "lines": [line]}))
    assert (order["lines"][0]["price"], order["lines"][0]["price_list_id"]) == ("3.50", charged)


async def test_the_last_prices_of_a_customer_and_a_supplier_are_those_of_confirmed_orders(admin: Client) -> None:
    goods, of = await Goods.fresh(admin), await customer(admin)
    for on, price, confirmed in (
        ("2026-05-01", "8.00", True),
        ("2026-06-01", "7.00", True),
        ("2026-07-01", "1", False),
    ):
        lines = [{"product_id": goods.product_id, "quantity": "1", "price": price}]
        made = expect(await admin.post(SALES, {"customer_id": of, "ordered_on": on, "lines": lines}))
        if confirmed:
            expect(await admin.post(f"{SALES}/{made['id']}/confirm"))
    order = await goods.purchase(3, "4.20")
    query = f"product_id={goods.product_id}"
    sold = expect(await admin.get(f"{SALES}/last-prices?{query}&customer_id={of}"))["items"]
    assert [(one["ordered_on"], one["price"]) for one in sold] == [("2026-06-01", "7.00"), ("2026-05-01", "8.00")]
    bought = expect(await admin.get(f"{PURCHASES}/last-prices?{query}&supplier_id={order['supplier_id']}"))["items"]
    assert [(one["number"], one["price"]) for one in bought] == [(order["number"], "4.20")]
    assert expect(await admin.get(f"{SALES}/last-prices?{query}&customer_id={await customer(admin)}"))["items"] == []
