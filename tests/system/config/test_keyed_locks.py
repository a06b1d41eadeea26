"""Transactions that meet at a document: they queue, and none is turned away for others of this process."""

import asyncio
import time
from collections import Counter
from contextvars import Context
from functools import partial
from typing import Any

import pytest
from pymongo.errors import AutoReconnect

from config.database import DatabaseUnavailable, Driver, open_driver
from config.database.keyed_locks import KeyedLocks, WriteConflict
from config.database.operations import Operations, share_deadline

pytestmark = pytest.mark.gen_test(timeout=30)
AT_ONCE = 60


@pytest.fixture
def runs() -> Counter[int]:
    """How often each transaction ran."""
    return Counter()


async def add(driver: Driver, things: str, id: int, matching: dict[str, Any] | None = None) -> None:
    """Add one to a document, in two steps that only a transaction keeps together."""
    found = await driver.find_one(things, {"_id": id})
    assert found is not None
    assert await driver.update_one(things, matching or {"_id": id}, {"$set": {"n": found["n"] + 1}})


@pytest.mark.parametrize("matching", [{"_id": 1}, {"$and": [{"n": {"$gte": 0}}, {"_id": 1}]}], ids=["plain", "and"])
async def test_many_that_change_one_document_run_hardly_more_than_twice(
    driver: Driver, things: str, runs: Counter[int], matching: dict[str, Any]
) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}])

    async def work(number: int) -> None:
        runs[number] += 1
        await add(driver, things, 1, matching)

    await asyncio.gather(*(driver.transaction(partial(work, number)) for number in range(AT_ONCE)))
    assert await driver.find_one(things, {}) == {"_id": 1, "n": AT_ONCE}
    assert runs.total() < 2.5 * AT_ONCE


async def test_transactions_that_write_two_documents_in_opposite_orders_do_not_deadlock(
    driver: Driver, things: str
) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}, {"_id": 2, "n": 0}])

    async def work(ids: tuple[int, int]) -> None:
        for id in ids:
            await add(driver, things, id)

    both = [(1, 2), (2, 1)] * (AT_ONCE // 4)
    await asyncio.gather(*(driver.transaction(partial(work, ids)) for ids in both))
    rows = await driver.find(things, {}, sort=[("_id", 1)])
    assert [row["n"] for row in rows] == [len(both), len(both)]


async def test_transactions_that_take_turns_never_do_anything_in_vain(
    driver: Driver, things: str, runs: Counter[int]
) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}])

    async def work(number: int) -> None:
        await driver.take_turn(things, 1)
        runs[number] += 1
        await driver.count(things, {"n": 0})  # what is read before others have written it
        await add(driver, things, 1)

    await asyncio.gather(*(driver.transaction(partial(work, number)) for number in range(AT_ONCE)))
    assert await driver.find_one(things, {}) == {"_id": 1, "n": AT_ONCE}
    assert set(runs.values()) == {1}
    with pytest.raises(RuntimeError):
        await driver.take_turn(things, 1)


async def test_transactions_that_take_their_turns_in_opposite_orders_do_not_deadlock(
    driver: Driver, things: str
) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}, {"_id": 2, "n": 0}])

    async def work(ids: tuple[int, int]) -> None:
        for id in ids:
            await driver.take_turn(things, id)
            await add(driver, things, id)

    both = [(1, 2), (2, 1)] * (AT_ONCE // 4)
    await asyncio.gather(*(driver.transaction(partial(work, ids)) for ids in both))
    rows = await driver.find(things, {}, sort=[("_id", 1)])
    assert [row["n"] for row in rows] == [len(both), len(both)]


async def test_one_command_that_changes_several_documents_waits_for_the_locks_of_all(
    driver: Driver, things: str, runs: Counter[int]
) -> None:
    await driver.insert(things, [{"_id": id, "n": 0} for id in range(4)])

    async def work(number: int) -> None:
        runs[number] += 1
        those = {"_id": {"$in": [0, 1, 2 + number % 2]}}
        rows = {row["_id"]: row["n"] for row in await driver.find(things, those)}
        changes = [({"_id": id, "n": n}, {"$set": {"n": n + 1}}) for id, n in rows.items()]
        assert await driver.update_each(things, changes) == 3

    await asyncio.gather(*(driver.transaction(partial(work, number)) for number in range(AT_ONCE)))
    rows = await driver.find(things, {}, sort=[("_id", 1)])
    assert [row["n"] for row in rows] == [AT_ONCE, AT_ONCE, AT_ONCE // 2, AT_ONCE // 2]
    assert runs.total() < 3 * AT_ONCE


async def test_a_transaction_that_fails_releases_its_locks(driver: Driver, things: str) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}])

    async def work(fails: bool) -> None:
        await add(driver, things, 1)
        if fails:
            raise LookupError

    ended = await asyncio.gather(
        *(driver.transaction(partial(work, fails)) for fails in [True, False] * 10),
        return_exceptions=True,
    )
    assert Counter(map(type, ended)) == {LookupError: 10, type(None): 10}
    assert await driver.find_one(things, {}) == {"_id": 1, "n": 10}


async def test_the_wait_for_a_document_of_another_process_ends_with_the_time_limit(
    driver: Driver, things: str, mongodb_uri: str, database_name: str
) -> None:
    await driver.insert(things, [{"_id": 1, "n": 0}])
    hasty = open_driver("motor", mongodb_uri, database_name, 500)
    holding, let_go = asyncio.Event(), asyncio.Event()

    async def keep() -> None:
        await add(driver, things, 1)
        holding.set()
        await let_go.wait()

    keeping = asyncio.create_task(driver.transaction(keep))
    await holding.wait()
    with pytest.raises(DatabaseUnavailable):
        await asyncio.wait_for(hasty.transaction(lambda: add(hasty, things, 1)), 5)
    let_go.set()
    await keeping
    await hasty.transaction(lambda: add(hasty, things, 1))
    assert await driver.find_one(things, {}) == {"_id": 1, "n": 2}
    await hasty.close()


async def test_a_lock_that_is_not_free_in_time_raises_a_timeout() -> None:
    locks, key = KeyedLocks(Operations(5)), ("things", 1)
    async with locks.hold({key}, time.monotonic() + 5):
        with pytest.raises(TimeoutError):
            async with locks.hold({key}, time.monotonic() + 0.05):
                pass
    async with locks.hold({key}, time.monotonic() + 5):
        pass


@pytest.mark.parametrize(("error", "counts"), [(AutoReconnect("away"), True), (LookupError(), False)])
async def test_the_wait_for_one_who_found_the_database_away_counts_as_time_without_reply(
    error: Exception, counts: bool
) -> None:
    operations, key, waited = Operations(1), ("things", 1), 0.5
    locks, until, held = KeyedLocks(operations), time.monotonic() + 5, asyncio.Event()

    async def hold_after() -> float:
        share_deadline()
        async with locks.hold({key}, until):
            return operations.left_seconds()

    async def fail() -> None:
        async with locks.hold({key}, until):
            held.set()
            with operations():
                await asyncio.sleep(waited)  # what it takes to find that out
                raise error

    failing = asyncio.create_task(fail())
    await held.wait()
    left = await asyncio.get_running_loop().create_task(hold_after(), context=Context())
    with pytest.raises(DatabaseUnavailable if counts else LookupError):
        await failing
    assert (left < operations.seconds) is counts


async def test_a_write_to_a_locked_document_is_a_conflict_without_a_call_of_the_database() -> None:
    locks, key = KeyedLocks(Operations(5)), ("things", 1)

    async def write() -> None:
        with locks.guard_write("things", {"_id": 1}):
            pass

    async with locks.hold({key}, time.monotonic() + 5):
        await write()
        stranger = asyncio.get_running_loop().create_task(write(), context=Context())
        with pytest.raises(WriteConflict):
            await stranger
    await write()
