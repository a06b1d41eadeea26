"""Transfers and stock counts that were entered by mistake are reversed, at the cost with which the goods moved."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from plugins.testing import Client, People, Reply, expect
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=60)
COUNTS, TRANSFERS = f"{AT}/stock-counts", f"{AT}/transfers"


async def reverse(client: Client, at: str, document: dict[str, Any], **body: Any) -> Reply:
    """Reverse a document."""
    return await client.post(f"{at}/{document['id']}/reverse", body)


async def test_a_transfer_goes_back_at_its_cost(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10, "4.00")
    there = await goods.warehouse()
    made = expect(await goods.transfer(there, 4))
    expect(await Goods(admin, goods.product_id, there).count(8, "1.00"))
    back = expect(await reverse(admin, TRANSFERS, made, reason="wrong warehouse"))
    named = ("from_warehouse_id", "to_warehouse_id", "cost", "reverses_id", "reason")
    assert [back[name] for name in named] == [there, goods.warehouse_id, "16.00", made["id"], "wrong warehouse"]
    assert expect(await admin.get(f"{TRANSFERS}/{made['id']}"))["reversed_by_id"] == back["id"]
    assert await goods.stock() == ("10", "40.00")
    assert await goods.stock(there) == ("4", "4.00")


async def test_a_count_is_taken_back_for_the_value_it_had(admin: Client) -> None:
    goods = await Goods.stocked(admin, 10, "4.00")
    less, more = expect(await goods.count(7)), expect(await goods.count(9, "10.00"))
    assert await goods.stock() == ("9", "48.00")
    expect(await reverse(admin, COUNTS, more))
    assert await goods.stock() == ("7", "28.00")
    back = expect(await reverse(admin, COUNTS, less, reason="miscounted"))
    assert (back["reverses_id"], back["value"], back["reason"]) == (less["id"], "12.00", "miscounted")
    assert (back["lines"][0]["expected"], back["lines"][0]["counted"]) == ("7", "10")
    assert await goods.stock() == ("10", "40.00")


async def test_a_reversal_is_made_once_and_not_reversed(admin: Client) -> None:
    goods = await Goods.stocked(admin, 5)
    made = expect(await goods.transfer(await goods.warehouse(), 4))
    replies = await asyncio.gather(*(reverse(admin, TRANSFERS, made) for _ in range(20)))
    assert Counter(reply.code for reply in replies) == {0: 1, 40901: 19}
    (back,) = [reply.data for reply in replies if reply.code == 0]
    expect(await reverse(admin, TRANSFERS, back), 40901)
    assert await goods.stock() == ("5", "20.00")


@pytest.mark.parametrize("at", [TRANSFERS, COUNTS])
async def test_goods_that_are_gone_do_not_come_back(at: str, admin: Client) -> None:
    goods = await Goods.fresh(admin)
    counted = expect(await goods.count(5, "4.00"))
    there = Goods(admin, goods.product_id, await goods.warehouse())
    moved = expect(await goods.transfer(there.warehouse_id, 5))
    expect(await there.deliver(await there.sale(1)))
    expect(await reverse(admin, at, moved if at == TRANSFERS else counted), 40901)
    assert await there.stock() == ("4", "16.00")


@pytest.mark.parametrize("at", [TRANSFERS, COUNTS])
async def test_a_reversal_needs_an_open_month_and_the_permission(at: str, admin: Client, people: People) -> None:
    goods, month = await Goods.fresh(admin), "2008-03" if at == TRANSFERS else "2008-05"
    counted, there = expect(await goods.count(5, "4.00", day=f"{month}-02")), await goods.warehouse()
    made = expect(await goods.transfer(there, 5, day=f"{month}-02")) if at == TRANSFERS else counted
    expect(await admin.post(f"/api/v1/finance/periods/{month}/close"))
    expect(await reverse(admin, at, made, day=f"{month}-31"), 40901)
    of = at.rpartition("/")[2].removesuffix("s")
    clerk = await people.person([f"inventory:{of}:create"], "all")
    expect(await reverse(clerk, at, made), 40300)
    assert expect(await reverse(admin, at, made, day="2008-06-01"))["day"] == "2008-06-01"


@pytest.mark.parametrize("at", [TRANSFERS, COUNTS])
async def test_nothing_is_reversed_before_the_day_on_which_it_happened(at: str, admin: Client) -> None:
    goods = await Goods.fresh(admin)
    counted, there = expect(await goods.count(5, "4.00", day="2009-03-02")), await goods.warehouse()
    made = expect(await goods.transfer(there, 5, day="2009-03-02")) if at == TRANSFERS else counted
    refused = await reverse(admin, at, made, day="2009-03-01")
    assert (refused.code, [fault["field"] for fault in refused.data["errors"]]) == (40001, ["day"])
    assert expect(await reverse(admin, at, made, day="2009-03-02"))["day"] == "2009-03-02"
