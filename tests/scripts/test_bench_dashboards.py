"""What `scripts/bench dashboards` compares with: the very pipelines that a request sends, and no others."""

from __future__ import annotations

import asyncio

import pytest
from pymongo import MongoClient

from plugins.runtime import Running
from plugins.testing import Client
from scripts.benchmark.dashboards import asked_once, charts, recorded, run_alone

pytestmark = pytest.mark.gen_test(timeout=30)


@pytest.mark.parametrize(
    ("chart", "collections"),
    [("sales-trend", ["crm_payments"]), ("finance-summary", ["crm_payments", "finance_vouchers"])],
)
async def test_the_pipelines_of_a_request_are_recorded_and_run_alone(
    chart: str, collections: list[str], tradewind: Running, admin: Client, mongodb_uri: str
) -> None:
    assert admin.token is not None
    port, path = int(tradewind.url.rpartition(":")[2]), charts()[chart]
    with MongoClient(mongodb_uri) as client:
        database = client[tradewind.service.settings.mongodb_database]
        commands = await asyncio.to_thread(recorded, database, lambda: asked_once(port, path, str(admin.token)))
        # a background task may read one of the collections meanwhile, by `find`
        assert sorted(command["aggregate"] for command in commands if "aggregate" in command) == collections
        await asyncio.to_thread(run_alone, database, commands)
        database.drop_collection("system.profile")
