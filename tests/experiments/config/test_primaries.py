"""Primaries that refuse commits for other reasons than in the daily tests, and one that is frozen until an election."""

import asyncio
import uuid

import pytest

from config.database import DatabaseUnavailable
from plugins.testing import eventually
from tests.experiments.database.test_replica_set import (
    frozen,
    opened,
    primary,
    replica_set,
    test_a_commit_that_is_always_refused_ends_with_the_time_limit,
)
from tests.support.replica_sets import ReplicaSet

__all__ = ["primary", "replica_set", "test_a_commit_that_is_always_refused_ends_with_the_time_limit"]
pytestmark = pytest.mark.gen_test(timeout=60)


@pytest.fixture(params=[189, 11600])
def code(request: pytest.FixtureRequest) -> int:
    return int(request.param)


async def test_a_frozen_primary_is_left_as_soon_as_there_is_another(
    replica_set: ReplicaSet, primary: int, driver_name: str, things: str
) -> None:
    # a majority may take two seconds while the former primary is frozen
    async with opened(driver_name, replica_set, 5000) as driver:
        await driver.insert(things, [{"_id": 0}])
        await asyncio.gather(*(driver.find_one(things, {"_id": n}) for n in range(8)))  # over several connections
        with frozen(replica_set, primary):
            await asyncio.to_thread(replica_set.wait_for_primary)

            async def insert() -> None:
                await driver.insert(things, [{"_id": uuid.uuid4().hex, "n": 1}])

            async def inserted() -> bool:
                try:
                    await driver.transaction(insert)
                except DatabaseUnavailable:
                    return False
                return True

            await eventually(inserted, seconds=30)
            assert (await driver.find_one(things, {"n": 1}) or {}).get("n") == 1
