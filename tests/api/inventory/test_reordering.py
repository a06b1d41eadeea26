"""Reorder levels, what they propose, and the purchase orders that are made of that, over HTTP."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from plugins.testing import Client, People, expect
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
LEVELS, PROPOSALS = f"{AT}/reorder-levels", f"{AT}/reorder-proposals"


async def level_of(goods: Goods, level: str, **further: str) -> dict[str, Any]:
    """A reorder level of the product in its warehouse."""
    body = {"product_id": goods.product_id, "warehouse_id": goods.warehouse_id, "level": level, **further}
    made: dict[str, Any] = expect(await goods.client.post(LEVELS, body))
    return made


async def proposed(goods: Goods, client: Client | None = None) -> list[dict[str, Any]]:
    """What is proposed of the product."""
    found = await (client or goods.client).get(f"{PROPOSALS}?product_id={goods.product_id}")
    rows: list[dict[str, Any]] = expect(found)["items"]
    return rows


async def test_what_is_available_and_on_order_below_the_level_is_proposed(admin: Client) -> None:
    goods = await Goods.stocked(admin, 30)
    await level_of(goods, "20", target="50", lot="12")
    assert await proposed(goods) == []
    await goods.sale(15)
    (row,) = await proposed(goods)
    assert [row[name] for name in ("available", "ordered", "quantity")] == ["15", "0", "36"]
    await goods.purchase(4)
    assert [row["quantity"] for row in await proposed(goods)] == ["36"]  # 31 are missing, in lots of 12
    await goods.purchase(1)
    assert await proposed(goods) == []


async def test_a_proposal_has_the_last_supplier_and_price_that_the_reader_may_see(
    admin: Client, people: People
) -> None:
    goods = await Goods.fresh(admin)
    bought = await goods.purchase(1, "3.21")
    await level_of(goods, "20")
    (row,) = await proposed(goods)
    assert (row["supplier_id"], row["price"]) == (bought["supplier_id"], "3.21")
    other = await people.person(["inventory:reorder-proposal:list"])
    (row,) = await proposed(goods, other)
    assert (row["quantity"], row["supplier_id"], row["price"]) == ("19", None, None)


async def test_chosen_proposals_become_one_draft_for_each_supplier_and_warehouse(admin: Client) -> None:
    first, second = await Goods.fresh(admin), await Goods.fresh(admin, cost="7.00")
    second.warehouse_id = first.warehouse_id
    bought = await first.purchase(1, "3.21")
    levels = [await level_of(goods, "10") for goods in (first, second)]
    chosen = [
        {"level_id": levels[0]["id"]},
        {"level_id": levels[1]["id"], "supplier_id": bought["supplier_id"], "quantity": "4"},
    ]
    (order,) = expect(await admin.post(f"{PROPOSALS}/order", {"proposals": chosen}))["items"]
    assert (order["status"], order["warehouse_id"]) == ("draft", first.warehouse_id)
    assert [(line["quantity"], line["price"]) for line in order["lines"]] == [("9", "3.21"), ("4", "7.00")]
    assert await proposed(first) == []


async def test_of_many_who_order_the_same_proposal_one_does(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    level, supplier = await level_of(goods, "10"), await goods.supplier()
    sent = [admin.post(f"{PROPOSALS}/{level['id']}/order", {"supplier_id": supplier}) for _ in range(6)]
    assert Counter(reply.code for reply in await asyncio.gather(*sent)) == {0: 1, 40901: 5}


async def test_what_cannot_be_ordered_is_named(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    level = await level_of(goods, "10")
    one = {"level_id": level["id"]}
    for chosen, field in (
        ([one], "proposals[0].supplier_id"),
        ([{**one, "supplier_id": "0" * 24}], "proposals[0].supplier_id"),
        ([one, one], "proposals[1].level_id"),
    ):
        reply = await admin.post(f"{PROPOSALS}/order", {"proposals": chosen})
        assert (reply.code, reply.fields) == (40001, {field})


async def test_levels_that_make_no_sense_are_refused(admin: Client) -> None:
    goods, service = await Goods.fresh(admin), await Goods.fresh(admin, kind="service")
    body = {"product_id": goods.product_id, "warehouse_id": goods.warehouse_id, "level": "20"}
    assert (await admin.post(LEVELS, {**body, "target": "19"})).fields == {"target"}
    assert (await admin.post(LEVELS, {**body, "product_id": service.product_id})).fields == {"product_id"}
    expect(await admin.post(LEVELS, body))
    expect(await admin.post(LEVELS, body), 40900)


async def test_stock_that_others_keep_is_proposed_to_nobody_else(admin: Client, people: People) -> None:
    goods = await Goods.fresh(admin)
    await level_of(goods, "20")
    other = await people.person(["inventory:reorder-proposal:list"])
    assert len(await proposed(goods, other)) == 1
    place = f"{AT}/warehouses/{goods.warehouse_id}"
    version = expect(await admin.get(place))["version"]
    expect(await admin.patch(place, {"keeper_ids": [admin.user["userId"]], "version": version}))
    assert await proposed(goods, other) == []
