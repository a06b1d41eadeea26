"""Random payments of what a customer owes in a currency: entered, allocated, moved, paid back and reversed, at other rates.

After every step, what is open by the statement is what documents came to, less the money by its worth, and the differences.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client, Reply, expect, unique
from tests.api.finance.accounts_of_parties import new_customer, statement
from tests.api.finance.books import AT, Books

pytestmark = pytest.mark.gen_test(timeout=600)
SEEDS, STEPS, ITEMS = range(5), 40, 3
ZERO, CENT = Decimal(0), Decimal("0.01")
Row = dict[str, Any]


def money(value: Any) -> Decimal:
    return Decimal(value or 0)


class Account:
    """What a customer owes in euros, and the account on which it is paid."""

    def __init__(self, client: Client, books: Books, party: Row, openings: list[Row], chance: random.Random) -> None:
        self.client, self.books, self.party, self.openings, self.chance = client, books, party, openings, chance
        self.payments: list[str] = []
        self.done: Counter[tuple[str, bool]] = Counter()

    @classmethod
    async def begun(cls, client: Client, seed: int) -> Account:
        chance, party, code = random.Random(seed), await new_customer(client), unique("ACC")
        body = {"code": code, "name": code, "type": "bank", "currency": chance.choice(("EUR", None))}
        books = Books(client, expect(await client.post(f"{AT}/accounts", body))["id"])
        made = cls(client, books, party, [], chance)
        for _ in range(ITEMS):
            body = {"kind": "receivable", "number": unique("OLD"), "amount": str(CENT * chance.randint(1, 99_999))}
            given = {"day": "2026-11-02", "currency": "EUR", "rate": made.rate(), **party}
            made.openings.append(expect(await client.post(f"{AT}/opening-items", body | given)))
        return made

    def rate(self) -> str:
        places = self.chance.choice((2, 4, 8))
        return str(Decimal(self.chance.randint(7 * 10**places, 8 * 10**places)).scaleb(-places))

    async def items(self) -> list[Row]:
        return [await self.books.item(one) for one in self.openings]

    async def payment(self, where: Callable[[Row], bool]) -> Row | None:
        found = [expect(await self.client.get(f"{AT}/payments/{id}")) for id in self.payments]
        fit = [one for one in found if one["status"] == "booked" and where(one)]
        return self.chance.choice(fit) if fit else None

    def part(self, whole: Decimal) -> Decimal:
        return whole if self.chance.random() < 0.3 else max(CENT, round(whole * Decimal(self.chance.random()), 2))

    async def step(self) -> None:
        acts: list[tuple[int, str, Callable[[], Awaitable[Reply | None]]]] = [
            (8, "pay", self.pay),
            (4, "allocate", self.allocate),
            (3, "take back", self.take_back),
            (2, "repay", self.repay),
            (3, "reverse", self.reverse),
            (2, "adjust", self.adjust),
        ]
        _, name, act = self.chance.choices(acts, [weight for weight, _, _ in acts])[0]
        reply = await act()
        if reply is not None:
            assert reply.code in (0, 40901), (name, reply.body.decode())
            self.done[name, reply.code == 0] += 1

    async def pay(self) -> Reply:
        parts = [
            (item, str(self.part(left)))
            for item in await self.items()
            if (left := money(item["amount"]) - money(item["paid"])) > 0 and self.chance.random() < 0.6
        ]
        whole = sum((money(part) for _, part in parts), ZERO) + CENT * self.chance.randint(1, 5_000)
        return await self.enter("in", whole, *parts)

    async def enter(self, direction: str, amount: Decimal, *parts: tuple[Row, str], **fields: Any) -> Reply:
        given = {"currency": "EUR", "rate": self.rate(), **self.party, **fields}
        reply = await self.books.enter(direction, str(amount), *parts, **given)
        if not reply.code:
            self.payments.append(reply.data["id"])
        return reply

    async def allocate(self) -> Reply | None:
        payment = await self.payment(lambda one: money(one["unallocated"]) > 0)
        item = self.chance.choice(await self.items())
        left = money(item["amount"]) - money(item["paid"])
        if payment is None or left <= 0:
            return None
        return await self.books.allocate(payment, item, str(self.part(min(left, money(payment["unallocated"])))))

    async def take_back(self) -> Reply | None:
        payment = await self.payment(lambda one: bool(one["allocations"]))
        if payment is None:
            return None
        row = self.chance.choice(payment["allocations"])
        body = {"open_item_id": row["open_item_id"], "amount": str(self.part(money(row["amount"])))}
        return await self.client.post(f"{AT}/payments/{payment['id']}/take-back", body)

    async def repay(self) -> Reply | None:
        advance = await self.payment(lambda one: money(one["unallocated"]) > 0)
        if advance is None:
            return None
        return await self.enter("out", self.part(money(advance["unallocated"])), repays_id=advance["id"])

    async def reverse(self) -> Reply | None:
        payment = await self.payment(lambda one: True)
        return await self.books.reverse_payment(payment) if payment is not None else None

    async def adjust(self) -> Reply | None:
        item = self.chance.choice(await self.items())
        left = money(item["amount"]) - money(item["paid"])
        if left <= 0:
            return None
        body = {"kind": "difference", "amount": str(min(left, CENT * 7))}
        return await self.client.post(f"{AT}/open-items/{item['id']}/adjustments", body)

    async def check(self) -> Decimal:
        """Compare the statement with items, vouchers and differences; return the sum of the differences."""
        items, realised = await self.items(), ZERO
        for id in self.payments:
            rows = expect(await self.client.get(f"{AT}/exchange-differences?payment_id={id}&page_size=200"))["items"]
            realised += sum((money(row["difference"]) for row in rows), ZERO)
        cash = sum((self.worth(one) for one in await self.books.vouchers()), ZERO)
        told = await statement(self.client, self.party)
        owed = sum((money(item["base_amount"]) for item in items), ZERO)
        assert money(told["closing_balance"]) == owed - cash + realised
        for item in items:
            whole = await statement(self.client, {"open_item_id": item["id"]})
            assert money(whole["closing_balance"]) == money(item["base_amount"]) - money(item["base_paid"])
            assert (item["status"] == "paid") <= (whole["closing_balance"] == "0.00")
        return realised

    @staticmethod
    def worth(voucher: Row) -> Decimal:
        amount = money(voucher["base_amount"] if voucher["currency"] else voucher["amount"])
        return amount if voucher["kind"] == "income" else -amount


@pytest.mark.parametrize("seed", SEEDS)
async def test_statements_agree_with_documents_money_and_differences_and_reversing_all_leaves_no_difference(
    seed: int, admin: Client, tradewind: Running
) -> None:
    account, driver = await Account.begun(admin, seed), tradewind.service.database.driver
    before = await differences(driver)  # that other tests of this server have planted
    for _ in range(STEPS):
        await account.step()
        await account.check()
    assert {name for (name, took), _ in account.done.items() if took} >= {"pay", "reverse"}
    while (payment := await account.payment(lambda one: not money(one["repaid"]))) is not None:
        expect(await account.books.reverse_payment(payment))
    assert await account.check() == 0
    assert await account.books.balance() == "0.00"
    assert [one for one in await differences(driver) if one not in before] == []
