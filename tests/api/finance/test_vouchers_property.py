"""Random vouchers and reversals against a reference model of ten lines."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import given, settings, strategies as st
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client, expect
from tests.api.finance.books import Books

AMOUNTS = st.decimals("0.01", "99999.99", places=2)
STEPS = st.lists(
    st.tuples(st.sampled_from(["income", "expense", "transfer", "reverse"]), AMOUNTS), min_size=1, max_size=10
)


class Model:
    """Two balances in cents, and what can still be reversed."""

    def __init__(self) -> None:
        self.balances, self.open = [0, 0], list[tuple[int, int]]()

    def book(self, kind: str, cents: int) -> None:
        change = {"income": (cents, 0), "expense": (-cents, 0), "transfer": (-cents, cents)}[kind]
        self.open.append(change)
        self.balances = [before + by for before, by in zip(self.balances, change, strict=True)]

    def reverse(self) -> None:
        change = self.open.pop()
        self.balances = [before - by for before, by in zip(self.balances, change, strict=True)]


def test_balances_are_what_the_model_says(admin: Client, tradewind: Running, io_loop: IOLoop) -> None:
    check_vouchers(admin, tradewind, io_loop, 5)


def check_vouchers(admin: Client, running: Running, io_loop: IOLoop, examples: int) -> None:
    """Fail where balances differ from the model in one of so many sequences of vouchers."""

    @settings(max_examples=examples, deadline=None)
    @given(steps=STEPS)
    def check(steps: list[tuple[str, Decimal]]) -> None:
        io_loop.run_sync(lambda: compare(steps, admin, running), timeout=60)

    check()


async def compare(steps: list[tuple[str, Decimal]], admin: Client, running: Running) -> None:
    """Book and reverse, and compare the balances with the model."""
    one, other, model = await Books.fresh(admin), await Books.fresh(admin), Model()
    booked: list[dict[str, Any]] = []
    for kind, amount in steps:
        if kind != "reverse":
            to = other.account_id if kind == "transfer" else None
            booked.append(expect(await one.book(kind, str(amount), to_account_id=to)))
            model.book(kind, int(amount * 100))
        elif booked:
            expect(await one.reverse(booked.pop()))
            model.reverse()
        balances = [int(Decimal(await books.balance()) * 100) for books in (one, other)]
        assert balances == model.balances
    faults = await differences(running.service.database.driver)
    assert [fault for fault in faults if one.account_id in fault or other.account_id in fault] == []
