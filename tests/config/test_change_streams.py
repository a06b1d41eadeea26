"""A change stream shares the client of its driver, and a connection that dies silently ends it."""

import asyncio
import threading
import time

import pytest

from config.database import DatabaseUnavailable, Driver, open_driver
from tests.faults.proxy import Proxy

pytestmark = pytest.mark.gen_test(timeout=20)
_MONITOR = "pymongo_server_monitor_thread"
_SILENCE_SECONDS = 2.0


def monitors() -> int:
    """The threads in which a library watches a member of the replica set."""
    return sum(thread.name == _MONITOR for thread in threading.enumerate())


@pytest.mark.parametrize("driver_name", ["direct", "motor"])
async def test_each_member_is_monitored_by_one_thread(driver_name: str, mongodb_uri: str, things: str) -> None:
    before = monitors()
    driver = open_driver(driver_name, mongodb_uri, "monitored", 5000)
    try:
        async with driver.watch([things]):
            await driver.aggregate(things, [{"$match": {}}])
            assert monitors() - before == 1
    finally:
        await driver.close()


async def test_a_silent_change_stream_ends_after_two_seconds(behind: Driver, proxy: Proxy, things: str) -> None:
    async with behind.watch([things]) as changes:
        proxy.stall()
        began = time.monotonic()
        with pytest.raises(DatabaseUnavailable):
            await asyncio.wait_for(anext(changes), 2 * _SILENCE_SECONDS)
        assert time.monotonic() - began > _SILENCE_SECONDS / 2
