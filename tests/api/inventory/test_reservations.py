"""What confirmed sales orders reserve, and what is available then, over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from plugins.testing import Client, People, expect
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
SALES = f"{AT}/sales-orders"


async def shelf(goods: Goods) -> tuple[str, str, str]:
    """What the stock row says: on hand, reserved, available."""
    where = f"product_id={goods.product_id}&warehouse_id={goods.warehouse_id}"
    (row,) = expect(await goods.client.get(f"{AT}/stock?{where}"))["items"]
    return row["quantity"], row["reserved"], row["available"]


async def line_of(goods: Goods, order: dict[str, Any], number: int = 0) -> tuple[str | None, str | None]:
    """What is there for a line of an order, and what is missing."""
    line = expect(await goods.client.get(f"{SALES}/{order['id']}"))["lines"][number]
    return line["available"], line["backordered"]


async def test_an_order_reserves_what_is_still_to_be_delivered_of_it(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    order = await goods.sale(6)
    assert await shelf(goods) == ("10", "6", "4")
    expect(await goods.deliver(order, 2))
    assert await shelf(goods) == ("8", "4", "4")
    (made,) = expect(await admin.get(f"{AT}/deliveries?order_id={order['id']}"))["items"]
    expect(await admin.post(f"{AT}/deliveries/{made['id']}/reverse"))
    assert await shelf(goods) == ("10", "6", "4")
    expect(await goods.deliver(order, 5))
    expect(await admin.post(f"{SALES}/{order['id']}/close"))
    assert await shelf(goods) == ("5", "0", "5")


async def test_a_cancelled_order_reserves_nothing_more_and_a_draft_nothing_yet(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    order = await goods.sale(6)
    expect(await admin.post(f"{SALES}/{order['id']}/cancel"))
    line = {"product_id": goods.product_id, "quantity": "3"}
    body = {"customer_name": "somebody", "warehouse_id": goods.warehouse_id, "lines": [line]}
    expect(await admin.post(SALES, body))
    assert await shelf(goods) == ("10", "0", "10")


async def test_more_than_is_available_is_confirmed_and_marked_until_goods_come(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    first, second = await goods.sale(7), await goods.sale(5)
    assert (second["lines"][0]["available"], second["lines"][0]["backordered"]) == ("3", "2")
    assert await line_of(goods, first) == ("10", "0")  # who confirmed first gets the goods
    assert await shelf(goods) == ("10", "12", "-2")
    expect(await goods.receive(await goods.purchase(2)))
    assert await line_of(goods, second) == ("5", "0")


async def test_the_same_product_on_two_lines_is_there_once(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    lines = [{"product_id": goods.product_id, "quantity": quantity} for quantity in ("6", "6")]
    body = {"customer_name": "somebody", "warehouse_id": goods.warehouse_id, "lines": lines}
    draft = expect(await admin.post(SALES, body))
    assert [await line_of(goods, draft, number) for number in (0, 1)] == [("10", "0"), ("4", "2")]


async def test_a_line_in_boxes_reserves_pieces(admin: Client) -> None:
    goods = await Goods.fresh(admin, units=[{"unit": "box", "factor": "12"}])
    expect(await goods.count(30, "4.00", day="2000-01-01"))
    order = await goods.sale(3, unit="box")
    assert await shelf(goods) == ("30", "36", "-6")
    assert await line_of(goods, order) == ("2.5", "0.5")


async def test_reserved_is_what_is_open_after_many_did_things_at_once(admin: Client) -> None:
    goods = await Goods.stocked(admin, 50)
    orders = [await goods.sale(4) for _ in range(9)]
    ended = [admin.post(f"{SALES}/{order['id']}/cancel") for order in orders[:3]]
    parts = [goods.deliver(order, quantity) for order in orders[3:6] for quantity in (1, 2)]
    for reply in await asyncio.gather(*ended, *parts, *(goods.deliver(order) for order in orders[6:8])):
        expect(reply)
    assert await shelf(goods) == ("33", "7", "26")


async def test_a_product_shows_the_stock_of_the_warehouses_that_the_reader_sees(admin: Client, people: People) -> None:
    goods = await Goods.stocked(admin, 10)
    expect(await goods.transfer(await goods.warehouse(), 4))
    await goods.sale(3)
    product = f"{AT}/products/{goods.product_id}"
    figures = ("on_hand", "reserved", "available")
    assert [expect(await admin.get(product))[name] for name in figures] == ["10", "3", "7"]
    other = await people.person(["inventory:product:read", "inventory:stock:list"])
    place = expect(await admin.get(f"{AT}/warehouses/{goods.warehouse_id}"))
    kept = {"keeper_ids": [admin.user["userId"]], "version": place["version"]}
    expect(await admin.patch(f"{AT}/warehouses/{goods.warehouse_id}", kept))
    assert [expect(await other.get(product))[name] for name in figures] == ["4", "0", "4"]
    reader = await people.person(["inventory:product:read"])
    assert {expect(await reader.get(product))[name] for name in figures} == {None}


async def test_the_stock_of_a_past_day_says_nothing_of_what_is_reserved_now(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    await goods.sale(3)
    (row,) = expect(await admin.get(f"{AT}/stock?product_id={goods.product_id}&day=2020-01-01"))["items"]
    assert (row["quantity"], row["reserved"], row["available"]) == ("10", None, None)
