"""Units of products: lines count in any of them, and stock moves in the product's own."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client, expect
from tests.api.inventory.goods import AT, Goods
from tests.api.inventory.test_lines import PURCHASES, faults_of, shipped, sold

pytestmark = pytest.mark.gen_test(timeout=30)
BOXES: dict[str, Any] = {"unit": "piece", "units": [{"unit": "box", "factor": "12"}, {"unit": "set", "factor": "0.5"}]}


async def test_a_line_in_another_unit_moves_stock_in_that_of_the_product(admin: Client, tradewind: Running) -> None:
    goods = await Goods.fresh(admin, price="2.50", cost="2.00", **BOXES)
    lines = [{"product_id": goods.product_id, "quantity": "3", "unit": "box"}]
    body = {"supplier_id": await goods.supplier(), "warehouse_id": goods.warehouse_id, "lines": lines}
    bought = expect(await admin.post(PURCHASES, body))
    assert [bought["lines"][0][name] for name in ("unit", "unit_factor", "price", "amount")] == [
        "box",
        "12",
        "24.00",
        "72.00",
    ]
    expect(await admin.post(f"{PURCHASES}/{bought['id']}/confirm"))
    expect(await admin.post(f"{PURCHASES}/{bought['id']}/receive"))
    assert await goods.stock() == ("36", "72.00")
    order = await sold(goods, {"quantity": "2", "unit": "box"}, {"quantity": "5"}, {"quantity": "1", "unit": "set"})
    assert [line["price"] for line in order["lines"]] == ["30.00", "2.50", "1.25"]
    expect(await goods.deliver(order, lines=[{"line": 1, "quantity": "1"}, {"line": 2, "quantity": "5"}]))
    assert await goods.stock() == ("19", "38.00")
    expect(await goods.deliver(order))
    assert await goods.stock() == ("6.5", "13.00")
    first, _ = await shipped(goods, order)
    assert [(line["unit"], line["unit_factor"]) for line in first["lines"]] == [("box", "12"), (None, None)]
    back = {"lines": [{"line": 1, "quantity": "0.5"}]}
    returned = expect(await admin.post(f"{AT}/deliveries/{first['id']}/returns", back))
    assert (returned["cost"], await goods.stock()) == ("12.00", ("12.5", "25.00"))
    expect(await admin.post(f"{AT}/sales-returns/{returned['id']}/reverse", {}))
    expect(await admin.post(f"{AT}/deliveries/{first['id']}/reverse", {}))
    assert await goods.stock() == ("23.5", "47.00")
    found = await differences(tradewind.service.database.driver)
    assert [one for one in found if order["number"] in one or goods.product_id in one] == []


async def test_a_line_has_a_unit_of_its_product_and_a_quantity_that_comes_out(admin: Client) -> None:
    goods = await Goods.fresh(admin, unit="kg", units=[{"unit": "box", "factor": "0.0625"}])
    assert await faults_of(goods, {"quantity": "1", "unit": "set"}) == {("lines[0].unit", "reference")}
    assert await faults_of(goods, {"quantity": "0.001", "unit": "box"}) == {("lines[0].quantity", "invalid")}
    assert (await sold(goods, {"quantity": "1", "unit": "kg"}))["lines"][0]["unit_factor"] is None
    for units in ([{"unit": "kg", "factor": "2"}], [{"unit": "box", "factor": "2"}] * 2):
        reply = await admin.post(f"{AT}/products", {"sku": "X-1", "name": "x", "unit": "kg", "units": units})
        assert {field.partition("[")[0] for field in reply.fields} == {"units"}
