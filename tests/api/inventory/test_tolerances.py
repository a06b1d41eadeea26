"""Deliveries and receipts of more or less than was ordered, within a tolerance, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.testing import Client, expect, unique
from tests.api.inventory.goods import AT, Goods

pytestmark = pytest.mark.gen_test(timeout=30)
SIDES = pytest.mark.parametrize("incoming", [True, False], ids=["purchase", "sale"])
ORDERED = 100


class Trade:
    """An order of a hundred pieces of a product with a tolerance of five percent, on one of the two sides."""

    def __init__(self, goods: Goods, incoming: bool, order: dict[str, Any]) -> None:
        self.goods, self.incoming, self.order = goods, incoming, order
        self.at = f"{AT}/{'purchase' if incoming else 'sales'}-orders/{order['id']}"

    @classmethod
    async def begin(cls, admin: Client, incoming: bool) -> Trade:
        goods = await Goods.fresh(admin, tolerance="0.05")
        expect(await goods.count(200, "4.00", day="2000-01-01"))
        return cls(goods, incoming, await (goods.purchase if incoming else goods.sale)(ORDERED, "2.00"))

    async def ship(self, quantity: Any, code: int = 0, complete: bool | None = None) -> Any:
        """Receive or deliver so much."""
        line = {"product_id": self.goods.product_id, "quantity": str(quantity), "complete": complete}
        action = "receive" if self.incoming else "deliver"
        return expect(await self.goods.client.post(f"{self.at}/{action}", {"lines": [line]}), code)

    async def owed(self) -> str:
        """What is owed for the order."""
        kind = "payables" if self.incoming else "receivables"
        found = expect(await self.goods.client.get(f"/api/v1/finance/{kind}?q={self.order['number']}"))
        return str(found["items"][0]["amount"])


@SIDES
async def test_a_little_more_than_was_ordered_is_taken_and_owed(admin: Client, incoming: bool) -> None:
    trade = await Trade.begin(admin, incoming)
    await trade.ship(60)
    done = await trade.ship(44)
    assert (done["status"], done["shipped_amount"]) == ("received" if incoming else "delivered", "208.00")
    assert done["shipped_difference"] == "8.00"
    assert await trade.owed() == "208.00"
    assert (await trade.goods.stock())[0] == ("304" if incoming else "96")


@SIDES
async def test_less_within_the_tolerance_completes_a_line_if_that_is_said(admin: Client, incoming: bool) -> None:
    trade = await Trade.begin(admin, incoming)
    assert (await trade.ship(60))["status"] == ("partly_received" if incoming else "partly_delivered")
    done = await trade.ship(36, complete=True)
    assert (done["status"], done["lines"][0]["completed"]) == ("received" if incoming else "delivered", True)
    assert (done["shipped_amount"], done["shipped_difference"]) == ("192.00", "-8.00")


async def test_without_that_word_the_rest_is_waited_for(admin: Client) -> None:
    trade = await Trade.begin(admin, incoming=False)
    assert (await trade.ship(96))["status"] == "partly_delivered"
    assert (await trade.ship(4))["status"] == "delivered"


async def test_more_and_less_than_is_tolerated_are_refused(admin: Client) -> None:
    trade = await Trade.begin(admin, incoming=False)
    reply = await trade.ship("105.0001", 40901)
    assert reply == {"open": "100", "field": "lines[0].quantity"}
    reply = await trade.ship("94.9999", 40901, complete=True)
    assert reply == {"open": "5.0001", "field": "lines[0].complete"}
    assert (await trade.goods.stock())[0] == "200"


async def test_a_line_has_a_tolerance_of_its_own_before_that_of_its_product(admin: Client) -> None:
    goods = await Goods.fresh(admin, tolerance="0.05")
    own, of_product = await goods.sale(1, tolerance="0"), await goods.sale(1)
    assert [one["lines"][0]["tolerance"] for one in (own, of_product)] == ["0", "0.05"]


async def test_what_was_completed_short_reserves_nothing_until_that_is_reversed(admin: Client) -> None:
    trade = await Trade.begin(admin, incoming=False)
    await trade.ship(95, complete=True)
    stock = f"{AT}/stock?product_id={trade.goods.product_id}"
    assert expect(await admin.get(stock))["items"][0]["reserved"] == "0"
    (made,) = expect(await admin.get(f"{AT}/deliveries?order_id={trade.order['id']}"))["items"]
    expect(await admin.post(f"{AT}/deliveries/{made['id']}/reverse"))
    order = expect(await admin.get(trade.at))
    assert (order["status"], order["shipped_difference"]) == ("confirmed", None)
    assert expect(await admin.get(stock))["items"][0]["reserved"] == "100"


async def test_an_invoice_bills_what_was_delivered_too_much(admin: Client) -> None:
    trade = await Trade.begin(admin, incoming=False)
    await trade.ship(104)
    (item,) = expect(await admin.get(f"/api/v1/finance/receivables?q={trade.order['number']}"))["items"]
    body = {"direction": "out", "number": unique("INV"), "open_item_id": item["id"]}
    invoice = expect(await admin.post("/api/v1/finance/invoices", body))
    assert (invoice["total"], invoice["lines"][0]["quantity"]) == ("208.00", "104")
    expect(await admin.post(f"/api/v1/finance/invoices/{invoice['id']}/confirm"))
