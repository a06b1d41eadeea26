"""The balance of stock by day: what leaves must have been there, and the ledger shows the balance of each day."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from decimal import Decimal
from functools import partial

import pytest
from bson import Decimal128, ObjectId

from handlers.operations.migrations import Stage
from plugins.boot.runtime import Running
from plugins.inventory.migrations import MIGRATIONS
from plugins.testing import Client, Reply, expect
from tests.api.inventory.goods import AT, Goods
from tests.api.inventory.test_returns import at_of, delivered, received, send_back, shipments

pytestmark = pytest.mark.gen_test(timeout=60)
EARLY, SOON, MIDDLE, LATE = "2016-05-02", "2016-05-09", "2016-05-16", "2016-05-23"


async def deliver(goods: Goods, day: str) -> Reply:
    return await goods.deliver(await goods.sale(3), day=day)


async def transfer(goods: Goods, day: str) -> Reply:
    return await goods.transfer(await goods.warehouse(), 3, day=day)


async def count_less(goods: Goods, day: str) -> Reply:
    return await goods.count(Decimal((await goods.stock())[0]) - 3, day=day)


async def return_to_supplier(goods: Goods, day: str) -> Reply:
    """Return what came early in another warehouse."""
    elsewhere = Goods(goods.client, goods.product_id, await goods.warehouse())
    order = expect(await elsewhere.receive(await elsewhere.purchase(3), day=EARLY))
    (receipt,) = await shipments(goods.client, order)
    return await send_back(goods, receipt, 3, warehouse_id=goods.warehouse_id, day=day)


async def reverse_receipt(goods: Goods, day: str) -> Reply:
    """Reverse a receipt whose goods have been sold before others came."""
    order = expect(await goods.receive(await goods.purchase(3), day=EARLY))
    expect(await goods.deliver(await goods.sale(3), day=EARLY))
    (receipt,) = await shipments(goods.client, order)
    return await goods.client.post(at_of(receipt, "reverse"), {"day": day})


async def reverse_transfer(goods: Goods, day: str) -> Reply:
    """Reverse a transfer whose goods have been sold before others came."""
    elsewhere = Goods(goods.client, goods.product_id, await goods.warehouse())
    expect(await elsewhere.count(3, day=EARLY))
    made = expect(await elsewhere.transfer(goods.warehouse_id, 3, day=EARLY))
    expect(await goods.deliver(await goods.sale(3), day=EARLY))
    return await goods.client.post(f"{AT}/transfers/{made['id']}/reverse", {"day": day})


@pytest.mark.parametrize(
    "leave", [deliver, transfer, count_less, return_to_supplier, reverse_receipt, reverse_transfer]
)
async def test_goods_do_not_leave_before_they_came(
    leave: Callable[[Goods, str], Awaitable[Reply]], admin: Client
) -> None:
    goods = await Goods.fresh(admin)
    expect(await goods.receive(await goods.purchase(10), day=LATE))
    refused = await leave(goods, MIDDLE)
    expect(refused, 40901)
    sku = expect(await admin.get(f"{AT}/products/{goods.product_id}"))["sku"]
    assert all(part in refused.json["msg"] for part in (sku, MIDDLE, " 0"))
    assert refused.data == {"day": MIDDLE, "held": "0"}
    assert await goods.stock() == ("10", "40.00")


async def test_goods_that_others_took_later_do_not_leave_earlier(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10, day=EARLY)
    expect(await goods.deliver(await goods.sale(8), day=MIDDLE))
    expect(await goods.receive(await goods.purchase(10), day=LATE))
    refused = await goods.deliver(await goods.sale(3), day=SOON)
    expect(refused, 40901)
    assert refused.data == {"day": MIDDLE, "held": "2"}
    expect(await goods.deliver(await goods.sale(2), day=SOON))
    expect(await goods.deliver(await goods.sale(10), day=LATE))


async def test_the_ledger_shows_the_balance_by_day(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10, "4.00", day=EARLY)
    expect(await goods.receive(await goods.purchase(5, "7.00"), day=LATE))
    expect(await goods.deliver(await goods.sale(4), day=MIDDLE))  # entered last, at the average of 5.00
    expect(await goods.receive(await goods.purchase(1, "9.00"), day=SOON))
    rows = {row["day"]: (row["quantity_after"], row["value_after"]) for row in await goods.ledger()}
    assert [rows[day] for day in (EARLY, SOON, MIDDLE, LATE)] == [
        *(("10", "40.00"), ("11", "49.00"), ("7", "29.00"), ("12", "64.00")),
    ]
    assert await goods.stock() == rows[LATE]


async def test_of_many_who_date_deliveries_back_at_once_as_many_go_as_were_there(admin: Client) -> None:
    goods = await Goods.stocked(admin, 6, day=EARLY)
    expect(await goods.receive(await goods.purchase(20), day=LATE))
    orders = [await goods.sale(1) for _ in range(16)]
    days = [SOON, MIDDLE] * 8
    replies = await asyncio.gather(*(goods.deliver(order, day=day) for order, day in zip(orders, days, strict=True)))
    assert Counter(reply.code for reply in replies) == {0: 6, 40901: 10}
    assert {row["quantity_after"] for row in await goods.ledger()} == {"0", "1", "2", "3", "4", "5", "6", "20"}


async def test_entries_of_an_earlier_version_get_their_balance_by_day_and_returns_their_difference(
    admin: Client, tradewind: Running
) -> None:
    goods = await Goods.stocked(admin, 10, "4.00", day=EARLY)
    _, receipt = await received(goods, 5, "7.00")
    await delivered(goods, 1)
    made = expect(await send_back(goods, receipt, 2))
    expect(await goods.receive(await goods.purchase(4, "4.00"), day=MIDDLE))
    wanted, stored = await goods.ledger(), tradewind.service.database.driver
    of_goods = {"product_id": ObjectId(goods.product_id)}
    old = {"quantity_after": Decimal128("1"), "value_after": Decimal128("1.00"), "difference": None}
    await stored.update_many("inventory_stock_entries", of_goods, {"$set": old})
    await stored.update_many("inventory_stock", of_goods, {"$unset": {"moved_on": ""}})
    of_return = {"_id": ObjectId(made["id"])}
    await stored.update_one(
        "inventory_purchase_returns", of_return, {"$unset": {"difference": "", "lines.0.difference": ""}}
    )
    filters = {"inventory_stock": of_goods, "inventory_purchase_returns": of_return}
    for stage in [stage for migration in MIGRATIONS for stage in migration.stages(tradewind.service)]:
        if stage.collection.name in filters:
            await _run(stage, partial(stored.find, stage.collection.name, filters[stage.collection.name]))
    assert await goods.ledger() == wanted
    assert expect(await admin.get(f"{AT}/purchase-returns/{made['id']}")) == made
    (row,) = await stored.find("inventory_stock", of_goods)
    assert row["moved_on"] == max(entry["day"] for entry in wanted)


async def _run(stage: Stage, read: Callable[[], Awaitable[list[dict[str, object]]]]) -> None:
    """Run a stage twice, because it may get a document again."""
    for _ in range(2):
        await stage.change(await read())


async def test_what_a_piece_costs_on_average_is_as_exact_as_its_price(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    expect(await goods.count(900, "0.333", day=EARLY))
    for asked in ("", f"&day={SOON}"):
        (row,) = expect(await admin.get(f"{AT}/stock?product_id={goods.product_id}{asked}"))["items"]
        assert (row["value"], row["average_cost"]) == ("299.70", "0.333")


async def test_the_stock_of_a_past_day_is_listed_and_exported(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    expect(await goods.count(10, "4.00", day=EARLY))
    expect(await goods.deliver(await goods.sale(3), day=MIDDLE))
    expect(await goods.count(9, day=LATE))
    at = f"{AT}/stock?product_id={goods.product_id}"

    async def held(day: str) -> tuple[str, ...]:
        (row,) = expect(await admin.get(f"{at}&day={day}"))["items"]
        return row["quantity"], row["value"], row["average_cost"]

    assert [await held(day) for day in ("2016-05-01", SOON, MIDDLE, LATE)] == [
        ("0", "0.00", "0.00"),
        ("10", "40.00", "4.00"),
        ("7", "28.00", "4.00"),
        ("9", "36.00", "4.00"),
    ]
    table = await admin.get(f"{AT}/stock/export?format=csv&product_id={goods.product_id}&day={SOON}")
    assert "40.00" in table.body.decode()
    moved = await admin.get(f"{AT}/stock/ledger/export?format=csv&product_id={goods.product_id}")
    assert len(moved.body.decode().strip().splitlines()) == 1 + 3
    for wrong in ("sort=-value", "sum=value", "quantity_from=1"):
        assert (await admin.get(f"{at}&day={SOON}&{wrong}")).fields == {wrong.partition("=")[0]}
