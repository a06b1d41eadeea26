"""A read never misses what was acknowledged, whichever member of a replica set is or was its primary."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern

from config.database import DRIVERS, DatabaseUnavailable, Driver, begin_waiting, open_driver
from plugins.testing import eventually
from scripts.fault_injection.processes import ReplicaSet, wait_until

pytestmark = [pytest.mark.gen_test(timeout=90), pytest.mark.parametrize("driver_name", sorted(DRIVERS))]
LIMIT_MS = 5000  # a majority may take two seconds while the former primary is frozen
LATE_SECONDS = LIMIT_MS / 1000 + 1.5
NAME = "barrier"


@pytest.fixture(scope="module")
def replica_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    made = ReplicaSet(tmp_path_factory.mktemp("barrier") / "set", election_ms=2000, failpoints=True)
    try:
        yield made.start()
    finally:
        made.stop()


@pytest.fixture
def primary(replica_set: ReplicaSet) -> int:
    """The port of the primary of three members in working order."""
    replica_set.wait_for_health()
    return replica_set.wait_for_primary()


@asynccontextmanager
async def opened(name: str, replica_set: ReplicaSet) -> AsyncIterator[Driver]:
    driver = open_driver(name, replica_set.uri, NAME, LIMIT_MS)
    try:
        yield driver
    finally:
        await driver.close()


@contextmanager
def stale_snapshots(replica_set: ReplicaSet, port: int) -> Iterator[None]:
    """A member that does not learn what a majority has, as one that has just become the primary."""

    def switch(mode: str) -> None:
        with replica_set.client(port) as client:
            client.admin.command({"configureFailPoint": "disableSnapshotting", "mode": mode})

    switch("alwaysOn")
    try:
        yield
    finally:
        switch("off")


def make_primary(replica_set: ReplicaSet, port: int) -> None:
    def stepped_up() -> bool:
        with replica_set.client(port) as client, suppress(PyMongoError):
            client.admin.command("replSetStepUp")
        return replica_set.primary() == port

    wait_until(stepped_up, 30)


@contextmanager
def frozen(replica_set: ReplicaSet, *ports: int) -> Iterator[None]:
    for port in ports:
        replica_set.freeze(port)
    try:
        yield
    finally:
        for port in ports:
            replica_set.thaw(port)


def majority_read(client: MongoClient[dict[str, Any]], things: str) -> Any:
    return client[NAME].get_collection(things, read_concern=ReadConcern("majority")).find().to_list()


def barriers(replica_set: ReplicaSet, port: int) -> int:
    with replica_set.client(port) as client:
        counters = client.admin.command("serverStatus")["readConcernCounters"]
    return int(counters["nonTransactionOps"]["linearizable"])


def others(replica_set: ReplicaSet, primary: int) -> list[int]:
    return [port for port in replica_set.ports if port != primary]


async def every_read(driver: Driver, things: str) -> list[Any]:
    """How many documents each kind of read finds of the one that was acknowledged, or its error."""
    wanted = {"_id": 1}

    async def rows(reading: Awaitable[list[Any]]) -> int:
        return len(await reading)

    async def one(reading: Awaitable[Any]) -> int:
        return int(await reading is not None)

    async def streamed() -> int:
        return len([row async for row in driver.stream(things, wanted)])

    reads = [
        one(driver.find_one(things, wanted)),
        one(driver.find_by_id(things, 1)),
        rows(driver.find(things, wanted, limit=9)),
        rows(driver.find(things, wanted)),
        rows(driver.aggregate(things, [{"$match": wanted}])),
        driver.count(things, wanted),
        streamed(),
    ]
    begin_waiting()
    return await asyncio.gather(*reads, return_exceptions=True)


async def test_a_new_primary_is_not_read_from_before_it_has_what_was_acknowledged(
    replica_set: ReplicaSet, primary: int, driver_name: str, things: str
) -> None:
    new = next(port for port in replica_set.ports if port != primary)
    async with opened(driver_name, replica_set) as driver:
        await driver.insert(things, [{"_id": 0}])
        assert await driver.find(things, {}) == [{"_id": 0}]
        with stale_snapshots(replica_set, new):
            await driver.insert(things, [{"_id": 1}])
            make_primary(replica_set, new)
            with replica_set.client(new) as client:
                assert majority_read(client, things) == [{"_id": 0}]
            began = time.monotonic()
            found = await every_read(driver, things)
            assert time.monotonic() - began < LATE_SECONDS
        assert [type(each) for each in found] == [DatabaseUnavailable] * len(found)

        async def after() -> bool:
            found = await every_read(driver, things)
            assert 0 not in found
            return found == [1] * len(found)

        await eventually(after, seconds=30)


async def test_a_frozen_primary_is_left_as_soon_as_there_is_another(
    replica_set: ReplicaSet, primary: int, driver_name: str, things: str
) -> None:
    async with opened(driver_name, replica_set) as driver:
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


async def test_hundreds_of_first_reads_send_one_barrier(
    replica_set: ReplicaSet, primary: int, driver_name: str, things: str
) -> None:
    before = barriers(replica_set, primary)
    async with opened(driver_name, replica_set) as driver:
        for _ in range(2):
            await asyncio.gather(*(driver.find_one(things, {"n": n}) for n in range(200)))
            assert barriers(replica_set, primary) == before + 1
        await driver.find(things, {})
    assert barriers(replica_set, primary) <= before + 1 + (driver_name == "direct")


async def test_without_a_majority_a_first_read_ends_in_time(
    replica_set: ReplicaSet, primary: int, driver_name: str, things: str
) -> None:
    async with opened(driver_name, replica_set) as driver:
        with frozen(replica_set, *others(replica_set, primary)):
            begin_waiting()  # as a request does
            began = time.monotonic()
            with pytest.raises(DatabaseUnavailable):
                await driver.find_one(things, {"_id": 1})
            assert time.monotonic() - began < LATE_SECONDS
