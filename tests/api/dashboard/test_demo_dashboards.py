"""With demo data each dashboard has figures."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

import pytest

from plugins.boot.runtime import Running
from plugins.dashboard.charts import ROUTES
from plugins.testing import Client, expect

pytestmark = pytest.mark.gen_test(timeout=30)
CHARTS = [route for route in ROUTES if "cell" not in route.query and not route.path.endswith("/before")]
# fields that are no figures
NOT_FIGURES = {"days", "rank", "user_id", "department_id", "warehouse_id"}


def figures(data: Any) -> Iterator[Decimal]:
    """Return every count and amount of a response."""
    if isinstance(data, dict):
        yield from (figure for name, value in data.items() if name not in NOT_FIGURES for figure in figures(value))
    elif isinstance(data, list):
        yield from (figure for value in data for figure in figures(value))
    else:
        try:
            yield Decimal(str(data))
        except InvalidOperation:
            return


def test_there_are_thirteen() -> None:
    assert len(CHARTS) == 13


@pytest.mark.parametrize("path", [chart.path for chart in CHARTS])
async def test_the_demo_data_show_something(path: str, admin: Client) -> None:
    assert any(figures(expect(await admin.get(path))))


@pytest.mark.parametrize("name", ["manager", "sales", "staff"])
async def test_everybody_of_the_demo_sees_the_dashboards_of_their_own_scope(
    name: str, admin: Client, tradewind: Running
) -> None:
    person = await admin.log_in(name, tradewind.service.demo_password(name))
    for chart in CHARTS:
        expect(await person.get(chart.path))
    own, all_of_them = [expect(await one.get("/api/dashboard/overview"))["customers"] for one in (person, admin)]
    assert own < all_of_them
