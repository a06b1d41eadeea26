"""A server that reports its shutdown, which then does not take place, is used again within about a second."""

import time
from collections.abc import Iterator

import pytest

from config.database import DRIVERS, open_driver
from scripts.fault_injection.processes import ReplicaSet

pytestmark = pytest.mark.gen_test(timeout=30)
INTERRUPTED_AT_SHUTDOWN = 11600
SOON_SECONDS = 3


@pytest.fixture(scope="module")
def replica_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    made = ReplicaSet(tmp_path_factory.mktemp("shutdown") / "set", members=1, election_ms=2000, failpoints=True)
    try:
        yield made.start()
    finally:
        made.stop()


@pytest.mark.parametrize("driver_name", sorted(DRIVERS))
async def test_a_server_that_reported_a_shutdown_is_used_again_soon(driver_name: str, replica_set: ReplicaSet) -> None:
    driver = open_driver(driver_name, replica_set.uri, "shutdown", 5000)
    try:
        await driver.insert(driver_name, [{"_id": 1}])
        once = {"failCommands": ["find"], "errorCode": INTERRUPTED_AT_SHUTDOWN, "failInternalCommands": False}
        with replica_set.client(replica_set.wait_for_primary()) as client:
            client.admin.command({"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": once})
        began = time.monotonic()
        assert await driver.find(driver_name, {}) == [{"_id": 1}]
        assert time.monotonic() - began < SOON_SECONDS
    finally:
        await driver.close()
