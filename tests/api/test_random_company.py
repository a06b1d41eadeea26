"""A random company: four people buy, sell, pay and change their minds at once, and a model says what must follow.

`python -m tests.experiments.random_company` does the same for ten thousand documents.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tornado.ioloop import IOLoop

from plugins.testing import Client, Reply, serving
from tests.support.random_company import trading
from tests.support.random_company.comparing import differences
from tests.support.random_company.listing import Listed
from tests.support.random_company.model import Company
from tests.support.random_company.office import Office, Person, open_office
from tests.support.random_company.reversing import reverse_all
from tests.support.random_company.rounds import Tally, open_stock, trade
from tests.support.random_company.steps import Outcome

pytestmark = pytest.mark.gen_test(timeout=60)
DOCUMENTS = 40
ANY = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@dataclass
class Traded:
    """A company that has traded for a while, and where the model and the service differed then."""

    office: Office
    tally: Tally
    differences: list[str]
    whole: Listed
    half: Listed

    def day(self, ago: int) -> str:
        """A day so long ago."""
        return (self.office.today - timedelta(days=ago)).isoformat()


@pytest.fixture(scope="module")
def admin_alone(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """The administrator of an empty company."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("company"))
    running = io_loop.run_sync(block.__aenter__)
    yield io_loop.run_sync(lambda: Client(running.url).log_in("admin"))
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def trade_twice(admin: Client, documents: int) -> Traded:
    """Make so many documents and compare, twice."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    office, tally, found = await open_office(admin, seed), Tally(), []
    await open_stock(office, tally)
    for audit in (False, True):
        await trade(office, documents, tally)
        found += await differences(office, tally, audit=audit)
    return Traded(office, tally, found, *[await Listed.read(one) for one in (office.manager, office.half)])


@pytest.fixture(scope="module")
def traded(io_loop: IOLoop, admin_alone: Client) -> Traded:
    return io_loop.run_sync(lambda: trade_twice(admin_alone, DOCUMENTS))


async def test_the_books_are_what_the_model_says(traded: Traded) -> None:
    assert traded.differences == []
    assert traded.tally.documents >= 2 * DOCUMENTS


@ANY
@given(ago=st.integers(0, 110))
def test_on_any_day_what_is_open_is_what_was_due_less_what_was_allocated(
    ago: int, traded: Traded, io_loop: IOLoop
) -> None:
    async def compare() -> None:
        day, office = traded.day(ago), traded.office
        for listed in (traded.whole, traded.half):
            await listed.compare_open(day)
        assert all(traded.whole.paid(side, day) == traded.whole.allocated(side, day) for side in ("in", "out"))
        await traded.whole.compare_statement("customer_id", office.chance.choice(office.customers)["id"], day)
        await traded.half.compare_statement("supplier_id", office.chance.choice(office.suppliers), day)

    io_loop.run_sync(compare)


@ANY
@given(ago=st.integers(0, 110), days=st.integers(0, 110))
def test_the_figures_of_each_person_are_the_sums_of_what_they_can_list(
    ago: int, days: int, traded: Traded, io_loop: IOLoop
) -> None:
    async def compare() -> None:
        for listed in (traded.whole, traded.half):
            await listed.compare_money(traded.day(ago + days), traded.day(ago))

    assert 0 < len(traded.half.vouchers) < len(traded.whole.vouchers)
    io_loop.run_sync(compare)


async def test_reversed_in_random_order_nothing_is_left(traded: Traded) -> None:
    office = traded.office
    await reverse_all(office, traded.tally)
    assert await differences(office, traded.tally) == []
    model = office.model
    assert {held for pair in model.stock.values() for held in pair} == {0}
    assert {amount for one in model.items.values() for amount in (one["amount"], one["paid"])} == {0}
    assert set(model.accounts.values()) == {0}


def test_the_reply_to_the_reversal_of_a_return_tells_whether_goods_came_before_it() -> None:
    """Ten pieces, all the stock, are taken out for what it is worth; of fifteen they are taken for what they had cost."""
    model, line = Company(), {"product_id": "product", "cost": "-20.00"}
    model.put("product", "place", "2026-10-01", Decimal(10), Decimal(100))
    model.orders["order"] = {"incoming": False, "owes": False, "shipments": ("delivery",)}
    moved = (Decimal(10), Decimal(30), Decimal(20), Decimal(20))
    shipped = {"order": "order", "place": "place", "live": True, "returned": Decimal(30)}
    model.shipments["delivery"] = {**shipped, "lines": {"product": {"back": moved[:3]}}}
    made = {
        "of": "delivery",
        "lines": {"product": moved},
        "amount": Decimal(30),
        "restock": True,
        "live": True,
        "refund": True,
    }
    model.returns["return"] = {**made, "day": "2026-11-01"}
    office = cast(Office, SimpleNamespace(model=model, day=lambda since: since))
    step = trading.reverse_return(office, cast(Person, None), "return")
    outcome = Outcome(Reply(200, {}, b'{"code": 0}'), [{"id": "reversal", "amount": "-30.00", "lines": [line]}])
    assert not step.fits(Company(model), outcome)
    model.put("product", "place", "2026-10-01", Decimal(5), Decimal(10))
    assert step.fits(Company(model), outcome)
