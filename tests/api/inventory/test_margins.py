"""What sales earned in a period: by product, customer and seller, and by the lines of the orders behind each figure."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, People, expect, unique
from tests.api.inventory.goods import AT, Goods
from tests.api.inventory.test_lines import sold
from tests.api.inventory.test_returns import send_back, shipments

pytestmark = pytest.mark.gen_test(timeout=60)
MAY = "from=2017-05-01&to=2017-05-31"
JUNE = "from=2017-06-01&to=2017-06-30"
FIGURES = ("quantity", "net", "cost", "margin")


async def margins(client: Client, query: str, at: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = expect(await client.get(f"{AT}/margins{at}?page_size=200&{query}"))["items"]
    return rows


async def figures(client: Client, query: str, at: str = "") -> list[tuple[str, ...]]:
    return [tuple(row[name] for name in FIGURES) for row in await margins(client, query, at)]


async def test_a_month_has_what_was_delivered_in_it_at_its_price_without_tax_less_what_came_back(admin: Client) -> None:
    goods, name = await Goods.stocked(admin, 20, "4.00"), unique("客户")
    line = {"quantity": "3", "price": "9.99", "tax_rate": "0.13"}
    order = await sold(goods, line, freight="5.00", customer_name=name, salesperson_id=1)
    expect(await goods.deliver(order, 1, day="2017-05-03"))
    expect(await goods.deliver(order, 2, day="2017-06-02"))
    last = (await shipments(admin, order))[-1]
    expect(await send_back(goods, last, 1, day="2017-06-05"))
    # not refunded: still sold, and its goods are a cost again only if they were not put back
    expect(await send_back(goods, last, 1, day="2017-06-06", refund=False, restock=False))
    of_goods = f"product_id={goods.product_id}"
    assert await figures(admin, f"{MAY}&{of_goods}") == [("1", "9.99", "4.00", "5.99")]
    assert await figures(admin, f"{JUNE}&{of_goods}") == [("1", "9.99", "4.00", "5.99")]
    (row,) = [one for one in await margins(admin, f"{MAY}&by=customer") if one["customer_name"] == name]
    assert [row[one] for one in FIGURES] == ["2", "14.99", "4.00", "10.99"]  # and the freight
    assert row["rate"] == "73.32"
    lines = [one for one in await margins(admin, MAY, "/lines") if one["order_id"] == order["id"]]
    assert [(one["line"], one["net"]) for one in lines] == [(0, "5.00"), (1, "9.99")]
    reversed_ = (await shipments(admin, order))[0]
    expect(await admin.post(f"{AT}/deliveries/{reversed_['id']}/reverse", {"day": "2017-06-30"}))
    assert await figures(admin, f"{JUNE}&{of_goods}") == []


async def test_a_reversed_delivery_earns_nothing_on_whatever_days_its_goods_came_back(admin: Client) -> None:
    goods = await Goods.stocked(admin, 20)
    order = await sold(goods, {"quantity": "3", "price": "9.99"})
    expect(await goods.deliver(order, day="2017-05-03"))
    (delivery,) = await shipments(admin, order)
    back = expect(await send_back(goods, delivery, 1, day="2017-05-10", refund=False))
    expect(await admin.post(f"{AT}/sales-returns/{back['id']}/reverse", {"day": "2017-05-30"}))
    expect(await admin.post(f"{AT}/deliveries/{delivery['id']}/reverse", {"day": "2017-05-20"}))
    of_goods = f"product_id={goods.product_id}"
    assert [row["net"] for row in await margins(admin, f"from=2017-05-01&to=2017-05-25&{of_goods}")] == ["0.00"]
    assert await figures(admin, f"{MAY}&{of_goods}") == []


async def test_figures_equal_the_amounts_of_documents_and_the_ledger_of_stock(admin: Client) -> None:
    chance = random.Random(7)
    goods = await Goods.stocked(admin, 500, "3.37")
    for _ in range(4):
        lines = [{"quantity": str(chance.randint(1, 9)), "price": f"{chance.randint(1, 999) / 100:.2f}"} for _ in "ab"]
        order = await sold(goods, *({**one, "discount": "0.07"} for one in lines), order_discount="0.01")
        for number, line in enumerate(lines, 1):
            part = {"line": number, "quantity": str(chance.randint(1, int(line["quantity"])))}
            body = {"lines": [part], "day": f"2017-07-{chance.randint(1, 28):02}"}
            expect(await admin.post(f"{AT}/sales-orders/{order['id']}/deliver", body))
            if chance.random() < 0.5:
                back = {"lines": [{"line": number, "quantity": "1"}], "day": f"2017-08-{chance.randint(1, 9):02}"}
                made = (await shipments(admin, order))[-1]
                expect(await admin.post(f"{AT}/deliveries/{made['id']}/returns", back))
    until_august = "from=2017-07-01&to=2017-08-31"
    (row,) = await margins(admin, f"{until_august}&product_id={goods.product_id}")
    ledger = [one for one in await goods.ledger() if one["kind"] != "count"]
    assert Decimal(row["cost"]) == -sum(Decimal(one["value"]) for one in ledger)
    assert Decimal(row["quantity"]) == -sum(Decimal(one["quantity"]) for one in ledger)
    documents = {
        of: expect(await admin.get(f"{AT}/{of}?page_size=200&day_from=2017-07-01&day_to=2017-08-31"))["items"]
        for of in ("deliveries", "sales-returns")
    }
    amounts = {of: sum(Decimal(one["amount"]) for one in rows) for of, rows in documents.items()}
    assert Decimal(row["net"]) == amounts["deliveries"] - amounts["sales-returns"]
    for by in ("customer", "salesperson"):
        rows = await margins(admin, f"{until_august}&by={by}&sum=net&sum=margin")
        assert sum(Decimal(one["margin"]) for one in rows) == Decimal(row["margin"])
    page = expect(await admin.get(f"{AT}/margins/lines?{until_august}&sum=margin&page_size=3"))
    assert (len(page["items"]), page["sums"]) == (3, {"margin": row["margin"]})
    table = (await admin.get(f"{AT}/margins/lines/export?{until_august}&format=csv")).body.decode()
    assert len(table.strip().splitlines()) == 1 + page["total"]


async def test_margins_are_of_the_orders_in_the_data_scope(admin: Client, people: People) -> None:
    goods = await Goods.stocked(admin, 5)
    expect(await goods.deliver(await goods.sale(1), day="2017-09-01"))
    seller = await people.person(["inventory:margin:list"])
    september = "from=2017-09-01&to=2017-09-30"
    assert len(await margins(admin, september)) == 1
    assert await margins(seller, september) == []
    assert (await admin.get(f"{AT}/margins?from=2017-01-01&to=2018-12-31")).fields == {"to"}
