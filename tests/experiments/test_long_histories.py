"""Longer random histories of companies, stock and accounts than those of every day, against the same models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tornado.ioloop import IOLoop

from plugins.boot.runtime import Running
from plugins.testing import Client, serving
from tests.api import test_random_company as daily
from tests.api.dashboard.test_figures import check_figures
from tests.api.finance.test_vouchers_property import check_vouchers
from tests.api.inventory.test_returns_property import check_returns
from tests.api.inventory.test_stock_property import check_movements

pytestmark = pytest.mark.gen_test(timeout=300)
Check = Callable[[Client, Running, IOLoop, int], None]

# in this order, as the last leaves nothing
test_the_books = daily.test_the_books_are_what_the_model_says
test_any_day = daily.test_on_any_day_what_is_open_is_what_was_due_less_what_was_allocated
test_the_figures = daily.test_the_figures_of_each_person_are_the_sums_of_what_they_can_list
test_the_reversal = daily.test_reversed_in_random_order_nothing_is_left


@pytest.fixture(scope="module")
def traded(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[daily.Traded]:
    """A company that has traded for long."""
    block = serving(mongodb_uri, tmp_path_factory.mktemp("company"))
    running = io_loop.run_sync(block.__aenter__)

    async def trade() -> daily.Traded:
        return await daily.trade_twice(await Client(running.url).log_in("admin"), documents=300)

    yield io_loop.run_sync(trade)
    io_loop.run_sync(lambda: block.__aexit__(None, None, None))


@pytest.mark.parametrize("check", [check_movements, check_returns, check_vouchers])
def test_stock_and_accounts_are_what_the_models_say(
    check: Check, admin: Client, tradewind: Running, io_loop: IOLoop
) -> None:
    check(admin, tradewind, io_loop, 60)


@pytest.mark.parametrize("seed", [2, 4, 5])
async def test_each_figure_is_the_sum_over_what_the_person_can_list(
    seed: int, mongodb_uri: str, tmp_path: Path
) -> None:
    await check_figures(seed, mongodb_uri, tmp_path)
