"""What a request waits for in vain: the time of one operation for all of them together."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

import pytest
from pymongo.errors import AutoReconnect

from config.database import MARGIN_SECONDS, DatabaseUnavailable, Driver, open_driver, share_deadline
from config.database.keyed_locks import KeyedLocks
from config.database.operations import Operations
from config.database.transactions import SESSION
from handlers.data.sync.cached_snapshot import RecordCache
from handlers.data.sync.single_flight import SingleFlight
from tests.support.driver_fixtures import LIMIT_MS
from tests.support.proxy import Proxy
from tests.system.config.test_waiting import in_a_request, seconds_of_requests, went

pytestmark = pytest.mark.gen_test(timeout=20)
LIMIT_SECONDS = LIMIT_MS / 1000 + MARGIN_SECONDS
SLACK_SECONDS = 0.7  # a busy machine, and the attempt to abort a transaction


async def test_a_request_that_keeps_on_asking_a_dead_server_waits_once(
    behind: Driver, proxy: Proxy, things: str
) -> None:
    await behind.insert(things, [{"_id": 0}])
    await proxy.down()
    assert max(await seconds_of_requests(behind, things)) < LIMIT_SECONDS + SLACK_SECONDS


async def test_a_load_for_several_callers_waits_once(address: str, proxy: Proxy, database_name: str) -> None:
    seconds = 3.0  # the first attempt ends without a connection, the next one is the library's
    driver = open_driver("direct", address, database_name, int(seconds * 1000))
    try:
        await driver.command({"ping": 1})
        cache: RecordCache[int, Any] = RecordCache(lambda id: driver.find_one("things", {"_id": id}))
        proxy.stall()
        took, error = await went(lambda: cache.get(1))
        assert isinstance(error, DatabaseUnavailable)
        assert took < seconds + MARGIN_SECONDS + SLACK_SECONDS
    finally:
        await proxy.up()
        await driver.close()


@pytest.mark.parametrize("fault", ["hanging", "dead"])
async def test_a_transaction_whose_server_goes_before_it_commits_waits_once(
    behind: Driver, proxy: Proxy, things: str, fault: str
) -> None:
    async def work() -> None:
        await behind.insert(things, [{"_id": 1}])
        if fault == "dead":
            await proxy.down()
        else:
            proxy.stall()

    await behind.insert(things, [{"_id": 0}])
    took, error = await went(lambda: behind.transaction(work))
    assert isinstance(error, DatabaseUnavailable)
    assert took < LIMIT_SECONDS + SLACK_SECONDS


async def test_transactions_that_wait_for_a_document_share_one_time_limit(
    behind: Driver, proxy: Proxy, things: str
) -> None:
    await behind.insert(things, [{"_id": 1, "n": 0}])

    async def add() -> None:
        found = await behind.find_one(things, {"_id": 1})
        assert found is not None
        await behind.update_one(things, {"_id": 1}, {"$set": {"n": found["n"] + 1}})

    async def add_and_go() -> None:
        await add()
        proxy.stall()
        await add()

    adding = [asyncio.ensure_future(went(lambda: behind.transaction(add))) for _ in range(20)]
    adding.append(asyncio.ensure_future(went(lambda: behind.transaction(add_and_go))))
    outcomes = await asyncio.gather(*adding)
    assert {type(error) for _, error in outcomes} <= {type(None), DatabaseUnavailable}
    assert max(took for took, error in outcomes if error is not None) < LIMIT_SECONDS + 2 * SLACK_SECONDS


async def test_a_conflict_after_a_silence_is_waited_out_as_if_it_had_begun_with_the_transaction(
    mongodb_uri: str, address: str, proxy: Proxy, database_name: str, things: str
) -> None:
    seconds, silent = 3.0, 2.0
    held, release = asyncio.Event(), asyncio.Event()
    holder = open_driver("direct", mongodb_uri, database_name, 5000)
    driver = open_driver("motor", address, database_name, int(seconds * 1000))

    async def hold() -> None:
        await holder.update_one(things, {"_id": 1}, {"$inc": {"n": 1}})
        held.set()
        await release.wait()

    async def add_after_a_silence() -> None:
        await driver.find_one(things, {"_id": 1})
        await driver.update_one(things, {"_id": 1}, {"$inc": {"n": 1}})

    async def fall_silent() -> None:
        proxy.stall()
        await asyncio.sleep(silent)
        await proxy.up()

    try:
        await driver.insert(things, [{"_id": 1, "n": 0}])
        holding = asyncio.create_task(holder.transaction(hold))
        await held.wait()
        falling = asyncio.create_task(fall_silent())
        took, error = await went(lambda: driver.transaction(add_after_a_silence))
        assert isinstance(error, DatabaseUnavailable)
        assert silent < took < 1.2 * (seconds + MARGIN_SECONDS) + SLACK_SECONDS
        await falling
    finally:
        release.set()
        await holding
        await driver.close()
        await holder.close()


@pytest.mark.parametrize("kind", [Operations.__call__, Operations.shared])
@pytest.mark.parametrize(("fails", "left"), [(True, 1.44), (False, 2.2)])
async def test_a_late_success_counts_for_its_request_if_others_fail_meanwhile(
    kind: Callable[[Operations], AbstractContextManager[object]], fails: bool, left: float
) -> None:
    operations = Operations(2)

    async def meanwhile() -> None:
        with suppress(DatabaseUnavailable), operations():
            if fails:
                raise AutoReconnect("connection closed")

    share_deadline()
    with kind(operations):
        await in_a_request(meanwhile)
        await asyncio.sleep(1.2)
    started = time.monotonic()
    with pytest.raises(DatabaseUnavailable), operations():
        await asyncio.sleep(5)
    assert time.monotonic() - started == pytest.approx(left, abs=0.2)


async def test_a_wait_for_shared_work_ends_at_the_deadline_of_the_request() -> None:
    operations, shared, ended = Operations(2), SingleFlight(), asyncio.Event()
    share_deadline(operations)
    with pytest.raises(DatabaseUnavailable), operations():
        raise AutoReconnect("connection closed")
    started = time.monotonic()
    with pytest.raises(DatabaseUnavailable):
        await shared.run("key", ended.wait)
    assert time.monotonic() - started == pytest.approx(2.2, abs=0.2)
    ended.set()
    await in_a_request(lambda: shared.run("key", ended.wait))


async def test_a_request_that_queues_behind_a_later_one_waits_until_its_deadline() -> None:
    operations = Operations(2)
    locks, keys = KeyedLocks(operations), {("things", 1)}

    async def hold_in_silence() -> None:
        with suppress(DatabaseUnavailable):
            async with locks.hold(keys, time.monotonic() + 10):
                with operations():
                    await asyncio.sleep(10)

    share_deadline()
    with suppress(DatabaseUnavailable), operations():
        await asyncio.sleep(1.6)
        raise AutoReconnect("connection closed")
    later = in_a_request(hold_in_silence)
    await asyncio.sleep(0)
    with pytest.raises(DatabaseUnavailable):
        async with locks.hold(keys, time.monotonic() + 10):
            pass
    assert not later.done()
    await later


async def test_a_transaction_that_ends_with_the_silence_of_a_shared_load_is_not_waited_for(
    behind: Driver, proxy: Proxy, things: str
) -> None:
    async def work() -> None:
        await behind.insert(things, [{"_id": 1}])
        proxy.stall()
        lost = DatabaseUnavailable("each caller gets a copy, which has no cause")
        lost.silent = True
        raise lost

    await behind.insert(things, [{"_id": 0}])
    took, error = await went(lambda: behind.transaction(work))
    assert isinstance(error, DatabaseUnavailable)
    assert took < LIMIT_SECONDS


@pytest.mark.parametrize(("left", "waits"), [(0.0, 0.1), (0.8, 0.8)])
async def test_an_abort_takes_no_longer_than_is_left_of_the_request(
    driver: Driver, things: str, monkeypatch: pytest.MonkeyPatch, left: float, waits: float
) -> None:
    ended = asyncio.Event()

    async def hang() -> None:
        await ended.wait()

    async def work() -> None:
        await driver.insert(things, [{"n": 1}])
        session = SESSION.get()
        assert session is not None
        monkeypatch.setattr(session.handle, "abort_transaction", hang)
        monkeypatch.setattr(Operations, "left_seconds", lambda operations: left)
        raise ValueError

    took, error = await went(lambda: driver.transaction(work))
    ended.set()
    assert isinstance(error, ValueError)
    assert waits <= took < waits + MARGIN_SECONDS + 0.5


async def test_work_that_goes_on_without_its_request_is_not_refused_for_ever(driver: Driver, things: str) -> None:
    operations = Operations(0.5)
    share_deadline()
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable), operations():
            await asyncio.sleep(5)
        with pytest.raises(DatabaseUnavailable), operations():
            await asyncio.sleep(5)  # what is left
        await asyncio.sleep(2 * operations.seconds + 0.1)  # no request takes so long
    with operations():
        await asyncio.sleep(0)
