"""Random movements against a reference model of ten lines."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from tornado.ioloop import IOLoop

from handlers.schema.money import rounded
from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client
from tests.api.inventory.goods import Goods

QUANTITIES = st.decimals("0.0001", "9.9999", places=4).map(lambda quantity: format(quantity.normalize(), "f"))
PRICES = st.decimals("0.00", "99.99", places=2).map(str)
MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("receive"), QUANTITIES, PRICES),
        st.tuples(st.just("deliver"), QUANTITIES, st.just("1.00")),
        st.tuples(st.just("count"), QUANTITIES, PRICES),
    ),
    min_size=1,
    max_size=8,
)


class Model:
    """What a warehouse holds of one product."""

    def __init__(self) -> None:
        self.quantity, self.value = Fraction(0), Fraction(0)

    def move(self, kind: str, quantity: Fraction, price: Fraction) -> bool:
        change = quantity - self.quantity if kind == "count" else -quantity if kind == "deliver" else quantity
        if self.quantity + change < 0:
            return False
        leaving = self.value * -change / self.quantity if change < 0 else Fraction(0)
        self.value += -cents(leaving) if change < 0 else cents(change * price)
        self.quantity += change
        return True


def cents(amount: Fraction) -> Fraction:
    """The amount to the cent, half a cent up."""
    return Fraction(int(amount * 100 + Fraction(1, 2)), 100)


def test_stock_is_what_the_model_says(admin: Client, tradewind: Running, io_loop: IOLoop) -> None:
    check_movements(admin, tradewind, io_loop, 5)


def check_movements(admin: Client, running: Running, io_loop: IOLoop, examples: int) -> None:
    """Fail where the stock differs from the model in one of so many sequences of movements."""

    @settings(max_examples=examples, deadline=None)
    @given(moves=MOVES)
    def check(moves: list[tuple[str, str, str]]) -> None:
        io_loop.run_sync(lambda: compare(moves, admin, running), timeout=60)

    check()


async def compare(moves: list[tuple[str, str, str]], admin: Client, running: Running) -> None:
    """Make the movements, and compare the stock and the ledger with the model."""
    goods, model = await Goods.fresh(admin), Model()
    for kind, quantity, price in moves:
        reply = await move(goods, kind, quantity, price)
        assert reply.code == (0 if model.move(kind, Fraction(quantity), Fraction(price)) else 40901)
        stock = await goods.stock()
        assert [Fraction(amount) for amount in stock] == [model.quantity, model.value]
    ledger = await goods.ledger()
    assert sum(Decimal(entry["quantity"]) for entry in ledger) == Decimal(stock[0])
    assert sum(Decimal(entry["value"]) for entry in ledger) == Decimal(stock[1])
    faults = await differences(running.service.database.driver)
    assert [fault for fault in faults if goods.product_id in fault] == []


async def move(goods: Goods, kind: str, quantity: str, price: str) -> Any:
    """One movement, as a person makes it."""
    if kind == "count":
        return await goods.count(quantity, price)
    if kind == "receive":
        return await goods.receive(await goods.purchase(quantity, price))
    return await goods.deliver(await goods.sale(quantity, price))


@pytest.mark.parametrize(("amount", "expected"), [("0.005", "0.01"), ("0.0049", "0.00"), ("-0.005", "-0.01")])
def test_the_one_rounding_goes_away_from_zero_at_half_a_cent(amount: str, expected: str) -> None:
    assert rounded(Decimal(amount)) == Decimal(expected) == Decimal(amount).quantize(Decimal("0.01"), ROUND_HALF_UP)
