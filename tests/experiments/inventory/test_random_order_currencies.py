"""Random purchases and sales in currencies: parts, returns with and without a refund, reversals, closings.

After them what the service says of stock, margins and figures is computed anew from the orders and their documents.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client, Reply, expect, unique
from tests.api.finance.test_billed_items import item_of
from tests.api.inventory.goods import AT, Goods
from tests.api.inventory.test_lines import PURCHASES, SALES
from tests.api.inventory.test_order_amounts import traded_in
from tests.api.inventory.test_order_currencies import DAY, MONTH, rates

__all__ = ["rates"]
pytestmark = pytest.mark.gen_test(timeout=300)
SEEDS, ORDERS, STEPS = range(6), 4, 60
ZERO, CENT = Decimal(0), Decimal("0.01")
Row = dict[str, Any]
_DOCUMENTS = {
    PURCHASES: ("receive", "receipts", "purchase-returns"),
    SALES: ("deliver", "deliveries", "sales-returns"),
}


def worth(amount: Decimal, order: Row) -> Decimal:
    """What an amount of an order is worth to the company."""
    rate = order["rate"]
    return amount if rate is None else (amount * Decimal(rate)).quantize(CENT, ROUND_HALF_UP)


def add_up(rows: list[Row], field: str) -> Decimal:
    return sum((Decimal(row[field] or 0) for row in rows), ZERO)


class Trade:
    """Orders of one product in several currencies, and what happens to them."""

    def __init__(self, client: Client, goods: Goods, seed: int) -> None:
        self.client, self.goods, self.chance = client, goods, random.Random(seed)
        self.orders: list[tuple[str, str]] = []
        self.done: Counter[tuple[str, bool]] = Counter()

    async def order(self, at: str) -> None:
        chance, currency = self.chance, self.chance.choice(("NOK", "DKK", None))
        rate = (
            str(Decimal(chance.randint(2 * 10**7, 3 * 10**8)).scaleb(-8))
            if currency and chance.random() < 0.7
            else None
        )
        lines = [
            {
                "product_id": self.goods.product_id,
                "quantity": str(chance.randint(2, 9)),
                "price": str(Decimal(chance.randint(1, 99_999)).scaleb(-3)),
            }
            for _ in range(chance.randint(1, 3))
        ]
        party = {"supplier_id": await self.goods.supplier()} if at == PURCHASES else {"customer_name": unique("客户")}
        body: Row = {**party, "warehouse_id": self.goods.warehouse_id, "ordered_on": DAY, "lines": lines}
        body |= {"currency": currency, "rate": rate, "freight": str(Decimal(chance.randint(0, 999)).scaleb(-2))}
        made = expect(await self.client.post(at, body))
        expect(await self.client.post(f"{at}/{made['id']}/confirm"))
        self.orders.append((at, made["id"]))

    async def step(self) -> None:
        at, id = self.chance.choice(self.orders)
        name = self.chance.choices(("ship", "return", "reverse", "unreturn", "close"), (8, 4, 2, 1, 0.3))[0]
        reply = await getattr(self, f"_{name}")(at, id)
        if reply is not None:
            assert reply.code in (0, 40901), (name, reply.body.decode())
            self.done[name, reply.code == 0] += 1

    async def _ship(self, at: str, id: str) -> Reply:
        lines = expect(await self.client.get(f"{at}/{id}"))["lines"]
        line = self.chance.choice(lines)
        body = {"lines": [{"line": line["line"], "quantity": str(self.chance.randint(1, 4))}], "day": DAY}
        return await self.client.post(f"{at}/{id}/{_DOCUMENTS[at][0]}", body)

    async def _return(self, at: str, id: str) -> Reply | None:
        shipments = await self.documents(at, id, 1)
        if not shipments:
            return None
        one = self.chance.choice(shipments)
        body: Row = {"lines": [{"line": one["lines"][0]["line"], "quantity": "1"}], "day": DAY}
        body["refund"] = self.chance.random() < 0.7
        return await self.client.post(f"{AT}/{_DOCUMENTS[at][1]}/{one['id']}/returns", body)

    async def _reverse(self, at: str, id: str) -> Reply | None:
        return await self._undo(at, id, 1)

    async def _unreturn(self, at: str, id: str) -> Reply | None:
        return await self._undo(at, id, 2)

    async def _undo(self, at: str, id: str, kind: int) -> Reply | None:
        found = await self.documents(at, id, kind)
        path = f"{AT}/{_DOCUMENTS[at][kind]}"
        return (
            await self.client.post(f"{path}/{self.chance.choice(found)['id']}/reverse", {"day": DAY}) if found else None
        )

    async def _close(self, at: str, id: str) -> Reply:
        return await self.client.post(f"{at}/{id}/close")

    async def documents(self, at: str, id: str, kind: int) -> list[Row]:
        path = f"{AT}/{_DOCUMENTS[at][kind]}?order_id={id}&page_size=200"
        rows: list[Row] = expect(await self.client.get(path))["items"]
        return rows

    async def finish(self) -> None:
        """Receive what is open of the purchases that are not closed, in one piece."""
        for at, id in self.orders:
            if at == PURCHASES and expect(await self.client.get(f"{at}/{id}"))["status"] in (
                "ordered",
                "partly_received",
            ):
                expect(await self.client.post(f"{at}/{id}/receive", {"day": DAY}))


async def compare(trade: Trade, before: dict[str, Decimal]) -> None:
    counted: defaultdict[str, Decimal] = defaultdict(Decimal)
    net = cost = ZERO
    for at, id in trade.orders:
        order = expect(await trade.client.get(f"{at}/{id}"))
        shipments, returns = [await trade.documents(at, id, kind) for kind in (1, 2)]
        assert {one["currency"] for one in (*shipments, *returns)} <= {order["currency"]}
        total = Decimal(order["shipped_amount"] if order["status"] == "closed" else order["amount"])
        counted[at] += worth(total - Decimal(order["returned_amount"] or 0), order)
        live = [one for one in shipments if one["reversed_by_id"] is None]
        item = await item_of(trade.client, order, "payables" if at == PURCHASES else "receivables")
        owes = add_up(live, "amount") - add_up(live, "returned_amount")
        assert (Decimal(item["amount"]), Decimal(item["base_amount"] or owes)) == (owes, worth(owes, order))
        refunds = [one for one in returns if one["refund"] and one.get("delivery_id") in {made["id"] for made in live}]
        for line in order["lines"]:
            same = _lines(live, line["line"])
            if at == PURCHASES and line["received"] == line["quantity"]:
                assert add_up(same, "cost") == worth(Decimal(line["net"]), order)
            if at == SALES:  # without tax and discounts
                ever, back = (_lines(documents, line["line"]) for documents in (shipments, returns))
                owed = add_up(same, "quantity") - add_up(_lines(refunds, line["line"]), "quantity")
                net += worth((owed * Decimal(line["price"])).quantize(CENT, ROUND_HALF_UP), order)
                cost += add_up(ever, "cost") - add_up(back, "cost")
    for at, name in ((PURCHASES, "purchase"), (SALES, "sales")):
        assert await traded_in(trade.client, MONTH, name) - before[name] == counted[at], name
    rows = expect(await trade.client.get(f"{AT}/margins?from={DAY}&to={DAY}&product_id={trade.goods.product_id}"))[
        "items"
    ]
    assert (add_up(rows, "net"), add_up(rows, "cost")) == (net, cost)


def _lines(documents: list[Row], line: int) -> list[Row]:
    return [one for made in documents for one in made["lines"] if one["line"] == line]


@pytest.mark.usefixtures("rates")
@pytest.mark.parametrize("seed", SEEDS)
async def test_stock_margins_and_figures_are_those_of_the_documents_at_their_rates(
    seed: int, admin: Client, tradewind: Running
) -> None:
    goods = await Goods.stocked(admin, 200)
    before = {name: await traded_in(admin, MONTH, name) for name in ("purchase", "sales")}
    trade = Trade(admin, goods, seed)
    for _ in range(ORDERS):
        await trade.order(PURCHASES)
        await trade.order(SALES)
    for _ in range(STEPS):
        await trade.step()
    await compare(trade, before)
    await trade.finish()
    await compare(trade, before)
    assert await differences(tradewind.service.database.driver) == []
    assert min(trade.done[name, True] for name in ("ship", "return", "reverse")) > 0, trade.done
