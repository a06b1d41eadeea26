"""Credit limits: what a customer owes and has on order, against the limit, when an order is confirmed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

import pytest

from plugins.testing import Client, Reply, expect
from tests.api.crm.sales import CUSTOMERS, customer
from tests.api.finance.accounts_of_parties import billed
from tests.api.inventory.goods import AT, Goods
from tests.support.random_company.office import Person

pytestmark = pytest.mark.gen_test(timeout=60)
CONFIGS = "/api/v1/system/configs"
ORDERS = f"{AT}/sales-orders"


@asynccontextmanager
async def refusing(admin: Client) -> AsyncIterator[None]:
    """The setting that refuses orders beyond a limit."""
    expect(await admin.patch(CONFIGS, {"values": {"crm_credit_limit": "refuse"}}))
    try:
        yield
    finally:
        expect(await admin.patch(CONFIGS, {"values": {"crm_credit_limit": "warn"}}))


async def limited(admin: Client, limit: str | None) -> str:
    return str((await customer(admin, credit_limit=limit))["id"])


async def drafted(goods: Goods, customer_id: str, price: str, quantity: str = "1") -> dict[str, Any]:
    """A draft of a sales order at this price for a unit."""
    line = {"product_id": goods.product_id, "quantity": quantity, "price": price}
    body = {
        "customer_name": "晨光科技",
        "customer_id": customer_id,
        "warehouse_id": goods.warehouse_id,
        "lines": [line],
    }
    made: dict[str, Any] = expect(await goods.client.post(ORDERS, body))
    return made


async def confirm(goods: Goods, customer_id: str, price: str) -> Reply:
    order = await drafted(goods, customer_id, price)
    return await goods.client.post(f"{ORDERS}/{order['id']}/confirm")


async def test_an_order_within_the_limit_is_confirmed_without_a_warning(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    confirmed = expect(await confirm(goods, await limited(admin, "100.00"), "100.00"))
    assert (confirmed["status"], confirmed["credit_excess"]) == ("confirmed", None)


async def test_an_order_beyond_the_limit_is_confirmed_with_the_excess(admin: Client) -> None:
    goods, who = await Goods.fresh(admin), await limited(admin, "100.00")
    expect(await confirm(goods, who, "80.00"))
    confirmed = expect(await confirm(goods, who, "30.50"))
    assert (confirmed["status"], confirmed["credit_excess"]) == ("confirmed", "10.50")


async def test_what_is_invoiced_before_the_goods_leave_counts_once(admin: Client) -> None:
    goods, who = await Goods.fresh(admin), await limited(admin, "150.00")
    order = expect(await confirm(goods, who, "100.00"))
    query = f"resource_id={order['id']}&status=planned"
    (item,) = expect(await admin.get(f"/api/v1/finance/receivables?{query}"))["items"]
    await billed(admin, {"open_item_id": item["id"]}, "100.00", "2026-01-01", None)
    assert expect(await confirm(goods, who, "50.00"))["credit_excess"] is None
    assert expect(await confirm(goods, who, "10.00"))["credit_excess"] == "10.00"


async def test_without_a_limit_any_order_is_confirmed(admin: Client) -> None:
    goods = await Goods.fresh(admin)
    async with refusing(admin):
        expect(await confirm(goods, await limited(admin, None), "999999.00"))


async def test_what_is_owed_and_ordered_counts_when_an_order_is_refused(admin: Client) -> None:
    goods, who = await Goods.stocked(admin, 5), await limited(admin, "100.00")
    await billed(admin, {"customer_id": who}, "40.00", "2026-01-01", None)
    expect(await confirm(goods, who, "50.00"))
    async with refusing(admin):
        reply = await confirm(goods, who, "10.01")
        expect(reply, 40901)
        assert reply.data == {"limit": "100.00", "open": "90.00", "requested": "10.01"}
        expect(await confirm(goods, who, "10.00"))


async def test_what_is_delivered_is_owed_and_the_rest_stays_on_order(admin: Client) -> None:
    goods, who = await Goods.stocked(admin, 5), await limited(admin, "100.00")
    order = await drafted(goods, who, "40.00", "2")
    expect(await admin.post(f"{ORDERS}/{order['id']}/confirm"))
    expect(await goods.deliver(order, 1))
    async with refusing(admin):
        reply = await confirm(goods, who, "20.01")
        expect(reply, 40901)
        assert reply.data["open"] == "80.00"
        expect(await confirm(goods, who, "20.00"))


async def test_freight_is_on_order_again_when_the_delivery_that_had_it_is_reversed(admin: Client) -> None:
    goods, who = await Goods.stocked(admin, 5), await limited(admin, "100.00")
    draft = await drafted(goods, who, "20.00", "3")
    at = f"{ORDERS}/{draft['id']}"
    expect(await admin.patch(at, {"version": 1, "freight": "10.00"}))
    order = expect(await admin.post(f"{at}/confirm"))
    for _ in range(2):
        expect(await goods.deliver(order, 1))
    first, _ = expect(await admin.get(f"{AT}/deliveries?order_id={order['id']}&sort=created_at"))["items"]
    expect(await admin.post(f"{AT}/deliveries/{first['id']}/reverse"))
    assert expect(await confirm(goods, who, "30.50"))["credit_excess"] == "0.50"


async def test_a_cancelled_order_uses_no_credit(admin: Client) -> None:
    goods, who = await Goods.fresh(admin), await limited(admin, "100.00")
    order = expect(await confirm(goods, who, "100.00"))
    async with refusing(admin):
        expect(await confirm(goods, who, "1.00"), 40901)
        expect(await admin.post(f"{ORDERS}/{order['id']}/cancel"))
        expect(await confirm(goods, who, "100.00"))


async def test_many_orders_at_once_never_exceed_one_limit(admin: Client) -> None:
    await check_orders_at_once(admin, 40)


async def check_orders_at_once(admin: Client, many: int) -> None:
    """Fail unless as many of the orders as fit below the limit are confirmed."""
    goods, who = await Goods.fresh(admin), await limited(admin, "100.00")
    orders = [await drafted(goods, who, "7.00") for _ in range(many)]
    patient = Person(admin, patience=60)
    async with refusing(admin):
        replies = await asyncio.gather(*(patient.post(f"{ORDERS}/{order['id']}/confirm") for order in orders))
    assert Counter(reply.code for reply in replies) == {0: 14, 40901: many - 14}
    confirmed = expect(await admin.get(f"{ORDERS}?customer_id={who}&status=confirmed&page_size=200"))["items"]
    assert sum(Decimal(order["amount"]) for order in confirmed) == Decimal("98.00")


async def test_the_setting_has_its_values_in_words(admin: Client) -> None:
    setting = expect(await admin.get(f"{CONFIGS}/crm_credit_limit", headers={"Accept-Language": "en"}))
    assert setting["labels"] == {"warn": "Confirmed with a warning", "refuse": "Refused"}


async def test_a_limit_is_no_amount_below_zero(admin: Client) -> None:
    reply = await admin.post(CUSTOMERS, {"name": "晨光科技", "credit_limit": "-1.00"})
    expect(reply, 40001)
    assert reply.fields == {"credit_limit"}
