"""Cancelling calls costs a driver no connections, whatever they were waiting for."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from config.database import DatabaseUnavailable, Driver
from config.database.detached_calls import DetachedCalls
from plugins.testing import eventually
from tests.support.proxy import Proxy

pytestmark = pytest.mark.gen_test(timeout=20)
CALLS = 240  # more than there are connections
AT_ONCE_SECONDS = 1.0


def calls(driver: Driver, things: str) -> list[Callable[[], Awaitable[Any]]]:
    """One call of each kind."""

    async def changes() -> None:
        await driver.update_one(things, {"_id": random.randrange(50)}, {"$inc": {"n": 1}})
        await driver.find_one(things, {"_id": 1})

    async def reads() -> None:
        async for _ in driver.stream(things, {}, batch=10):
            pass

    return [
        lambda: driver.find(things, {}),
        lambda: driver.update_one(things, {"_id": random.randrange(50)}, {"$inc": {"n": 1}}),
        lambda: driver.count(things, {"n": 1}),
        lambda: driver.aggregate(things, []),
        lambda: driver.transaction(changes),
        reads,
    ]


async def at_once(driver: Driver) -> None:
    async with asyncio.timeout(AT_ONCE_SECONDS):
        await driver.command({"ping": 1})


async def test_calls_that_are_cancelled_in_any_phase_keep_no_connection(behind: Driver, things: str) -> None:
    await behind.insert(things, [{"_id": number, "n": 0} for number in range(50)])
    kinds, chance = calls(behind, things), random.Random(1)
    running: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(kinds[number % len(kinds)]()) for number in range(CALLS)
    ]

    async def cancel(task: asyncio.Future[Any]) -> None:
        await asyncio.sleep(chance.uniform(0, 0.3))
        for _ in range(3):  # as time limits do until a task has ended
            task.cancel()
            await asyncio.sleep(0)

    await asyncio.gather(*map(cancel, running))
    outcomes = await asyncio.gather(*running, return_exceptions=True)
    assert {type(one) for one in outcomes if isinstance(one, BaseException)} == {asyncio.CancelledError}
    await at_once(behind)


async def test_calls_that_are_cancelled_while_the_server_hangs_keep_no_connection(
    behind: Driver, proxy: Proxy, things: str
) -> None:
    await behind.insert(things, [{"_id": 1, "n": 0}])
    proxy.stall()
    kinds = calls(behind, things)
    running = [asyncio.wait_for(kinds[number % len(kinds)](), 0.2) for number in range(CALLS)]
    outcomes = await asyncio.gather(*running, return_exceptions=True)
    assert {type(one) for one in outcomes} == {TimeoutError}
    await proxy.up()

    async def replies() -> bool:
        with suppress(DatabaseUnavailable):  # a library may not have noticed yet that the server is back
            await behind.command({"ping": 1})
            return True
        return False

    await eventually(replies)
    await asyncio.gather(*(at_once(behind) for _ in range(20)))


async def test_a_call_of_a_transaction_that_is_cancelled_leaves_no_session(
    behind: Driver, proxy: Proxy, things: str
) -> None:
    await behind.insert(things, [{"_id": 1, "n": 0}])

    async def work() -> None:
        await behind.update_one(things, {"_id": 1}, {"$set": {"n": 1}})
        proxy.delay = 0.2
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await behind.update_one(things, {"_id": 1}, {"$set": {"n": 2}})
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        await behind.transaction(work)
    proxy.delay = 0

    async def none_is_left() -> bool:
        return behind.open_sessions == []

    await eventually(none_is_left)
    async with asyncio.timeout(AT_ONCE_SECONDS):
        assert await behind.update_one(things, {"_id": 1}, {"$inc": {"n": 10}}) == {"_id": 1, "n": 10}


async def test_a_cancelled_call_is_ended_before_the_next_of_its_session_begins() -> None:
    detached, session = DetachedCalls(5), set[asyncio.Future[Any]]()
    order = []

    async def call(name: str) -> str:
        order.append(f"{name} begins")
        await asyncio.sleep(0.05)
        order.append(f"{name} ends")
        return name

    first = asyncio.create_task(detached.run(call("first"), session))
    await asyncio.sleep(0)
    first.cancel()
    assert await detached.run(call("second"), session) == "second"
    assert first.cancelled()
    assert order == ["first begins", "first ends", "second begins", "second ends"]
    assert session == set()


async def test_no_more_calls_run_than_there_are_connections_and_waiting_ones_are_dropped() -> None:
    detached, begun, go_on = DetachedCalls(2), [], asyncio.Event()

    async def call(number: int) -> None:
        begun.append(number)
        await go_on.wait()

    running = [asyncio.create_task(detached.run(call(number))) for number in range(5)]
    await asyncio.sleep(0)
    started = time.monotonic()
    for task in running:
        task.cancel()
    await asyncio.wait(running)
    assert time.monotonic() - started < AT_ONCE_SECONDS
    last = asyncio.create_task(detached.run(call(5)))
    await asyncio.sleep(0)
    assert begun == [0, 1]
    go_on.set()
    await last
    assert begun == [0, 1, 5]


async def test_the_error_of_a_call_is_its_callers() -> None:
    async def call() -> None:
        await asyncio.sleep(0)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await DetachedCalls(1).run(call())
