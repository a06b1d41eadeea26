"""Stock and its ledger over HTTP: quantities, moving average, refusals, scope."""

from __future__ import annotations

from decimal import Decimal

import pytest

from plugins.testing import Client, People, expect
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
EVERYTHING = [
    *(f"inventory:{entity}:{action}" for entity in ("product", "warehouse") for action in ("list", "read", "create")),
    "inventory:stock-count:create",
    "inventory:stock:list",
    "inventory:stock:ledger",
]


async def test_goods_leave_at_the_moving_average(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10, "4.00")
    expect(await goods.receive(await goods.purchase(5, "7.00")))
    assert await goods.stock() == ("15", "75.00")
    expect(await goods.deliver(await goods.sale(4)))
    assert await goods.stock() == ("11", "55.00")


async def test_the_last_piece_takes_the_remaining_value(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    expect(await goods.receive(await goods.purchase("0.5", "3.33")))
    expect(await goods.receive(await goods.purchase("2.5", "0.37")))
    for _ in range(3):
        expect(await goods.deliver(await goods.sale(1)))
    assert await goods.stock() == ("0", "0.00")


async def test_half_a_cent_is_rounded_up(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await goods.purchase("0.5", "0.05")
    assert order["amount"] == "0.03"


async def test_partial_receipts_add_up_to_the_amount_of_the_order(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await goods.purchase(3, "0.33")
    for quantity in ("0.5", "0.5", "0.5", "1.5"):
        expect(await goods.receive(order, quantity))
    receipts = expect(await admin.get(f"{AT}/receipts?order_id={order['id']}"))["items"]
    assert sum(Decimal(receipt["amount"]) for receipt in receipts) == Decimal(order["amount"])
    assert await goods.stock() == ("3", order["amount"])


async def test_more_than_the_stock_cannot_be_delivered(admin: Client) -> None:
    goods = await Goods.stocked(admin, 2)
    reply = await goods.deliver(await goods.sale("2.0001"))
    expect(reply, 40901)
    assert "2.0001" in reply.json["msg"]
    assert await goods.stock() == ("2", "8.00")


async def test_a_refused_line_rolls_back_the_whole_delivery(admin: Client) -> None:
    plenty, few = await Goods.stocked(admin, 9), await Goods.stocked(admin, 1)
    few.warehouse_id = plenty.warehouse_id
    lines = [{"product_id": one.product_id, "quantity": "5"} for one in (plenty, few)]
    body = {"customer_name": "somebody", "warehouse_id": plenty.warehouse_id, "lines": lines}
    order = expect(await admin.post(f"{AT}/sales-orders", body))
    expect(await admin.post(f"{AT}/sales-orders/{order['id']}/confirm"))
    expect(await plenty.deliver(order, None), 40901)
    assert await plenty.stock() == ("9", "36.00")
    assert len(await plenty.ledger()) == 1


async def test_a_transfer_moves_quantity_and_value(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10, "3.00")
    other = await goods.warehouse()
    assert expect(await goods.transfer(other, 4))["cost"] == "12.00"
    assert (await goods.stock(), await goods.stock(other)) == (("6", "18.00"), ("4", "12.00"))


async def test_a_transfer_of_more_than_the_stock_moves_nothing(admin: Client) -> None:
    goods = await Goods.stocked(admin, 3)
    other = await goods.warehouse()
    expect(await goods.transfer(other, 4), 40901)
    assert (await goods.stock(), await goods.stock(other)) == (("3", "12.00"), ("0", "0.00"))


async def test_a_transfer_to_the_same_warehouse_is_refused(admin: Client) -> None:
    goods = await Goods.stocked(admin, 3)
    reply = await goods.transfer(goods.warehouse_id, 1)
    expect(reply, 40001)
    assert reply.fields == {"to_warehouse_id"}


async def test_a_count_books_the_difference_as_an_entry(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10, "2.00")
    counted = expect(await goods.count(7))
    assert (counted["lines"][0]["expected"], counted["lines"][0]["difference"], counted["value"]) == (
        "10",
        "-3",
        "-6.00",
    )
    assert [row["quantity"] for row in await goods.ledger()] == ["10", "-3"]


async def test_what_is_found_is_worth_the_average(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10, "2.00")
    expect(await goods.count(12))
    assert await goods.stock() == ("12", "24.00")


async def test_the_same_product_twice_in_a_document_is_refused(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    lines = [{"product_id": goods.product_id, "counted": "1"}] * 2
    reply = await admin.post(f"{AT}/stock-counts", {"warehouse_id": goods.warehouse_id, "lines": lines})
    expect(reply, 40001)
    assert reply.fields == {"lines[1].product_id"}


async def test_five_decimals_of_a_quantity_are_refused(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    assert (await goods.count("1.00001")).code == 40001


async def test_stock_is_visible_to_everybody_with_the_permission(admin: Client, people: People) -> None:
    owner, stranger = await people.person(EVERYTHING), await people.person(EVERYTHING)
    goods = await Goods.stocked(owner, 3)
    for person in (owner, stranger, admin):
        seen = Goods(person, goods.product_id, goods.warehouse_id)
        assert await seen.stock() == ("3", "12.00")
        assert [move["quantity"] for move in await seen.ledger()] == ["3"]


async def test_the_warehouse_and_the_product_of_a_colleague_can_be_counted(people: People) -> None:
    owner, stranger = await people.person(EVERYTHING), await people.person(EVERYTHING)
    theirs, own = await Goods.fresh(owner), await Goods.fresh(stranger)
    expect(await Goods(stranger, own.product_id, theirs.warehouse_id).count(1))
    expect(await Goods(stranger, theirs.product_id, own.warehouse_id).count(1))


@pytest.mark.parametrize("what", ["products", "warehouses"])
async def test_a_product_or_warehouse_with_stock_cannot_be_deleted(what: str, admin: Client) -> None:
    goods = await Goods.stocked(admin, 1)
    id = goods.product_id if what == "products" else goods.warehouse_id
    expect(await admin.delete(f"{AT}/{what}/{id}"), 40901)
    expect(await goods.count(0))
    expect(await admin.delete(f"{AT}/{what}/{id}"))


async def test_a_product_that_an_order_names_cannot_be_deleted(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    await goods.sale(1)
    expect(await admin.delete(f"{AT}/products/{goods.product_id}"), 40901)
