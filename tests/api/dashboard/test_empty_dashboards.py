"""Every dashboard returns its declared shape, with zeros without data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from plugins.boot.registry import load_plugins
from plugins.testing import Client, expect, serving

pytestmark = pytest.mark.gen_test(timeout=60)
CORE = ("rbac", "auth", "system", "dashboard")
NOTHING = "0.00"
EMPTY: dict[str, Any] = {
    "overview": {
        "customers": 0,
        "opportunities": 0,
        "contract_amount": NOTHING,
        "received_amount": NOTHING,
        "pending_approvals": 0,
    },
    "customer-distribution": {"by_industry": [], "by_level": []},
    "lead-source-distribution": {"items": []},
    "sales-ranking": {"items": []},
    "employee-distribution": {"items": []},
    "stock-value-by-warehouse": {"items": []},
    "finance-summary?date_from=2026-02-10&date_to=2026-03-10": {
        "income": NOTHING,
        "expense": NOTHING,
        "profit": NOTHING,
        "items": [
            {"month": month, "income": NOTHING, "expense": NOTHING, "profit": NOTHING}
            for month in ("2026-02", "2026-03")
        ],
    },
    "attendance-summary?date_from=2026-02-28&date_to=2026-03-01": {
        "present": 0,
        "late": 0,
        "missed_punch": 0,
        "items": [{"date": date, "present": 0, "late": 0, "missed_punch": 0} for date in ("2026-02-28", "2026-03-01")],
    },
}
ROWS: dict[str, tuple[str, dict[str, Any], int]] = {
    "sales-trend": ("date", {"amount": NOTHING, "count": 0}, 30),
    "contract-trend": ("month", {"count": 0, "amount": NOTHING}, 12),
    "headcount-trend": ("month", {"headcount": 0, "joined": 0, "left": 0}, 12),
    "sales-vs-purchase": ("month", {"sales": NOTHING, "purchase": NOTHING}, 12),
}


@asynccontextmanager
async def without_data(uri: str, folder: Path, *further: str) -> AsyncIterator[Client]:
    plugins = load_plugins((*CORE, *further))
    secret = "9f2c41d07be85a63-empty-dashboards-only"
    async with serving(uri, folder, plugins=plugins, demo=False, jwt_secret=secret) as service:
        yield await Client(service.url).log_in("admin")


@pytest.mark.parametrize("further", [(), ("crm", "inventory", "finance", "hrm")], ids=["not loaded", "without records"])
async def test_a_dashboard_over_nothing_returns_zeros(
    mongodb_uri: str, tmp_path: Path, further: tuple[str, ...]
) -> None:
    async with without_data(mongodb_uri, tmp_path, *further) as admin:
        found = {path: expect(await admin.get(f"/api/dashboard/{path}")) for path in EMPTY}
        assert found == EMPTY
        for path, (key, zeros, count) in ROWS.items():
            items = expect(await admin.get(f"/api/dashboard/{path}"))["items"]
            assert [{**zeros, key: item[key]} for item in items] == items
            assert len(items) == count


async def test_the_funnel_shows_every_stage_in_order(mongodb_uri: str, tmp_path: Path) -> None:
    async with without_data(mongodb_uri, tmp_path, "crm") as admin:
        items = expect(await admin.get("/api/dashboard/opportunity-funnel", headers={"Accept-Language": "en"}))["items"]
        assert [item["stage"] for item in items] == [
            "initial",
            "qualified",
            "proposal",
            "negotiation",
            "won",
            "lost",
        ]
        assert items[0] == {"stage": "initial", "name": "Initial contact", "count": 0, "amount": "0.00"}


async def test_the_days_are_returned_even_when_nothing_is_loaded(mongodb_uri: str, tmp_path: Path) -> None:
    async with without_data(mongodb_uri, tmp_path) as admin:
        trend = expect(await admin.get("/api/dashboard/sales-trend?days=7"))
        assert (trend["days"], len(trend["items"])) == (7, 7)
        assert expect(await admin.get("/api/dashboard/opportunity-funnel")) == {"items": []}
