"""Sessions of transactions end without blocking the event loop, whatever the server does meanwhile."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from tornado.ioloop import IOLoop

from config.database import DatabaseUnavailable, Driver
from plugins.testing import eventually
from tests.support.driver_fixtures import LIMIT_MS
from tests.support.proxy import Proxy
from tests.support.watchdog import LoopWatchdog

pytestmark = pytest.mark.gen_test(timeout=20)


@pytest.fixture
def watchdog(io_loop: IOLoop) -> Iterator[LoopWatchdog]:
    with LoopWatchdog(io_loop.asyncio_loop) as watching:
        yield watching
    assert watching.blocks == [], "\n".join(map(str, watching.blocks))


@pytest.mark.parametrize("fault", ["hanging", "dead"])
async def test_a_server_that_goes_while_a_transaction_commits_does_not_block_the_loop(
    behind: Driver, proxy: Proxy, things: str, fault: str, watchdog: LoopWatchdog
) -> None:
    async def work() -> None:
        await behind.insert(things, [{"_id": 1}])
        if fault == "dead":
            await proxy.down()
        else:
            proxy.stall()

    await behind.insert(things, [{"_id": 0}])
    with pytest.raises(DatabaseUnavailable):
        await behind.transaction(work)
    await asyncio.sleep(2 * LIMIT_MS / 1000)  # whatever ends later must not block either


async def test_a_transaction_that_is_cancelled_without_its_server_does_not_block_the_loop(
    behind: Driver, proxy: Proxy, things: str, watchdog: LoopWatchdog
) -> None:
    started = asyncio.Event()

    async def work() -> None:
        await behind.insert(things, [{"_id": 1}])
        proxy.stall()
        started.set()
        await asyncio.sleep(60)

    running = asyncio.create_task(behind.transaction(work))
    await started.wait()
    running.cancel()
    cancelled = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - cancelled < 0.5
    await asyncio.sleep(2 * LIMIT_MS / 1000)


async def test_a_driver_is_closed_without_its_server_and_does_not_block_the_loop(
    behind: Driver, proxy: Proxy, things: str, watchdog: LoopWatchdog
) -> None:
    await behind.transaction(lambda: behind.insert(things, [{"_id": 1}]))
    proxy.stall()
    started = time.monotonic()
    await behind.close()
    assert time.monotonic() - started < 3


async def test_what_a_cancelled_transaction_wrote_is_free_at_once(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}])
    started = asyncio.Event()

    async def work() -> None:
        await driver.update_one(things, {"_id": 1}, {"$set": {"n": 1}})
        started.set()
        await asyncio.sleep(60)

    running = asyncio.create_task(driver.transaction(work))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    async with asyncio.timeout(3):  # of the twenty seconds that MongoDB lets a transaction live
        assert await driver.update_one(things, {"_id": 1}, {"$inc": {"n": 1}}) == {"_id": 1, "n": 1}


async def test_the_sessions_of_open_transactions_are_listed(driver: Driver, things: str) -> None:
    async def work() -> list[bytes]:
        await driver.insert(things, [{"_id": 1}])
        return driver.open_sessions

    (during,) = await driver.transaction(work)
    assert len(during) == 16

    async def none_is_left() -> bool:
        return driver.open_sessions == []

    await eventually(none_is_left)
