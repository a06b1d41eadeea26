"""Repeated work of several instances: one of them at a time does it, once in each period."""

import time
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from handlers.data.database import Database
from handlers.operations.jobs import Jobs
from plugins.testing import eventually, unique

pytestmark = pytest.mark.gen_test(timeout=20)
PERIOD = 0.6


async def test_two_instances_do_the_work_of_one(database: Database, other_instance: Database) -> None:
    name, begun, working = unique("job"), list[float](), set[int]()

    def work_of(instance: int) -> Callable[[], Awaitable[None]]:
        async def work() -> None:
            assert not working
            working.add(instance)
            begun.append(time.monotonic())
            await (database, other_instance)[instance].driver.command({"ping": 1})
            working.discard(instance)

        return work

    async def done_four_times() -> bool:
        return len(begun) >= 4

    both = [Jobs(database), Jobs(other_instance)]
    for instance, jobs in enumerate(both):
        jobs.every(PERIOD, name, work_of(instance))
    await eventually(done_four_times, seconds=15)
    for jobs in both:
        await jobs.stop()
    pauses = [later - earlier for earlier, later in pairwise(begun)]
    # the database's clock defines the period, ours only when its reply came
    assert min(pauses) > PERIOD * 0.8


async def test_the_work_of_an_instance_that_ends_passes_on(database: Database, other_instance: Database) -> None:
    name, done = unique("job"), list[str]()

    def work_of(instance: str) -> Callable[[], Awaitable[None]]:
        async def work() -> None:
            done.append(instance)

        return work

    async def begun() -> bool:
        return bool(done)

    async def passed_on() -> bool:
        return "second" in done

    first, second = Jobs(database), Jobs(other_instance)
    first.every(PERIOD, name, work_of("first"))
    await eventually(begun)
    second.every(PERIOD, name, work_of("second"))
    await first.stop()
    await eventually(passed_on, seconds=10)
    await second.stop()
