"""Dashboards may read from a secondary, and see what was written before they began; nothing else does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from config.database import Driver, open_driver, reading_from_secondaries
from scripts.fault_injection.processes import ReplicaSet

pytestmark = pytest.mark.gen_test(timeout=60)
NAME = "spread"
COUNT: list[dict[str, Any]] = [{"$group": {"_id": None, "n": {"$sum": 1}}}]


@pytest.fixture(scope="module")
def two_members(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    replica_set = ReplicaSet(tmp_path_factory.mktemp("two") / "mongo", members=2)
    try:
        yield replica_set.start()
    finally:
        replica_set.stop()


@asynccontextmanager
async def opened(replica_set: ReplicaSet, driver: str, figures: str) -> AsyncIterator[Driver]:
    found = open_driver(driver, replica_set.uri, NAME, 10_000, figures)
    try:
        yield found
    finally:
        await found.close()


def aggregations(replica_set: ReplicaSet) -> tuple[int, int]:
    """How many aggregations the primary and the secondary have run."""
    primary = replica_set.wait_for_primary()
    (secondary,) = [port for port in replica_set.ports if port != primary]
    told = []
    for port in (primary, secondary):
        with replica_set.client(port) as client:
            told.append(int(client.admin.command("serverStatus")["metrics"]["commands"]["aggregate"]["total"]))
    return told[0], told[1]


@pytest.mark.parametrize("driver", ["direct", "motor", "pymongo"])
async def test_figures_come_from_a_secondary_and_have_what_was_written_before(
    two_members: ReplicaSet, driver: str
) -> None:
    async with opened(two_members, driver, "secondaryPreferred") as at:
        collection = f"things_{driver}"
        before = aggregations(two_members)
        for number in range(1, 11):
            await at.insert(collection, [{"_id": number}])
            with reading_from_secondaries():
                assert await at.aggregate(collection, COUNT) == [{"_id": None, "n": number}]
        after = aggregations(two_members)
        assert after[1] - before[1] >= 10
        assert after[0] - before[0] < 10


@pytest.mark.parametrize(("figures", "asked"), [("primary", True), ("secondaryPreferred", False)])
async def test_everything_else_comes_from_the_primary(two_members: ReplicaSet, figures: str, asked: bool) -> None:
    async with opened(two_members, "direct", figures) as at:
        await at.insert_missing("others", [{"_id": 1}])
        before = aggregations(two_members)
        for _ in range(10):
            if asked:
                with reading_from_secondaries():
                    await at.aggregate("others", COUNT)
            else:
                await at.aggregate("others", COUNT)
        assert aggregations(two_members)[0] - before[0] >= 10


async def test_in_a_transaction_the_primary_is_read(two_members: ReplicaSet) -> None:
    async with opened(two_members, "direct", "secondaryPreferred") as at:

        async def work() -> list[dict[str, Any]]:
            await at.insert("inside", [{"_id": "one"}])
            with reading_from_secondaries():
                return await at.aggregate("inside", COUNT)

        await at.insert_missing("inside", [{"_id": "made before"}])
        assert await at.transaction(work) == [{"_id": None, "n": 2}]
