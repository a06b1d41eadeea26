"""The operation-log queue: bounded, written in batches, emptied at the end, and never stopped by one entry."""

import logging
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from config.database import Driver, open_driver
from config.settings import Settings
from handlers.operations import operation_log
from handlers.operations.operation_log import OPERATION_LOGS, OperationLog
from plugins.testing import eventually

pytestmark = pytest.mark.gen_test(timeout=20)
NOWHERE = "mongodb://127.0.0.1:1/"


@asynccontextmanager
async def driver_at(uri: str, timeout_ms: int = 5000) -> AsyncIterator[Driver]:
    """A driver on a database of its own."""
    name = Settings(_env_file=None, demo=True).mongodb_driver
    driver = open_driver(name, uri, f"test_{uuid.uuid4().hex[:12]}", timeout_ms)
    try:
        yield driver
    finally:
        await driver.close()


def entry(number: int, **more: Any) -> dict[str, Any]:
    return {"user_id": 1, "path": f"/{number}", **more}


async def paths(driver: Driver) -> list[str]:
    return [row["path"] for row in await driver.find(OPERATION_LOGS.name, {}, sort=[("_id", 1)])]


async def test_what_is_accepted_is_written_in_order(mongodb_uri: str) -> None:
    async with driver_at(mongodb_uri) as driver:
        operations = OperationLog(driver, OPERATION_LOGS, limit=2000)
        operations.start()
        for number in range(1200):
            operations.record(entry(number))

        async def is_written() -> bool:
            return operations.waiting == 0

        await eventually(is_written)
        assert await paths(driver) == [f"/{number}" for number in range(1200)]
        await operations.stop()


async def test_entries_that_follow_soon_share_a_command(mongodb_uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation_log, "_GATHER_SECONDS", 1.0)
    async with driver_at(mongodb_uri) as driver:
        operations = OperationLog(driver, OPERATION_LOGS, limit=10)
        sizes: list[int] = []
        insert = driver.insert_missing

        async def noted(collection: str, documents: Sequence[dict[str, Any]]) -> None:
            sizes.append(len(documents))
            await insert(collection, documents)

        async def is_written() -> bool:
            return operations.waiting == 0

        monkeypatch.setattr(driver, "insert_missing", noted)
        operations.start()
        operations.record(entry(0))
        await eventually(is_written)
        for number in range(1, 6):
            operations.record(entry(number))
            await driver.count(OPERATION_LOGS.name, {})
        await eventually(is_written)
        await operations.stop()
    assert sizes == [1, 5]


async def test_a_stop_writes_what_is_left(mongodb_uri: str) -> None:
    async with driver_at(mongodb_uri) as driver:
        operations = OperationLog(driver, OPERATION_LOGS, limit=2000)
        operations.start()
        for number in range(1200):
            operations.record(entry(number))
        await operations.stop()
        assert await paths(driver) == [f"/{number}" for number in range(1200)]


async def test_an_entry_that_the_database_refuses_stops_no_other(
    mongodb_uri: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with driver_at(mongodb_uri) as driver:
        operations = OperationLog(driver, OPERATION_LOGS, limit=10)
        operations.record(entry(1))
        operations.record(entry(2, body={"a\x00b": 2**80}))
        operations.record(entry(3))
        await operations.stop()
        assert await paths(driver) == ["/1", "/3"]
    (line,) = [record for record in caplog.records if record.message == "operation log entry not stored"]
    assert "'/2'" in vars(line)["entry"]


async def test_what_does_not_fit_goes_to_the_process_log(mongodb_uri: str, caplog: pytest.LogCaptureFixture) -> None:
    async with driver_at(mongodb_uri) as driver:
        operations = OperationLog(driver, OPERATION_LOGS, limit=2)
        for number in range(3):
            operations.record(entry(number))
        await operations.stop()
        assert await paths(driver) == ["/0", "/1"]
    (line,) = [record for record in caplog.records if record.message == "operation log queue is full"]
    assert '"/2"' in vars(line)["entry"]


async def test_without_a_database_a_stop_leaves_every_entry_in_the_process_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR)
    async with driver_at(NOWHERE, timeout_ms=200) as driver:
        operations = OperationLog(driver, OPERATION_LOGS, limit=10)
        operations.start()
        for number in range(3):
            operations.record(entry(number))
        await operations.stop()
    lines = [vars(record)["entry"] for record in caplog.records if record.message == "operation log entry not stored"]
    assert len(lines) == 3
