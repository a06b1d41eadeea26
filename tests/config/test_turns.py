"""Transactions that meet at a document: they queue, and none is turned away for others of this process."""

import asyncio
import time
from collections import Counter
from contextvars import Context
from functools import partial
from typing import Any

import pytest

from config.database import DatabaseUnavailable, Driver, open_driver
from config.database.turns import Contested, Turns

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


async def test_those_who_want_two_documents_in_opposite_orders_do_not_wait_for_each_other(
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


async def test_one_that_fails_lets_the_next_one_in(driver: Driver, things: str) -> None:
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


async def test_a_document_that_another_process_keeps_is_waited_for_within_the_limit(
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


async def test_a_turn_that_does_not_come_in_time_is_waited_for_no_longer() -> None:
    turns, turn = Turns(), ("things", 1)
    async with turns.taken({turn}, time.monotonic() + 5):
        with pytest.raises(TimeoutError):
            async with turns.taken({turn}, time.monotonic() + 0.05):
                pass
    async with turns.taken({turn}, time.monotonic() + 5):
        pass


async def test_a_document_that_others_queue_for_is_not_asked_of_the_database() -> None:
    turns, turn = Turns(), ("things", 1)

    async def write() -> None:
        with turns.writing("things", {"_id": 1}):
            pass

    async with turns.taken({turn}, time.monotonic() + 5):
        await write()
        stranger = asyncio.get_running_loop().create_task(write(), context=Context())
        with pytest.raises(Contested):
            await stranger
    await write()
