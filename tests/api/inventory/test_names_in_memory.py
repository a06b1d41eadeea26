"""The names of products, warehouses and suppliers: kept in memory, and new as soon as one is changed."""

from __future__ import annotations

import pytest

from plugins.boot.runtime import Running
from plugins.inventory.records import PRODUCTS, SUPPLIERS, WAREHOUSES
from plugins.testing import Client, eventually, expect, unique
from tests.api.inventory.goods import AT, Goods
from tests.support.query_plans import profiled

pytestmark = pytest.mark.gen_test(timeout=30)
_NAMED = (PRODUCTS.name, WAREHOUSES.name, SUPPLIERS.name)


async def test_an_order_is_shown_without_reading_what_its_references_are_called(
    admin: Client, tradewind: Running
) -> None:
    goods = await Goods.fresh(admin)
    order = await goods.purchase(3)

    async def is_read_alone() -> bool:
        async with profiled(tradewind.service.database) as reads:
            shown = expect(await admin.get(f"{AT}/purchase-orders/{order['id']}"))
        assert shown["supplier_name"]
        return not any(read["ns"].endswith(_NAMED) for read in reads)

    # the change stream may still tell of the new records, whose names are read again then
    assert await eventually(is_read_alone)


async def test_a_new_name_is_shown_at_once(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    order = await goods.purchase(3)
    at = f"{AT}/purchase-orders/{order['id']}"
    expect(await admin.get(at))
    name = unique("铝合金支架")
    expect(await admin.patch(f"{AT}/suppliers/{order['supplier_id']}", {"name": name, "version": 1}))
    expect(await admin.patch(f"{AT}/products/{goods.product_id}", {"name": name, "version": 1}))
    shown = expect(await admin.get(at))
    assert (shown["supplier_name"], shown["lines"][0]["product_name"]) == (name, name)
