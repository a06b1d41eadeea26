"""Random purchases, sales and returns against a reference model; then all of it is reversed, and nothing is left."""

from __future__ import annotations

import random
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from hypothesis import given, settings, strategies as st
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.commands.verify import differences
from plugins.testing import Client, expect
from tests.api.inventory.goods import Goods
from tests.api.inventory.test_return_reversals import take_back
from tests.api.inventory.test_returns import at_of, owed, send_back, shipments

CENT, ZERO = Decimal("0.01"), Decimal(0)
QUANTITIES = st.decimals("0.0001", "9.9999", places=4)
PRICES = st.decimals("0.01", "99.99", places=2)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["buy", "sell"]), QUANTITIES, PRICES),
        st.tuples(st.just("return"), QUANTITIES, st.integers(0, 9)),
        st.tuples(st.just("undo"), st.just(ZERO), st.integers(0, 9)),
    ),
    min_size=2,
    max_size=8,
)


def cents(amount: Decimal) -> Decimal:
    """The amount to the cent, half a cent up."""
    return amount.quantize(CENT, ROUND_HALF_UP)


class Shipped:
    """A receipt or delivery: what it came to, and how much of it came back."""

    def __init__(self, sold: bool, quantity: Decimal, amount: Decimal, cost: Decimal) -> None:
        self.sold, self.quantity, self.amount, self.cost = sold, quantity, amount, cost
        self.returned = self.returned_amount = self.returned_cost = ZERO

    def part(self, whole: Decimal, returned: Decimal, quantity: Decimal) -> Decimal:
        return max(cents(whole * (self.returned + quantity) / self.quantity) - returned, ZERO)

    def count(self, quantity: Decimal, amount: Decimal, cost: Decimal) -> None:
        self.returned += quantity
        self.returned_amount += amount
        self.returned_cost += cost

    @property
    def owed(self) -> Decimal:
        return self.amount - self.returned_amount


class Model:
    """What a warehouse holds of one product."""

    def __init__(self) -> None:
        self.quantity = self.value = ZERO
        self.shipped: list[Shipped] = []
        self.returns: list[tuple[Shipped, tuple[Decimal, Decimal, Decimal], Decimal]] = []

    def trade(self, sold: bool, quantity: Decimal, price: Decimal) -> bool:
        if sold and quantity > self.quantity:
            return False
        amount = cents(quantity * price)
        cost = cents(self.value * quantity / self.quantity) if sold else amount
        self.shipped.append(Shipped(sold, quantity, amount, cost))
        self.move(-quantity if sold else quantity, -cost if sold else cost)
        return True

    def give_back(self, one: Shipped, quantity: Decimal) -> bool:
        if quantity > one.quantity - one.returned or (not one.sold and quantity > self.quantity):
            return False
        parts = (
            quantity,
            one.part(one.amount, one.returned_amount, quantity),
            one.part(one.cost, one.returned_cost, quantity),
        )
        moved = parts[2] if one.sold else cents(self.value * quantity / self.quantity)
        one.count(*parts)
        self.move(quantity if one.sold else -quantity, moved if one.sold else -moved)
        self.returns.append((one, parts, moved))
        return True

    def undo(self, number: int) -> bool:
        one, parts, moved = self.returns[number]
        quantity = parts[0]
        if one.sold and quantity > self.quantity:
            return False
        value = self.take(quantity, moved) if one.sold else moved
        one.count(*(-part for part in parts))
        self.move(-quantity if one.sold else quantity, -value if one.sold else value)
        del self.returns[number]
        return True

    def take(self, quantity: Decimal, cost: Decimal) -> Decimal:
        return self.value if quantity == self.quantity else min(cost, self.value)

    def move(self, quantity: Decimal, value: Decimal) -> None:
        self.quantity, self.value = self.quantity + quantity, self.value + value


def test_what_goes_out_and_comes_back_is_what_the_model_says_and_reversed_it_is_nothing(
    admin: Client, tradewind: Running, io_loop: IOLoop
) -> None:
    check_returns(admin, tradewind, io_loop, 5)


def check_returns(admin: Client, running: Running, io_loop: IOLoop, examples: int) -> None:
    """Fail where one of so many sequences of trades and returns differs from the model."""

    @settings(max_examples=examples, deadline=None)
    @given(steps=STEPS, seed=st.integers(0, 999))
    def check(steps: list[tuple[str, Decimal, Any]], seed: int) -> None:
        io_loop.run_sync(lambda: compare(steps, seed, admin, running), timeout=60)

    check()


async def compare(steps: list[tuple[str, Decimal, Any]], seed: int, admin: Client, running: Running) -> None:
    """Trade and return, compare with the model, and reverse it all."""
    goods, model = await Goods.fresh(admin), Model()
    made: list[tuple[dict[str, Any], dict[str, Any]]] = []
    returned: list[dict[str, Any]] = []
    for kind, quantity, further in steps:
        if kind == "return" and made:
            number = further % len(made)
            reply = await send_back(goods, made[number][1], format(quantity, "f"))
            assert reply.code == (0 if model.give_back(model.shipped[number], quantity) else 40901)
            returned += [reply.data] if reply.code == 0 else []
        elif kind == "undo" and returned:
            number = further % len(returned)
            reply = await take_back(admin, returned[number])
            assert reply.code == (0 if model.undo(number) else 40901)
            del returned[number : number + (reply.code == 0)]
        elif kind in ("buy", "sell"):
            reply, order = await trade(goods, kind, quantity, further)
            assert reply.code == (0 if model.trade(kind == "sell", quantity, further) else 40901)
            if reply.code == 0:
                made.append((order, (await shipments(admin, order))[0]))
        assert [Decimal(amount) for amount in await goods.stock()] == [model.quantity, model.value]
    for (order, _), one in zip(made, model.shipped, strict=True):
        assert Decimal(await owed(admin, order)) == one.owed
    await reverse_all(goods, made, seed)
    faults = await differences(running.service.database.driver)
    assert [fault for fault in faults if goods.product_id in fault] == []


async def trade(goods: Goods, kind: str, quantity: Decimal, price: Decimal) -> tuple[Any, dict[str, Any]]:
    """Buy or sell so much in one shipment."""
    how_many, at = format(quantity, "f"), str(price)
    order = await (goods.sale(how_many, at) if kind == "sell" else goods.purchase(how_many, at))
    return await (goods.deliver(order) if kind == "sell" else goods.receive(order)), order


async def reverse_all(goods: Goods, made: list[tuple[dict[str, Any], dict[str, Any]]], seed: int) -> None:
    """Reverse every shipment in random order, receipts whose goods are out yet after the deliveries."""
    waiting = list(made)
    random.Random(seed).shuffle(waiting)
    while waiting:
        again = []
        for order, shipment in waiting:
            (now,) = await shipments(goods.client, order)
            if now["lines"][0]["returned"] == now["lines"][0]["quantity"]:
                continue
            reply = await goods.client.post(at_of(shipment, "reverse"))
            if reply.code == 40901:
                again.append((order, shipment))
            else:
                expect(reply)
        assert len(again) < len(waiting)
        waiting = again
    assert [Decimal(amount) for amount in await goods.stock()] == [0, 0]
    for order, _ in made:
        assert await owed(goods.client, order) == "0.00"
