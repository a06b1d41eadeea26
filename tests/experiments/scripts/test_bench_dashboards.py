"""What `python -m tests.experiments.benchmark dashboards` compares with: the very pipelines that a request sends, and no others."""

from __future__ import annotations

import asyncio

import pytest
from pymongo import MongoClient

from plugins.boot.runtime import Running
from plugins.testing import Client, eventually
from tests.experiments.benchmark.dashboards import Command, asked_once, charts, recorded, run_alone

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

        async def of_the_request() -> list[Command]:
            commands = await asyncio.to_thread(recorded, database, lambda: asked_once(port, path, str(admin.token)))
            # a job that reads these collections may have run meanwhile
            return commands if sorted(command.get("aggregate", "") for command in commands) == collections else []

        await asyncio.to_thread(run_alone, database, await eventually(of_the_request))
        database.drop_collection("system.profile")
