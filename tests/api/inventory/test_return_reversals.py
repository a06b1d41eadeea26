"""Returns that were entered by mistake are reversed: goods and what is owed are as if nothing had come back."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client, People, Reply, expect
from tests.api.inventory.goods import AT, Goods
from tests.api.inventory.test_returns import MAY_SELL, at_of, delivered, owed, read, received, send_back, shipments

pytestmark = pytest.mark.gen_test(timeout=60)


def of_return(made: dict[str, Any]) -> str:
    """The list that a return is in."""
    return "sales-returns" if made["number"].startswith("SR") else "purchase-returns"


async def take_back(client: Client, made: dict[str, Any], **body: Any) -> Reply:
    """Reverse a return."""
    return await client.post(f"{AT}/{of_return(made)}/{made['id']}/reverse", body)


@pytest.mark.parametrize("kind", ["delivery", "receipt"])
async def test_a_reversed_return_leaves_no_trace_in_any_sum(kind: str, admin: Client, tradewind: Running) -> None:
    goods = await Goods.stocked(admin, 6)
    order, shipment = await (delivered(goods, 5, "4.00") if kind == "delivery" else received(goods, 5, "4.00"))
    before = await goods.stock()
    made = expect(await send_back(goods, shipment, 2))
    back = expect(await take_back(admin, made, reason="wrong delivery"))
    named = ("reverses_return_id", "reverses_return_name", "amount", "cost", "reason", "reverses_id")
    assert [back[name] for name in named] == [made["id"], made["number"], "-8.00", "-8.00", "wrong delivery", None]
    assert (back["lines"][0]["quantity"], back["lines"][0]["amount"]) == ("-2", "-8.00")
    assert (await read(admin, of_return(made), made["id"]))["reversed_by_id"] == back["id"]
    assert await goods.stock() == before
    assert await owed(admin, order) == "20.00"
    (shown,) = await shipments(admin, order)
    assert (shown["lines"][0]["returned"], shown["returned_amount"]) == ("0", "0.00")
    at = "sales-orders" if kind == "delivery" else "purchase-orders"
    assert (await read(admin, at, order["id"]))["returned_amount"] == "0.00"
    expect(await send_back(goods, shipment, 5))
    assert await owed(admin, order) == "0.00"
    faults = await differences(tradewind.service.database.driver)
    assert [fault for fault in faults if goods.product_id in fault or shipment["number"] in fault] == []


async def test_the_goods_leave_at_the_cost_at_which_they_came_back(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10, "4.00")
    _, delivery = await delivered(goods, 5)
    made = expect(await send_back(goods, delivery, 2))
    expect(await goods.count(20, "1.00"))  # what is in stock costs less on average by now
    assert await goods.stock() == ("20", "41.00")
    assert expect(await take_back(admin, made))["cost"] == "-8.00"
    assert await goods.stock() == ("18", "33.00")


async def test_what_is_left_adds_up_to_its_line_also_after_reversals(admin: Client) -> None:
    goods = await Goods.stocked(admin, 3, "3.33")
    expect(await goods.receive(await goods.purchase("0.5", "0.02")))  # 3.5 pieces worth 10.00
    order, delivery = await delivered(goods, "3.5", "2.86")
    first, second = [expect(await send_back(goods, delivery, 1, refund=refund)) for refund in (True, False)]
    expect(await take_back(admin, first))
    parts = [second, *[expect(await send_back(goods, delivery, quantity)) for quantity in (1, 1, "0.5")]]
    assert [part["cost"] for part in parts] == ["2.85", "2.86", "2.86", "1.43"]
    assert [part["amount"] for part in parts] == ["0.00", "2.86", "2.86", "1.43"]
    assert await goods.stock() == ("3.5", "10.00")
    assert await owed(admin, order) == "2.86"


async def test_a_return_is_reversed_once_and_its_reversal_never(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 4)
    made = expect(await send_back(goods, delivery, 3))
    replies = await asyncio.gather(*(take_back(admin, made) for _ in range(20)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 19}
    (back,) = [reply.data for reply in replies if reply.code == 0]
    expect(await take_back(admin, back), 40901)
    assert (await goods.stock(), await owed(admin, order)) == (("1", "4.00"), "39.60")


async def test_after_the_reversal_of_the_whole_delivery_its_returns_stay(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 4)
    made = expect(await send_back(goods, delivery, 1))
    whole = expect(await admin.post(at_of(delivery, "reverse")))
    for one in (made, whole):
        expect(await take_back(admin, one), 40901)
    assert (await goods.stock(), await owed(admin, order)) == (("5", "20.00"), "0.00")


async def test_a_delivery_can_be_reversed_after_its_returns_were(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 4)
    expect(await take_back(admin, expect(await send_back(goods, delivery))))
    expect(await admin.post(at_of(delivery, "reverse")))
    assert (await goods.stock(), await owed(admin, order)) == (("5", "20.00"), "0.00")


async def test_the_reversal_of_what_was_written_off_moves_nothing(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    order, delivery = await delivered(goods, 2)
    made = expect(await send_back(goods, delivery, restock=False))
    assert expect(await take_back(admin, made))["restock"] is False
    assert (await goods.stock(), await owed(admin, order)) == (("3", "12.00"), "19.80")
    assert len(await goods.ledger()) == 2


async def test_goods_that_are_gone_again_do_not_leave_twice(admin: Client) -> None:
    goods = await Goods.stocked(admin, 2)
    order, delivery = await delivered(goods, 2)
    made = expect(await send_back(goods, delivery))
    expect(await goods.deliver(await goods.sale(1)))
    expect(await take_back(admin, made), 40901)
    assert (await goods.stock(), await owed(admin, order)) == (("1", "4.00"), "0.00")
    assert (await read(admin, "sales-returns", made["id"]))["reversed_by_id"] is None


async def test_only_a_permitted_user_reverses_a_return_and_not_before_its_date(admin: Client, people: People) -> None:
    goods = await Goods.stocked(admin, 9)
    may = [*MAY_SELL, "inventory:sales-return:reverse"]
    seller, other, clerk = await people.person(may), await people.person(may), await people.person(MAY_SELL)
    theirs = Goods(seller, goods.product_id, goods.warehouse_id)
    order = await theirs.sale(4)
    expect(await seller.post(f"{AT}/sales-orders/{order['id']}/deliver", {"day": "2011-02-01"}))
    (delivery,) = await shipments(seller, order)
    made = expect(await send_back(theirs, delivery, 1, day="2011-02-03"))
    expect(await take_back(other, made), 40400)
    expect(await take_back(clerk, made), 40300)
    refused = expect(await take_back(seller, made, day="2011-02-02"), 40001)
    assert [(one["field"], one["rule"]) for one in refused["errors"]] == [("day", "minimum")]
    await admin.post("/api/v1/finance/periods/2011-02/close")
    expect(await take_back(seller, made, day="2011-02-28"), 40901)
    assert expect(await take_back(seller, made, day="2011-03-01"))["day"] == "2011-03-01"
