"""What a driver promises over a replica set of three members, whatever becomes of its primary and of commits.

Of the driver `driver_name`: daily the default one, in the experiments the two others too.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from contextvars import Context
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern

from config.database import DatabaseUnavailable, Driver, open_driver, reading_from_secondaries, share_deadline
from config.settings import Settings
from plugins.boot.connect import check_connection
from plugins.boot.listen import StartError
from plugins.testing import eventually
from tests.support.replica_sets import ReplicaSet, wait_until

pytestmark = pytest.mark.gen_test(timeout=90)
NAME = "replicated"
LIMIT_MS = 1500
LATE_SECONDS = LIMIT_MS / 1000 + 1.5
INTERRUPTED_AT_SHUTDOWN = 11600
COUNT: list[dict[str, Any]] = [{"$group": {"_id": None, "n": {"$sum": 1}}}]


@pytest.fixture(scope="module")
def replica_set(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaSet]:
    made = ReplicaSet(tmp_path_factory.mktemp("replicated") / "set", election_ms=2000, failpoints=True)
    try:
        yield made.start()
    finally:
        for process in made.processes.values():
            process.kill()  # nobody wants these data
        made.stop()


@pytest.fixture
def primary(replica_set: ReplicaSet) -> int:
    """The port of the primary of three members in working order."""
    replica_set.wait_for_health()
    return replica_set.wait_for_primary()


@asynccontextmanager
async def opened(name: str, replica_set: ReplicaSet, limit_ms: int = LIMIT_MS, **more: str) -> AsyncIterator[Driver]:
    driver = open_driver(name, replica_set.uri, NAME, limit_ms, **more)
    try:
        yield driver
    finally:
        await driver.close()


# -- commits


def hurt(replica_set: ReplicaSet, command: str, mode: str | Mapping[str, int], **fault: Any) -> None:
    """Let the primary hurt commands of this name from now on."""
    # the primary waits for a command that still hangs
    with replica_set.client(replica_set.wait_for_primary(), 2 * LIMIT_MS + 1000) as client:
        data = {"failCommands": [command], "failInternalCommands": False, **fault}
        client.admin.command({"configureFailPoint": "failCommand", "mode": mode, "data": data})


@contextmanager
def commits(replica_set: ReplicaSet, mode: str | Mapping[str, int], **fault: Any) -> Iterator[None]:
    """The primary hurts commits while the block runs."""
    hurt(replica_set, "commitTransaction", mode, **fault)
    try:
        yield
    finally:
        hurt(replica_set, "commitTransaction", "off")


@pytest.fixture
def code() -> int:
    """Why the primary refuses commits: it shuts down. The experiments have the other codes."""
    return 91


async def test_a_commit_that_is_always_refused_ends_with_the_time_limit(
    driver_name: str, replica_set: ReplicaSet, primary: int, things: str, code: int
) -> None:
    async with opened(driver_name, replica_set) as driver:
        await driver.insert(things, [{"_id": 0}])
        with commits(replica_set, "alwaysOn", errorCode=code):
            began = time.monotonic()
            assert await went_wrong(driver, lambda: driver.insert(things, [{"_id": 1}]))
            assert time.monotonic() - began < LATE_SECONDS


async def test_a_commit_that_hangs_and_is_never_executed_blocks_its_documents_for_seconds_only(
    driver_name: str, replica_set: ReplicaSet, primary: int, things: str
) -> None:
    async with opened(driver_name, replica_set) as driver:
        await driver.insert(things, [{"_id": 0}])
        change = partial(driver.update_one, things, {"_id": 0}, {"$inc": {"n": 1}})
        # not switched off: the server would wait for what hangs
        hurt(replica_set, "commitTransaction", {"times": 1}, blockConnection=True, blockTimeMS=LIMIT_MS + 1000)
        await went_wrong(driver, change)  # or what hung ended just before the deadline of the request
        began = time.monotonic()
        while await went_wrong(driver, change):
            assert time.monotonic() - began < LATE_SECONDS + 1


async def went_wrong(driver: Driver, work: Callable[[], Awaitable[Any]]) -> bool:
    """Whether a transaction, as a request of its own, found the database away."""

    async def request() -> bool:
        share_deadline()
        try:
            await driver.transaction(work)
        except DatabaseUnavailable:
            return True
        return False

    return await asyncio.get_running_loop().create_task(request(), context=Context())


@pytest.mark.parametrize("fault", [{"errorCode": INTERRUPTED_AT_SHUTDOWN}, {"closeConnection": True}])
async def test_a_commit_without_a_known_outcome_is_asked_for_again(
    driver_name: str, fault: Mapping[str, Any], replica_set: ReplicaSet, primary: int, things: str
) -> None:
    if driver_name != "direct" and "errorCode" in fault:
        pytest.skip("the libraries wait seconds for news of a server that says that it ends")
    runs = 0
    async with opened(driver_name, replica_set) as driver:
        await driver.insert(things, [{"_id": 0}])

        async def work() -> None:
            nonlocal runs
            runs += 1
            await driver.update_one(things, {"_id": 0}, {"$inc": {"n": 1}})

        with commits(replica_set, {"times": 1}, **fault):
            await driver.transaction(work)
        assert (await driver.find_by_id(things, 0), runs) == ({"_id": 0, "n": 1}, 1)


# -- another primary


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
    share_deadline()
    return await asyncio.gather(*reads, return_exceptions=True)


async def test_a_server_that_reported_a_shutdown_is_used_again_soon(
    driver_name: str, replica_set: ReplicaSet, primary: int, things: str
) -> None:
    async with opened(driver_name, replica_set, 5000) as driver:
        await driver.insert(things, [{"_id": 1}])
        hurt(replica_set, "find", {"times": 1}, errorCode=INTERRUPTED_AT_SHUTDOWN)
        began = time.monotonic()
        assert await driver.find(things, {}) == [{"_id": 1}]
        assert time.monotonic() - began < 3


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


async def test_a_new_primary_is_not_read_from_before_it_has_what_was_acknowledged(
    replica_set: ReplicaSet, primary: int, driver_name: str, things: str
) -> None:
    new = others(replica_set, primary)[0]
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


async def test_without_a_majority_a_first_read_ends_in_time(
    replica_set: ReplicaSet, primary: int, driver_name: str, things: str
) -> None:
    async with opened(driver_name, replica_set) as driver:
        with frozen(replica_set, *others(replica_set, primary)):
            share_deadline()  # as a request does
            began = time.monotonic()
            with pytest.raises(DatabaseUnavailable):
                await driver.find_one(things, {"_id": 1})
            assert time.monotonic() - began < LATE_SECONDS


async def test_a_primary_of_another_set_is_not_written_to_when_ours_is_gone(
    driver_name: str, replica_set: ReplicaSet, primary: int, tmp_path: Path, things: str
) -> None:
    ours = ReplicaSet(tmp_path / "set", members=1, name="ours")  # which has the same users
    try:
        hosts = f"127.0.0.1:{primary},127.0.0.1:{ours.start().ports[0]}"
        uri = ours.uri.replace(f"127.0.0.1:{ours.ports[0]}", hosts)
        driver = open_driver(driver_name, uri, "other_sets", LIMIT_MS)
        try:
            await driver.insert(things, [{"_id": "ours"}])
            assert await driver.find(things, {}) == [{"_id": "ours"}]
            ours.kill(ours.ports[0])
            for number in range(2):  # the first one may learn of the end only by its own failure
                with pytest.raises(DatabaseUnavailable):
                    await driver.insert(things, [{"_id": number}])
        finally:
            await driver.close()
    finally:
        ours.stop()
    with replica_set.client() as client:
        assert client["other_sets"].list_collection_names() == []


# -- secondaries


def aggregations(replica_set: ReplicaSet) -> tuple[int, int]:
    """How many aggregations the primary and the secondaries have run."""
    primary = replica_set.wait_for_primary()
    told = {True: 0, False: 0}
    for port in replica_set.ports:
        with replica_set.client(port) as client:
            metrics = client.admin.command("serverStatus")["metrics"]
            told[port == primary] += int(metrics["commands"]["aggregate"]["total"])
    return told[True], told[False]


async def test_figures_come_from_a_secondary_and_have_what_was_written_before(
    driver_name: str, replica_set: ReplicaSet, primary: int, things: str
) -> None:
    async with opened(driver_name, replica_set, 10_000, figures="secondaryPreferred") as at:
        before = aggregations(replica_set)
        for number in range(1, 11):
            await at.insert(things, [{"_id": number}])
            with reading_from_secondaries():
                assert await at.aggregate(things, COUNT) == [{"_id": None, "n": number}]
        after = aggregations(replica_set)
        assert after[1] - before[1] >= 10
        assert after[0] - before[0] < 10


@pytest.mark.parametrize(("figures", "asked"), [("primary", True), ("secondaryPreferred", False)])
async def test_everything_else_comes_from_the_primary(
    driver_name: str, replica_set: ReplicaSet, primary: int, things: str, figures: str, asked: bool
) -> None:
    async with opened(driver_name, replica_set, 10_000, figures=figures) as at:
        await at.insert(things, [{"_id": 1}])
        before = aggregations(replica_set)
        for _ in range(10):
            with reading_from_secondaries() if asked else nullcontext():
                await at.aggregate(things, COUNT)
        assert aggregations(replica_set)[0] - before[0] >= 10


async def test_in_a_transaction_the_primary_is_read(
    driver_name: str, replica_set: ReplicaSet, primary: int, things: str
) -> None:
    async with opened(driver_name, replica_set, 10_000, figures="secondaryPreferred") as at:

        async def work() -> list[dict[str, Any]]:
            await at.insert(things, [{"_id": "one"}])
            with reading_from_secondaries():
                return await at.aggregate(things, COUNT)

        await at.insert(things, [{"_id": "made before"}])
        assert await at.transaction(work) == [{"_id": None, "n": 2}]


async def test_an_address_that_leads_to_a_secondary_alone_is_a_sentence(
    driver_name: str, replica_set: ReplicaSet, primary: int
) -> None:
    secondary = next(port for port in replica_set.processes if port != primary)
    at = f"mongodb://127.0.0.1:{secondary}/?directConnection=true"
    settings = Settings(_env_file=None, demo=True, mongodb_driver=driver_name)
    with pytest.raises(StartError, match="takes no writes: name all members, without directConnection"):
        await check_connection(settings, at)
