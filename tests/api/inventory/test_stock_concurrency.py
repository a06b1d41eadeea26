"""Concurrent requests: nothing is sold twice, received twice or lost."""

from __future__ import annotations

import asyncio
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from plugins.boot.runtime import Running
from plugins.testing import Client, expect, serving
from tests.api.inventory.goods import AT, Goods
from tests.support.random_company.office import Person

pytestmark = pytest.mark.gen_test(timeout=60)
CLIENTS = 40


async def test_of_many_who_want_the_last_ten_pieces_ten_get_one(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    orders = [await goods.sale(1) for _ in range(CLIENTS)]
    replies = await asyncio.gather(*(goods.deliver(order) for order in orders))
    assert Counter(reply.code for reply in replies) == {0: 10, 40901: CLIENTS - 10}
    assert await goods.stock() == ("0", "0.00")
    assert len(await goods.ledger()) == 1 + 10


async def test_deliveries_that_wait_for_their_turn_take_no_number_in_vain(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10)
    orders = [await goods.sale(1) for _ in range(10)]
    for reply in await asyncio.gather(*(goods.deliver(order) for order in orders)):
        expect(reply)
    made = [await admin.get(f"{AT}/deliveries?order_id={order['id']}") for order in orders]
    numbers = sorted(int(expect(one)["items"][0]["number"].rpartition("-")[2]) for one in made)
    assert numbers == list(range(numbers[0], numbers[0] + 10))


async def test_of_many_transfers_of_the_last_ten_pieces_ten_go(admin: Client) -> None:
    await check_transfers_at_once(admin, CLIENTS)


async def check_transfers_at_once(admin: Client, many: int) -> None:
    """Fail unless ten of the transfers go."""
    goods, patient = await Goods.stocked(admin, 10), Person(admin, patience=60)
    line = {"product_id": goods.product_id, "quantity": "1"}
    places = {"from_warehouse_id": goods.warehouse_id, "to_warehouse_id": await goods.warehouse()}
    sent = (patient.post(f"{AT}/transfers", {**places, "lines": [line]}) for _ in range(many))
    assert Counter(reply.code for reply in await asyncio.gather(*sent)) == {0: 10, 40901: many - 10}
    assert await goods.stock() == ("0", "0.00")
    assert await goods.stock(places["to_warehouse_id"]) == ("10", "40.00")


async def test_many_receipts_of_one_order_are_one(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await goods.purchase(7)
    replies = await asyncio.gather(*(goods.receive(order) for _ in range(CLIENTS)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: CLIENTS - 1}
    assert await goods.stock() == ("7", "28.00")
    assert expect(await admin.get(f"{AT}/receipts?order_id={order['id']}"))["total"] == 1


async def test_many_at_once_bring_a_product_into_an_empty_warehouse(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    orders = [await goods.purchase(1, "0.10") for _ in range(CLIENTS)]
    for reply in await asyncio.gather(*(goods.receive(order) for order in orders)):
        expect(reply)
    assert await goods.stock() == (str(CLIENTS), f"{CLIENTS / 10:.2f}")


async def test_transfers_both_ways_at_once_keep_the_total(admin: Client) -> None:
    here = await Goods.stocked(admin, 20)
    there = Goods(admin, here.product_id, await here.warehouse())
    expect(await here.transfer(there.warehouse_id, 10))
    pairs = ((here, there), (there, here))
    replies = await asyncio.gather(*(a.transfer(b.warehouse_id, 1) for a, b in pairs for _ in range(15)))
    assert {reply.code for reply in replies} <= {0, 40901}
    stocks = [await one.stock() for one in (here, there)]
    assert sum(Decimal(quantity) for quantity, _ in stocks) == 20
    assert sum(Decimal(value) for _, value in stocks) == 80


async def test_a_warehouse_is_either_deleted_or_filled(admin: Client) -> None:
    for _ in range(15):
        goods = await Goods.fresh(admin)
        warehouse = f"{AT}/warehouses/{goods.warehouse_id}"
        counted, deleted = await asyncio.gather(goods.count(3), admin.delete(warehouse))
        if deleted.code:
            expect(deleted, 40901)
            expect(counted)
        else:
            assert counted.code in (40001, 40901)
            assert await goods.stock() == ("0", "0.00")


async def test_two_instances_sell_the_last_ten_pieces_once(
    admin: Client, tradewind: Running, mongodb_uri: str, tmp_path: Path
) -> None:
    goods = await Goods.stocked(admin, 10)
    orders = [await goods.sale(1) for _ in range(CLIENTS)]
    async with serving(mongodb_uri, tmp_path, mongodb_database=tradewind.service.settings.mongodb_database) as other:
        there = Goods(await Client(other.url).log_in("admin"), goods.product_id, goods.warehouse_id)
        sellers = [goods if number % 2 else there for number in range(CLIENTS)]
        replies = await asyncio.gather(*(seller.deliver(one) for seller, one in zip(sellers, orders, strict=True)))
    assert Counter(reply.code for reply in replies) == {0: 10, 40901: CLIENTS - 10}
    assert await goods.stock() == ("0", "0.00")
