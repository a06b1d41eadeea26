"""A company of twenty people works a month without an administrator, and its figures agree with what they did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from plugins.testing import Client, serving
from tests.support.company_month.company import Company
from tests.support.company_month.dates import Dates
from tests.support.company_month.denials import DENIALS, LEFT, asked
from tests.support.company_month.figures import CHARTS
from tests.support.company_month.founding import found
from tests.support.company_month.script import live
from tests.support.company_month.staff import STAFF

pytestmark = pytest.mark.gen_test(timeout=20)


@pytest.fixture(scope="module")
def company(io_loop: IOLoop, mongodb_uri: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    """The company at the end of its month."""
    dates = Dates.at_noon()
    block = serving(mongodb_uri, tmp_path_factory.mktemp("company"), time_zone=dates.zone)
    server = io_loop.run_sync(block.__aenter__)

    async def lived() -> Company:
        made = await found(await Client(server.url).log_in("admin"), dates)
        await live(made)
        return made

    try:
        yield io_loop.run_sync(lived)
    finally:
        io_loop.run_sync(lambda: block.__aexit__(None, None, None))


async def test_nobody_is_denied_but_who_is_to_be(company: Company) -> None:
    wanted = [LEFT, *(asked(company, one) for one in DENIALS)]
    assert Counter(company.recorder.denied) == Counter(wanted)


@pytest.mark.parametrize("name", CHARTS)
async def test_the_figures_of_everybody_are_what_they_and_theirs_did(company: Company, name: str) -> None:
    chart = CHARTS[name]
    path = f"/api/dashboard/{name.split()[0]}?{chart.query(company)}"
    shown = {who: chart.shown(await company[who].get(path)) for who in STAFF if who != "sun"}
    assert shown == {who: chart.expected(company, who) for who in shown}
