"""Work with a time limit that begins when it first waits."""

import asyncio

import pytest

from config.time_limits import TimeLimit
from handlers.tasks import within

pytestmark = pytest.mark.gen_test


async def test_work_that_never_waits_has_its_result() -> None:
    async def work() -> int:
        return 1

    assert await within(TimeLimit(0), work()) == 1


async def test_work_that_waits_has_its_result() -> None:
    async def work() -> str:
        values = await asyncio.gather(asyncio.sleep(0, "a"), asyncio.sleep(0.001, "b"))
        async with asyncio.timeout(1):
            await asyncio.sleep(0)
        return "".join(values)

    assert await within(TimeLimit(5), work()) == "ab"


async def test_work_that_takes_too_long_is_ended() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.sleep(5)
        finally:
            ended.append(True)

    with pytest.raises(TimeoutError):
        await within(TimeLimit(0.01), work())
    assert ended


async def test_an_error_goes_through_from_before_and_after_a_wait() -> None:
    async def work(waits: bool) -> None:
        if waits:
            await asyncio.sleep(0)
        raise KeyError("why")

    for waits in (False, True):
        with pytest.raises(KeyError, match="why"):
            await within(TimeLimit(5), work(waits))


async def test_cancelling_the_caller_cancels_the_work() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            ended.set()
            raise

    task = asyncio.create_task(within(TimeLimit(5), work()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
