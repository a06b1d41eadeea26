"""Random invoices of three orders of one customer: joint, prepaid, of parts and final; their credit notes, and payments.

After every step what the service says of each order is added up anew from its documents, line by line.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client, Reply, expect, unique
from tests.api.finance.books import AT, Books
from tests.api.finance.test_billed_items import item_of
from tests.api.inventory.goods import AT as INVENTORY, Goods
from tests.api.inventory.test_lines import sold

pytestmark = pytest.mark.gen_test(timeout=600)
SEEDS, STEPS = range(6), 40
ZERO = Decimal(0)
Row = dict[str, Any]
LIVE = ("confirmed", "partly_paid", "paid")


def money(value: Any) -> Decimal:
    return Decimal(value or 0)


class Deal:
    """Three orders, and the invoices of them."""

    def __init__(
        self, client: Client, goods: Goods, books: Books, orders: list[Row], items: list[Row], seed: int
    ) -> None:
        self.client, self.goods, self.books, self.orders, self.items = client, goods, books, orders, items
        self.chance, self.invoices, self.notes = random.Random(seed), list[str](), list[Row]()
        self.done: Counter[tuple[str, bool]] = Counter()

    @classmethod
    async def begun(cls, client: Client, seed: int) -> Deal:
        chance, goods, name = random.Random(seed), await Goods.stocked(client, 1000), unique("customer")
        orders = []
        for _ in range(3):
            lines = [
                {
                    "quantity": str(chance.randint(1, 6)),
                    "price": str(Decimal(chance.randint(1, 99_999)) / 1000),
                    "tax_rate": chance.choice(("0.13", "0.06", "0")),
                }
                for _ in range(chance.randint(1, 3))
            ]
            freight = str(Decimal(chance.randint(0, 900)) / 100)
            orders.append(await sold(goods, *lines, customer_name=name, freight=freight))
        items = [await item_of(client, order) for order in orders]
        return cls(client, goods, await Books.fresh(client), orders, items, seed)

    async def step(self) -> None:
        acts: list[tuple[int, str, Callable[[], Awaitable[Reply | None]]]] = [
            (8, "invoice", self.bill),
            (3, "prepayment", self.prepay),
            (3, "final", self.finish),
            (4, "credit", self.credit),
            (2, "reverse", self.reverse),
            (2, "void", self.void),
            (4, "deliver", self.deliver),
            (4, "pay", self.pay),
        ]
        _, name, act = self.chance.choices(acts, [weight for weight, _, _ in acts])[0]
        reply = await act()
        if reply is not None:
            assert reply.code in (0, 40901), (name, reply.body.decode())
            self.done[name, reply.code == 0] += 1

    def some(self) -> list[Row]:
        return self.chance.sample(self.items, self.chance.randint(1, 3))

    async def bill(self) -> Reply | None:
        lines = [
            {"open_item_id": item["id"], "order_line": line["line"], "quantity": str(self.chance.randint(1, 3))}
            for item in self.some()
            for line in self.orders[self.items.index(item)]["lines"]
            if self.chance.random() < 0.7
        ]
        if not lines:
            return None
        return await self.enter({"kind": self.chance.choice(("standard", "part")), "lines": lines})

    async def prepay(self) -> Reply:
        ids = [item["id"] for item in self.some()]
        rate = str(Decimal(self.chance.randint(1, 50)) / 100)
        return await self.enter({"kind": "prepayment", "open_item_ids": ids, "prepayment_rate": rate})

    async def finish(self) -> Reply:
        return await self.enter({"kind": "final", "open_item_ids": [item["id"] for item in self.some()]})

    async def enter(self, body: Row) -> Reply:
        reply = await self.client.post(f"{AT}/invoices", {"direction": "out", **body})
        if reply.code:
            return reply
        reply = await self.client.post(f"{AT}/invoices/{reply.data['id']}/confirm")
        if not reply.code:
            self.invoices.append(reply.data["id"])
        return reply

    async def credit(self) -> Reply | None:
        if not self.invoices:
            return None
        id = self.chance.choice(self.invoices)
        invoice = expect(await self.client.get(f"{AT}/invoices/{id}"))
        lines = [{"line": line["line"]} for line in invoice["lines"] if self.chance.random() < 0.5]
        body: Row = {"lines": lines} if lines and self.chance.random() < 0.7 else {}
        reply = await self.client.post(f"{AT}/invoices/{id}/credit-notes", body)
        if not reply.code:
            self.notes.append(reply.data)
        return reply

    async def reverse(self) -> Reply | None:
        if not self.notes:
            return None
        note = self.notes.pop(self.chance.randrange(len(self.notes)))
        return await self.client.post(f"{AT}/credit-notes/{note['id']}/reverse", {})

    async def void(self) -> Reply | None:
        if not self.invoices:
            return None
        return await self.client.post(f"{AT}/invoices/{self.chance.choice(self.invoices)}/void")

    async def deliver(self) -> Reply:
        order = self.chance.choice(self.orders)
        line = {"line": self.chance.choice(order["lines"])["line"], "quantity": str(self.chance.randint(1, 3))}
        return await self.client.post(f"{INVENTORY}/sales-orders/{order['id']}/deliver", {"lines": [line]})

    async def pay(self) -> Reply | None:
        order = self.chance.choice(self.orders)
        item = await item_of(self.client, order)
        left = money(item["amount"]) - money(item["paid"])
        if left <= 0:
            return None
        part = str(left if self.chance.random() < 0.3 else max(round(left / 3, 2), Decimal("0.01")))
        return await self.books.enter("in", part, (item, part))

    async def check(self) -> None:
        """Add up every document anew."""
        invoices = [expect(await self.client.get(f"{AT}/invoices/{id}")) for id in self.invoices]
        sums: defaultdict[str, defaultdict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
        units: defaultdict[tuple[str, int], Decimal] = defaultdict(Decimal)
        prepaid: defaultdict[tuple[str, int], Decimal] = defaultdict(Decimal)
        for invoice in invoices:
            self.check_invoice(invoice)
            if invoice["status"] == "void":
                continue
            for line in invoice["lines"]:
                left = money(line["amount"]) - money(line["credited"])
                of = sums[line["open_item_id"]]
                of["invoiced"] += money(line["amount"])
                of["credited"] += money(line["credited"])
                of["tax"] += money(line["tax"]) - money(line["credited_tax"])
                if line["order_line"] is not None:
                    count = money(line["quantity"]) - money(line["credited_quantity"])
                    units[line["open_item_id"], line["order_line"]] += count
                elif line["prepayment_id"] is not None:
                    prepaid[line["prepayment_id"], line["prepayment_line"]] += left
                elif invoice["kind"] == "prepayment":
                    prepaid[invoice["id"], line["line"]] += left
            for share in invoice["billed_items"]:
                sums[share["open_item_id"]]["paid"] += money(share["paid"])
        assert min(prepaid.values(), default=ZERO) >= 0
        for order, item in zip(self.orders, self.items, strict=True):
            order = expect(await self.client.get(f"{INVENTORY}/sales-orders/{order['id']}"))
            now, of = await item_of(self.client, order), sums[item["id"]]
            self.check_item(order, now, of)
            lines = {line["line"]: money(line["quantity"]) for line in order["lines"]}
            lines |= {0: Decimal(1)} if money(order["freight"]) else {}
            assert all(units[item["id"], number] <= count for number, count in lines.items())
            if all(units[item["id"], number] == count for number, count in lines.items()):
                still = sum((left for (id, _), left in prepaid.items() if self.bills(invoices, id, item["id"])), ZERO)
                if not still:
                    assert of["invoiced"] - of["credited"] == money(order["amount"])
                    assert of["tax"] == money(order["tax_amount"])

    @staticmethod
    def bills(invoices: list[Row], id: str, item_id: str) -> bool:
        """Whether an invoice bills an item."""
        invoice = next(one for one in invoices if one["id"] == id)
        return any(share["open_item_id"] == item_id for share in invoice["billed_items"])

    @staticmethod
    def check_invoice(invoice: Row) -> None:
        for name, of in (("amount", "net"), ("tax", "tax"), ("total", "amount")):
            assert money(invoice[name]) == sum(money(line[of]) for line in invoice["lines"])
        for name in ("amount", "tax", "total", "paid", "credited", "credited_tax", "adjusted"):
            assert money(invoice[name]) == sum(money(share[name]) for share in invoice["billed_items"]), name

    @staticmethod
    def check_item(order: Row, item: Row, of: dict[str, Decimal]) -> None:
        """Compare an open item with the sums of its documents."""
        invoiced, credited = of["invoiced"], of["credited"]
        assert (money(item["invoiced"]), money(item["credited"])) == (invoiced, credited)
        assert invoiced - credited <= money(order["amount"])
        delivered = money(order["shipped_amount"])
        comes = ZERO if order["status"] == "delivered" else money(order["amount"]) - delivered
        whole = delivered + min(comes, max(invoiced - delivered, ZERO))
        assert money(item["amount"]) == min(whole, max(whole, invoiced) - credited)
        assert of["paid"] == min(money(item["paid"]), invoiced - credited)


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_figure_of_random_invoices_is_the_sum_of_their_lines(
    seed: int, admin: Client, tradewind: Running
) -> None:
    deal, driver = await Deal.begun(admin, seed), tradewind.service.database.driver
    before = await differences(driver)  # that other tests of this server have planted
    for _ in range(STEPS):
        await deal.step()
        await deal.check()
    assert {name for (name, took), _ in deal.done.items() if took} >= {"invoice", "credit"}
    assert [one for one in await differences(driver) if one not in before] == []
