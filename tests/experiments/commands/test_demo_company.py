"""The year of business that follows the first start of a demo server."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from plugins.commands.demo_company import __main__ as demo_company, names
from plugins.testing import Client, expect
from tests.support.demo import serving_demo

pytestmark = pytest.mark.gen_test(timeout=240)


async def test_a_year_of_business_is_entered_once_and_this_month_has_figures(
    mongodb_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "EMPLOYEES", names.EMPLOYEES[:1])  # whose punches are most of the work
    async with serving_demo(mongodb_uri, tmp_path) as server:
        monkeypatch.setattr(demo_company, "_NEW", timedelta(0))
        assert not await demo_company.enter(server.service)  # a demo in use stays as it is
        monkeypatch.setattr(demo_company, "_NEW", timedelta(days=2))
        assert await demo_company.enter(server.service)
        assert not await demo_company.enter(server.service)
        admin = await Client(server.url).log_in("admin")
        manager = await Client(server.url).log_in("manager", server.service.demo_password("manager"))
        months = expect(await admin.get("/api/dashboard/finance-summary"))["items"]
        assert all(float(month["income"]) for month in months[3:])
        titles = [one["title"] for one in await rows(manager, "/api/v1/approvals/tasks")]
        assert sum("年度框架合同" in title for title in titles) == 2
        assert sum(bool(one["cover"]) for one in await rows(admin, "/api/v1/cms/articles")) == 3


async def rows(client: Client, path: str) -> list[dict[str, Any]]:
    """The first rows of a list."""
    found: list[dict[str, Any]] = expect(await client.get(path))["items"]
    return found
