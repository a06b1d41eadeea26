"""Shared executions: at most one runs and one waits, and nobody reads what is older than their request."""

from __future__ import annotations

import asyncio
import random

import pytest

from handlers.data.sync.single_flight import SingleFlight

pytestmark = pytest.mark.gen_test(timeout=20)


class World:
    """Something that changes, and slow readings of it."""

    def __init__(self, seed: int) -> None:
        self.state = 0
        self.running = self.most_running = self.executions = 0
        self._random = random.Random(seed)

    async def read(self) -> int:
        self.executions += 1
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        state = self.state
        for _ in range(self._random.randrange(1, 8)):
            await asyncio.sleep(0)
        self.running -= 1
        return state


@pytest.mark.parametrize("seed", range(20))
async def test_no_caller_reads_a_state_older_than_its_request(seed: int) -> None:
    world, shared = World(seed), SingleFlight()
    chance = random.Random(seed)

    async def ask() -> tuple[int, int]:
        before = world.state
        return before, await shared.run("key", world.read)

    asked = []
    for _ in range(200):
        world.state += 1
        asked += [asyncio.create_task(ask()) for _ in range(chance.randrange(4))]
        await asyncio.sleep(0)
    results = await asyncio.gather(*asked)
    assert [(before, read) for before, read in results if read < before] == []
    assert world.most_running == 1
    assert world.executions < len(results)


async def test_callers_that_arrive_while_one_runs_share_the_next() -> None:
    shared, started, gate = SingleFlight(), 0, asyncio.Event()

    async def work() -> int:
        nonlocal started
        started += 1
        number = started
        await gate.wait()
        return number

    first = asyncio.create_task(shared.run("key", work))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    late = [asyncio.create_task(shared.run("key", work)) for _ in range(50)]
    await asyncio.sleep(0)
    gate.set()
    assert [await first, await asyncio.gather(*late)] == [1, [2] * 50]


async def test_other_keys_do_not_wait() -> None:
    shared, gate = SingleFlight(), asyncio.Event()

    async def one() -> int:
        return 1

    slow = asyncio.create_task(shared.run("slow", gate.wait))
    await asyncio.sleep(0)
    assert await shared.run("other", one) == 1
    assert not slow.done()
    gate.set()
    await slow


async def test_a_cancelled_caller_does_not_cancel_the_execution() -> None:
    shared, gate = SingleFlight(), asyncio.Event()

    first = asyncio.create_task(shared.run("key", gate.wait))
    next_one = asyncio.create_task(shared.run("key", gate.wait))
    other = asyncio.create_task(shared.run("key", gate.wait))
    await asyncio.sleep(0)
    for task in (first, next_one):
        task.cancel()
    gate.set()
    assert await other is True


async def test_an_error_reaches_only_the_callers_that_share_the_execution() -> None:
    shared, gate = SingleFlight(), asyncio.Event()

    async def fails() -> int:
        await gate.wait()
        raise LookupError

    async def works() -> int:
        return 1

    first = asyncio.create_task(shared.run("key", fails))
    await asyncio.sleep(0)
    second = asyncio.create_task(shared.run("key", works))
    await asyncio.sleep(0)
    gate.set()
    with pytest.raises(LookupError):
        await first
    assert await second == 1
    assert await shared.run("key", works) == 1
