"""Aggregations of one moment outside a transaction: on every driver, by servers that keep a past and those that do not."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from tornado.ioloop import IOLoop

from config.database import DRIVERS, Driver, SnapshotGone, open_driver
from config.embedded import acquire
from config.embedded.snapshot_history import snapshot_history
from tests.support.slow_reads import resting_at, until_resting

pytestmark = pytest.mark.gen_test(timeout=20)


async def start_reading(driver: Driver, things: str, uri: str) -> asyncio.Task[list[dict[str, Any]]]:
    """An aggregation of two documents, both of which change after it has read the first."""
    first, last = f"{things}-1", f"{things}-2"
    await driver.insert(things, [{"_id": id, "n": 1} for id in (first, last)])
    await driver.find_one(things, {})  # the first read from a server is repeated after its barrier
    stages = [{"$sort": {"_id": 1}}, resting_at(first), {"$project": {"_id": 0}}]
    reading = asyncio.create_task(driver.aggregate(things, stages, snapshot=True))
    await until_resting(uri, first)
    await driver.update_many(things, {}, {"$set": {"n": 2}})
    return reading


@pytest.fixture(scope="module")
def with_a_past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A MongoDB that keeps past states, as others than the embedded one do."""
    folder = tmp_path_factory.mktemp("past")
    embedded = acquire(folder)
    with snapshot_history(folder):
        yield embedded.uri
    embedded.release_and_wait(15)


@pytest.fixture(params=sorted(DRIVERS))
def keeping(request: pytest.FixtureRequest, io_loop: IOLoop, with_a_past: str) -> Iterator[Driver]:
    """Each driver in turn, on that server."""
    made = open_driver(request.param, with_a_past, "past", 5000)
    yield made
    io_loop.run_sync(made.close)


async def test_what_changes_meanwhile_is_seen_as_it_was(keeping: Driver, things: str, with_a_past: str) -> None:
    assert await (await start_reading(keeping, things, with_a_past)) == [{"n": 1}, {"n": 1}]
    assert await keeping.aggregate(things, [{"$project": {"_id": 0}}], snapshot=True) == [{"n": 2}, {"n": 2}]


async def test_every_row_of_a_long_result_is_returned(keeping: Driver, things: str) -> None:
    await keeping.insert(things, [{"_id": number, "text": "x" * 1000} for number in range(20_000)])
    rows = await keeping.aggregate(things, [{"$sort": {"_id": 1}}], snapshot=True)
    assert [row["_id"] for row in rows] == list(range(20_000))


async def test_a_server_without_the_past_says_so(driver: Driver, things: str, mongodb_uri: str) -> None:
    reading = await start_reading(driver, things, mongodb_uri)
    with suppress(SnapshotGone):  # the embedded one
        assert await reading == [{"n": 1}, {"n": 1}]


async def test_in_a_transaction_its_own_writes_are_seen(driver: Driver, things: str) -> None:
    async def work() -> list[Any]:
        await driver.insert(things, [{"_id": 1}])
        return await driver.aggregate(things, [], snapshot=True)

    assert await driver.transaction(work) == [{"_id": 1}]
