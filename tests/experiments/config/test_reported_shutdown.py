"""A server that reports its shutdown, which then does not take place, is used again within about a second."""

import time

import pytest

from config.database import DRIVERS, open_driver
from scripts.fault_injection.processes import ReplicaSet

pytestmark = pytest.mark.gen_test(timeout=30)
INTERRUPTED_AT_SHUTDOWN = 11600
SOON_SECONDS = 3


@pytest.mark.parametrize("driver_name", sorted(DRIVERS))
async def test_a_server_that_reported_a_shutdown_is_used_again_soon(
    driver_name: str, failing: ReplicaSet, things: str
) -> None:
    driver = open_driver(driver_name, failing.uri, "shutdown", 5000)
    try:
        await driver.insert(things, [{"_id": 1}])
        once = {"failCommands": ["find"], "errorCode": INTERRUPTED_AT_SHUTDOWN, "failInternalCommands": False}
        with failing.client(failing.wait_for_primary()) as client:
            client.admin.command({"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": once})
        began = time.monotonic()
        assert await driver.find(things, {}) == [{"_id": 1}]
        assert time.monotonic() - began < SOON_SECONDS
    finally:
        await driver.close()
