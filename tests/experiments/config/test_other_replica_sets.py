"""A host of another replica set in the address, with the same users: nothing is ever written there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from config.database import DRIVERS, DatabaseUnavailable, open_driver
from scripts.fault_injection.processes import ReplicaSet

pytestmark = pytest.mark.gen_test(timeout=60)
NAME, NOTES = "other_sets", "notes"


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    made = ReplicaSet(tmp_path_factory.mktemp("foreign") / "set", members=1, name="foreign")
    try:
        yield made.start()
    finally:
        made.stop()


@pytest.mark.parametrize("driver_name", sorted(DRIVERS))
async def test_a_primary_of_another_set_is_not_written_to_when_ours_is_gone(
    driver_name: str, foreign: ReplicaSet, tmp_path: Path
) -> None:
    ours = ReplicaSet(tmp_path / "set", members=1)
    try:
        hosts = f"127.0.0.1:{foreign.ports[0]},127.0.0.1:{ours.start().ports[0]}"
        driver = open_driver(driver_name, ours.uri.replace(f"127.0.0.1:{ours.ports[0]}", hosts), NAME, 2000)
        try:
            await driver.insert(NOTES, [{"_id": "ours"}])
            assert await driver.find(NOTES, {}) == [{"_id": "ours"}]
            ours.kill(ours.ports[0])
            for number in range(2):  # the first one may learn of the end only by its own failure
                with suppress(DatabaseUnavailable):
                    await driver.insert(NOTES, [{"_id": number}])
                    pytest.fail("a write went somewhere")
        finally:
            await driver.close()
    finally:
        ours.stop()
    with foreign.client() as client:
        assert client[NAME].list_collection_names() == []
